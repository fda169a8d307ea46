//! Specs: the dtype and geometry of results, with broadcasting and type promotion.

mod broadcast;
mod float8;
mod promotion;
mod shape_word;

use crate::error::Result;
use crate::scalar::DType;
use crate::tensor::{Dims, Geometry, Tensor};

pub use broadcast::{OperandError, broadcast, broadcast_strides, wrap_dim};
pub use float8::{check_float8_operands, check_not_float8};
pub(crate) use promotion::PromotionState;
pub use promotion::{Promotion, result_dtype};
pub use shape_word::ShapeWord;

/// The dtype and geometry of a tensor that has no memory yet. A plan computes it, and Meta or a backend creates the tensor.
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
    /// The sizes and strides. The offset is 0, because the tensor gets a storage of its own.
    pub geometry: Geometry,
}

impl Spec {
    /// Creates the spec of a contiguous tensor.
    #[must_use]
    #[inline]
    pub fn contiguous(dtype: DType, sizes: &[i64]) -> Self {
        Self { dtype, geometry: Geometry::contiguous(sizes) }
    }

    /// Returns the spec of the result of an elementwise operator of one tensor. It has the tensor's strides if these leave no gaps.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Geometry, Spec, Tensor};
    /// let turned = Tensor::from_slice(&[1.0_f32; 6]).restride(Geometry::strided(&[2, 3], &[1, 2], 0).unwrap()).unwrap();
    /// assert_eq!(Spec::like(&turned, DType::Bool).geometry.strides(), [1, 2]);
    /// ```
    #[must_use]
    pub fn like(tensor: &Tensor, dtype: DType) -> Self {
        let geometry =
            common_geometry(&[tensor]).unwrap_or_else(|| dense_geometry_in_order_of(&[tensor], tensor.sizes()));
        Self { dtype, geometry }
    }

    /// Returns the spec of the result of an elementwise operator: the sizes that the operands broadcast to, and strides in the order of the
    /// operands'.
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
        Ok(Self { dtype, geometry: dense_geometry_in_order_of(operands, &sizes) })
    }
}

/// Returns the geometry that operands of equal sizes have in common, if it leaves no gaps.
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

/// Returns a dense geometry whose dimensions have the same order in memory as those of the operands. If operands disagree, the first one
/// decides.
fn dense_geometry_in_order_of(operands: &[&Tensor], sizes: &[i64]) -> Geometry {
    let strides: Vec<(Dims, i64)> = operands
        .iter()
        .map(|operand| {
            (broadcast_strides(operand.geometry(), sizes), i64::try_from(operand.dtype().size()).unwrap_or(1))
        })
        .collect();
    let order = dims_by_stride(sizes, strides.iter().map(|(strides, size)| (&strides[..], *size)));
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

/// Sorts dimensions by stride, the innermost first. `strides` has the strides and the element size of each operand. If they do not decide,
/// the later dimension is further inside.
#[expect(clippy::needless_pass_by_value, reason = "an iterator is passed by value")]
pub fn dims_by_stride<'a>(sizes: &[i64], strides: impl Iterator<Item = (&'a [i64], i64)> + Clone) -> DimOrder {
    let mut order: DimOrder = (0..sizes.len()).rev().collect();
    let is_outside = |inner: usize, outer: usize| {
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
    // An insertion sort, because the comparison is only partial: a pair that no operand decides is skipped.
    for start in 1..order.len() {
        let mut moving = start;
        for at in (0..start).rev() {
            match is_outside(order[at], order[moving]) {
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

/// An order of dimensions, as a list of their indices.
pub type DimOrder = smallvec::SmallVec<[usize; 5]>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dims_by_stride_accepts_missing_and_overflowing_strides() {
        let strides: [&[i64]; 2] = [&[1], &[i64::MAX, 1, i64::MAX]];
        let order = dims_by_stride(&[2, 3, 4], strides.into_iter().map(|strides| (strides, 16)));
        let mut named = order.to_vec();
        named.sort_unstable();
        assert_eq!(named, [0, 1, 2]);
    }
}
