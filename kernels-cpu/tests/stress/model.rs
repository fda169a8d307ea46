//! What a tensor should be: plain vectors of small whole numbers, which every dtype of the walk holds exactly.

use std::cell::RefCell;
use std::rc::Rc;

use dispatch_runtime::{Bool, DType, Result, Tensor, f16};

/// In the order in which they promote.
pub(crate) const DTYPES: [DType; 7] =
    [DType::Bool, DType::U8, DType::I32, DType::I64, DType::F16, DType::F32, DType::F64];

/// Results beyond this are not asked for, so that even half precision is exact.
const LARGEST: f64 = 1000.0;

pub(crate) type Memory = Rc<RefCell<Vec<f64>>>;

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) memory: Memory,
    /// Where each element is, the last dimension fastest.
    pub(crate) places: Vec<usize>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) dtype: DType,
}

impl Model {
    /// One with memory of its own. None where a number is too large.
    pub(crate) fn fresh(dtype: DType, sizes: &[usize], elements: &[f64]) -> Option<Self> {
        let memory = Rc::new(RefCell::new(stored(dtype, elements)?));
        Some(Self { memory, places: (0..elements.len()).collect(), sizes: sizes.to_vec(), dtype })
    }

    pub(crate) fn elements(&self) -> Vec<f64> {
        let memory = self.memory.borrow();
        self.places.iter().map(|&place| memory[place]).collect()
    }

    /// The elements as another dtype has them.
    pub(crate) fn elements_as(&self, dtype: DType) -> Vec<f64> {
        self.elements().into_iter().map(|x| wrapped(dtype, x)).collect()
    }

    /// Writes elements that [`stored`] has made fit.
    pub(crate) fn write(&self, elements: &[f64]) {
        let mut memory = self.memory.borrow_mut();
        self.places.iter().zip(elements).for_each(|(&place, &element)| memory[place] = element);
    }

    /// A view of these sizes; `from` says which of the elements is at a position.
    pub(crate) fn view(&self, sizes: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let places = positions(sizes).iter().map(|at| self.places[flat(&self.sizes, &from(at))]).collect();
        Self { memory: self.memory.clone(), places, sizes: sizes.to_vec(), dtype: self.dtype }
    }

    /// The same elements in other sizes that multiply to as many.
    pub(crate) fn reshaped(&self, sizes: Vec<usize>) -> Self {
        Self { sizes, ..self.clone() }
    }

    /// A view of sizes that these broadcast to.
    pub(crate) fn stretched(&self, sizes: &[usize]) -> Self {
        let new = sizes.len() - self.sizes.len();
        let own = &self.sizes;
        self.view(sizes, |at| (0..own.len()).map(|dim| if own[dim] == 1 { 0 } else { at[new + dim] }).collect())
    }

    pub(crate) fn shares_memory_with(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.memory, &other.memory)
    }

    /// Whether some element is in both.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.shares_memory_with(other) && self.places.iter().any(|place| other.places.contains(place))
    }

    /// Whether an element comes twice.
    pub(crate) fn meets_itself(&self) -> bool {
        self.places.iter().enumerate().any(|(i, place)| self.places[..i].contains(place))
    }

    pub(crate) fn rank(&self) -> usize {
        self.sizes.len()
    }

    pub(crate) fn size_list(&self) -> Vec<i64> {
        self.sizes.iter().map(|&size| i64::try_from(size).unwrap()).collect()
    }
}

/// What memory of this dtype holds after these are written. None where a number is too large to be exact everywhere.
pub(crate) fn stored(dtype: DType, elements: &[f64]) -> Option<Vec<f64>> {
    elements.iter().map(|&x| (x.abs() <= LARGEST).then(|| wrapped(dtype, x))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes wrap")]
pub(crate) fn wrapped(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::Bool => f64::from(u8::from(x != 0.0)),
        DType::U8 => f64::from(x as i64 as u8),
        _ => x,
    }
}

/// The dtype of a computation: a rank of operands decides only where it is of a higher kind than those above it.
pub(crate) fn promoted(models: &[&Model]) -> DType {
    let of_rank = |has_dims: bool| {
        let operands = models.iter().filter(|model| (model.rank() > 0) == has_dims);
        operands.map(|model| model.dtype).max_by_key(|&dtype| order(dtype))
    };
    match (of_rank(true), of_rank(false)) {
        (Some(high), Some(low)) if kind(low) > kind(high) => low,
        (Some(high), _) => high,
        (None, low) => low.unwrap_or(DType::F32),
    }
}

fn order(dtype: DType) -> usize {
    DTYPES.iter().position(|&other| other == dtype).unwrap()
}

/// Truth, whole numbers, and numbers with a fraction: each goes into those behind it.
pub(crate) fn kind(dtype: DType) -> u8 {
    match dtype {
        DType::Bool => 0,
        dtype => 1 + u8::from(dtype.is_floating()),
    }
}

/// The sizes that both stretch to.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
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

/// Every position, the last dimension fastest.
pub(crate) fn positions(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![Vec::new()], |outer, &size| {
        let inner = outer.iter().flat_map(|at| (0..size).map(move |i| [&at[..], &[i]].concat()));
        inner.collect()
    })
}

/// The number of a position.
pub(crate) fn flat(sizes: &[usize], at: &[usize]) -> usize {
    sizes.iter().zip(at).fold(0, |flat, (size, at)| flat * size + at)
}

/// A tensor of these elements.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the elements are small and whole")]
pub(crate) fn tensor(model: &Model) -> Tensor {
    let (elements, sizes) = (model.elements().into_iter(), model.size_list());
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
pub(crate) fn elements(tensor: &Tensor) -> Result<Vec<f64>> {
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
