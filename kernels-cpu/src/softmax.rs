//! Softmax and its logarithm: a line is read once from memory and stays in the cache while it is worked on.

use dispatch_runtime::{DType, Operation, Result, Scalar, Tensor, op_impl, operands, wrap_dim};

use crate::compute::Compute;
use crate::math::{Real, vectorised};
use crate::reduce::{computed, lines, marked};
use crate::reduction::extremes::{Ordered, larger};

/// How many elements are worked on side by side.
const LANES: usize = 32;

/// What is computed of a line.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Softmax,
    Log,
    /// A line of nothing but minus infinity becomes zero.
    Safe,
}

/// A type that softmax is computed in.
pub(crate) trait Fraction: Ordered + Compute + Real + Sync {}

impl Fraction for f32 {}
impl Fraction for f64 {}

/// The largest element of a line, or what is not a number.
pub(crate) fn highest<T: Ordered>(line: &[T]) -> T {
    vectorised(
        #[inline(always)]
        || {
            let mut lanes = [T::LOWEST; LANES];
            let (wide, rest) = line.as_chunks::<LANES>();
            for values in wide {
                for (lane, &value) in lanes.iter_mut().zip(values) {
                    *lane = larger(value, *lane);
                }
            }
            let highest = lanes.into_iter().fold(T::LOWEST, larger);
            rest.iter().fold(highest, |highest, &value| larger(highest, value))
        },
    )
}

/// The sum over a line of what `f` makes of each element and its place.
#[inline(always)]
fn total<T: Compute>(line: &[T], mut f: impl FnMut(usize, T) -> T) -> T {
    let mut lanes = [T::from_scalar(Scalar::Int(0)); LANES];
    let (wide, rest) = line.as_chunks::<LANES>();
    for (block, values) in wide.iter().enumerate() {
        for (i, (lane, &value)) in lanes.iter_mut().zip(values).enumerate() {
            *lane = lane.plus(f(block * LANES + i, value));
        }
    }
    let start = wide.len() * LANES;
    for (i, (lane, &value)) in lanes.iter_mut().zip(rest).enumerate() {
        *lane = lane.plus(f(start + i, value));
    }
    joined(lanes)
}

/// Writes the exponentials of what lies below `highest`, and adds them up.
#[inline(always)]
fn exponentials<T: Fraction>(line: &[T], highest: T, out: &mut [T]) -> T {
    let mut lanes = [T::from_scalar(Scalar::Int(0)); LANES];
    let ((wide, rest), (wide_out, rest_out)) = (line.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
    for (values, out) in wide.iter().zip(wide_out) {
        for ((lane, &x), out) in lanes.iter_mut().zip(values).zip(out) {
            *out = Real::exp(x.minus(highest));
            *lane = lane.plus(*out);
        }
    }
    for ((lane, &x), out) in lanes.iter_mut().zip(rest).zip(rest_out) {
        *out = Real::exp(x.minus(highest));
        *lane = lane.plus(*out);
    }
    joined(lanes)
}

/// The sum of all lanes.
#[inline(always)]
fn joined<T: Compute>(mut lanes: [T; LANES]) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = lanes[i].plus(lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}

fn forward<T: Fraction>(line: &[T], out: &mut [T], kind: Kind) {
    let highest = highest(line);
    if kind == Kind::Safe && highest == T::LOWEST {
        return out.fill(T::from_scalar(Scalar::Int(0)));
    }
    vectorised(
        #[inline(always)]
        || {
            if kind == Kind::Log {
                let sum = total(line, |_, x| Real::exp(x.minus(highest)));
                let shift = Real::log(sum);
                for (out, &x) in out.iter_mut().zip(line) {
                    *out = x.minus(highest).minus(shift);
                }
            } else {
                let scale = Real::reciprocal(exponentials(line, highest, out));
                for out in out {
                    *out = out.times(scale);
                }
            }
        },
    );
}

fn backward<T: Fraction>(grad: &[T], output: &[T], out: &mut [T], kind: Kind) {
    vectorised(
        #[inline(always)]
        || {
            let output = &output[..grad.len()];
            if kind == Kind::Log {
                let sum = total(grad, |_, grad| grad);
                for (out, (&grad, &output)) in out.iter_mut().zip(grad.iter().zip(output)) {
                    *out = grad.minus(Real::exp(output).times(sum));
                }
            } else {
                let sum = total(grad, |i, grad| grad.times(output[i]));
                for (out, (&grad, &output)) in out.iter_mut().zip(grad.iter().zip(output)) {
                    *out = grad.minus(sum).times(output);
                }
            }
        },
    );
}

fn softmax<O: Operation>(this: &Tensor, dim: i64, dtype: Option<DType>, kind: Kind) -> Result<Tensor> {
    let spec = aten::softmax_spec(this, dim, dtype)?;
    let (dtype, rank) = (spec.dtype, this.sizes().len());
    let dims = marked(rank, wrap_dim("dim", dim, rank)?);
    let mut out = spec.on(this.device())?;
    let operands = operands!(write out; read this)?;
    let ([to], [from]) = (operands.written(), operands.read());
    computed!(O, dtype, T: [f32, f64] => {
        lines(&dims, [from], [to], [], |_, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            forward(line, out, kind);
        });
        Ok(())
    })?;
    drop(operands);
    Ok(out)
}

fn softmax_backward<O: Operation>(
    grad_output: &Tensor,
    output: &Tensor,
    dim: i64,
    input_dtype: DType,
    kind: Kind,
) -> Result<Tensor> {
    let spec = aten::softmax_backward_spec(grad_output, output, dim, input_dtype)?;
    let rank = output.sizes().len();
    let dims = marked(rank, wrap_dim("dim", dim, rank)?);
    let mut out = spec.on(output.device())?;
    let operands = operands!(write out; read grad_output, output)?;
    let ([to], [grad, result]) = (operands.written(), operands.read());
    computed!(O, output.dtype(), T: [f32, f64] => {
        lines(&dims, [grad, result], [to], [], |_, [grad, output]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            backward(grad, output, out, kind);
        });
        Ok(())
    })?;
    drop(operands);
    Ok(out)
}

#[op_impl(aten::_softmax, CPU)]
fn softmax_cpu(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Tensor> {
    softmax::<aten::_softmax>(this, dim, half_to_float.then_some(DType::F32), Kind::Softmax)
}

#[op_impl(aten::_log_softmax, CPU)]
fn log_softmax_cpu(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Tensor> {
    softmax::<aten::_log_softmax>(this, dim, half_to_float.then_some(DType::F32), Kind::Log)
}

#[op_impl(aten::_safe_softmax, CPU)]
fn safe_softmax_cpu(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    softmax::<aten::_safe_softmax>(this, dim, dtype, Kind::Safe)
}

#[op_impl(aten::_softmax_backward_data, CPU)]
fn softmax_backward_cpu(grad_output: &Tensor, output: &Tensor, dim: i64, input_dtype: DType) -> Result<Tensor> {
    softmax_backward::<aten::_softmax_backward_data>(grad_output, output, dim, input_dtype, Kind::Softmax)
}

#[op_impl(aten::_log_softmax_backward_data, CPU)]
fn log_softmax_backward_cpu(grad_output: &Tensor, output: &Tensor, dim: i64, input_dtype: DType) -> Result<Tensor> {
    softmax_backward::<aten::_log_softmax_backward_data>(grad_output, output, dim, input_dtype, Kind::Log)
}
