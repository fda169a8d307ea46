//! Reductions into elements that have the same index: sums, products, means, minima and maxima.

use aten::ReductionType;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Geometry, Spec};

use crate::index_pairs::combine_along;
use crate::scatter::broadcast_number_to_index;
use engine::compute::ComputeType;
use engine::convert::compute_dtype;
use engine::data_movement::{AxisOffsets, CopyAxis, combine_along_axes, copy_elements, to_contiguous};
use engine::fill::fill;
use engine::inlined::inlined;
use engine::reduce::with_compute_type;

/// The operations of reductions besides arithmetic.
pub(super) trait ReducibleElement: ComputeType {
    const MIN_VALUE: Self;
    const MAX_VALUE: Self;

    fn maximum(self, other: Self) -> Self;
    fn minimum(self, other: Self) -> Self;
    fn divided_by_count(self, count: i64) -> Self;
}

inlined! {
    impl ReducibleElement for f32, f64 {
        const MIN_VALUE: Self = Self::NEG_INFINITY;
        const MAX_VALUE: Self = Self::INFINITY;
        fn maximum(self, other: Self) -> Self = if self.is_nan() || self > other { self } else { other };
        fn minimum(self, other: Self) -> Self = if self.is_nan() || self < other { self } else { other };
        fn divided_by_count(self, count: i64) -> Self = self / Self::from_scalar(count.into());
    }

    impl ReducibleElement for i64 {
        const MIN_VALUE: Self = Self::MIN;
        const MAX_VALUE: Self = Self::MAX;
        fn maximum(self, other: Self) -> Self = self.max(other);
        fn minimum(self, other: Self) -> Self = self.min(other);
        fn divided_by_count(self, count: i64) -> Self = self.div_euclid(count);
    }

    // Complex numbers have no order; plans refuse minima and maxima of them.
    impl ReducibleElement for Complex32, Complex64 {
        const MIN_VALUE: Self = Self::ZERO;
        const MAX_VALUE: Self = Self::ZERO;
        fn maximum(self, other: Self) -> Self = self.plus(other);
        fn minimum(self, other: Self) -> Self = self.plus(other);
        fn divided_by_count(self, count: i64) -> Self = self / Self::from_scalar(count.into());
    }
}

/// The elements of a tensor with which other elements are combined.
pub(super) enum ReductionTarget<'a> {
    /// The elements that these dimensions of a copy reach.
    Axes(&'a [CopyAxis]),
    /// The elements that an index selects along a dimension.
    Index(usize, &'a Tensor),
}

impl ReductionTarget<'_> {
    fn combine<T: ComputeType>(&self, out: &mut Tensor, from: &Tensor, f: impl Fn(T, T) -> T + Sync) -> Result<()> {
        match self {
            Self::Axes(axes) => combine_along_axes(out, from, axes, f),
            Self::Index(at, index) => combine_along(out, *at, index, from, f),
        }
    }

    /// Combines every element of the destination with one number.
    fn combine_with_number<T: ComputeType>(
        &self,
        out: &mut Tensor,
        number: T,
        f: impl Fn(T, T) -> T + Sync,
    ) -> Result<()> {
        let from = Tensor::from_slice(&[number]);
        match self {
            Self::Axes(axes) => {
                let axes: Vec<CopyAxis> =
                    axes.iter().map(|axis| CopyAxis { from: AxisOffsets::Stride(0), ..axis.clone() }).collect();
                combine_along_axes(out, &from, &axes, f)
            }
            Self::Index(at, index) => combine_along(out, *at, index, &broadcast_number_to_index(&from, index)?, f),
        }
    }
}

/// Writes `this`, reduced with the elements of `from`, to `out`. `from` must be [`to_compute_dtype`].
pub(super) fn reduce_into(
    out: &mut Tensor,
    this: &Tensor,
    from: &Tensor,
    target: &ReductionTarget<'_>,
    reduce: ReductionType,
    include: bool,
) -> Result<()> {
    let computed = compute_dtype(out.dtype());
    if out.dtype() != computed {
        let mut sum = Spec { dtype: computed, geometry: out.geometry().clone().with_offset(0) }.on(out.device())?;
        reduce_into(&mut sum, this, from, target, reduce, include)?;
        return copy_elements(out, &sum);
    }
    copy_elements(out, this)?;
    with_compute_type!(aten::scatter_reduce, computed, T: [f32, f64, Complex32, Complex64, i64] =>
        reduce_elements::<T>(out, from, target, reduce, include))
}

/// Writes the sums of `this` and the elements of `from` along `axes` to `out`. `from` must be [`to_compute_dtype`].
pub fn add_along_axes(out: &mut Tensor, this: &Tensor, from: &Tensor, axes: &[CopyAxis]) -> Result<()> {
    reduce_into(out, this, from, &ReductionTarget::Axes(axes), ReductionType::Sum, true)
}

/// Returns the tensor itself if its dtype is one that loops compute in, otherwise a converted copy.
pub fn to_compute_dtype(tensor: &Tensor) -> Result<Tensor> {
    let computed = compute_dtype(tensor.dtype());
    if tensor.dtype() == computed { Ok(tensor.clone()) } else { to_contiguous(tensor, computed) }
}

fn reduce_elements<T: ReducibleElement>(
    out: &mut Tensor,
    from: &Tensor,
    target: &ReductionTarget<'_>,
    reduce: ReductionType,
    include: bool,
) -> Result<()> {
    if !include {
        let neutral = match reduce {
            ReductionType::Sum | ReductionType::Mean => T::ZERO,
            ReductionType::Product => T::from_scalar(Scalar::Int(1)),
            ReductionType::Max => T::MIN_VALUE,
            ReductionType::Min => T::MAX_VALUE,
        };
        target.combine_with_number(out, neutral, |_, neutral| neutral)?;
    }
    match reduce {
        ReductionType::Sum | ReductionType::Mean => target.combine(out, from, T::plus)?,
        ReductionType::Product => target.combine(out, from, T::times)?,
        ReductionType::Max => target.combine(out, from, T::maximum)?,
        ReductionType::Min => target.combine(out, from, T::minimum)?,
    }
    if reduce == ReductionType::Mean {
        let mut counts = Spec { dtype: DType::I64, geometry: out.geometry().clone().with_offset(0) }.on(out.device())?;
        fill(&mut counts, Scalar::Int(i64::from(include)))?;
        target.combine_with_number(&mut counts, 1_i64, i64::wrapping_add)?;
        // Both tensors have the same layout without gaps.
        let row = Geometry::contiguous(&[out.geometry().count()]);
        let mut out = out.restride(row.clone().with_offset(out.geometry().offset()))?;
        let counts = counts.restride(row)?;
        let (mut out, counts) = (out.write::<T>()?, counts.read::<i64>()?);
        let shared = out.iter_mut().zip(counts.iter()).filter(|(_, count)| **count > 1);
        shared.for_each(|(sum, &count)| *sum = sum.divided_by_count(count));
    }
    Ok(())
}
