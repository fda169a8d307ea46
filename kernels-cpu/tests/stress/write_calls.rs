//! Random calls that write to existing tensors.

use dispatch_runtime::{DType, Result, Scalar, Tensor};

use crate::held_borrows::call_while_borrowed;
use crate::model::{TensorModel, broadcast_sizes, dtype_kind, promoted_dtype, wrap_if_exact, wrap_to_dtype};
use crate::tensor_calls::binary_result_elements;
use crate::walk::{CallMistake, CallMistakes, PoolEntry, RandomWalk};

/// An elementwise operator that writes a tensor: its name, the operator, and its model. It writes the first of two operands, or `out`.
type InPlaceOperator = (&'static str, fn(&mut Tensor, &Tensor) -> Result<()>, fn(f64, f64) -> f64);
type OutOperator = (&'static str, fn(&Tensor, &Tensor, &mut Tensor) -> Result<()>, fn(f64, f64) -> f64);

const IN_PLACE_OPERATORS: [InPlaceOperator; 3] = [
    ("aten::add_.Tensor", |a, b| aten::add_(a, b, Scalar::Int(1)), |a, b| a + b),
    ("aten::sub_.Tensor", |a, b| aten::sub_(a, b, Scalar::Int(1)), |a, b| a - b),
    ("aten::mul_.Tensor", aten::mul_, |a, b| a * b),
];

const OUT_OPERATORS: [OutOperator; 3] = [
    ("aten::add.out", |a, b, out| aten::add_out(a, b, Scalar::Int(1), out), |a, b| a + b),
    ("aten::mul.out", aten::mul_out, |a, b| a * b),
    ("aten::maximum.out", aten::maximum_out, f64::max),
];

impl RandomWalk {
    pub(crate) fn make_random_write(&mut self) {
        let at = self.random_pool_index();
        let other = if self.random.true_once_in(2) { self.random_handle() } else { self.handle_sharing_memory(at) };
        match self.random.integer_below(5) {
            0 | 1 => self.call_copy_in_place(at, &other),
            2 => self.call_fill_in_place(at, &other),
            _ => self.call_in_place_operator(at, &other),
        }
    }

    /// Returns a tensor that shares memory with a tensor of the pool.
    fn handle_sharing_memory(&mut self, at: usize) -> PoolEntry {
        let model = &self.pool[at].model;
        let all = self.pool.iter().enumerate().filter(|(_, entry)| entry.model.shares_memory_with(model));
        let all: Vec<usize> = all.map(|(i, _)| i).collect();
        let chosen = self.random.choose_from(&all);
        self.handle_from_pool(chosen)
    }

    fn call_in_place_operator(&mut self, at: usize, other: &PoolEntry) {
        let held = self.random_borrow();
        let (operator, call, f) = self.random.choose_from(&IN_PLACE_OPERATORS);
        let this = &self.pool[at];
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_write(this, &[other], held.as_ref());
        mistakes.add_mistakes_of_read(&other.model, held.as_ref());
        let common = promoted_dtype(&[&this.model, &other.model]);
        let has_bool = this.model.dtype == DType::Bool || other.model.dtype == DType::Bool;
        let subtracts_bool = has_bool && operator == "aten::sub_.Tensor";
        mistakes.add_if(CallMistake::DType, subtracts_bool || dtype_kind(common) > dtype_kind(this.model.dtype));
        let sizes = broadcast_sizes(&this.model.sizes, &other.model.sizes);
        mistakes.add_if(CallMistake::Broadcast, sizes.is_none());
        mistakes.add_if(CallMistake::Sizes, sizes.is_some_and(|sizes| sizes != this.model.sizes));
        let Some(elements) = binary_result_elements(&this.model, &other.model, f) else { return };
        let result = call_while_borrowed(held.as_ref(), || call(&mut self.pool[at].tensor, &other.tensor));
        self.check_written_elements(operator, at, &mistakes, result, &elements);
    }

    fn call_copy_in_place(&mut self, at: usize, src: &PoolEntry) {
        let held = self.random_borrow();
        let this = &self.pool[at];
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_write(this, &[src], held.as_ref());
        mistakes.add_mistakes_of_read(&src.model, held.as_ref());
        let sizes = broadcast_sizes(&this.model.sizes, &src.model.sizes);
        let fits = sizes.as_ref() == Some(&this.model.sizes);
        mistakes.add_if(CallMistake::Sizes, !fits);
        let elements = if fits { src.model.broadcast_to(&this.model.sizes).elements() } else { Vec::new() };
        let result = call_while_borrowed(held.as_ref(), || aten::copy_(&mut self.pool[at].tensor, &src.tensor, false));
        self.check_written_elements("aten::copy_", at, &mistakes, result, &elements);
    }

    fn call_fill_in_place(&mut self, at: usize, value: &PoolEntry) {
        let held = self.random_borrow();
        let this = &self.pool[at];
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_write(this, &[value], held.as_ref());
        mistakes.add_mistakes_of_read(&value.model, held.as_ref());
        mistakes.add_if(CallMistake::Rank, value.model.rank() > 0);
        let element = value.model.elements().first().copied().unwrap_or(0.0);
        let elements = vec![element; this.model.positions.len()];
        let result = call_while_borrowed(held.as_ref(), || aten::fill_(&mut self.pool[at].tensor, &value.tensor));
        self.check_written_elements("aten::fill_.Tensor", at, &mistakes, result, &elements);
    }

    pub(crate) fn call_in_place_operator_with_numbers(&mut self) {
        let (at, held) = (self.random_pool_index(), self.random_borrow());
        let (number, least, most) =
            (self.random.integer_between(-2, 2), self.random.integer_between(-4, 0), self.random.integer_between(0, 4));
        let this = &self.pool[at];
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_write(this, &[], held.as_ref());
        let [number_f, least_f, most_f] = [number, least, most].map(|x| f64::from(i8::try_from(x).unwrap()));
        // Arithmetic of a boolean and an integer results in an integer.
        let raises = this.model.dtype == DType::Bool;
        let old = this.model.elements();
        let (operator, elements): (_, Vec<f64>) = match self.random.integer_below(4) {
            0 => ("aten::fill_.Scalar", vec![number_f; old.len()]),
            1 => ("aten::add_.Scalar", old.iter().map(|x| x + number_f).collect()),
            2 => ("aten::mul_.Scalar", old.iter().map(|x| x * number_f).collect()),
            _ => ("aten::clamp_", old.iter().map(|x| x.clamp(least_f, most_f)).collect()),
        };
        mistakes.add_if(CallMistake::DType, raises && operator != "aten::fill_.Scalar");
        if wrap_if_exact(this.model.dtype, &elements).is_none() {
            return;
        }
        let tensor = &mut self.pool[at].tensor;
        let number = Scalar::Int(number);
        let result = call_while_borrowed(held.as_ref(), || match operator {
            "aten::fill_.Scalar" => aten::fill__scalar(tensor, number),
            "aten::add_.Scalar" => aten::add__scalar(tensor, number, Scalar::Int(1)),
            "aten::mul_.Scalar" => aten::mul__scalar(tensor, number),
            _ => aten::clamp_(tensor, Some(Scalar::Int(least)), Some(Scalar::Int(most))),
        });
        self.check_written_elements(operator, at, &mistakes, result, &elements);
    }

    pub(crate) fn call_out_operator(&mut self) {
        let (a, b, held) = (self.random_handle(), self.random_handle(), self.random_borrow());
        let (operator, call, f) = self.random.choose_from(&OUT_OPERATORS);
        let sizes = broadcast_sizes(&a.model.sizes, &b.model.sizes);
        let fitting = self.pool.iter().position(|entry| Some(&entry.model.sizes) == sizes.as_ref());
        let at = fitting.filter(|_| !self.random.true_once_in(4)).unwrap_or_else(|| self.random_pool_index());
        let out = &self.pool[at];
        let common = promoted_dtype(&[&a.model, &b.model]);
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_read(&a.model, held.as_ref());
        mistakes.add_mistakes_of_read(&b.model, held.as_ref());
        mistakes.add_if(CallMistake::DType, dtype_kind(common) > dtype_kind(out.model.dtype));
        mistakes.add_if(CallMistake::Broadcast, sizes.is_none());
        // An `out` without elements is resized to the result.
        let is_empty = out.model.positions.is_empty() && out.model.rank() <= 1;
        let is_resized = is_empty && sizes.as_ref().is_some_and(|sizes| *sizes != out.model.sizes);
        if !is_resized {
            mistakes.add_mistakes_of_write(out, &[&a, &b], held.as_ref());
            mistakes.add_if(CallMistake::Sizes, sizes.as_ref().is_some_and(|sizes| *sizes != out.model.sizes));
        }
        let Some(elements) = binary_result_elements(&a.model, &b.model, f) else { return };
        let result = call_while_borrowed(held.as_ref(), || call(&a.tensor, &b.tensor, &mut self.pool[at].tensor));
        if !is_resized {
            return self.check_written_elements(operator, at, &mistakes, result, &elements);
        }
        if let (Some(()), Some(sizes)) = (self.check_outcome(operator, &mistakes, result), sizes) {
            let dtype = self.pool[at].model.dtype;
            let elements: Vec<f64> = elements.into_iter().map(|x| wrap_to_dtype(dtype, x)).collect();
            self.pool[at].model = TensorModel::with_own_memory(dtype, &sizes, &elements).unwrap();
            self.check_all_tensors();
        }
    }

    /// Checks the outcome of a write: the tensor and all tensors that share its memory must have these elements.
    fn check_written_elements(
        &mut self,
        operator: &str,
        at: usize,
        mistakes: &CallMistakes,
        result: Result<()>,
        elements: &[f64],
    ) {
        if self.check_outcome(operator, mistakes, result).is_some() {
            let model = self.pool[at].model.clone();
            model.write_elements(&wrap_if_exact(model.dtype, elements).unwrap());
            self.check_tensors_sharing_memory(&model);
        }
    }
}
