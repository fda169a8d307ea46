//! Halves that are gated by others.

use dispatch_runtime::Promotion;
use dispatch_runtime::prelude::*;

use crate::compute::Fraction;
use crate::elementwise::{loops, part};
use crate::math::Real;

#[op_impl(aten::glu, CPU)]
fn glu(this: &Tensor, dim: i64) -> Result<Tensor> {
    let [gated, gate] = aten::halves(this, dim)?;
    part::<aten::glu, _>(Promotion::Common, [&gated, &gate], &loops!([f32 f64] |[x, gate]| x * Real::sigmoid(gate)))
}

#[op_impl(aten::glu_backward, CPU)]
fn glu_backward(grad_output: &Tensor, this: &Tensor, dim: i64) -> Result<Tensor> {
    let [gated, gate] = aten::halves(this, dim)?;
    aten::check_glu_gradient(grad_output, &gated)?;
    let of_gated = loops!([f32 f64] |[grad, gate]| grad * Real::sigmoid(gate));
    let of_gated = part::<aten::glu_backward, _>(Promotion::Common, [grad_output, &gate], &of_gated)?;
    let of_gate = loops!([f32 f64] |[grad, x, gate]| gate_slope(grad * x, gate));
    let of_gate = part::<aten::glu_backward, _>(Promotion::Common, [grad_output, &gated, &gate], &of_gate)?;
    aten::cat(&[of_gated, of_gate], dim)
}

#[inline(always)]
fn gate_slope<T: Fraction>(grad: T, gate: T) -> T {
    let sigmoid = Real::sigmoid(gate);
    grad * sigmoid * (T::near(1.0) - sigmoid)
}
