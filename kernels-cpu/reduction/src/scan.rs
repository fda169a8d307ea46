//! Kernels of cumulative sums, products, maxima and minima.

use dispatch_runtime::{Arithmetic, Complex32, Complex64, Operation, Result, Scalar, Tensor, op_impl, operands};

use crate::sums::Accumulate;
use engine::compute::ComputeType;
use engine::math::Real;
use engine::math::complex::log_add_exp;
use engine::reduce::min_max::Comparable;
use engine::reduce::{dim_mask, for_each_line, with_compute_type};

/// Computes cumulative sums or products, accumulated in a wider type.
fn write_cumulative_results<O: Operation>(out: &mut Tensor, this: &Tensor, dim: usize, product: bool) -> Result<()> {
    let (dims, dtype) = (dim_mask(this.sizes().len(), dim), out.dtype());
    let operands = operands!(write out; read this)?;
    with_compute_type!(O, dtype, T: [f32, f64, i64, Complex32, Complex64] => {
        for_each_line(&dims, &operands, |_, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            let mut running = <T as Accumulate>::Accumulator::from_scalar(Scalar::Int(i64::from(product)));
            for (out, &value) in out.iter_mut().zip(line) {
                running = if product { running.times(value.widen_to_accumulator()) } else { running.plus(value.widen_to_accumulator()) };
                *out = T::divide_sum(running, 1.0);
            }
        });
        Ok(())
    })
}

#[op_impl(aten::cumsum, CPU)]
fn cumsum(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    write_cumulative_results::<aten::cumsum>(out, this, *plan, false)
}

#[op_impl(aten::cumprod, CPU)]
fn cumprod(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    write_cumulative_results::<aten::cumprod>(out, this, *plan, true)
}

#[op_impl(aten::logcumsumexp, CPU)]
fn logcumsumexp(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let (dims, dtype) = (dim_mask(this.sizes().len(), *plan), out.dtype());
    let operands = operands!(write out; read this)?;
    with_compute_type!(aten::logcumsumexp, dtype, T: [f32, f64, Complex32, Complex64] => {
        type Accumulator = <T as Accumulate>::Accumulator;
        for_each_line(&dims, &operands, |_, [line]: [&[Accumulator]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            let mut running = Accumulator::from_scalar(Scalar::Float(f64::NEG_INFINITY));
            for (out, &value) in out.iter_mut().zip(line) {
                running = running.log_add_exp(value);
                *out = T::divide_sum(running, 1.0);
            }
        });
        Ok(())
    })
}

trait LogAddExp {
    /// Returns `log(exp(self) + exp(other))`.
    fn log_add_exp(self, other: Self) -> Self;
}

impl LogAddExp for f64 {
    fn log_add_exp(self, other: Self) -> Self {
        let (low, high) = if self < other { (self, other) } else { (other, self) };
        if self.is_nan() || other.is_nan() {
            Self::NAN
        } else if high.is_infinite() {
            high
        } else {
            high + Real::log1p(Real::exp(low - high))
        }
    }
}

impl LogAddExp for Complex64 {
    fn log_add_exp(self, other: Self) -> Self {
        log_add_exp(self, other)
    }
}

/// Computes cumulative maxima or minima and their indices. Of equal elements, the last counts.
fn write_cumulative_extremes<O: Operation>(
    [values, indices]: [&mut Tensor; 2],
    this: &Tensor,
    dim: usize,
    largest: bool,
) -> Result<()> {
    let dims = dim_mask(this.sizes().len(), dim);
    let operands = operands!(write values, indices; read this)?;
    with_compute_type!(O, this.dtype(), T: [f32, f64, i64] => {
        for_each_line(&dims, &operands, |_, [line]: [&[T]; 1], [values]: [&mut [T]; 1], [indices]: [&mut [i64]; 1]| {
            let Some(&(mut best)) = line.first() else { return };
            let mut at = 0;
            for (i, ((&value, out), index)) in line.iter().zip(values).zip(indices).enumerate() {
                let wins = if largest { value >= best } else { value <= best };
                if value.is_nan() || !best.is_nan() && wins {
                    (best, at) = (value, i);
                }
                *out = best;
                *index = i64::try_from(at).unwrap_or(i64::MAX);
            }
        });
        Ok(())
    })
}

#[op_impl(aten::cummax, CPU)]
fn cummax(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    write_cumulative_extremes::<aten::cummax>(out, this, *plan, true)
}

#[op_impl(aten::cummin, CPU)]
fn cummin(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    write_cumulative_extremes::<aten::cummin>(out, this, *plan, false)
}
