//! Kernels of gated linear units.

use aten::{GluHalves, GluJvpPlan};
use dispatch_runtime::Promotion;
use dispatch_runtime::prelude::*;

use engine::compute::RealFloat;
use engine::elementwise::{compute_with_promotion_into, loops};
use engine::math::Real;

#[op_impl(aten::glu, CPU)]
fn glu(plan: &GluHalves, out: &mut Tensor) -> Result<()> {
    let loops = loops!([f32 f64] |[x, gate]| x * Real::sigmoid(gate));
    compute_with_promotion_into::<aten::glu, _>(Promotion::Common, out, [&plan.gated, &plan.gate], &loops)
}

#[op_impl(aten::glu_backward, CPU)]
fn glu_backward(plan: &GluHalves, out: &mut Tensor, grad_output: &Tensor, dim: i64) -> Result<()> {
    let GluHalves { gated, gate } = plan;
    let mut halves = aten::chunk(out, 2, dim)?.into_iter();
    let (Some(mut gated_grad), Some(mut gate_grad)) = (halves.next(), halves.next()) else { return Ok(()) };
    let loops = loops!([f32 f64] |[grad, gate]| grad * Real::sigmoid(gate));
    compute_with_promotion_into::<aten::glu_backward, _>(
        Promotion::Common,
        &mut gated_grad,
        [grad_output, gate],
        &loops,
    )?;
    let loops = loops!([f32 f64] |[grad, x, gate]| gate_gradient_of_sigmoid(grad * x, gate));
    compute_with_promotion_into::<aten::glu_backward, _>(
        Promotion::Common,
        &mut gate_grad,
        [grad_output, gated, gate],
        &loops,
    )
}

#[op_impl(aten::glu_jvp, CPU)]
fn glu_jvp(plan: &GluJvpPlan, out: &mut Tensor, glu: &Tensor) -> Result<()> {
    let GluJvpPlan { gate, tangent } = plan;
    let loops = loops!([f32 f64] |[glu, gate, gated_by, gate_by]| {
        let sigmoid = Real::sigmoid(gate);
        sigmoid * gated_by + (gate_by - sigmoid * gate_by) * glu
    });
    compute_with_promotion_into::<aten::glu_jvp, _>(
        Promotion::Common,
        out,
        [glu, gate, &tangent.gated, &tangent.gate],
        &loops,
    )
}

#[inline(always)]
fn gate_gradient_of_sigmoid<T: RealFloat>(grad: T, gate: T) -> T {
    let sigmoid = Real::sigmoid(gate);
    grad * sigmoid * (T::from_f64(1.0) - sigmoid)
}
