//! CUDA kernels of the gradients of activation functions and other elementwise operators.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::Scalar;

use crate::engine::elementwise::BoundLoops;
use crate::families::elementwise::activation::gelu_loops;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    threshold_backward => |grad, x| "return x <= threshold ? C(0) : grad;";
    sigmoid_backward => |grad, y| "return grad * y * (C(1) - y);";
    tanh_backward => |grad, y| "return grad * (C(1) - y * y);";
    silu_backward => |grad, x| "C y = sigmoid(x); return grad * y * (C(1) + x * (C(1) - y));";
    mish_backward => |grad, x| "C y = tanh(softplus(x)); return grad * (y + x * sigmoid(x) * (C(1) - y * y));";
    leaky_relu_backward => |grad, x| "return x > C(0) ? grad : grad * negative_slope;";
    hardtanh_backward => |grad, x| "return x <= min_val || x >= max_val ? C(0) : grad;";
    hardsigmoid_backward => |grad, x| "return x > C(-3) && x < C(3) ? grad / C(6) : C(0);";
    hardswish_backward => |grad, x| "return x <= C(-3) ? C(0) : x < C(3) ? grad * (x / C(3) + C(0.5)) : grad;";
    hardshrink_backward => |grad, x| "return x >= -lambd && x <= lambd ? C(0) : grad;";
    softshrink_backward => |grad, x| "return x >= -lambd && x <= lambd ? C(0) : grad;";
    softplus_backward => |grad, x| "return x * beta > threshold ? grad : grad * sigmoid(x * beta);";
    gelu_backward => by { gelu_loops(approximate, &GELU_BACKWARD_LOOPS, &GELU_BY_TANH_BACKWARD_LOOPS) };
    logit_backward => by { logit_backward_loops(eps) };
    elu_backward => by { elu_backward_loops([alpha, scale, input_scale], is_result) };
    log_sigmoid_backward => |grad, x| "return grad * sigmoid(-x);";
    native_dropout_backward => |grad, mask| "return grad * mask * scale;";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    GELU_BACKWARD_LOOPS gelu_backward [F32 F64] |grad, x| "return grad * gelu_derivative<O>(x);";
    GELU_BY_TANH_BACKWARD_LOOPS gelu_by_tanh_backward [F32 F64] |grad, x| "return grad * gelu_tanh_derivative(x);";
    LOGIT_BACKWARD_LOOPS logit_backward [F32 F64] |grad, x; low, high, outside| "return x < low || x > high ? outside : grad / (x * (C(1) - x));";
    ELU_BACKWARD_LOOPS elu_backward [F32 F64] |grad, x; alpha, scale, input_scale| "return grad * (x <= C(0) ? input_scale * alpha * scale * exp(x * input_scale) : scale);";
    ELU_BACKWARD_FROM_RESULT_LOOPS elu_backward_of_result [F32 F64] |grad, y; alpha, scale, input_scale| "return grad * (y <= C(0) ? input_scale * (y + alpha * scale) : scale);";
});

fn logit_backward_loops(eps: Option<f64>) -> BoundLoops {
    // With `eps`, the gradient is zero outside of the bounds; without, it is NaN there.
    let (low, high, outside) = eps.map_or((0.0, 1.0, f64::NAN), |eps| (eps, 1.0 - eps, 0.0));
    LOGIT_BACKWARD_LOOPS.bind_scalars(&[low.into(), high.into(), outside.into()])
}

fn elu_backward_loops(numbers: [Scalar; 3], is_result: bool) -> BoundLoops {
    let loops = if is_result { &ELU_BACKWARD_FROM_RESULT_LOOPS } else { &ELU_BACKWARD_LOOPS };
    loops.bind_scalars(&numbers)
}
