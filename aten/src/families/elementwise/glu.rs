//! The gated linear unit `glu`, its gradient and its forward derivative.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected, Spec, wrap_dim};

use crate::prelude::*;
use crate::{check_same_device, narrow};

/// The gated linear unit: the first half of a dimension, times the sigmoid of the second.
#[op_def("glu(Tensor self, int dim=-1) -> Tensor", plan, out = "out")]
pub fn glu(_: ...) -> Result<Tensor>;

/// The two halves of a tensor along a dimension, as views.
pub struct GluHalves {
    /// The first half.
    pub gated: Tensor,
    /// The second half, whose sigmoid is the factor.
    pub gate: Tensor,
}

#[op_plan(glu)]
fn glu_plan(this: &Tensor, dim: i64) -> Result<Plan<GluHalves>> {
    let halves = split_halves("self", this, dim)?;
    let spec = Spec::pointwise(&[&halves.gated, &halves.gate], this.dtype())?;
    Ok(Plan::new(halves, [spec]))
}

/// The gradient of [`glu`].
#[op_def("glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", plan, out = "grad_input"(grad_input))]
pub fn glu_backward(_: ...) -> Result<Tensor>;

#[op_plan(glu_backward)]
fn glu_backward_plan(grad_output: &Tensor, this: &Tensor, dim: i64) -> Result<Plan<GluHalves>> {
    check_same_device([("self", this), ("grad_output", grad_output)])?;
    let halves = split_halves("self", this, dim)?;
    if grad_output.dtype() != this.dtype() {
        return Err(BadArgument::dtype("grad_output", grad_output.dtype(), this.dtype()).like("self").into());
    }
    if grad_output.sizes() != halves.gated.sizes() {
        return Err(BadArgument::sizes("grad_output", grad_output.sizes(), halves.gated.sizes())
            .because("the result has")
            .into());
    }
    Ok(Plan::new(halves, [Spec::contiguous(this.dtype(), this.sizes())]))
}

/// The forward derivative of [`glu`]: the tangent of the result `glu`, given the input `x` and its tangent `dx`.
#[op_def("glu_jvp(Tensor glu, Tensor x, Tensor dx, int dim) -> Tensor", plan, out = "out")]
pub fn glu_jvp(_: ...) -> Result<Tensor>;

/// The plan of [`glu_jvp`]: the second half of the input, and both halves of its tangent.
pub struct GluJvpPlan {
    /// The second half of the input, whose sigmoid is the factor.
    pub gate: Tensor,
    /// The halves of the input's tangent.
    pub tangent: GluHalves,
}

#[op_plan(glu_jvp)]
fn glu_jvp_plan(glu: &Tensor, x: &Tensor, dx: &Tensor, dim: i64) -> Result<Plan<GluJvpPlan>> {
    check_same_device([("x", x), ("glu", glu), ("dx", dx)])?;
    let GluHalves { gated, gate } = split_halves("x", x, dim)?;
    let expected = [("glu", glu, gated.sizes(), "a half of `x` has"), ("dx", dx, x.sizes(), "`x` has")];
    for (name, tensor, sizes, whose) in expected {
        if tensor.dtype() != x.dtype() {
            return Err(BadArgument::dtype(name, tensor.dtype(), x.dtype()).like("x").into());
        }
        if tensor.sizes() != sizes {
            return Err(BadArgument::sizes(name, tensor.sizes(), sizes).because(whose).into());
        }
    }
    Ok(Plan::new(GluJvpPlan { gate, tangent: split_halves("dx", dx, dim)? }, [Spec::like(glu, glu.dtype())]))
}

/// The forward derivative of [`glu_backward`]: the tangent of the gradient `grad_x`, given the tangents of the result's gradient and of `x`.
#[op_def(
    "glu_backward_jvp(Tensor grad_x, Tensor grad_glu, Tensor x, Tensor dgrad_glu, Tensor dx, int dim) -> Tensor",
    out = "out"
)]
pub fn glu_backward_jvp(_: ...) -> Result<Tensor> {
    let (halves, tangents) = (split_halves("x", x, dim)?, split_halves("dx", dx, dim)?);
    let grads = split_halves("grad_x", grad_x, dim)?;
    let expected = [
        ("grad_x", grad_x, x),
        ("dx", dx, x),
        ("grad_glu", grad_glu, &halves.gated),
        ("dgrad_glu", dgrad_glu, &halves.gated),
    ];
    for (name, tensor, like) in expected {
        check_same_device([("x", x), (name, tensor)])?;
        if tensor.sizes() != like.sizes() {
            return Err(BadArgument::sizes(name, tensor.sizes(), like.sizes())
                .because(format!("`x` has sizes {:?}", x.sizes()))
                .into());
        }
    }
    let sigmoid = halves.gate.sigmoid()?;
    let complement = (1 - &sigmoid)?;
    // The gradient of the first half, times the derivative of the logarithm of the sigmoid.
    let scaled = (grads.gated * &complement)?;
    let of_gated = ((dgrad_glu * &sigmoid)? + (&scaled * &tangents.gate)?)?;
    let of_gate = (((&of_gated * complement)? - ((&scaled * sigmoid)? * tangents.gate)?)? * halves.gated)?;
    crate::cat(&[of_gated, (of_gate + (scaled * tangents.gated)?)?], dim)
}

/// Splits a tensor into two halves along a dimension, and returns an error if the size is odd.
fn split_halves(name: &'static str, this: &Tensor, dim: i64) -> Result<GluHalves> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype(name, this.dtype(), DTypes::Floating).into());
    }
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let Some(&size) = this.sizes().get(at) else {
        return Err(BadArgument::rank(name, 0, 1..).into());
    };
    if size % 2 != 0 {
        return Err(BadArgument::size(name, this.sizes(), at, Expected::MultipleOf(2)).into());
    }
    Ok(GluHalves { gated: narrow(this, dim, 0, size / 2)?, gate: narrow(this, dim, size / 2, size / 2)? })
}
