//! Kernels of gradients of activation functions and other elementwise operators.

use dispatch_runtime::{Arithmetic, Complex32, Complex64, DType, Floating, Result, Scalar};

use crate::activation::{softplus, tanh_gelu_argument};
use crate::complex::Conjugate;
use engine::compute::{ComputeType, Divide, RealFloat, narrow_complex, widen_complex};
use engine::elementwise::{LoopReceiver, elementwise, loops};
use engine::inlined::inlined;
use engine::math::Real;

elementwise! {
    threshold_backward => |[grad, x]| if x <= threshold { Default::default() } else { grad };
    sigmoid_backward => |[grad, y]| grad.times_sigmoid_derivative(y);
    tanh_backward => |[grad, y]| grad.times(one_minus(y.times(y)).conjugate());
    silu_backward => |[grad, x]| grad.times(x.silu_derivative());
    mish_backward => |[grad, x]| mish_gradient(grad, x);
    leaky_relu_backward => |[grad, x]| {
        if x > 0.0 { grad } else { grad * negative_slope }
    };
    hardtanh_backward => |[grad, x]| {
        if (x <= min_val) | (x >= max_val) { 0.0 } else { grad }
    };
    hardsigmoid_backward => |[grad, x]| if (x > -3.0) & (x < 3.0) { grad / 6.0 } else { 0.0 };
    hardswish_backward => |[grad, x]| {
        if x <= -3.0 { 0.0 } else if x < 3.0 { grad * (x / 3.0 + 0.5) } else { grad }
    };
    hardshrink_backward => |[grad, x]| if (x >= -lambd) & (x <= lambd) { 0.0 } else { grad };
    softshrink_backward => |[grad, x]| if (x >= -lambd) & (x <= lambd) { 0.0 } else { grad };
    softplus_backward => |[grad, x]| {
        if x * beta > threshold { grad } else { grad * Real::sigmoid(x * beta) }
    };
    gelu_backward => by { gelu_backward_loops(approximate) };
    logit_backward => by { logit_backward_loops(eps) };
    elu_backward => by { elu_backward_loops([alpha, scale, input_scale], is_result) };
    log_sigmoid_backward => |[grad, x]| grad * Real::sigmoid(-x);
}

/// Returns `1 - y`.
#[inline(always)]
fn one_minus<T: Arithmetic>(y: T) -> T {
    T::ONE.minus(y)
}

trait SigmoidGradient: Divide + Conjugate {
    /// Multiplies a gradient by the derivative of the sigmoid, in terms of its result `y`.
    fn times_sigmoid_derivative(self, y: Self) -> Self;

    fn sigmoid(self) -> Self;

    /// Returns the derivative of `x * sigmoid(x)`.
    #[inline(always)]
    fn silu_derivative(self) -> Self {
        let sigmoid = self.sigmoid();
        sigmoid.times(Self::ONE.plus(self.times(Self::ONE.minus(sigmoid))))
    }
}

inlined! {
    impl SigmoidGradient for f32, f64 {
        fn times_sigmoid_derivative(self, y: Self) -> Self = self * (1.0 - y) * y;
        fn sigmoid(self) -> Self = Real::sigmoid(self);
    }

    impl SigmoidGradient for Complex32 {
        fn times_sigmoid_derivative(self, y: Self) -> Self = self * (one_minus(y) * y).conj();
        fn sigmoid(self) -> Self = narrow_complex(widen_complex(self).sigmoid());
    }

    impl SigmoidGradient for Complex64 {
        fn times_sigmoid_derivative(self, y: Self) -> Self = self * (one_minus(y) * y).conj();
        fn sigmoid(self) -> Self = Self::ONE.divide(Self::ONE + (-self).exp());
    }
}

#[inline(always)]
fn mish_gradient<T: RealFloat>(grad: T, x: T) -> T {
    let tanh = Real::tanh(softplus(x));
    grad * (tanh + x * Real::sigmoid(x) * (T::from_f64(1.0) - tanh * tanh))
}

fn gelu_backward_loops(
    approximate: &str,
) -> impl Fn(DType, &mut LoopReceiver<'_, 2>) -> Result<(), &'static [DType]> + use<> {
    let by_tanh = approximate == "tanh";
    move |dtype, loop_input: &mut LoopReceiver<'_, 2>| {
        if by_tanh {
            loops!([f32 f64] |[grad, x]| grad * tanh_gelu_derivative(x))(dtype, loop_input)
        } else {
            loops!([f32 f64] |[grad, x]| grad * gelu_derivative(x))(dtype, loop_input)
        }
    }
}

#[inline(always)]
fn gelu_derivative<T: RealFloat>(x: T) -> T {
    let (half, one) = (T::from_f64(0.5), T::from_f64(1.0));
    let cumulative = half * (one + Real::erf(x * T::from_f64(std::f64::consts::FRAC_1_SQRT_2)));
    let scale = T::from_f64(0.5 * std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2);
    cumulative + x * scale * Real::exp(-half * x * x)
}

#[inline(always)]
fn tanh_gelu_derivative<T: RealFloat>(x: T) -> T {
    let (half, one) = (T::from_f64(0.5), T::from_f64(1.0));
    let tanh = Real::tanh(tanh_gelu_argument(x));
    let scale = T::from_f64(std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2);
    let inner_derivative = scale * (one + T::from_f64(3.0 * 0.044_715) * x * x);
    half * (one + tanh) + half * x * (one - tanh * tanh) * inner_derivative
}

fn logit_backward_loops(eps: Option<f64>) -> impl Fn(DType, &mut LoopReceiver<'_, 2>) -> Result<(), &'static [DType]> {
    // With `eps`, the gradient outside its bounds is zero. Without it, `logit` is undefined there and the gradient is NaN.
    let (low, high, outside) = eps.map_or((0.0, 1.0, f64::NAN), |eps| (eps, 1.0 - eps, 0.0));
    loops!([f32 f64] |[grad, x]| {
        let (low, high) = (Floating::from_f64(low), Floating::from_f64(high));
        if (x < low) | (x > high) { Floating::from_f64(outside) } else { grad / (x * (1.0 - x)) }
    })
}

fn elu_backward_loops(
    numbers: [Scalar; 3],
    is_result: bool,
) -> impl Fn(DType, &mut LoopReceiver<'_, 2>) -> Result<(), &'static [DType]> {
    move |dtype, loop_input: &mut LoopReceiver<'_, 2>| {
        if is_result {
            loops!([f32 f64] |[grad, y]| elu_gradient_from_result(grad, y, numbers.map(ComputeType::from_scalar)))(
                dtype, loop_input,
            )
        } else {
            loops!([f32 f64] |[grad, x]| elu_gradient(grad, x, numbers.map(ComputeType::from_scalar)))(
                dtype, loop_input,
            )
        }
    }
}

#[inline(always)]
fn elu_gradient<T: RealFloat>(grad: T, x: T, [alpha, scale, input_scale]: [T; 3]) -> T {
    let derivative =
        if x <= T::from_f64(0.0) { input_scale * alpha * scale * Real::exp(x * input_scale) } else { scale };
    grad * derivative
}

#[inline(always)]
fn elu_gradient_from_result<T: RealFloat>(grad: T, y: T, [alpha, scale, input_scale]: [T; 3]) -> T {
    let derivative = if y <= T::from_f64(0.0) { input_scale * (y + alpha * scale) } else { scale };
    grad * derivative
}
