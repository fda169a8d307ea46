//! Softmax and its logarithm: a line is read once from memory and stays in the cache while it is worked on.

use dispatch_runtime::{Operation, Result, Tensor, op_impl, operands};

use crate::compute::{self, joined};
use crate::math::{Real, vectorised};
use crate::reduce::{computed, lines, marked};
use crate::reduction::extremes::{Ordered, larger};

/// How many elements are worked on side by side.
const LANES: usize = 32;

/// How many elements are added to each lane before the sum goes on in double precision.
const DEPTH: usize = 64;

/// What is computed of a line.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Softmax,
    Log,
    /// A line of nothing but minus infinity becomes zero.
    Safe,
}

/// A type that softmax is computed in.
pub(crate) trait Fraction: Ordered + compute::Fraction + Into<f64> {}

impl Fraction for f32 {}
impl Fraction for f64 {}

/// The largest element of a line, or what is not a number.
pub(crate) fn highest<T: Ordered>(line: &[T]) -> T {
    vectorised!({
        let mut lanes = [T::LOWEST; LANES];
        let (wide, rest) = line.as_chunks::<LANES>();
        // Some may be looked at twice.
        let last = line.last_chunk().copied().unwrap_or_else(|| filled(rest, T::LOWEST));
        for values in wide.iter().chain([&last]) {
            for (lane, &value) in lanes.iter_mut().zip(values) {
                *lane = larger(value, *lane);
            }
        }
        lanes.into_iter().fold(T::LOWEST, larger)
    })
}

/// What is left at the end of a line, as a block.
#[inline(always)]
fn filled<T: Copy>(rest: &[T], filler: T) -> [T; LANES] {
    let mut block = [filler; LANES];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// The sum over a line of what `f` makes of blocks of elements; nothing is to become of `filler`.
#[inline(always)]
pub(crate) fn total<T: Fraction, const K: usize>(slices: [&[T]; K], filler: [T; K], f: impl Fn([T; K]) -> T) -> T {
    let length = slices[0].len();
    let mut sum = 0.0;
    for start in (0..length).step_by(LANES * DEPTH) {
        let end = length.min(start + LANES * DEPTH);
        let cut = slices.map(|slice| slice[start..end].as_chunks::<LANES>());
        let mut lanes = [T::ZERO; LANES];
        let mut add = |blocks: [&[T; LANES]; K]| {
            for (i, lane) in lanes.iter_mut().enumerate() {
                *lane = lane.plus(f(std::array::from_fn(|k| blocks[k][i])));
            }
        };
        for block in 0..cut[0].0.len() {
            add(std::array::from_fn(|k| &cut[k].0[block]));
        }
        if !cut[0].1.is_empty() {
            let last: [[T; LANES]; K] = std::array::from_fn(|k| filled(cut[k].1, filler[k]));
            add(last.each_ref());
        }
        sum += joined(lanes).into();
    }
    T::near(sum)
}

/// Writes the exponentials of what lies below `highest`, and adds them up.
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
