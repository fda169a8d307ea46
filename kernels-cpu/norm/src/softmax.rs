//! Kernels of softmax and log-softmax. A row is fetched from memory once, and is in the cache during the computation.

use dispatch_runtime::{Operation, Result, Tensor, op_impl, operands};

use engine::compute::sum_lanes;
use engine::math::{Real, vectorised};
use engine::reduce::line_totals::{
    ELEMENTS_PER_LANE, LANE_COUNT, OrderedFloat, max_of_line, padded_block, sum_of_line,
};
use engine::reduce::{dim_mask, for_each_line, with_compute_type};

/// The variant of softmax.
#[derive(Clone, Copy, PartialEq)]
enum SoftmaxKind {
    Softmax,
    Log,
    /// Softmax, with zeros for a row that is all minus infinity.
    Safe,
}

/// Writes the exponentials of the differences to `highest`, and returns their sum.
#[inline(always)]
fn write_exponentials<T: OrderedFloat>(line: &[T], highest: T, out: &mut [T]) -> T {
    let mut sum = 0.0;
    for (line, out) in line.chunks(LANE_COUNT * ELEMENTS_PER_LANE).zip(out.chunks_mut(LANE_COUNT * ELEMENTS_PER_LANE)) {
        let mut lanes = [T::ZERO; LANE_COUNT];
        let mut add = |values: &[T; LANE_COUNT], out: &mut [T; LANE_COUNT]| {
            for ((lane, &x), out) in lanes.iter_mut().zip(values).zip(out) {
                *out = Real::exp(x.minus(highest));
                *lane = lane.plus(*out);
            }
        };
        let ((wide, rest), (wide_out, rest_out)) = (line.as_chunks::<LANE_COUNT>(), out.as_chunks_mut::<LANE_COUNT>());
        for (values, out) in wide.iter().zip(wide_out) {
            add(values, out);
        }
        if !rest.is_empty() {
            let mut last = [T::ZERO; LANE_COUNT];
            add(&padded_block(rest, T::MIN_VALUE), &mut last);
            rest_out.copy_from_slice(&last[..rest.len()]);
        }
        sum += sum_lanes(lanes).into();
    }
    T::from_f64(sum)
}

fn softmax_row<T: OrderedFloat>(line: &[T], out: &mut [T], kind: SoftmaxKind) {
    let highest = max_of_line(line);
    if kind == SoftmaxKind::Safe && highest == T::MIN_VALUE {
        return out.fill(T::ZERO);
    }
    vectorised!({
        if kind == SoftmaxKind::Log {
            let sum = sum_of_line([line], [T::MIN_VALUE], |[x]| Real::exp(x.minus(highest)));
            let shift = Real::log(sum);
            for (out, &x) in out.iter_mut().zip(line) {
                *out = x.minus(highest).minus(shift);
            }
        } else {
            let scale = Real::reciprocal(write_exponentials(line, highest, out));
            for out in out {
                *out = out.times(scale);
            }
        }
    });
}

fn softmax_gradient_row<T: OrderedFloat>(grad: &[T], output: &[T], out: &mut [T], kind: SoftmaxKind) {
    vectorised!({
        let output = &output[..grad.len()];
        if kind == SoftmaxKind::Log {
            let sum = sum_of_line([grad], [T::ZERO], |[grad]| grad);
            for (out, (&grad, &output)) in out.iter_mut().zip(grad.iter().zip(output)) {
                *out = grad.minus(Real::exp(output).times(sum));
            }
        } else {
            let sum = sum_of_line([grad, output], [T::ZERO; 2], |[grad, output]| grad.times(output));
            for (out, (&grad, &output)) in out.iter_mut().zip(grad.iter().zip(output)) {
                *out = grad.minus(sum).times(output);
            }
        }
    });
}

fn write_softmax<O: Operation>(dim: usize, out: &mut Tensor, this: &Tensor, kind: SoftmaxKind) -> Result<()> {
    let (dims, dtype) = (dim_mask(this.sizes().len(), dim), out.dtype());
    let operands = operands!(write out; read this)?;
    with_compute_type!(O, dtype, T: [f32, f64] => {
        for_each_line(&dims, &operands, |_, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            softmax_row(line, out, kind);
        });
        Ok(())
    })
}

fn write_softmax_gradient<O: Operation>(
    dim: usize,
    out: &mut Tensor,
    grad_output: &Tensor,
    output: &Tensor,
    kind: SoftmaxKind,
) -> Result<()> {
    let dims = dim_mask(output.sizes().len(), dim);
    let operands = operands!(write out; read grad_output, output)?;
    with_compute_type!(O, output.dtype(), T: [f32, f64] => {
        for_each_line(&dims, &operands, |_, [grad, output]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            softmax_gradient_row(grad, output, out, kind);
        });
        Ok(())
    })
}

#[op_impl(aten::_softmax, CPU)]
fn softmax_cpu(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    write_softmax::<aten::_softmax>(*plan, out, this, SoftmaxKind::Softmax)
}

#[op_impl(aten::_log_softmax, CPU)]
fn log_softmax_cpu(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    write_softmax::<aten::_log_softmax>(*plan, out, this, SoftmaxKind::Log)
}

#[op_impl(aten::_safe_softmax, CPU)]
fn safe_softmax_cpu(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    write_softmax::<aten::_safe_softmax>(*plan, out, this, SoftmaxKind::Safe)
}

#[op_impl(aten::_softmax_backward_data, CPU)]
fn softmax_backward_cpu(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    write_softmax_gradient::<aten::_softmax_backward_data>(*plan, out, grad_output, output, SoftmaxKind::Softmax)
}

#[op_impl(aten::_log_softmax_backward_data, CPU)]
fn log_softmax_backward_cpu(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    write_softmax_gradient::<aten::_log_softmax_backward_data>(*plan, out, grad_output, output, SoftmaxKind::Log)
}
