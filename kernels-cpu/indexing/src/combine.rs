//! Reductions into elements that have the same index: sums, products, means, minima and maxima.

use aten::ReductionType;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Geometry, Spec};

use crate::gather::put_combined;
use crate::scatter::repeated;
use engine::compute::Compute;
use engine::convert::computed_in;
use engine::data_movement::{Axis, Step, combined, copy, packed};
use engine::fill::fill;
use engine::inlined::inlined;
use engine::reduce::computed;

/// The operations of reductions besides arithmetic.
pub(super) trait Reducible: Compute {
    const LEAST: Self;
    const GREATEST: Self;

    fn greater(self, other: Self) -> Self;
    fn lesser(self, other: Self) -> Self;
    fn shared(self, count: i64) -> Self;
}

inlined! {
    impl Reducible for f32, f64 {
        const LEAST: Self = Self::NEG_INFINITY;
        const GREATEST: Self = Self::INFINITY;
        fn greater(self, other: Self) -> Self = if self.is_nan() || self > other { self } else { other };
        fn lesser(self, other: Self) -> Self = if self.is_nan() || self < other { self } else { other };
        fn shared(self, count: i64) -> Self = self / Self::from_scalar(count.into());
    }

    impl Reducible for i64 {
        const LEAST: Self = Self::MIN;
        const GREATEST: Self = Self::MAX;
        fn greater(self, other: Self) -> Self = self.max(other);
        fn lesser(self, other: Self) -> Self = self.min(other);
        fn shared(self, count: i64) -> Self = self.div_euclid(count);
    }

    // Complex numbers have no order; plans refuse minima and maxima of them.
    impl Reducible for Complex32, Complex64 {
        const LEAST: Self = Self::ZERO;
        const GREATEST: Self = Self::ZERO;
        fn greater(self, other: Self) -> Self = self.plus(other);
        fn lesser(self, other: Self) -> Self = self.plus(other);
        fn shared(self, count: i64) -> Self = self / Self::from_scalar(count.into());
    }
}

/// The destination of combined elements.
pub(super) enum CombineTarget<'a> {
    /// The elements along a loop nest.
    Along(&'a [Axis]),
    /// The elements that an index selects along a dimension.
    Index(usize, &'a Tensor),
}

impl CombineTarget<'_> {
    fn combine<T: Compute>(&self, out: &mut Tensor, from: &Tensor, f: impl Fn(T, T) -> T + Sync) -> Result<()> {
        match self {
            Self::Along(axes) => combined(out, from, axes, f),
            Self::Index(at, index) => put_combined(out, *at, index, from, f),
        }
    }

    /// Combines every element of the destination with one number.
    fn combine_one<T: Compute>(&self, out: &mut Tensor, number: T, f: impl Fn(T, T) -> T + Sync) -> Result<()> {
        let from = Tensor::from_slice(&[number]);
        match self {
            Self::Along(axes) => {
                let axes: Vec<Axis> = axes.iter().map(|axis| Axis { from: Step::Stride(0), ..axis.clone() }).collect();
                combined(out, &from, &axes, f)
            }
            Self::Index(at, index) => put_combined(out, *at, index, &repeated(&from, index)?, f),
        }
    }
}

/// Writes `this`, reduced with the elements of `from`, to `out`. `from` must be [`ready`].
pub(super) fn reduced(
    out: &mut Tensor,
    this: &Tensor,
    from: &Tensor,
    target: &CombineTarget<'_>,
    how: ReductionType,
    include: bool,
) -> Result<()> {
    let computed = computed_in(out.dtype());
    if out.dtype() != computed {
        let mut sum = Spec { dtype: computed, geometry: out.geometry().clone().at(0) }.on(out.device())?;
        reduced(&mut sum, this, from, target, how, include)?;
        return copy(out, &sum);
    }
    copy(out, this)?;
    computed!(aten::scatter_reduce, computed, T: [f32, f64, Complex32, Complex64, i64] =>
        reduce::<T>(out, from, target, how, include))
}

/// Writes the sums of `this` and the elements of `from` along `axes` to `out`. `from` must be [`ready`].
pub fn summed(out: &mut Tensor, this: &Tensor, from: &Tensor, axes: &[Axis]) -> Result<()> {
    reduced(out, this, from, &CombineTarget::Along(axes), ReductionType::Sum, true)
}

/// Returns the tensor itself if its dtype is one that loops compute in, otherwise a converted copy.
pub fn ready(tensor: &Tensor) -> Result<Tensor> {
    let computed = computed_in(tensor.dtype());
    if tensor.dtype() == computed { Ok(tensor.clone()) } else { packed(tensor, computed) }
}

fn reduce<T: Reducible>(
    out: &mut Tensor,
    from: &Tensor,
    target: &CombineTarget<'_>,
    how: ReductionType,
    include: bool,
) -> Result<()> {
    if !include {
        let neutral = match how {
            ReductionType::Sum | ReductionType::Mean => T::ZERO,
            ReductionType::Product => T::from_scalar(Scalar::Int(1)),
            ReductionType::Max => T::LEAST,
            ReductionType::Min => T::GREATEST,
        };
        target.combine_one(out, neutral, |_, neutral| neutral)?;
    }
    match how {
        ReductionType::Sum | ReductionType::Mean => target.combine(out, from, T::plus)?,
        ReductionType::Product => target.combine(out, from, T::times)?,
        ReductionType::Max => target.combine(out, from, T::greater)?,
        ReductionType::Min => target.combine(out, from, T::lesser)?,
    }
    if how == ReductionType::Mean {
        let mut counts = Spec { dtype: DType::I64, geometry: out.geometry().clone().at(0) }.on(out.device())?;
        fill(&mut counts, Scalar::Int(i64::from(include)))?;
        target.combine_one(&mut counts, 1_i64, i64::wrapping_add)?;
        // Both have the same layout without gaps.
        let row = Geometry::contiguous(&[out.geometry().count()]);
        let mut out = out.restride(row.clone().at(out.geometry().offset()))?;
        let counts = counts.restride(row)?;
        let (mut out, counts) = (out.write::<T>()?, counts.read::<i64>()?);
        let shared = out.iter_mut().zip(counts.iter()).filter(|(_, count)| **count > 1);
        shared.for_each(|(sum, &count)| *sum = sum.shared(count));
    }
    Ok(())
}
