//! Sums, means, products and counts.

use std::marker::PhantomData;

use dispatch_runtime::{
    Arithmetic, Bool, Complex32, Complex64, DType, Element, Promotion, Result, Scalar, Tensor, op_impl, reduced_dims,
};

use crate::compute::Compute;
use crate::reduce::{Fold, MOST_IN_A_LANE, computed, fold_into, folded};

/// What sums of this type are kept in.
pub(crate) trait Wide: Compute {
    type Wide: Compute;

    fn widen(self) -> Self::Wide;

    /// The sum, divided where the type has a fraction.
    fn over(sum: Self::Wide, count: f64) -> Self;
}

macro_rules! wide {
    ($($ty:ty as $wide:ty: |$x:ident| $widen:expr, |$sum:ident, $count:ident| $over:expr;)*) => {$(
        impl Wide for $ty {
            type Wide = $wide;

            #[inline(always)]
            fn widen(self) -> $wide {
                let $x = self;
                $widen
            }

            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "only one of the types is narrower")]
            #[allow(clippy::cast_possible_truncation, unused_variables, reason = "rounding is what is asked for; integers are not divided")]
            fn over($sum: $wide, $count: f64) -> Self {
                $over
            }
        }
    )*};
}
wide! {
    f32 as f64: |x| f64::from(x), |sum, count| (sum / count) as Self;
    f64 as f64: |x| x, |sum, count| sum / count;
    i64 as i64: |x| x, |sum, count| sum;
    Complex32 as Complex64: |x| Complex64::new(x.re.into(), x.im.into()), |sum, count| Self::new((sum.re / count) as f32, (sum.im / count) as f32);
    Complex64 as Complex64: |x| x, |sum, count| sum / count;
}

struct Sum<T> {
    count: f64,
    of: PhantomData<T>,
}

impl<T: Wide + Sync> Fold for Sum<T> {
    type In = T;
    type Lane = T;
    type Total = T::Wide;
    type Out = T;

    #[inline(always)]
    fn lane(&self) -> T {
        T::from_scalar(Scalar::Int(0))
    }

    #[inline(always)]
    fn add(&self, lane: T, value: T) -> T {
        lane.plus(value)
    }

    #[inline(always)]
    fn join(&self, a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn total(&self, lane: T) -> T::Wide {
        lane.widen()
    }

    #[inline(always)]
    fn merge(&self, a: T::Wide, b: T::Wide) -> T::Wide {
        a.plus(b)
    }

    #[inline(always)]
    fn finish(&self, total: T::Wide) -> T {
        T::over(total, self.count)
    }
}

/// What is a number; anything else counts as `NEUTRAL`.
struct SumOfNumbers<T>(PhantomData<T>);

macro_rules! sum_of_numbers {
    ($($ty:ty)*) => {$(
        impl Fold for SumOfNumbers<$ty> {
            type In = $ty;
            type Lane = $ty;
            type Total = f64;
            type Out = $ty;

            #[inline(always)]
            fn lane(&self) -> $ty {
                0.0
            }

            #[inline(always)]
            fn add(&self, lane: $ty, value: $ty) -> $ty {
                lane + if value.is_nan() { 0.0 } else { value }
            }

            #[inline(always)]
            fn join(&self, a: $ty, b: $ty) -> $ty {
                a + b
            }

            #[inline(always)]
            fn total(&self, lane: $ty) -> f64 {
                lane.into()
            }

            #[inline(always)]
            fn merge(&self, a: f64, b: f64) -> f64 {
                a + b
            }

            #[inline(always)]
            fn finish(&self, total: f64) -> $ty {
                <$ty as Wide>::over(total, 1.0)
            }
        }
    )*};
}
sum_of_numbers! { f32 f64 }

struct Product<T>(PhantomData<T>);

impl<T: Compute + Sync> Fold for Product<T> {
    type In = T;
    type Lane = T;
    type Total = T;
    type Out = T;

    #[inline(always)]
    fn lane(&self) -> T {
        T::from_scalar(Scalar::Int(1))
    }

    #[inline(always)]
    fn add(&self, lane: T, value: T) -> T {
        lane.times(value)
    }

    #[inline(always)]
    fn join(&self, a: T, b: T) -> T {
        a.times(b)
    }

    #[inline(always)]
    fn total(&self, lane: T) -> T {
        lane
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        a.times(b)
    }

    #[inline(always)]
    fn finish(&self, total: T) -> T {
        total
    }
}

/// Elements that are not zero. A lane counts in few bits, so that many go together.
struct Count;

impl Fold for Count {
    type In = Bool;
    type Lane = u16;
    type Total = i64;
    type Out = i64;

    #[inline(always)]
    fn lane(&self) -> u16 {
        const { assert!(MOST_IN_A_LANE <= u16::MAX as usize) };
        0
    }

    #[inline(always)]
    fn add(&self, lane: u16, value: Bool) -> u16 {
        lane + u16::from(value.0 != 0)
    }

    #[inline(always)]
    fn join(&self, a: u16, b: u16) -> u16 {
        a + b
    }

    #[inline(always)]
    fn total(&self, lane: u16) -> i64 {
        lane.into()
    }

    #[inline(always)]
    fn merge(&self, a: i64, b: i64) -> i64 {
        a + b
    }

    #[inline(always)]
    fn finish(&self, total: i64) -> i64 {
        total
    }
}

/// The dimensions that go; all where none is listed.
fn gone(this: &Tensor, dim: Option<&[i64]>) -> Result<Vec<bool>> {
    Ok(reduced_dims(this.sizes().len(), dim.unwrap_or(&[]), "dim")?)
}

/// Sums over dimensions, divided by a number.
pub(crate) fn summed(this: &Tensor, gone: &[bool], keepdim: bool, dtype: DType, count: f64) -> Result<Tensor> {
    computed!(aten::sum, dtype, T: [f32, f64, i64, Complex32, Complex64] =>
        folded(this, gone, keepdim, dtype, &Sum::<T> { count, of: PhantomData }))
}

/// Sums all elements into a single one, divided by a number.
pub(crate) fn sum_into(out: &mut Tensor, this: &Tensor, count: f64) -> Result<()> {
    let all = vec![true; this.sizes().len()];
    computed!(aten::sum, this.dtype(), T: [f32, f64, i64, Complex32, Complex64] =>
        fold_into(out, this, &all, &Sum::<T> { count, of: PhantomData }))
}

fn multiplied(this: &Tensor, gone: &[bool], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = aten::sum_dtype(this, dtype);
    computed!(aten::prod, dtype, T: [f32, f64, i64, Complex32, Complex64] =>
        folded(this, gone, keepdim, dtype, &Product::<T>(PhantomData)))
}

#[op_impl(aten::sum, CPU)]
fn sum(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    summed(this, &gone(this, None)?, false, aten::sum_dtype(this, dtype), 1.0)
}

#[op_impl(aten::sum_dim_intlist, CPU)]
fn sum_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    summed(this, &gone(this, dim)?, keepdim, aten::sum_dtype(this, dtype), 1.0)
}

#[op_impl(aten::nansum, CPU)]
fn nansum(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = dtype.unwrap_or_else(|| Promotion::Sum.of(&[this]));
    let gone = gone(this, dim)?;
    if dtype.is_integral() {
        return summed(this, &gone, keepdim, dtype, 1.0);
    }
    computed!(aten::nansum, dtype, T: [f32, f64] => folded(this, &gone, keepdim, dtype, &SumOfNumbers::<T>(PhantomData)))
}

#[op_impl(aten::mean, CPU)]
fn mean(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    mean_dim(this, None, false, dtype)
}

#[op_impl(aten::mean_dim, CPU)]
fn mean_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = aten::mean_spec(this, dim, keepdim, dtype)?.dtype;
    let gone = gone(this, dim)?;
    summed(this, &gone, keepdim, dtype, reduced_count(this, &gone))
}

/// How many elements become one.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduced_count(this: &Tensor, gone: &[bool]) -> f64 {
    this.sizes().iter().zip(gone).filter(|(_, gone)| **gone).map(|(&size, _)| size as f64).product()
}

#[op_impl(aten::prod, CPU)]
fn prod(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    multiplied(this, &gone(this, None)?, false, dtype)
}

#[op_impl(aten::prod_dim_int, CPU)]
fn prod_dim(this: &Tensor, dim: i64, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    multiplied(this, &gone(this, Some(&[dim]))?, keepdim, dtype)
}

#[op_impl(aten::count_nonzero, CPU)]
fn count_nonzero(this: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    folded(this, &gone(this, Some(dim.as_slice()))?, false, i64::DTYPE, &Count)
}

#[op_impl(aten::count_nonzero_dim_intlist, CPU)]
fn count_nonzero_dims(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
    folded(this, &gone(this, Some(dim))?, false, i64::DTYPE, &Count)
}
