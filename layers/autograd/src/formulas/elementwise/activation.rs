//! Gradient formulas of activation functions, first and second order.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{Gradient, op_grad};

/// Returns the second derivative of GELU, `x * Phi(x)`, which is `phi(x) * (2 - x^2)`.
fn gelu_second_derivative(x: &Tensor) -> Result<Tensor> {
    let square = (x * x)?;
    let density = ((&square * -0.5)?.exp()? * (0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2))?;
    density * (2 - square)?
}

/// Returns the second derivative of the tanh approximation of GELU, `x / 2 * (1 + tanh(inner(x)))`.
fn gelu_tanh_second_derivative(x: &Tensor) -> Result<Tensor> {
    const GELU_SCALE: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
    const GELU_CUBIC_COEFFICIENT: f64 = 0.044_715;
    let square = (x * x)?;
    let tanh = (((&square * GELU_CUBIC_COEFFICIENT)? + 1)? * (x * GELU_SCALE)?)?.tanh()?;
    let slope = (((&square * (3.0 * GELU_CUBIC_COEFFICIENT))? + 1)? * GELU_SCALE)?;
    let second_derivative = (x * (3.0 * GELU_CUBIC_COEFFICIENT * GELU_SCALE))?;
    let inner = (&slope + (x * (second_derivative - (&tanh * slope.square()?)?)?)?)?;
    (1 - tanh.square()?)? * inner
}

derivatives! {
    relu(grad, result) => aten::threshold_backward(grad, result, 0.into());
    leaky_relu(grad, this; negative_slope: Scalar) => aten::leaky_relu_backward(grad, this, negative_slope, false);
    _prelu_kernel(grad, this, weight) =>
        aten::where_self(&this.gt(0)?, grad, &(grad * weight)?),
        aten::where_scalarself(&this.gt(0)?, 0.into(), &(grad * this)?);
    gelu(grad, this; approximate: &str) => aten::gelu_backward(grad, this, approximate);
    gelu_backward(grad, grad_output, this; approximate: &str) =>
        aten::gelu_backward(grad, this, approximate),
        {
            let second =
                if approximate == "tanh" { gelu_tanh_second_derivative(this)? } else { gelu_second_derivative(this)? };
            (grad * grad_output)? * second
        };
    // `silu_backward` multiplies by the derivative, but a gradient needs its conjugate.
    silu(grad, this) => conj(&aten::silu_backward(&conj(grad)?, this)?);
    silu_backward(grad, grad_output, this) =>
        silu(grad, this),
        {
            let sigmoid = this.sigmoid()?;
            let second_derivative = (((1 - (&sigmoid * 2)?)? * this)? + 2)?;
            aten::sigmoid_backward(&(grad * conj(grad_output)?)?, &sigmoid)? * conj(&second_derivative)?
        };
    mish(grad, this) => aten::mish_backward(grad, this);
    mish_backward(grad, grad_output, this) =>
        aten::mish_backward(grad, this),
        {
            let (sigmoid, tanh) = (this.sigmoid()?, aten::softplus(this, 1.into(), 20.into())?.tanh()?);
            let slope = aten::tanh_backward(&sigmoid, &tanh)?;
            let second_derivative = (1 - (&sigmoid * ((&tanh * 2)? + 1)?)?)?;
            ((grad * grad_output)? * slope)? * ((second_derivative * this)? + 2)?
        };
    elu(grad, this; alpha: Scalar, scale: Scalar, input_scale: Scalar) =>
        aten::elu_backward(grad, alpha, scale, input_scale, false, this);
    elu_backward(grad; _: ...) =>
        aten::elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result),
        {
            let both = ((grad * grad_output)? * input_scale)?;
            let second_derivative = if is_result {
                both
            } else {
                aten::elu_backward(&both, alpha, scale, input_scale, false, self_or_result)?
            };
            aten::where_scalarother(&self_or_result.lt(0)?, &second_derivative, 0.into())
        };
    hardswish(grad, this) => aten::hardswish_backward(grad, this);
    hardswish_backward(grad, grad_output, this) =>
        aten::hardswish_backward(grad, this),
        {
            let inside = this.gt(-3)?.logical_and(&this.lt(3)?)?;
            aten::where_scalarother(&inside, &((grad * grad_output)? / 3.0)?, 0.into())
        };
    softplus(grad, this; beta: Scalar, threshold: Scalar) => aten::softplus_backward(grad, this, beta, threshold);
    softplus_backward(grad, grad_output, this; beta: Scalar, threshold: Scalar) =>
        aten::softplus_backward(grad, this, beta, threshold),
        {
            let scaled = (this * beta)?;
            let second_derivative = aten::sigmoid_backward(&((grad * grad_output)? * beta)?, &scaled.sigmoid()?)?;
            second_derivative.masked_fill(&scaled.gt(threshold)?, 0)
        };
    log_sigmoid_forward(grad, this, buffer), not_differentiable(buffer) =>
        aten::log_sigmoid_backward(grad, this, buffer);
    log_sigmoid_backward(grad, grad_output, this, buffer), not_differentiable(buffer) =>
        aten::log_sigmoid_backward(grad, this, buffer),
        -aten::sigmoid_backward(&(grad * grad_output)?, &this.sigmoid()?)?;
    sigmoid_backward(grad, grad_output, output) =>
        aten::sigmoid_backward(grad, &conj(output)?), (conj(grad)? * grad_output)? * conj(&(1 - (output * 2)?)?)?;
    tanh_backward(grad, grad_output, output) =>
        aten::tanh_backward(grad, &conj(output)?), ((conj(grad)? * grad_output)? * conj(output)?)? * -2;
}

#[op_grad(aten::leaky_relu_backward)]
fn leaky_relu_backward(grad: &Tensor, this: &Tensor, negative_slope: Scalar) -> (impl Gradient, impl Gradient) {
    (move || aten::leaky_relu_backward(grad, this, negative_slope, false), None::<Tensor>)
}

/// Defines the derivatives of piecewise linear functions, whose second derivative is zero.
macro_rules! piecewise_linear_derivatives {
    ($($function:ident $backward:ident($($bound:ident),*);)*) => {$(
        derivatives! {
            $function(grad, this; $($bound: Scalar),*) => aten::$backward(grad, this $(, $bound)*);
        }

        #[op_grad(aten::$backward)]
        fn $backward(grad: &Tensor, this: &Tensor $(, $bound: Scalar)*) -> (impl Gradient, impl Gradient) {
            (move || aten::$backward(grad, this $(, $bound)*), None::<Tensor>)
        }
    )*};
}

piecewise_linear_derivatives! {
    threshold threshold_backward(threshold);
    hardtanh hardtanh_backward(min_val, max_val);
    hardsigmoid hardsigmoid_backward();
    hardshrink hardshrink_backward(lambd);
    softshrink softshrink_backward(lambd);
}
