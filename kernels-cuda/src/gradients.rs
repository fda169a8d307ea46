//! Gradients of elementwise operators.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Gelu;
use dispatch_runtime::{Result, Scalar, Tensor, op_impl};

use crate::elementwise::fresh;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    threshold_backward - - [F32 F64 I64] (grad_output, this; threshold: Scalar) if aten::check_threshold_backward => |grad, x| "return x <= threshold ? C(0) : grad;";
    sigmoid_backward - - [F32 F64] (grad_output, output) => |grad, y| "return grad * y * (C(1) - y);";
    tanh_backward - - [F32 F64] (grad_output, output) => |grad, y| "return grad * (C(1) - y * y);";
    silu_backward - - [F32 F64] (grad_output, this) => |grad, x| "C y = sigmoid(x); return grad * y * (C(1) + x * (C(1) - y));";
    mish_backward - - [F32 F64] (grad_output, this) => |grad, x| "C y = tanh(soft_plus(x)); return grad * (y + x * sigmoid(x) * (C(1) - y * y));";
    leaky_relu_backward - - [F32 F64] (grad_output, this; negative_slope: Scalar, _self_is_result: bool) if aten::check_leaky_relu_backward => |grad, x| "return x > C(0) ? grad : grad * negative_slope;";
    hardtanh_backward - - [F32 F64] (grad_output, this; min_val: Scalar, max_val: Scalar) if aten::check_hardtanh_backward => |grad, x| "return x <= min_val || x >= max_val ? C(0) : grad;";
    hardsigmoid_backward - - [F32 F64] (grad_output, this) => |grad, x| "return x > C(-3) && x < C(3) ? grad / C(6) : C(0);";
    hardswish_backward - - [F32 F64] (grad_output, this) => |grad, x| "return x <= C(-3) ? C(0) : x < C(3) ? grad * (x / C(3) + C(0.5)) : grad;";
    hardshrink_backward - - [F32 F64] (grad_out, this; lambd: Scalar) if aten::check_shrink_backward => |grad, x| "return x >= -lambd && x <= lambd ? C(0) : grad;";
    softshrink_backward - - [F32 F64] (grad_output, this; lambd: Scalar) if aten::check_shrink_backward => |grad, x| "return x >= -lambd && x <= lambd ? C(0) : grad;";
    softplus_backward - - [F32 F64] (grad_output, this; beta: Scalar, threshold: Scalar) if aten::check_softplus_backward => |grad, x| "return x * beta > threshold ? grad : grad * sigmoid(x * beta);";
    log_sigmoid_backward - - [F32 F64] (grad_output, this, _buffer) => |grad, x, ignored| "return grad * sigmoid(-x);";
    native_dropout_backward - native_dropout_backward_out [F32 F64] (grad_output, mask; scale: f64) => |grad, mask| "return grad * mask * scale;";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    GELU gelu_backward [F32 F64] |grad, x| "return grad * gelu_slope<O>(x);";
    GELU_BY_TANH gelu_by_tanh_backward [F32 F64] |grad, x| "return grad * gelu_slope_by_tanh(x);";
    LOGIT logit_backward [F32 F64] |grad, x; low, high, outside| "return x < low || x > high ? outside : grad / (x * (C(1) - x));";
    ELU elu_backward [F32 F64] |grad, x; alpha, scale, input_scale| "return grad * (x <= C(0) ? input_scale * alpha * scale * exp(x * input_scale) : scale);";
    ELU_OF_RESULT elu_backward_of_result [F32 F64] |grad, y; alpha, scale, input_scale| "return grad * (y <= C(0) ? input_scale * (y + alpha * scale) : scale);";
});

#[op_impl(aten::gelu_backward, CUDA)]
fn gelu_backward(grad_output: &Tensor, this: &Tensor, approximate: &str) -> Result<Tensor> {
    let loops = match Gelu::of(approximate)? {
        Gelu::Exact => &GELU,
        Gelu::Tanh => &GELU_BY_TANH,
    };
    fresh::<aten::gelu_backward, _>(loops, [grad_output, this], &[])
}

#[op_impl(aten::logit_backward, CUDA)]
fn logit_backward(grad_output: &Tensor, this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    // Within the bounds of `eps` there is no slope; without, there is no such number.
    let (low, high, outside) = eps.map_or((0.0, 1.0, f64::NAN), |eps| (eps, 1.0 - eps, 0.0));
    fresh::<aten::logit_backward, _>(&LOGIT, [grad_output, this], &[low.into(), high.into(), outside.into()])
}

#[op_impl(aten::elu_backward, CUDA)]
fn elu_backward(
    grad_output: &Tensor,
    alpha: Scalar,
    scale: Scalar,
    input_scale: Scalar,
    is_result: bool,
    self_or_result: &Tensor,
) -> Result<Tensor> {
    aten::check_elu(grad_output, alpha, scale, input_scale)?;
    let loops = if is_result { &ELU_OF_RESULT } else { &ELU };
    fresh::<aten::elu_backward, _>(loops, [grad_output, self_or_result], &[alpha, scale, input_scale])
}
