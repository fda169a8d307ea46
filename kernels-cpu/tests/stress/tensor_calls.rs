//! Random calls that make tensors: factories, computations, conversions.

use dispatch_runtime::{DType, MemoryFormat, Result, Scalar, Tensor};

use crate::held_borrows::{HeldBorrow, call_while_borrowed};
use crate::model::{self, TensorModel, all_positions, broadcast_sizes, flat_index, promoted_dtype, wrap_if_exact};
use crate::walk::{CallMistake, CallMistakes, PoolEntry, RandomWalk, dim_index, random_dtype};

/// An elementwise operator of two tensors: its name, the operator, its model, and whether the result is boolean.
type BinaryOperator = (&'static str, fn(&Tensor, &Tensor) -> Result<Tensor>, fn(f64, f64) -> f64, bool);

#[expect(clippy::float_cmp, reason = "the numbers are exact")]
const BINARY_OPERATORS: [BinaryOperator; 11] = [
    ("aten::add.Tensor", |a, b| aten::add(a, b, Scalar::Int(1)), |a, b| a + b, false),
    ("aten::sub.Tensor", |a, b| aten::sub(a, b, Scalar::Int(1)), |a, b| a - b, false),
    ("aten::mul.Tensor", aten::mul, |a, b| a * b, false),
    ("aten::maximum", aten::maximum, f64::max, false),
    ("aten::minimum", aten::minimum, f64::min, false),
    ("aten::eq.Tensor", aten::eq, |a, b| f64::from(u8::from(a == b)), true),
    ("aten::ne.Tensor", aten::ne, |a, b| f64::from(u8::from(a != b)), true),
    ("aten::lt.Tensor", aten::lt, |a, b| f64::from(u8::from(a < b)), true),
    ("aten::le.Tensor", aten::le, |a, b| f64::from(u8::from(a <= b)), true),
    ("aten::gt.Tensor", aten::gt, |a, b| f64::from(u8::from(a > b)), true),
    ("aten::ge.Tensor", aten::ge, |a, b| f64::from(u8::from(a >= b)), true),
];

type UnaryOperator = (&'static str, fn(&Tensor) -> Result<Tensor>, fn(f64) -> f64);

const UNARY_OPERATORS: [UnaryOperator; 3] =
    [("aten::neg", aten::neg, |x| -x), ("aten::relu", aten::relu, |x| x.max(0.0)), ("aten::abs", aten::abs, f64::abs)];

impl RandomWalk {
    pub(crate) fn make_random_call(&mut self) {
        if self.pool.len() < 4 {
            return self.create_tensor();
        }
        match self.random.integer_below(100) {
            0..8 => self.create_tensor(),
            8..12 => self.remove_random_tensor(),
            12..42 => self.call_view_operator(),
            42..44 => self.transpose_in_place(),
            44..56 => self.call_binary_operator(),
            56..60 => self.call_unary_operator(),
            60..64 => self.call_sum(),
            64..68 => self.call_cat(),
            68..76 => self.call_copy_operator(),
            76..88 => self.make_random_write(),
            88..95 => self.call_in_place_operator_with_numbers(),
            _ => self.call_out_operator(),
        }
        if self.random.true_once_in(200) {
            self.check_all_tensors();
        }
    }

    fn remove_random_tensor(&mut self) {
        let at = self.random_pool_index();
        self.pool.swap_remove(at);
    }

    fn create_tensor(&mut self) {
        let dtype = random_dtype(&mut self.random);
        let sizes: Vec<usize> = (0..self.random.integer_below(4)).map(|_| self.random.integer_below(5)).collect();
        let count = sizes.iter().product();
        let elements: Vec<f64> =
            (0..count).map(|_| f64::from(i8::try_from(self.random.integer_between(-3, 3)).unwrap())).collect();
        if let Some(model) = TensorModel::with_own_memory(dtype, &sizes, &elements) {
            self.check_own_memory_and_add_to_pool("from_vec", model::tensor_from_model(&model), model);
        }
    }

    fn call_binary_operator(&mut self) {
        let (a, b, held) = (self.random_handle(), self.random_handle(), self.random_borrow());
        let (operator, call, f, is_bool) = self.random.choose_from(&BINARY_OPERATORS);
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_read(&a.model, held.as_ref());
        mistakes.add_mistakes_of_read(&b.model, held.as_ref());
        let has_bool = a.model.dtype == DType::Bool || b.model.dtype == DType::Bool;
        mistakes.add_if(CallMistake::DType, has_bool && operator == "aten::sub.Tensor");
        let sizes = broadcast_sizes(&a.model.sizes, &b.model.sizes);
        mistakes.add_if(CallMistake::Broadcast, sizes.is_none());
        let Some(elements) = binary_result_elements(&a.model, &b.model, f) else { return };
        let dtype = if is_bool { DType::Bool } else { promoted_dtype(&[&a.model, &b.model]) };
        let result = call_while_borrowed(held.as_ref(), || call(&a.tensor, &b.tensor));
        if let (Some(tensor), Some(sizes)) = (self.check_outcome(operator, &mistakes, result), sizes) {
            self.check_own_memory_and_add_to_pool(
                operator,
                tensor,
                TensorModel::with_own_memory(dtype, &sizes, &elements).unwrap(),
            );
        }
    }

    fn call_unary_operator(&mut self) {
        let (a, held) = (self.random_handle(), self.random_borrow());
        let (operator, call, f) = self.random.choose_from(&UNARY_OPERATORS);
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_read(&a.model, held.as_ref());
        mistakes.add_if(CallMistake::DType, a.model.dtype == DType::Bool && operator == "aten::neg");
        let elements: Vec<f64> = a.model.elements().into_iter().map(f).collect();
        let result = call_while_borrowed(held.as_ref(), || call(&a.tensor));
        if let Some(tensor) = self.check_outcome(operator, &mistakes, result) {
            self.check_own_memory_and_add_to_pool(
                operator,
                tensor,
                TensorModel::with_own_memory(a.model.dtype, &a.model.sizes, &elements).unwrap(),
            );
        }
    }

    fn call_sum(&mut self) {
        let (a, held) = (self.random_handle(), self.random_borrow());
        let rank = a.model.rank();
        let dims: Vec<i64> = (0..self.random.integer_below(3)).map(|_| self.random_dim(rank)).collect();
        let keep = self.random.true_once_in(2);
        let mut mistakes = CallMistakes::default();
        mistakes.add_mistakes_of_read(&a.model, held.as_ref());
        let reduced: Vec<Option<usize>> = dims.iter().map(|&dim| dim_index(dim, rank)).collect();
        mistakes.add_if(CallMistake::Dim, reduced.contains(&None));
        mistakes
            .add_if(CallMistake::RepeatedDim, reduced.len() == 2 && reduced[0] == reduced[1] && reduced[0].is_some());
        let is_reduced = |dim: usize| reduced.is_empty() || reduced.contains(&Some(dim));
        let kept: Vec<usize> =
            a.model.sizes.iter().enumerate().map(|(d, &n)| if is_reduced(d) { 1 } else { n }).collect();
        let mut sums = vec![0.0; kept.iter().product()];
        for (at, x) in all_positions(&a.model.sizes).iter().zip(a.model.elements()) {
            let at: Vec<usize> = at.iter().enumerate().map(|(dim, &i)| if is_reduced(dim) { 0 } else { i }).collect();
            sums[flat_index(&kept, &at)] += x;
        }
        let sizes = kept.iter().enumerate().filter(|&(dim, _)| keep || !is_reduced(dim)).map(|(_, &size)| size);
        let dtype = if a.model.dtype.is_floating() { a.model.dtype } else { DType::I64 };
        let Some(model) = TensorModel::with_own_memory(dtype, &sizes.collect::<Vec<_>>(), &sums) else { return };
        let result = call_while_borrowed(held.as_ref(), || aten::sum_dim_intlist(&a.tensor, Some(&dims), keep, None));
        if let Some(tensor) = self.check_outcome("aten::sum.dim_IntList", &mistakes, result) {
            self.check_own_memory_and_add_to_pool("aten::sum.dim_IntList", tensor, model);
        }
    }

    fn call_cat(&mut self) {
        // Three random tensors rarely have matching sizes.
        let first = self.random_handle();
        let mut all = vec![first];
        for _ in 0..self.random.integer_below(3) {
            let is_same_size = self.random.true_once_in(2);
            let other = if is_same_size { self.handle_of_equal_sizes(&all[0]) } else { self.random_handle() };
            all.push(other);
        }
        let (dim, held) = (self.random_dim(all[0].model.rank()), self.random_borrow());
        let mut mistakes = CallMistakes::default();
        let model = model_of_cat_result(&all, dim, held.as_ref(), &mut mistakes);
        let tensors: Vec<Tensor> = all.iter().map(|entry| entry.tensor.clone()).collect();
        let result = call_while_borrowed(held.as_ref(), || aten::cat(&tensors, dim));
        if let (Some(tensor), Some(model)) = (self.check_outcome("aten::cat", &mistakes, result), model) {
            self.check_own_memory_and_add_to_pool("aten::cat", tensor, model);
        }
    }

    fn handle_of_equal_sizes(&self, entry: &PoolEntry) -> PoolEntry {
        let like = self.pool.iter().rposition(|other| other.model.sizes == entry.model.sizes);
        self.handle_from_pool(like.unwrap_or(0))
    }

    fn call_copy_operator(&mut self) {
        let (a, held) = (self.random_handle(), self.random_borrow());
        let mut mistakes = CallMistakes::default();
        let (to, copies) = (random_dtype(&mut self.random), self.random.true_once_in(4));
        let is_contiguous = a.tensor.geometry().is_contiguous();
        let (operator, dtype, is_copy) = match self.random.integer_below(3) {
            0 => ("aten::to.dtype", to, copies || to != a.model.dtype),
            1 => ("aten::contiguous", a.model.dtype, !is_contiguous),
            _ => ("aten::clone", a.model.dtype, true),
        };
        if is_copy {
            mistakes.add_mistakes_of_read(&a.model, held.as_ref());
        }
        let result = call_while_borrowed(held.as_ref(), || match operator {
            "aten::to.dtype" => aten::to_dtype(&a.tensor, to, false, copies, None),
            "aten::contiguous" => aten::contiguous(&a.tensor, MemoryFormat::Contiguous),
            _ => aten::clone(&a.tensor, None),
        });
        let Some(tensor) = self.check_outcome(operator, &mistakes, result) else { return };
        if is_copy {
            let model =
                TensorModel::with_own_memory(dtype, &a.model.sizes, &a.model.elements_converted_to(dtype)).unwrap();
            self.check_own_memory_and_add_to_pool(operator, tensor, model);
        } else {
            assert!(tensor.same(&a.tensor), "`{operator}` must return its input");
            self.check_and_add_to_pool(operator, tensor, a.model);
        }
    }
}

/// Returns `f` of the elements of two models, broadcast, in the promoted dtype. Without elements if the sizes do not broadcast; `None` if a
/// value is too large for a call.
pub(crate) fn binary_result_elements(a: &TensorModel, b: &TensorModel, f: fn(f64, f64) -> f64) -> Option<Vec<f64>> {
    let Some(sizes) = broadcast_sizes(&a.sizes, &b.sizes) else { return Some(Vec::new()) };
    let dtype = promoted_dtype(&[a, b]);
    let (a, b) =
        (a.broadcast_to(&sizes).elements_converted_to(dtype), b.broadcast_to(&sizes).elements_converted_to(dtype));
    wrap_if_exact(dtype, &a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect::<Vec<_>>())
}

/// Returns the model of the result of `cat`, if the call is valid.
fn model_of_cat_result(
    all: &[PoolEntry],
    dim: i64,
    held: Option<&HeldBorrow>,
    mistakes: &mut CallMistakes,
) -> Option<TensorModel> {
    let parts: Vec<&TensorModel> = all.iter().map(|entry| &entry.model).filter(|model| model.sizes != [0]).collect();
    let first = parts.first().copied().unwrap_or(&all[0].model);
    let at = dim_index(dim, first.rank());
    mistakes.add_if(CallMistake::Dim, at.is_none());
    mistakes.add_if(CallMistake::Rank, first.rank() == 0);
    let at = at.filter(|_| first.rank() > 0)?;
    let fits = |part: &TensorModel| {
        part.rank() == first.rank() && (0..first.rank()).all(|d| d == at || part.sizes[d] == first.sizes[d])
    };
    let all_fit = parts.iter().all(|part| fits(part));
    mistakes.add_if(CallMistake::Sizes, !all_fit);
    for entry in all {
        mistakes.add_mistakes_of_read(&entry.model, held);
    }
    if !all_fit {
        return None;
    }
    let dtype = promoted_dtype(&all.iter().map(|entry| &entry.model).collect::<Vec<_>>());
    let mut sizes = first.sizes.clone();
    sizes[at] = parts.iter().map(|part| part.sizes[at]).sum();
    let mut elements = vec![0.0; sizes.iter().product()];
    let mut start = 0;
    for part in parts {
        for (position, x) in all_positions(&part.sizes).iter_mut().zip(part.elements_converted_to(dtype)) {
            position[at] += start;
            elements[flat_index(&sizes, position)] = x;
        }
        start += part.sizes[at];
    }
    TensorModel::with_own_memory(dtype, &sizes, &elements)
}
