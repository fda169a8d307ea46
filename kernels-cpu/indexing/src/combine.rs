//! Elements that meet, and how they are made one.

use aten::Reduce;
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

/// What reductions do besides arithmetic.
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

    // They have no order, and plans refuse to ask for one.
    impl Reducible for Complex32, Complex64 {
        const LEAST: Self = Self::ZERO;
        const GREATEST: Self = Self::ZERO;
        fn greater(self, other: Self) -> Self = self.plus(other);
        fn lesser(self, other: Self) -> Self = self.plus(other);
        fn shared(self, count: i64) -> Self = self / Self::from_scalar(count.into());
    }
}

/// Which elements are made one.
pub(super) enum CombineTarget<'a> {
    /// Those along a walk.
    Along(&'a [Axis]),
    /// Those beside an index, and those that it picks along a dimension.
    Index(usize, &'a Tensor),
}

impl CombineTarget<'_> {
    fn combine<T: Compute>(&self, out: &mut Tensor, from: &Tensor, f: impl Fn(T, T) -> T + Sync) -> Result<()> {
        match self {
            Self::Along(axes) => combined(out, from, axes, f),
            Self::Index(at, index) => put_combined(out, *at, index, from, f),
        }
    }

    /// The same with one number for all that come.
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

/// Writes the elements of `this`, made one with those of `from`, which is [`ready`].
pub(super) fn reduced(
    out: &mut Tensor,
    this: &Tensor,
    from: &Tensor,
    target: &CombineTarget<'_>,
    how: Reduce,
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

/// Writes the sums of the elements of `this` and those of `from`, which is [`ready`], along a walk.
pub fn summed(out: &mut Tensor, this: &Tensor, from: &Tensor, axes: &[Axis]) -> Result<()> {
    reduced(out, this, from, &CombineTarget::Along(axes), Reduce::Sum, true)
}

/// The tensor itself if it is of a type that loops compute in, or else a copy that is.
pub fn ready(tensor: &Tensor) -> Result<Tensor> {
    let computed = computed_in(tensor.dtype());
    if tensor.dtype() == computed { Ok(tensor.clone()) } else { packed(tensor, computed) }
}

fn reduce<T: Reducible>(
    out: &mut Tensor,
    from: &Tensor,
    target: &CombineTarget<'_>,
    how: Reduce,
    include: bool,
) -> Result<()> {
    if !include {
        let neutral = match how {
            Reduce::Sum | Reduce::Mean => T::ZERO,
            Reduce::Product => T::from_scalar(Scalar::Int(1)),
            Reduce::Greatest => T::LEAST,
            Reduce::Least => T::GREATEST,
        };
        target.combine_one(out, neutral, |_, neutral| neutral)?;
    }
    match how {
        Reduce::Sum | Reduce::Mean => target.combine(out, from, T::plus)?,
        Reduce::Product => target.combine(out, from, T::times)?,
        Reduce::Greatest => target.combine(out, from, T::greater)?,
        Reduce::Least => target.combine(out, from, T::lesser)?,
    }
    if how == Reduce::Mean {
        let mut counts = Spec { dtype: DType::I64, geometry: out.geometry().clone().at(0) }.on(out.device())?;
        fill(&mut counts, Scalar::Int(i64::from(include)))?;
        target.combine_one(&mut counts, 1_i64, i64::wrapping_add)?;
        // Both are laid out alike, without gaps.
        let row = Geometry::contiguous(&[out.geometry().count()]);
        let mut out = out.restride(row.clone().at(out.geometry().offset()))?;
        let counts = counts.restride(row)?;
        let (mut out, counts) = (out.write::<T>()?, counts.read::<i64>()?);
        let shared = out.iter_mut().zip(counts.iter()).filter(|(_, count)| **count > 1);
        shared.for_each(|(sum, &count)| *sum = sum.shared(count));
    }
    Ok(())
}
