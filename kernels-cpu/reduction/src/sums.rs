//! Kernels of sums, means, products and counts.

use std::convert::identity;
use std::marker::PhantomData;

use dispatch_runtime::{Arithmetic, Bool, Complex32, Complex64, ReductionDims, Result, Scalar, Tensor, op_impl};

use engine::compute::ComputeType;
use engine::inlined::inlined;
use engine::reduce::min_max::Comparable;
use engine::reduce::{Fold, MAX_LANE_ELEMENTS, fold_into, with_compute_type};

/// An element type whose sums are accumulated in a wider type.
pub(crate) trait Accumulate: ComputeType {
    type Accumulator: ComputeType;

    fn widen_to_accumulator(self) -> Self::Accumulator;

    /// Returns the sum, divided by `count` unless the type is an integer.
    fn divide_sum(sum: Self::Accumulator, count: f64) -> Self;
}

macro_rules! impl_accumulate {
    ($($ty:ty as $wide:ty: |$x:ident| $widen:expr, |$sum:ident, $count:ident| $divide:expr;)*) => {$(
        impl Accumulate for $ty {
            type Accumulator = $wide;

            #[inline(always)]
            fn widen_to_accumulator(self) -> $wide {
                let $x = self;
                $widen
            }

            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "only one of the types is narrower")]
            #[allow(clippy::cast_possible_truncation, unused_variables, reason = "the result is rounded; integers are not divided")]
            fn divide_sum($sum: $wide, $count: f64) -> Self {
                $divide
            }
        }
    )*};
}
impl_accumulate! {
    f32 as f64: |x| f64::from(x), |sum, count| (sum / count) as Self;
    f64 as f64: |x| x, |sum, count| sum / count;
    i64 as i64: |x| x, |sum, count| sum;
    Complex32 as Complex64: |x| Complex64::new(x.re.into(), x.im.into()), |sum, count| Self::new((sum.re / count) as f32, (sum.im / count) as f32);
    Complex64 as Complex64: |x| x, |sum, count| sum / count;
}

/// A fold to the sum of `term` of the elements, divided by `count`.
struct SumFold<T, F> {
    term: F,
    count: f64,
    element: PhantomData<T>,
}

struct ProductFold<T>(PhantomData<T>);

/// A fold to the number of nonzero elements. A lane counts in 16 bits, so that a vector has many lanes.
struct CountNonzeroFold;

inlined! {
    impl[T: Accumulate + Sync, F: Fn(T) -> T + Sync] Fold for SumFold<T, F> {
        type Input = T;
        type LaneAccumulator = T;
        type TotalAccumulator = T::Accumulator;
        type Output = T;
        fn empty_lane(&self) -> T = T::from_scalar(Scalar::Int(0));
        fn add_to_lane(&self, lane: T, value: T) -> T = lane.plus((self.term)(value));
        fn join_lanes(&self, a: T, b: T) -> T = a.plus(b);
        fn lane_to_total(&self, lane: T) -> T::Accumulator = lane.widen_to_accumulator();
        fn merge_totals(&self, a: T::Accumulator, b: T::Accumulator) -> T::Accumulator = a.plus(b);
        fn total_to_result(&self, total: T::Accumulator) -> T = T::divide_sum(total, self.count);
    }

    impl[T: ComputeType + Sync] Fold for ProductFold<T> {
        type Input = T;
        type LaneAccumulator = T;
        type TotalAccumulator = T;
        type Output = T;
        fn empty_lane(&self) -> T = T::from_scalar(Scalar::Int(1));
        fn add_to_lane(&self, lane: T, value: T) -> T = lane.times(value);
        fn join_lanes(&self, a: T, b: T) -> T = a.times(b);
        fn lane_to_total(&self, lane: T) -> T = lane;
        fn merge_totals(&self, a: T, b: T) -> T = a.times(b);
        fn total_to_result(&self, total: T) -> T = total;
    }

    impl Fold for CountNonzeroFold {
        type Input = Bool;
        type LaneAccumulator = u16;
        type TotalAccumulator = i64;
        type Output = i64;
        fn empty_lane(&self) -> u16 = {
            const { assert!(MAX_LANE_ELEMENTS <= u16::MAX as usize) };
            0
        };
        fn add_to_lane(&self, lane: u16, value: Bool) -> u16 = lane + u16::from(value.0 != 0);
        fn join_lanes(&self, a: u16, b: u16) -> u16 = a + b;
        fn lane_to_total(&self, lane: u16) -> i64 = lane.into();
        fn merge_totals(&self, a: i64, b: i64) -> i64 = a + b;
        fn total_to_result(&self, total: i64) -> i64 = total;
    }
}

/// Computes sums over dimensions, divided by `count`.
pub(crate) fn sum_dims(out: &mut Tensor, this: &Tensor, reduced_dims: &[bool], count: f64) -> Result<()> {
    with_compute_type!(aten::sum, out.dtype(), T: [f32, f64, i64, Complex32, Complex64] =>
        fold_into(out, this, reduced_dims, &SumFold { term: identity::<T>, count, element: PhantomData }))
}

/// Sums all elements to a single one, divided by `count`.
pub fn sum_all_into(out: &mut Tensor, this: &Tensor, count: f64) -> Result<()> {
    sum_dims(out, this, &vec![true; this.sizes().len()], count)
}

#[op_impl(aten::sum, CPU)]
#[op_impl(aten::sum_dim_intlist, CPU)]
fn sum(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    sum_dims(out, this, &plan.is_reduced, 1.0)
}

#[op_impl(aten::nansum, CPU)]
fn nansum(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    if out.dtype().is_integral() {
        return sum_dims(out, this, &plan.is_reduced, 1.0);
    }
    with_compute_type!(aten::nansum, out.dtype(), T: [f32, f64] =>
        fold_into(out, this, &plan.is_reduced, &SumFold { term: zero_if_nan::<T>, count: 1.0, element: PhantomData }))
}

/// Returns `x`, or zero if `x` is NaN.
#[inline(always)]
fn zero_if_nan<T: ComputeType + Comparable>(x: T) -> T {
    if x.is_nan() { T::ZERO } else { x }
}

#[op_impl(aten::mean, CPU)]
#[op_impl(aten::mean_dim, CPU)]
fn mean(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    sum_dims(out, this, &plan.is_reduced, reduced_element_count(this, &plan.is_reduced))
}

/// Returns the number of elements that are reduced to one.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduced_element_count(this: &Tensor, reduced_dims: &[bool]) -> f64 {
    this.sizes().iter().zip(reduced_dims).filter(|(_, is_reduced)| **is_reduced).map(|(&size, _)| size as f64).product()
}

#[op_impl(aten::prod, CPU)]
#[op_impl(aten::prod_dim_int, CPU)]
fn prod(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    with_compute_type!(aten::prod, out.dtype(), T: [f32, f64, i64, Complex32, Complex64] =>
        fold_into(out, this, &plan.is_reduced, &ProductFold::<T>(PhantomData)))
}

#[op_impl(aten::count_nonzero, CPU)]
#[op_impl(aten::count_nonzero_dim_intlist, CPU)]
fn count_nonzero(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.is_reduced, &CountNonzeroFold)
}
