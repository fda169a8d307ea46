//! The model of a tensor: a vector of small integers, which every dtype of the walk represents exactly.

use std::cell::RefCell;
use std::rc::Rc;

use dispatch_runtime::{Bool, DType, Result, Tensor, f16};

/// All dtypes of the walk, in the order of promotion.
pub(crate) const WALK_DTYPES: [DType; 7] =
    [DType::Bool, DType::U8, DType::I32, DType::I64, DType::F16, DType::F32, DType::F64];

/// The largest absolute value of a result, so that `F16` is exact.
const MAX_VALUE: f64 = 1000.0;

pub(crate) type ModelMemory = Rc<RefCell<Vec<f64>>>;

#[derive(Clone, Debug)]
pub(crate) struct TensorModel {
    pub(crate) memory: ModelMemory,
    /// The index of each element in memory, in row-major order.
    pub(crate) positions: Vec<usize>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) dtype: DType,
}

impl TensorModel {
    /// Returns a model with its own memory; `None` if an element is too large.
    pub(crate) fn with_own_memory(dtype: DType, sizes: &[usize], elements: &[f64]) -> Option<Self> {
        let memory = Rc::new(RefCell::new(wrap_if_exact(dtype, elements)?));
        Some(Self { memory, positions: (0..elements.len()).collect(), sizes: sizes.to_vec(), dtype })
    }

    pub(crate) fn elements(&self) -> Vec<f64> {
        let memory = self.memory.borrow();
        self.positions.iter().map(|&place| memory[place]).collect()
    }

    /// Returns the elements, converted to another dtype.
    pub(crate) fn elements_converted_to(&self, dtype: DType) -> Vec<f64> {
        self.elements().into_iter().map(|x| wrap_to_dtype(dtype, x)).collect()
    }

    /// Replaces the elements of the model with elements that [`wrap_if_exact`] has converted.
    pub(crate) fn write_elements(&self, elements: &[f64]) {
        let mut memory = self.memory.borrow_mut();
        self.positions.iter().zip(elements).for_each(|(&place, &element)| memory[place] = element);
    }

    /// Returns a view of these sizes; `from` returns the position in `self` for a position in the view.
    pub(crate) fn view(&self, sizes: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let positions =
            all_positions(sizes).iter().map(|at| self.positions[flat_index(&self.sizes, &from(at))]).collect();
        Self { memory: self.memory.clone(), positions, sizes: sizes.to_vec(), dtype: self.dtype }
    }

    /// Returns a view with other sizes and equally many elements.
    pub(crate) fn reshaped(&self, sizes: Vec<usize>) -> Self {
        Self { sizes, ..self.clone() }
    }

    /// Returns a view broadcast to these sizes.
    pub(crate) fn broadcast_to(&self, sizes: &[usize]) -> Self {
        let new = sizes.len() - self.sizes.len();
        let own = &self.sizes;
        self.view(sizes, |at| (0..own.len()).map(|dim| if own[dim] == 1 { 0 } else { at[new + dim] }).collect())
    }

    pub(crate) fn shares_memory_with(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.memory, &other.memory)
    }

    /// Returns whether the two models have an element in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.shares_memory_with(other) && self.positions.iter().any(|place| other.positions.contains(place))
    }

    /// Returns whether two positions of this model are the same element in memory.
    pub(crate) fn overlaps_itself(&self) -> bool {
        self.positions.iter().enumerate().any(|(i, place)| self.positions[..i].contains(place))
    }

    pub(crate) fn rank(&self) -> usize {
        self.sizes.len()
    }

    pub(crate) fn sizes_as_i64(&self) -> Vec<i64> {
        self.sizes.iter().map(|&size| i64::try_from(size).unwrap()).collect()
    }
}

/// Returns elements as they are stored in this dtype; `None` if one is too large to be exact in every dtype.
pub(crate) fn wrap_if_exact(dtype: DType, elements: &[f64]) -> Option<Vec<f64>> {
    elements.iter().map(|&x| (x.abs() <= MAX_VALUE).then(|| wrap_to_dtype(dtype, x))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "conversions to `u8` wrap")]
pub(crate) fn wrap_to_dtype(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::Bool => f64::from(u8::from(x != 0.0)),
        DType::U8 => f64::from(x as i64 as u8),
        _ => x,
    }
}

/// Returns the promoted dtype. Operands without dimensions decide only if their kind of dtype is higher.
pub(crate) fn promoted_dtype(models: &[&TensorModel]) -> DType {
    let of_rank = |has_dims: bool| {
        let operands = models.iter().filter(|model| (model.rank() > 0) == has_dims);
        operands.map(|model| model.dtype).max_by_key(|&dtype| promotion_order(dtype))
    };
    match (of_rank(true), of_rank(false)) {
        (Some(high), Some(low)) if dtype_kind(low) > dtype_kind(high) => low,
        (Some(high), _) => high,
        (None, low) => low.unwrap_or(DType::F32),
    }
}

fn promotion_order(dtype: DType) -> usize {
    WALK_DTYPES.iter().position(|&other| other == dtype).unwrap()
}

/// Returns the kind of a dtype, in the order of promotion: boolean, integer, floating-point.
pub(crate) fn dtype_kind(dtype: DType) -> u8 {
    match dtype {
        DType::Bool => 0,
        dtype => 1 + u8::from(dtype.is_floating()),
    }
}

/// Returns the sizes to which two lists of sizes broadcast.
pub(crate) fn broadcast_sizes(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let size = |sizes: &[usize], dim: usize| (dim + sizes.len()).checked_sub(rank).map_or(1, |dim| sizes[dim]);
    (0..rank)
        .map(|dim| match (size(a, dim), size(b, dim)) {
            (x, y) if x == y || y == 1 => Some(x),
            (1, y) => Some(y),
            _ => None,
        })
        .collect()
}

/// Returns all positions of a tensor of these sizes, in row-major order.
pub(crate) fn all_positions(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![Vec::new()], |outer, &size| {
        let inner = outer.iter().flat_map(|at| (0..size).map(move |i| [&at[..], &[i]].concat()));
        inner.collect()
    })
}

/// Returns the row-major index of a position.
pub(crate) fn flat_index(sizes: &[usize], at: &[usize]) -> usize {
    sizes.iter().zip(at).fold(0, |flat, (size, at)| flat * size + at)
}

/// Returns a tensor with the model's elements.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the elements are small and whole")]
pub(crate) fn tensor_from_model(model: &TensorModel) -> Tensor {
    let (elements, sizes) = (model.elements().into_iter(), model.sizes_as_i64());
    let tensor = match model.dtype {
        DType::Bool => Tensor::from_vec(elements.map(|x| Bool::from(x != 0.0)).collect(), &sizes),
        DType::U8 => Tensor::from_vec(elements.map(|x| x as u8).collect(), &sizes),
        DType::I32 => Tensor::from_vec(elements.map(|x| x as i32).collect(), &sizes),
        DType::I64 => Tensor::from_vec(elements.map(|x| x as i64).collect(), &sizes),
        DType::F16 => Tensor::from_vec(elements.map(f16::from_f64).collect(), &sizes),
        DType::F32 => Tensor::from_vec(elements.map(|x| x as f32).collect(), &sizes),
        _ => Tensor::from_vec(elements.collect(), &sizes),
    };
    tensor.unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "the elements are small")]
pub(crate) fn elements_of_tensor(tensor: &Tensor) -> Result<Vec<f64>> {
    Ok(match tensor.dtype() {
        DType::Bool => tensor.to_vec::<Bool>()?.into_iter().map(|x| f64::from(u8::from(bool::from(x)))).collect(),
        DType::U8 => tensor.to_vec::<u8>()?.into_iter().map(f64::from).collect(),
        DType::I32 => tensor.to_vec::<i32>()?.into_iter().map(f64::from).collect(),
        DType::I64 => tensor.to_vec::<i64>()?.into_iter().map(|x| x as f64).collect(),
        DType::F16 => tensor.to_vec::<f16>()?.into_iter().map(f64::from).collect(),
        DType::F32 => tensor.to_vec::<f32>()?.into_iter().map(f64::from).collect(),
        _ => tensor.to_vec::<f64>()?,
    })
}
