//! Kernels of vector norms and of `logsumexp`.

use std::marker::PhantomData;

use dispatch_runtime::{
    Arithmetic, Complex32, Complex64, Element, Floating, ReductionDims, Result, Scalar, Tensor, op_impl, operands,
};

use engine::inlined::inlined;
use engine::math::{Real, vectorised};
use engine::reduce::line_totals::{self, OrderedFloat};
use engine::reduce::min_max::{Comparable, larger, smaller};
use engine::reduce::{Fold, fold_into, for_each_line, keepdim_view, with_compute_type};

/// An element type with a magnitude.
trait Magnitude: Element {
    type Real: Comparable + OrderedFloat + Into<f64>;

    fn magnitude(self) -> Self::Real;
}

inlined! {
    impl Magnitude for f32, f64 {
        type Real = Self;
        fn magnitude(self) -> Self = self.abs();
    }

    impl Magnitude for Complex32 {
        type Real = f32;
        fn magnitude(self) -> f32 = self.re.hypot(self.im);
    }

    impl Magnitude for Complex64 {
        type Real = f64;
        fn magnitude(self) -> f64 = self.re.hypot(self.im);
    }
}

/// A fold to a norm: the initial value, and the functions that add a magnitude and join two partial results.
struct NormFold<T: Magnitude, A, J> {
    initial: T::Real,
    add: A,
    join: J,
    /// The order of the final root, or `None` without a root. Partial results are joined in double precision.
    root: Option<f64>,
    element: PhantomData<T>,
}

inlined! {
    impl[
        T: Magnitude + Sync,
        A: Fn(T::Real, T::Real) -> T::Real + Sync,
        J: Fn(f64, f64) -> f64 + Sync
    ] Fold for NormFold<T, A, J> {
        type Input = T;
        type LaneAccumulator = T::Real;
        type TotalAccumulator = f64;
        type Output = T::Real;
        fn empty_lane(&self) -> T::Real = self.initial;
        fn add_to_lane(&self, lane: T::Real, value: T) -> T::Real = (self.add)(lane, value.magnitude());
        fn join_lanes(&self, a: T::Real, b: T::Real) -> T::Real = T::Real::from_f64((self.join)(a.into(), b.into()));
        fn lane_to_total(&self, lane: T::Real) -> f64 = lane.into();
        fn merge_totals(&self, a: f64, b: f64) -> f64 = (self.join)(a, b);
        fn total_to_result(&self, total: f64) -> T::Real = T::Real::from_f64(match self.root {
            None => total,
            Some(2.0) => total.sqrt(),
            Some(order) => total.powf(order.recip()),
        });
    }
}

#[op_impl(aten::linalg_vector_norm, CPU)]
fn linalg_vector_norm(plan: &aten::VectorNormPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    with_compute_type!(aten::linalg_vector_norm, plan.compute_dtype, T: [f32, f64, Complex32, Complex64] =>
        vector_norm::<T>(out, this, &plan.reduced_dims, plan.order))
}

fn vector_norm<T: Magnitude + Sync>(out: &mut Tensor, this: &Tensor, reduced_dims: &[bool], order: f64) -> Result<()> {
    let (zero, one) = (T::Real::from_f64(0.0), T::Real::from_f64(1.0));
    let sum = |a: f64, b: f64| a + b;
    macro_rules! fold_to_norm {
        ($initial:expr, $root:expr, $add:expr, $join:expr) => {
            fold_into(
                out,
                this,
                reduced_dims,
                &NormFold::<T, _, _> { initial: $initial, add: $add, join: $join, root: $root, element: PhantomData },
            )
        };
    }
    match order {
        0.0 => {
            fold_to_norm!(zero, None, move |sum: T::Real, x: T::Real| sum.plus(if x == zero { zero } else { one }), sum)
        }
        1.0 => fold_to_norm!(zero, None, |sum: T::Real, x: T::Real| sum.plus(x), sum),
        2.0 => fold_to_norm!(zero, Some(2.0), |sum: T::Real, x: T::Real| sum.plus(x.times(x)), sum),
        f64::INFINITY => fold_to_norm!(zero, None, larger, larger::<f64>),
        f64::NEG_INFINITY => fold_to_norm!(T::Real::MAX_VALUE, None, smaller, smaller::<f64>),
        order => {
            let power = T::Real::from_f64(order);
            fold_to_norm!(zero, Some(order), move |sum: T::Real, x: T::Real| sum.plus(Real::pow(x, power)), sum)
        }
    }
}

#[op_impl(aten::logsumexp, CPU)]
fn logsumexp(plan: &ReductionDims, out: &mut Tensor, this: &Tensor, dim: &[i64], keepdim: bool) -> Result<()> {
    if out.dtype().is_complex() {
        return aten::copy_(out, &complex_log_sum_exp(this, dim, keepdim)?, false);
    }
    let dtype = out.dtype();
    let mut out = keepdim_view(out, this, &plan.is_reduced)?;
    let operands = operands!(write out; read this)?;
    with_compute_type!(aten::logsumexp, dtype, T: [f32, f64] => {
        for_each_line(&plan.is_reduced, &operands, |_, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            out[0] = log_sum_exp_of_line(line);
        });
        Ok(())
    })
}

/// Computes `logsumexp` of complex numbers. Only the real part can overflow, so its maximum is subtracted first.
fn complex_log_sum_exp(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let sum = |terms: &Tensor, keepdim| aten::sum_dim_intlist(terms, Some(dim), keepdim, None);
    if this.geometry().count() == 0 {
        return aten::log(&sum(this, keepdim)?);
    }
    let highest = aten::amax(&aten::real(this)?, dim, true)?;
    let shift = aten::masked_fill_scalar(&highest, &aten::isinf(&highest)?, Scalar::Int(0))?;
    let logarithm = aten::log(&sum(&aten::exp(&(this - &shift)?)?, keepdim)?)?;
    logarithm + if keepdim { shift } else { sum(&shift, false)? }
}

fn log_sum_exp_of_line<T: OrderedFloat>(line: &[T]) -> T {
    let highest = line_totals::max_of_line(line);
    let shift = if Real::abs(highest) == T::MAX_VALUE { T::ZERO } else { highest };
    let sum = vectorised!(line_totals::sum_of_line([line], [T::MIN_VALUE], |[x]| Real::exp(x.minus(shift))));
    Real::log(sum).plus(shift)
}
