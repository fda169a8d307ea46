//! Kernels of softmax and log-softmax. A row is fetched from memory once, and is in the cache during the computation.

use dispatch_runtime::{Operation, Result, Tensor, op_impl, operands};

use engine::compute::joined;
use engine::math::{Real, vectorised};
use engine::reduce::line_totals::{DEPTH, Fraction, LANES, filled, highest, total};
use engine::reduce::{computed, lines, marked};

/// The variant of softmax.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Softmax,
    Log,
    /// Softmax, with zeros for a row that is all minus infinity.
    Safe,
}

/// Writes the exponentials of the differences to `highest`, and returns their sum.
#[inline(always)]
fn exponentials<T: Fraction>(line: &[T], highest: T, out: &mut [T]) -> T {
    let mut sum = 0.0;
    for (line, out) in line.chunks(LANES * DEPTH).zip(out.chunks_mut(LANES * DEPTH)) {
        let mut lanes = [T::ZERO; LANES];
        let mut add = |values: &[T; LANES], out: &mut [T; LANES]| {
            for ((lane, &x), out) in lanes.iter_mut().zip(values).zip(out) {
                *out = Real::exp(x.minus(highest));
                *lane = lane.plus(*out);
            }
        };
        let ((wide, rest), (wide_out, rest_out)) = (line.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
        for (values, out) in wide.iter().zip(wide_out) {
            add(values, out);
        }
        if !rest.is_empty() {
            let mut last = [T::ZERO; LANES];
            add(&filled(rest, T::LOWEST), &mut last);
            rest_out.copy_from_slice(&last[..rest.len()]);
        }
        sum += joined(lanes).into();
    }
    T::near(sum)
}

fn forward<T: Fraction>(line: &[T], out: &mut [T], kind: Kind) {
    let highest = highest(line);
    if kind == Kind::Safe && highest == T::LOWEST {
        return out.fill(T::ZERO);
    }
    vectorised!({
        if kind == Kind::Log {
            let sum = total([line], [T::LOWEST], |[x]| Real::exp(x.minus(highest)));
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
    });
}

fn backward<T: Fraction>(grad: &[T], output: &[T], out: &mut [T], kind: Kind) {
    vectorised!({
        let output = &output[..grad.len()];
        if kind == Kind::Log {
            let sum = total([grad], [T::ZERO], |[grad]| grad);
            for (out, (&grad, &output)) in out.iter_mut().zip(grad.iter().zip(output)) {
                *out = grad.minus(Real::exp(output).times(sum));
            }
        } else {
            let sum = total([grad, output], [T::ZERO; 2], |[grad, output]| grad.times(output));
            for (out, (&grad, &output)) in out.iter_mut().zip(grad.iter().zip(output)) {
                *out = grad.minus(sum).times(output);
            }
        }
    });
}

fn softmax<O: Operation>(dim: usize, out: &mut Tensor, this: &Tensor, kind: Kind) -> Result<()> {
    let (dims, dtype) = (marked(this.sizes().len(), dim), out.dtype());
    let operands = operands!(write out; read this)?;
    computed!(O, dtype, T: [f32, f64] => {
        lines(&dims, &operands, |_, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            forward(line, out, kind);
        });
        Ok(())
    })
}

fn softmax_backward<O: Operation>(
    dim: usize,
    out: &mut Tensor,
    grad_output: &Tensor,
    output: &Tensor,
    kind: Kind,
) -> Result<()> {
    let dims = marked(output.sizes().len(), dim);
    let operands = operands!(write out; read grad_output, output)?;
    computed!(O, output.dtype(), T: [f32, f64] => {
        lines(&dims, &operands, |_, [grad, output]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            backward(grad, output, out, kind);
        });
        Ok(())
    })
}

#[op_impl(aten::_softmax, CPU)]
fn softmax_cpu(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    softmax::<aten::_softmax>(*plan, out, this, Kind::Softmax)
}

#[op_impl(aten::_log_softmax, CPU)]
fn log_softmax_cpu(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    softmax::<aten::_log_softmax>(*plan, out, this, Kind::Log)
}

#[op_impl(aten::_safe_softmax, CPU)]
fn safe_softmax_cpu(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    softmax::<aten::_safe_softmax>(*plan, out, this, Kind::Safe)
}

#[op_impl(aten::_softmax_backward_data, CPU)]
fn softmax_backward_cpu(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    softmax_backward::<aten::_softmax_backward_data>(*plan, out, grad_output, output, Kind::Softmax)
}

#[op_impl(aten::_log_softmax_backward_data, CPU)]
fn log_softmax_backward_cpu(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    softmax_backward::<aten::_log_softmax_backward_data>(*plan, out, grad_output, output, Kind::Log)
}
