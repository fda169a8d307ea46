//! Sums, means, products and counts.

use std::marker::PhantomData;

use dispatch_runtime::{Arithmetic, Bool, Complex32, Complex64, Reduced, Result, Scalar, Tensor, op_impl};

use crate::compute::Compute;
use crate::reduce::{Fold, MOST_IN_A_LANE, computed, fold_into};

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

/// Sums over dimensions, divided by a number.
pub(crate) fn sum_over(out: &mut Tensor, this: &Tensor, gone: &[bool], count: f64) -> Result<()> {
    computed!(aten::sum, out.dtype(), T: [f32, f64, i64, Complex32, Complex64] =>
        fold_into(out, this, gone, &Sum::<T> { count, of: PhantomData }))
}

/// Sums all elements into a single one, divided by a number.
pub(crate) fn sum_into(out: &mut Tensor, this: &Tensor, count: f64) -> Result<()> {
    sum_over(out, this, &vec![true; this.sizes().len()], count)
}

#[op_impl(aten::sum, CPU)]
fn sum(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    sum_over(out, this, &plan.gone, 1.0)
}

#[op_impl(aten::sum_dim_intlist, CPU)]
fn sum_dim(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    sum_over(out, this, &plan.gone, 1.0)
}

#[op_impl(aten::nansum, CPU)]
fn nansum(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    if out.dtype().is_integral() {
        return sum_over(out, this, &plan.gone, 1.0);
    }
    computed!(aten::nansum, out.dtype(), T: [f32, f64] =>
        fold_into(out, this, &plan.gone, &SumOfNumbers::<T>(PhantomData)))
}

#[op_impl(aten::mean, CPU)]
fn mean(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    sum_over(out, this, &plan.gone, reduced_count(this, &plan.gone))
}

#[op_impl(aten::mean_dim, CPU)]
fn mean_dim(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    sum_over(out, this, &plan.gone, reduced_count(this, &plan.gone))
}

/// How many elements become one.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduced_count(this: &Tensor, gone: &[bool]) -> f64 {
    this.sizes().iter().zip(gone).filter(|(_, gone)| **gone).map(|(&size, _)| size as f64).product()
}

fn multiply(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    computed!(aten::prod, out.dtype(), T: [f32, f64, i64, Complex32, Complex64] =>
        fold_into(out, this, &plan.gone, &Product::<T>(PhantomData)))
}

#[op_impl(aten::prod, CPU)]
fn prod(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    multiply(plan, out, this)
}

#[op_impl(aten::prod_dim_int, CPU)]
fn prod_dim(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    multiply(plan, out, this)
}

#[op_impl(aten::count_nonzero, CPU)]
fn count_nonzero(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.gone, &Count)
}

#[op_impl(aten::count_nonzero_dim_intlist, CPU)]
fn count_nonzero_dims(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.gone, &Count)
}
