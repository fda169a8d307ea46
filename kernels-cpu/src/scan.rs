//! Running sums, products and extremes.

use dispatch_runtime::{
    Arithmetic, Complex32, Complex64, DType, Operation, Promotion, Result, Scalar, Spec, Tensor, op_impl, operands,
    wrap_dim,
};

use crate::complex::log_sum;
use crate::compute::Compute;
use crate::math::Real;
use crate::reduce::{computed, lines, marked};
use crate::reduction::extremes::Ordered;
use crate::reduction::sums::Wide;

fn dims(this: &Tensor, dim: i64) -> Result<Vec<bool>> {
    let rank = this.sizes().len();
    Ok(marked(rank, wrap_dim("dim", dim, rank)?))
}

/// Running sums or products, kept in the wider type.
fn scanned<O: Operation>(this: &Tensor, dim: i64, dtype: Option<DType>, product: bool) -> Result<Tensor> {
    let dtype = aten::sum_dtype(this, dtype);
    let mut out = aten::scan_spec(this, dim, dtype)?.on(this.device())?;
    let dims = dims(this, dim)?;
    let operands = operands!(write out; read this)?;
    computed!(O, dtype, T: [f32, f64, i64, Complex32, Complex64] => {
        lines(&dims, &operands, |_, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            let mut running = <T as Wide>::Wide::from_scalar(Scalar::Int(i64::from(product)));
            for (out, &value) in out.iter_mut().zip(line) {
                running = if product { running.times(value.widen()) } else { running.plus(value.widen()) };
                *out = T::over(running, 1.0);
            }
        });
        Ok(())
    })?;
    drop(operands);
    Ok(out)
}

#[op_impl(aten::cumsum, CPU)]
fn cumsum(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    scanned::<aten::cumsum>(this, dim, dtype, false)
}

#[op_impl(aten::cumprod, CPU)]
fn cumprod(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    scanned::<aten::cumprod>(this, dim, dtype, true)
}

#[op_impl(aten::logcumsumexp, CPU)]
fn logcumsumexp(this: &Tensor, dim: i64) -> Result<Tensor> {
    let dtype = Promotion::Float.of(&[this]);
    let mut out = aten::scan_spec(this, dim, dtype)?.on(this.device())?;
    let dims = dims(this, dim)?;
    let operands = operands!(write out; read this)?;
    computed!(aten::logcumsumexp, dtype, T: [f32, f64, Complex32, Complex64] => {
        type Wider = <T as Wide>::Wide;
        lines(&dims, &operands, |_, [line]: [&[Wider]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            let mut running = Wider::from_scalar(Scalar::Float(f64::NEG_INFINITY));
            for (out, &value) in out.iter_mut().zip(line) {
                running = running.log_add_exp(value);
                *out = T::over(running, 1.0);
            }
        });
        Ok(())
    })?;
    drop(operands);
    Ok(out)
}

trait Exponential {
    /// The logarithm of the sum of the exponentials.
    fn log_add_exp(self, other: Self) -> Self;
}

impl Exponential for f64 {
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

impl Exponential for Complex64 {
    fn log_add_exp(self, other: Self) -> Self {
        log_sum(self, other)
    }
}

/// Running extremes and their places; of equal elements the last.
fn placed<O: Operation>(this: &Tensor, dim: i64, largest: bool) -> Result<(Tensor, Tensor)> {
    let spec = aten::scan_spec(this, dim, this.dtype())?;
    let mut indices = Spec { dtype: DType::I64, ..spec.clone() }.on(this.device())?;
    let mut values = spec.on(this.device())?;
    let dims = dims(this, dim)?;
    let operands = operands!(write values, indices; read this)?;
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(&dims, &operands, |_, [line]: [&[T]; 1], [values]: [&mut [T]; 1], [indices]: [&mut [i64]; 1]| {
            let Some(&(mut best)) = line.first() else { return };
            let mut at = 0;
            for (i, ((&value, out), index)) in line.iter().zip(values).zip(indices).enumerate() {
                let wins = if largest { value >= best } else { value <= best };
                if value.is_none() || !best.is_none() && wins {
                    (best, at) = (value, i);
                }
                *out = best;
                *index = i64::try_from(at).unwrap_or(i64::MAX);
            }
        });
        Ok(())
    })?;
    drop(operands);
    Ok((values, indices))
}

#[op_impl(aten::cummax, CPU)]
fn cummax(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    placed::<aten::cummax>(this, dim, true)
}

#[op_impl(aten::cummin, CPU)]
fn cummin(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    placed::<aten::cummin>(this, dim, false)
}
