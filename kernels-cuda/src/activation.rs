//! Activation functions.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{Gelu, Halves};
use dispatch_runtime::{BadArgument, MemoryFormat, Result, Scalar, Tensor, op_impl};

use crate::elementwise::{Loops, fresh, in_place, into};

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    relu relu_ relu_out [F32 F64 I32 I64] (this) => |x| "return larger(x, C(0));";
    leaky_relu leaky_relu_ leaky_relu_out [F32 F64] (this; negative_slope: Scalar) if aten::check_leaky_relu => |x| "return x > C(0) ? x : x * negative_slope;";
    silu silu_ silu_out [F32 F64] (this) => |x| "return x * sigmoid(x);";
    elu elu_ elu_out [F32 F64] (this; alpha: Scalar, scale: Scalar, input_scale: Scalar) if aten::check_elu => |x| "return x <= C(0) ? expm1(x * input_scale) * (alpha * scale) : x * scale;";
    hardtanh hardtanh_ hardtanh_out [F32 F64 I64] (this; min_val: Scalar, max_val: Scalar) if aten::check_hardtanh => |x| "return smaller(larger(x, min_val), max_val);";
    hardsigmoid hardsigmoid_ hardsigmoid_out [F32 F64] (this) => |x| "return gate(x) / C(6);";
    hardswish hardswish_ hardswish_out [F32 F64] (this) => |x| "return x * gate(x) / C(6);";
    softplus - softplus_out [F32 F64] (this; beta: Scalar, threshold: Scalar) if aten::check_softplus => |x| "return x * beta > threshold ? x : log1p(exp(x * beta)) / beta;";
    mish mish_ mish_out [F32 F64] (this) => |x| "return x * tanh(soft_plus(x));";
    threshold threshold_ threshold_out [F32 F64 I64] (this; threshold: Scalar, value: Scalar) if aten::check_threshold => |x| "return x <= threshold ? value : x;";
    hardshrink - hardshrink_out [F32 F64] (this; lambd: Scalar) if aten::check_hardshrink => |x| "return x >= -lambd && x <= lambd ? C(0) : x;";
    softshrink - softshrink_out [F32 F64] (this; lambd: Scalar) if aten::check_softshrink => |x| "return x > lambd ? x - lambd : x < -lambd ? x + lambd : x * C(0);";
    _prelu_kernel - - [F32 F64] (this, weight) => |x, weight| "return x > C(0) ? x : weight * x;";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    GELU gelu [F32 F64] |x| "return x * normal_share<O>(x);";
    GELU_BY_TANH gelu_by_tanh [F32 F64] |x| "return C(0.5) * x * (C(1) + tanh(gelu_inner(x)));";
    LOG_SIGMOID log_sigmoid [F32 F64] |x| "return log_sigmoid(x);";
    LOG_SIGMOID_BUFFER log_sigmoid_buffer [F32 F64] |x| "return exp(-fabs(x));";
});

fn gelu_loops(approximate: &str) -> Result<&'static Loops> {
    Ok(match Gelu::of(approximate)? {
        Gelu::Exact => &GELU,
        Gelu::Tanh => &GELU_BY_TANH,
    })
}

#[op_impl(aten::gelu, CUDA)]
fn gelu(this: &Tensor, approximate: &str) -> Result<Tensor> {
    fresh::<aten::gelu, _>(gelu_loops(approximate)?, [this], &[])
}

#[op_impl(aten::gelu_, CUDA)]
fn gelu_(this: &mut Tensor, approximate: &str) -> Result<()> {
    in_place::<aten::gelu, aten::gelu_, _>(gelu_loops(approximate)?, this, [None], &[])
}

#[op_impl(aten::gelu_out, CUDA)]
fn gelu_out(this: &Tensor, approximate: &str, out: &mut Tensor) -> Result<()> {
    into::<aten::gelu, _>(gelu_loops(approximate)?, out, [this], &[])
}

#[op_impl(aten::log_sigmoid_forward, CUDA)]
fn log_sigmoid_forward(this: &Tensor) -> Result<(Tensor, Tensor)> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), "floating").into());
    }
    let this = aten::contiguous(this, MemoryFormat::Contiguous)?;
    let either = |loops| fresh::<aten::silu, _>(loops, [&this], &[]);
    Ok((either(&LOG_SIGMOID)?, either(&LOG_SIGMOID_BUFFER)?))
}

#[op_impl(aten::glu, CUDA)]
fn glu(plan: &Halves, out: &mut Tensor) -> Result<()> {
    into::<aten::mul, _>(&GATED, out, [&plan.gated, &plan.gate], &[])
}

#[op_impl(aten::glu_backward, CUDA)]
fn glu_backward(plan: &Halves, out: &mut Tensor, grad_output: &Tensor, dim: i64) -> Result<()> {
    let Halves { gated, gate } = plan;
    let mut halves = aten::chunk(out, 2, dim)?.into_iter();
    let (Some(mut of_gated), Some(mut of_gate)) = (halves.next(), halves.next()) else { return Ok(()) };
    into::<aten::mul, _>(&GATED, &mut of_gated, [grad_output, gate], &[])?;
    into::<aten::addcmul, _>(&GATE_SLOPE, &mut of_gate, [grad_output, gated, gate], &[])
}

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    GATED glu [F32 F64] |x, gate| "return x * sigmoid(gate);";
    GATE_SLOPE glu_backward [F32 F64] |grad, x, gate| "C y = sigmoid(gate); return grad * x * y * (C(1) - y);";
});
