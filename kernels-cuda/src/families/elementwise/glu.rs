//! CUDA kernels of gated linear units (`glu`).
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{GluHalves, GluJvpPlan};
use dispatch_runtime::Promotion;

use crate::engine::elementwise::{compute_into, compute_with_promotion_into};
use crate::prelude::*;

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    GLU_LOOPS glu [F32 F64] |x, gate| "return x * sigmoid(gate);";
    GATE_GRADIENT_LOOPS glu_backward [F32 F64] |grad, x, gate| "C y = sigmoid(gate); return grad * x * y * (C(1) - y);";
    GLU_JVP_LOOPS glu_jvp [F32 F64] |glu, gate, gated_by, gate_by| "C y = sigmoid(gate); return y * gated_by + (gate_by - y * gate_by) * glu;";
});

#[op_impl(aten::glu, CUDA)]
fn glu(plan: &GluHalves, out: &mut Tensor) -> Result<()> {
    compute_into::<aten::mul, _>(("out", out), [&plan.gated, &plan.gate], &GLU_LOOPS.bind_scalars(&[]))
}

#[op_impl(aten::glu_backward, CUDA)]
fn glu_backward(plan: &GluHalves, out: &mut Tensor, grad_output: &Tensor, dim: i64) -> Result<()> {
    let GluHalves { gated, gate } = plan;
    let mut halves = aten::chunk(out, 2, dim)?.into_iter();
    let (Some(mut of_gated), Some(mut of_gate)) = (halves.next(), halves.next()) else { return Ok(()) };
    compute_into::<aten::mul, _>(("out", &mut of_gated), [grad_output, gate], &GLU_LOOPS.bind_scalars(&[]))?;
    compute_into::<aten::addcmul, _>(
        ("out", &mut of_gate),
        [grad_output, gated, gate],
        &GATE_GRADIENT_LOOPS.bind_scalars(&[]),
    )
}

#[op_impl(aten::glu_jvp, CUDA)]
fn glu_jvp(plan: &GluJvpPlan, out: &mut Tensor, glu: &Tensor) -> Result<()> {
    let GluJvpPlan { gate, tangent } = plan;
    compute_with_promotion_into::<aten::glu_jvp, _>(
        Promotion::Common,
        &GLU_JVP_LOOPS,
        out,
        [glu, gate, &tangent.gated, &tangent.gate],
        &[],
    )
}
