//! CUDA kernels of activation functions.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::{BoundLoops, Loops, compute_fresh};
use crate::prelude::*;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    relu [few] => |x| "return maximum(x, C(0));";
    leaky_relu => |x| "return x > C(0) ? x : x * negative_slope;";
    silu => |x| "return x * sigmoid(x);";
    elu => |x| "return x <= C(0) ? expm1(x * input_scale) * (alpha * scale) : x * scale;";
    hardtanh => |x| "return minimum(maximum(x, min_val), max_val);";
    gelu => by { gelu_loops(approximate, &GELU_LOOPS, &GELU_BY_TANH_LOOPS) };
    hardsigmoid => |x| "return relu6_of_plus_3(x) / C(6);";
    hardswish => |x| "return x * relu6_of_plus_3(x) / C(6);";
    softplus => |x| "return x * beta > threshold ? x : log1p(exp(x * beta)) / beta;";
    mish => |x| "return x * tanh(softplus(x));";
    threshold => |x| "return x <= threshold ? value : x;";
    hardshrink => |x| "return x >= -lambd && x <= lambd ? C(0) : x;";
    softshrink => |x| "return x > lambd ? x - lambd : x < -lambd ? x + lambd : x * C(0);";
    _prelu_kernel => |x, weight| "return x > C(0) ? x : weight * x;";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    GELU_LOOPS gelu [F32 F64] |x| "return x * normal_cdf<O>(x);";
    GELU_BY_TANH_LOOPS gelu_by_tanh [F32 F64] |x| "return C(0.5) * x * (C(1) + tanh(gelu_tanh_argument(x)));";
    LOG_SIGMOID_LOOPS log_sigmoid [F32 F64] |x| "return log_sigmoid(x);";
    LOG_SIGMOID_BUFFER_LOOPS log_sigmoid_buffer [F32 F64] |x| "return exp(-fabs(x));";
});

/// Selects the loops of `gelu`, or of its gradient, by the argument `approximate`.
pub(crate) fn gelu_loops(approximate: &str, exact: &'static Loops, by_tanh: &'static Loops) -> BoundLoops {
    let loops = if approximate == "tanh" { by_tanh } else { exact };
    loops.bind_scalars(&[])
}

#[op_impl(aten::log_sigmoid_forward, CUDA)]
fn log_sigmoid_forward(this: &Tensor) -> Result<(Tensor, Tensor)> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating).into());
    }
    let this = aten::contiguous(this, MemoryFormat::Contiguous)?;
    let either = |loops: &'static Loops| compute_fresh::<aten::silu, _>([&this], &loops.bind_scalars(&[]));
    Ok((either(&LOG_SIGMOID_LOOPS)?, either(&LOG_SIGMOID_BUFFER_LOOPS)?))
}
