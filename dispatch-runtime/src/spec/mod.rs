//! What a tensor will be before it has memory: the language that shape rules speak.

mod promotion;

use std::borrow::Cow;

use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::key::Device;
use crate::memory::Storage;
use crate::scalar::DType;
use crate::tensor::{Dims, Geometry, OutOfStorage, Tensor};

pub(crate) use promotion::Ranks;
pub use promotion::result_dtype;

/// A dtype and a geometry: what a shape rule finds, Meta makes a shape of, and a backend allocates.
///
/// ```
/// use dispatch_runtime::{DType, Device, Spec};
/// let matrix = Spec::contiguous(DType::F64, &[2, 3]);
/// assert_eq!(matrix.on(Device::META).unwrap().sizes(), [2, 3]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The type of the elements.
    pub dtype: DType,
    /// Their places, from the start of a storage of the tensor's own.
    pub geometry: Geometry,
}

impl Spec {
    /// Elements side by side.
    #[must_use]
    #[inline]
    pub fn contiguous(dtype: DType, sizes: &[i64]) -> Self {
        Self { dtype, geometry: Geometry::contiguous(sizes) }
    }

    /// A tensor of this kind, whose elements are whatever the memory holds.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Device, Geometry, Spec};
    /// let geometry = Geometry::contiguous(&[2, 3]);
    /// let spec = Spec { dtype: DType::F32, geometry: geometry.clone() };
    /// assert_eq!(spec.on(Device::CPU).unwrap().storage().size(), 24);
    /// // The storage is the tensor's own, so its first element is the first one there.
    /// assert!(Spec { dtype: DType::F32, geometry: geometry.at(1) }.on(Device::CPU).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is negative or the geometry has an offset, [`OutOfStorage`] if it reaches further than any memory,
    /// [`OutOfMemory`](crate::OutOfMemory) or the backend's own error if there is no such block of memory, and
    /// [`ErrorKind::WrongStorage`] if the backend gives a smaller block or one of another backend.
    #[inline]
    pub fn on(self, device: Device) -> Result<Tensor> {
        Tensor::allocate(self.dtype, &self.geometry, device)
    }

    /// The result of an elementwise operator of one tensor: it has the tensor's strides if these leave no gaps.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Geometry, Spec, Tensor};
    /// let turned = Tensor::from_slice(&[1.0_f32; 6]).restride(Geometry::strided(&[2, 3], &[1, 2], 0).unwrap()).unwrap();
    /// assert_eq!(Spec::like(&turned, DType::Bool).geometry.strides(), [1, 2]);
    /// ```
    #[must_use]
    pub fn like(tensor: &Tensor, dtype: DType) -> Self {
        let geometry = common_geometry(&[tensor]).unwrap_or_else(|| as_nested(&[tensor], tensor.sizes()));
        Self { dtype, geometry }
    }

    /// What an elementwise operator makes of these operands, laid out in memory as they are.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Spec, Tensor, Geometry};
    /// let row = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
    /// let column = Tensor::from_slice(&[1_u8, 2]).restride(Geometry::contiguous(&[2, 1])).unwrap();
    /// let spec = Spec::pointwise(&[&row, &column], DType::F32).unwrap();
    /// assert_eq!(spec.geometry.sizes(), [2, 3]);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`OperandError`] if the sizes do not broadcast.
    pub fn pointwise(operands: &[&Tensor], dtype: DType) -> Result<Self, OperandError> {
        let [first, rest @ ..] = operands else { return Ok(Self::contiguous(dtype, &[])) };
        let all_same = rest.iter().all(|operand| operand.sizes() == first.sizes());
        if all_same && let Some(geometry) = common_geometry(operands) {
            return Ok(Self { dtype, geometry });
        }
        let sizes =
            if all_same { Dims::from_slice(first.sizes()) } else { broadcast(operands.iter().map(|t| t.sizes()))? };
        Ok(Self { dtype, geometry: as_nested(operands, &sizes) })
    }
}

/// The sizes that all of these stretch to.
///
/// ```
/// use dispatch_runtime::broadcast;
/// assert_eq!(broadcast([&[3_i64, 1][..], &[4]]).unwrap()[..], [3, 4]);
/// assert!(broadcast([&[3_i64][..], &[4]]).is_err());
/// ```
///
/// # Errors
///
/// Returns [`OperandError`] if two sizes differ and neither is 1.
pub fn broadcast<'a>(all: impl IntoIterator<Item = &'a [i64]>) -> Result<Dims, OperandError> {
    let mut sizes = Dims::new();
    for (number, operand) in all.into_iter().enumerate() {
        while sizes.len() < operand.len() {
            sizes.insert(0, 1);
        }
        let skipped = sizes.len() - operand.len();
        for at in 0..operand.len() {
            match (sizes[skipped + at], operand[at]) {
                (known, size) if known == size || size == 1 => {}
                (1, size) => sizes[skipped + at] = size,
                _ => {
                    let problem = Problem::Broadcast { sizes: operand.to_vec(), with: sizes.to_vec() };
                    return Err(OperandError { operand: number, problem });
                }
            }
        }
    }
    Ok(sizes)
}

/// A mistake in one of several operands.
///
/// ```
/// use dispatch_runtime::broadcast;
/// let error = broadcast([&[3_i64][..], &[4]]).unwrap_err();
/// assert_eq!(error.operand, 1);
/// assert!(error.of("other").to_string().starts_with("argument `other` has sizes [4]"));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct OperandError {
    /// The number of the operand, from 0 on.
    pub operand: usize,
    /// The mistake.
    pub problem: Problem,
}

impl OperandError {
    /// The mistake as one in the argument of this name.
    #[cold]
    #[must_use]
    pub fn of(self, argument: impl Into<Cow<'static, str>>) -> BadArgument {
        BadArgument::new(argument, self.problem)
    }
}

/// For code that knows no names.
impl From<OperandError> for BadArgument {
    #[cold]
    fn from(error: OperandError) -> Self {
        let argument = format!("operand {}", error.operand);
        error.of(argument)
    }
}

impl From<OperandError> for Error {
    #[cold]
    fn from(error: OperandError) -> Self {
        BadArgument::from(error).into()
    }
}

/// The strides with which a tensor of these sizes walks as one of `sizes`, to which it broadcasts.
///
/// ```
/// use dispatch_runtime::{Geometry, broadcast_strides};
/// let column = Geometry::contiguous(&[3, 1]);
/// assert_eq!(broadcast_strides(&column, &[2, 3, 4])[..], [0, 1, 0]);
/// ```
#[must_use]
pub fn broadcast_strides(geometry: &Geometry, sizes: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(0, sizes.len());
    let steps = geometry.sizes().iter().zip(geometry.strides()).rev();
    for ((to, &wanted), (&size, &stride)) in strides.iter_mut().zip(sizes).rev().zip(steps) {
        if size != 1 || wanted == 1 {
            *to = stride;
        }
    }
    strides
}

/// What operands of the same sizes agree on, if it leaves no gaps.
fn common_geometry(operands: &[&Tensor]) -> Option<Geometry> {
    use crate::scalar::MemoryFormat::{ChannelsLast, ChannelsLast3d};
    let first = operands[0].geometry();
    if operands.iter().all(|operand| operand.geometry().is_contiguous()) {
        return Some(Geometry::contiguous(first.sizes()));
    }
    for format in [ChannelsLast, ChannelsLast3d] {
        if operands.iter().all(|operand| operand.geometry().is_in_format(format)) {
            return Geometry::in_format(first.sizes(), format);
        }
    }
    let agree = operands.iter().all(|operand| operand.strides() == first.strides() && operand.geometry().is_dense());
    if agree { Geometry::strided(first.sizes(), first.strides(), 0) } else { None }
}

/// A dense geometry whose dimensions are nested as the operands' are, the first operand having the first say.
fn as_nested(operands: &[&Tensor], sizes: &[i64]) -> Geometry {
    let strides: Vec<(Dims, i64)> = operands
        .iter()
        .map(|operand| {
            (broadcast_strides(operand.geometry(), sizes), i64::try_from(operand.dtype().size()).unwrap_or(1))
        })
        .collect();
    let order = nesting(sizes, strides.iter().map(|(strides, size)| (&strides[..], *size)));
    if order.iter().rev().copied().eq(0..sizes.len()) {
        return Geometry::contiguous(sizes);
    }
    let mut dense = Dims::from_elem(1, sizes.len());
    let mut stride: i64 = 1;
    for dim in order {
        dense[dim] = stride;
        stride = stride.saturating_mul(sizes[dim]);
    }
    Geometry::strided(sizes, &dense, 0).unwrap_or_else(|| Geometry::contiguous(sizes))
}

/// The dimensions from the innermost outwards, as the strides have it; where they do not say, the last is innermost.
#[expect(clippy::needless_pass_by_value, reason = "an iterator is passed by value")]
pub fn nesting<'a>(sizes: &[i64], strides: impl Iterator<Item = (&'a [i64], i64)> + Clone) -> Order {
    let mut order: Order = (0..sizes.len()).rev().collect();
    let outside = |inner: usize, outer: usize| {
        for (strides, element) in strides.clone() {
            let step = |dim: usize| strides.get(dim).map_or(0, |stride| stride.saturating_mul(element));
            let (a, b) = (step(inner), step(outer));
            match a.cmp(&b) {
                _ if a == 0 || b == 0 => {}
                std::cmp::Ordering::Less => return Some(false),
                std::cmp::Ordering::Greater => return Some(true),
                std::cmp::Ordering::Equal if sizes[inner] > sizes[outer] => return Some(true),
                std::cmp::Ordering::Equal => {}
            }
        }
        None
    };
    // An insertion sort, because "undecided" is not an order: a pair that no operand decides is passed over.
    for start in 1..order.len() {
        let mut moving = start;
        for at in (0..start).rev() {
            match outside(order[at], order[moving]) {
                Some(true) => {
                    order.swap(at, moving);
                    moving = at;
                }
                Some(false) => break,
                None => {}
            }
        }
    }
    order
}

/// Dimensions by number, in some order.
pub type Order = smallvec::SmallVec<[usize; 5]>;

/// The dimension that `dim` names, counted from the end where it is negative.
///
/// ```
/// use dispatch_runtime::wrap_dim;
/// assert_eq!(wrap_dim("dim", -1, 3), Ok(2));
/// assert!(wrap_dim("dim", 3, 3).is_err());
/// ```
///
/// # Errors
///
/// Where there is no such dimension. A tensor without dimensions takes 0 and -1.
pub fn wrap_dim(argument: &'static str, dim: i64, rank: usize) -> Result<usize, BadArgument> {
    let count = i64::try_from(rank.max(1)).unwrap_or(i64::MAX);
    let wrapped = if dim < 0 { dim.saturating_add(count) } else { dim };
    if (0..count).contains(&wrapped) {
        Ok(usize::try_from(wrapped).unwrap_or(0))
    } else {
        Err(BadArgument::new(argument, Problem::Dim { dim, rank }))
    }
}

impl Tensor {
    /// A fresh tensor on the same device, of the same sizes and of this dtype, whose elements lie side by side and are whatever its
    /// memory holds.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Tensor};
    /// let mask = Tensor::from_slice(&[1.0_f32, 2.0]).fresh_like(DType::Bool).unwrap();
    /// assert_eq!((mask.sizes(), mask.dtype()), (&[2_i64][..], DType::Bool));
    /// ```
    #[inline]
    pub fn fresh_like(&self, dtype: DType) -> Result<Self> {
        let geometry = self.geometry();
        if geometry.is_canonical() && geometry.offset() == 0 {
            Self::allocate(dtype, geometry, self.device())
        } else {
            self.fresh_side_by_side(dtype)
        }
    }

    #[cold]
    fn fresh_side_by_side(&self, dtype: DType) -> Result<Self> {
        Self::allocate(dtype, &Geometry::contiguous(self.sizes()), self.device())
    }

    /// A tensor whose elements are whatever its memory holds.
    pub(crate) fn allocate(dtype: DType, geometry: &Geometry, device: Device) -> Result<Self> {
        let count = usize::try_from(geometry.count()).ok().and_then(|count| count.checked_mul(dtype.size()));
        let bytes = match count {
            Some(bytes @ 1..) if geometry.is_canonical() && geometry.offset() == 0 => bytes,
            _ => strided_bytes(dtype, geometry)?,
        };
        // All indices of the CPU are the same device.
        if device.backend() == Device::CPU.backend() {
            return Ok(Self::over(Storage::recycled(bytes)?, dtype, geometry, Device::CPU));
        }
        Self::allocate_elsewhere(dtype, geometry, device, bytes)
    }

    #[inline(never)]
    fn allocate_elsewhere(dtype: DType, geometry: &Geometry, device: Device, bytes: usize) -> Result<Self> {
        if device.backend() == Device::META.backend() {
            geometry.bytes(dtype).ok_or_else(|| OutOfStorage::nowhere(dtype, geometry))?;
            return Ok(Self::over(Storage::meta(bytes), dtype, geometry, Device::META));
        }
        let storage = device.available_memory()?.allocate(device, bytes)?;
        let found = storage.device();
        if found.backend() != device.backend() || storage.size() < bytes {
            return Err(ErrorKind::WrongStorage { device, size: bytes, found, available: storage.size() }.into());
        }
        Ok(Self::over(storage, dtype, geometry, found))
    }
}

/// How many bytes of a storage of its own a tensor takes that is not simply some elements side by side.
#[inline(never)]
fn strided_bytes(dtype: DType, geometry: &Geometry) -> Result<usize> {
    if geometry.sizes().iter().any(|&size| size < 0) {
        return Err(BadArgument::sizes("size", geometry.sizes(), "no negative size").into());
    }
    if geometry.offset() != 0 {
        let reason = "a new tensor begins where its storage begins";
        return Err(BadArgument::number("storage_offset", geometry.offset(), 0).because(reason).into());
    }
    let bytes = geometry.bytes(dtype).ok_or_else(|| OutOfStorage::nowhere(dtype, geometry))?;
    Ok(if geometry.count() == 0 { 0 } else { bytes })
}

/// The dtype of an elementwise computation, given its operands and how it treats them.
///
/// ```
/// use dispatch_runtime::{DType, Promotion, Tensor};
/// let ints = Tensor::from_slice(&[1_i64]);
/// assert_eq!(Promotion::Float.of(&[&ints]), DType::F32);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promotion {
    /// The dtype that all operands promote to.
    Common,
    /// The same, made floating where it has no fraction.
    Float,
    /// That of the first operand.
    First,
    /// The dtype that all operands promote to, and where it is complex, that of its parts.
    Real,
    /// Integers and booleans are counted in 64 bits.
    Sum,
    /// Truth.
    Bool,
    /// Positions.
    Index,
}

impl Promotion {
    /// The dtype of the result.
    #[must_use]
    #[inline]
    pub fn of(self, operands: &[&Tensor]) -> DType {
        self.gives(self.computes_in(operands))
    }

    /// The dtype of the result of what is computed in `computed`.
    #[must_use]
    #[inline]
    pub const fn gives(self, computed: DType) -> DType {
        match self {
            Self::Bool => DType::Bool,
            Self::Index => DType::I64,
            Self::Real => computed.to_real(),
            _ => computed,
        }
    }

    /// The dtype to compute in.
    #[must_use]
    #[inline]
    pub fn computes_in(self, operands: &[&Tensor]) -> DType {
        let common = match (self, operands) {
            (_, [one]) | (Self::First, [one, ..]) => one.dtype(),
            (_, [a, b]) => promotion::result_dtype_of_two(a, b),
            _ => {
                let mut ranks = Ranks::default();
                for operand in operands {
                    ranks.add(operand);
                }
                ranks.result()
            }
        };
        match self {
            Self::Float => common.to_floating(),
            Self::Sum if common.is_integral() || common == DType::Bool => DType::I64,
            _ => common,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_for_sizes_that_do_not_fit_are_given_for_the_dimensions_that_there_are() {
        let geometry = Geometry::contiguous(&[2, 3, 4]);
        assert_eq!(broadcast_strides(&geometry, &[3, 4])[..], [4, 1]);
        assert_eq!(broadcast_strides(&geometry, &[])[..], []);
    }

    #[test]
    fn dimensions_without_a_stride_and_strides_that_are_too_large_are_ordered_all_the_same() {
        let strides: [&[i64]; 2] = [&[1], &[i64::MAX, 1, i64::MAX]];
        let order = nesting(&[2, 3, 4], strides.into_iter().map(|strides| (strides, 16)));
        let mut named = order.to_vec();
        named.sort_unstable();
        assert_eq!(named, [0, 1, 2]);
    }
}
