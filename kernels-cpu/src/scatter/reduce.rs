//! Elements that meet, and how they are made one.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Complex32, Complex64, Geometry, Spec};

use super::{copied, repeated};
use crate::compute::Compute;
use crate::convert::computed_in;
use crate::factory::fill;
use crate::gather::put_combined;
use crate::moves::{Axis, Step, combined, packed};

/// How an element that is there and one that comes are made one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduce {
    Sum,
    Product,
    Mean,
    Greatest,
    Least,
}

impl Reduce {
    pub(super) fn parse(word: &str) -> Result<Self, BadArgument> {
        Ok(match word {
            "sum" | "add" => Self::Sum,
            "prod" | "multiply" => Self::Product,
            "mean" => Self::Mean,
            "amax" => Self::Greatest,
            "amin" => Self::Least,
            _ => return Err(BadArgument::value("reduce", word, "`sum`, `prod`, `mean`, `amax` or `amin`")),
        })
    }
}

/// What reductions do besides arithmetic.
pub(super) trait Reducible: Compute {
    const LEAST: Self;
    const GREATEST: Self;

    fn greater(self, other: Self) -> Self;
    fn lesser(self, other: Self) -> Self;
    fn shared(self, count: i64) -> Self;
}

macro_rules! reducible {
    ($($ty:ty: $least:expr, $greatest:expr, |$a:ident, $b:ident, $n:ident| $greater:expr, $lesser:expr, $shared:expr;)*) => {$(
        impl Reducible for $ty {
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;

            #[inline(always)]
            fn greater(self, $b: Self) -> Self {
                let $a = self;
                $greater
            }

            #[inline(always)]
            fn lesser(self, $b: Self) -> Self {
                let $a = self;
                $lesser
            }

            fn shared(self, $n: i64) -> Self {
                let $a = self;
                $shared
            }
        }
    )*};
}

reducible! {
    f32: Self::NEG_INFINITY, Self::INFINITY, |a, b, n| if a.is_nan() || a > b { a } else { b }, if a.is_nan() || a < b { a } else { b }, a / Self::from_scalar(n.into());
    f64: Self::NEG_INFINITY, Self::INFINITY, |a, b, n| if a.is_nan() || a > b { a } else { b }, if a.is_nan() || a < b { a } else { b }, a / Self::from_scalar(n.into());
    i64: Self::MIN, Self::MAX, |a, b, n| a.max(b), a.min(b), a.div_euclid(n);
    Complex32: Self::ZERO, Self::ZERO, |a, b, n| a.plus(b), a.plus(b), a / Self::from_scalar(n.into());
    Complex64: Self::ZERO, Self::ZERO, |a, b, n| a.plus(b), a.plus(b), a / Self::from_scalar(n.into());
}

/// Which elements are made one.
pub(super) enum Way<'a> {
    /// Those along a walk.
    Along(&'a [Axis]),
    /// Those beside an index, and those that it picks along a dimension.
    Index(usize, &'a Tensor),
}

impl Way<'_> {
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

/// The tensor, laid out as `spec` says, with elements of `from`, which is [`ready`], made one with its own.
pub(super) fn reduced(
    this: &Tensor,
    from: &Tensor,
    way: &Way<'_>,
    how: Reduce,
    include: bool,
    spec: Spec,
) -> Result<Tensor> {
    if this.dtype().is_complex() && matches!(how, Reduce::Greatest | Reduce::Least) {
        return Err(BadArgument::dtype("self", this.dtype(), "real, as complex numbers have no order").into());
    }
    let computed = computed_in(this.dtype());
    let mut sum = copied(this, Spec { dtype: computed, geometry: spec.geometry.clone() })?;
    match computed {
        DType::F32 => reduce::<f32>(&mut sum, from, way, how, include)?,
        DType::F64 => reduce::<f64>(&mut sum, from, way, how, include)?,
        DType::C64 => reduce::<Complex32>(&mut sum, from, way, how, include)?,
        DType::C128 => reduce::<Complex64>(&mut sum, from, way, how, include)?,
        _ => reduce::<i64>(&mut sum, from, way, how, include)?,
    }
    if spec.dtype == computed { Ok(sum) } else { copied(&sum, spec) }
}

/// The tensor plus elements of `from`, which is [`ready`], along a walk.
pub(crate) fn summed(this: &Tensor, from: &Tensor, axes: &[Axis], spec: Spec) -> Result<Tensor> {
    reduced(this, from, &Way::Along(axes), Reduce::Sum, true, spec)
}

/// The tensor itself if it is of a type that loops compute in, or else a copy that is.
pub(crate) fn ready(tensor: &Tensor) -> Result<Tensor> {
    let computed = computed_in(tensor.dtype());
    if tensor.dtype() == computed { Ok(tensor.clone()) } else { packed(tensor, computed) }
}

fn reduce<T: Reducible>(out: &mut Tensor, from: &Tensor, way: &Way<'_>, how: Reduce, include: bool) -> Result<()> {
    if !include {
        let neutral = match how {
            Reduce::Sum | Reduce::Mean => T::ZERO,
            Reduce::Product => T::from_scalar(Scalar::Int(1)),
            Reduce::Greatest => T::LEAST,
            Reduce::Least => T::GREATEST,
        };
        way.combine_one(out, neutral, |_, neutral| neutral)?;
    }
    match how {
        Reduce::Sum | Reduce::Mean => way.combine(out, from, T::plus)?,
        Reduce::Product => way.combine(out, from, T::times)?,
        Reduce::Greatest => way.combine(out, from, T::greater)?,
        Reduce::Least => way.combine(out, from, T::lesser)?,
    }
    if how == Reduce::Mean {
        let mut counts = Spec { dtype: DType::I64, geometry: out.geometry().clone() }.on(out.device())?;
        fill(&mut counts, Scalar::Int(i64::from(include)))?;
        way.combine_one(&mut counts, 1_i64, i64::wrapping_add)?;
        // Both are laid out alike, without gaps.
        let row = Geometry::contiguous(&[out.geometry().count()]);
        let (mut out, counts) = (out.restride(row.clone())?, counts.restride(row)?);
        let (mut out, counts) = (out.write::<T>()?, counts.read::<i64>()?);
        let shared = out.iter_mut().zip(counts.iter()).filter(|(_, count)| **count > 1);
        shared.for_each(|(sum, &count)| *sum = sum.shared(count));
    }
    Ok(())
}
