//! Activation functions, and the gradients of their gradients.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{Gradient, op_grad};

#[op_grad(aten::relu)]
fn relu(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    aten::threshold_backward(grad, result, 0.into())
}

#[op_grad(aten::threshold)]
fn threshold(grad: &Tensor, this: &Tensor, threshold: Scalar) -> Result<Tensor> {
    aten::threshold_backward(grad, this, threshold)
}

#[op_grad(aten::threshold_backward)]
fn threshold_backward(grad: &Tensor, this: &Tensor, threshold: Scalar) -> (impl Gradient, impl Gradient) {
    (move || aten::threshold_backward(grad, this, threshold), None::<Tensor>)
}

#[op_grad(aten::leaky_relu)]
fn leaky_relu(grad: &Tensor, this: &Tensor, negative_slope: Scalar) -> Result<Tensor> {
    aten::leaky_relu_backward(grad, this, negative_slope, false)
}

#[op_grad(aten::leaky_relu_backward)]
fn leaky_relu_backward(grad: &Tensor, this: &Tensor, negative_slope: Scalar) -> (impl Gradient, impl Gradient) {
    (move || aten::leaky_relu_backward(grad, this, negative_slope, false), None::<Tensor>)
}

#[op_grad(aten::_prelu_kernel)]
fn prelu(grad: &Tensor, this: &Tensor, weight: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || aten::where_self(&this.gt_scalar(0)?, grad, &(grad * weight)?),
        move || aten::where_scalarself(&this.gt_scalar(0)?, 0.into(), &(grad * this)?),
    )
}

#[op_grad(aten::gelu)]
fn gelu(grad: &Tensor, this: &Tensor, approximate: &str) -> Result<Tensor> {
    aten::gelu_backward(grad, this, approximate)
}

#[op_grad(aten::gelu_backward)]
fn gelu_backward(
    grad: &Tensor,
    grad_output: &Tensor,
    this: &Tensor,
    approximate: &str,
) -> (impl Gradient, impl Gradient) {
    (
        move || aten::gelu_backward(grad, this, approximate),
        move || {
            let bend = if approximate == "tanh" { gelu_bend_by_tanh(this) } else { gelu_bend(this) };
            (grad * grad_output)? * bend?
        },
    )
}

/// The second derivative of `x * Phi(x)`, which is `phi(x) * (2 - x^2)`.
fn gelu_bend(x: &Tensor) -> Result<Tensor> {
    let square = (x * x)?;
    let density = ((&square * -0.5)?.exp()? * (0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2))?;
    density * (2 - square)?
}

/// That of `x / 2 * (1 + tanh(inner(x)))`.
fn gelu_bend_by_tanh(x: &Tensor) -> Result<Tensor> {
    const SCALE: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
    const CUBIC: f64 = 0.044_715;
    let square = (x * x)?;
    let tanh = (((&square * CUBIC)? + 1)? * (x * SCALE)?)?.tanh()?;
    let slope = (((&square * (3.0 * CUBIC))? + 1)? * SCALE)?;
    let bend = (x * (3.0 * CUBIC * SCALE))?;
    let inner = (&slope + (x * (bend - (&tanh * slope.square()?)?)?)?)?;
    (1 - tanh.square()?)? * inner
}

#[op_grad(aten::silu)]
fn silu(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    // It multiplies with the slope as it is, where a gradient wants the conjugate.
    conj(&aten::silu_backward(&conj(grad)?, this)?)
}

#[op_grad(aten::silu_backward)]
fn silu_backward(grad: &Tensor, grad_output: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || silu(grad, this),
        move || {
            let sigmoid = this.sigmoid()?;
            let bend = (((1 - (&sigmoid * 2)?)? * this)? + 2)?;
            aten::sigmoid_backward(&(grad * conj(grad_output)?)?, &sigmoid)? * conj(&bend)?
        },
    )
}

#[op_grad(aten::mish)]
fn mish(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    aten::mish_backward(grad, this)
}

#[op_grad(aten::mish_backward)]
fn mish_backward(grad: &Tensor, grad_output: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || aten::mish_backward(grad, this),
        move || {
            let (sigmoid, tanh) = (this.sigmoid()?, this.softplus(1, 20)?.tanh()?);
            let slope = aten::tanh_backward(&sigmoid, &tanh)?;
            let bend = (1 - (&sigmoid * ((&tanh * 2)? + 1)?)?)?;
            ((grad * grad_output)? * slope)? * ((bend * this)? + 2)?
        },
    )
}

#[op_grad(aten::elu)]
fn elu(grad: &Tensor, this: &Tensor, alpha: Scalar, scale: Scalar, input_scale: Scalar) -> Result<Tensor> {
    aten::elu_backward(grad, alpha, scale, input_scale, false, this)
}

#[op_grad(aten::elu_backward)]
fn elu_backward(
    grad: &Tensor,
    grad_output: &Tensor,
    alpha: Scalar,
    scale: Scalar,
    input_scale: Scalar,
    is_result: bool,
    self_or_result: &Tensor,
) -> (impl Gradient, impl Gradient) {
    (
        move || aten::elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result),
        move || {
            let both = ((grad * grad_output)? * input_scale)?;
            let bend = if is_result {
                both
            } else {
                aten::elu_backward(&both, alpha, scale, input_scale, false, self_or_result)?
            };
            aten::where_scalarother(&self_or_result.lt_scalar(0)?, &bend, 0.into())
        },
    )
}

#[op_grad(aten::hardtanh)]
fn hardtanh(grad: &Tensor, this: &Tensor, min_val: Scalar, max_val: Scalar) -> Result<Tensor> {
    aten::hardtanh_backward(grad, this, min_val, max_val)
}

#[op_grad(aten::hardtanh_backward)]
fn hardtanh_backward(grad: &Tensor, this: &Tensor, min_val: Scalar, max_val: Scalar) -> (impl Gradient, impl Gradient) {
    (move || aten::hardtanh_backward(grad, this, min_val, max_val), None::<Tensor>)
}

#[op_grad(aten::hardsigmoid)]
fn hardsigmoid(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    aten::hardsigmoid_backward(grad, this)
}

#[op_grad(aten::hardsigmoid_backward)]
fn hardsigmoid_backward(grad: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || aten::hardsigmoid_backward(grad, this), None::<Tensor>)
}

#[op_grad(aten::hardswish)]
fn hardswish(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    aten::hardswish_backward(grad, this)
}

#[op_grad(aten::hardswish_backward)]
fn hardswish_backward(grad: &Tensor, grad_output: &Tensor, this: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || aten::hardswish_backward(grad, this),
        move || {
            let inside = this.gt_scalar(-3)?.logical_and(&this.lt_scalar(3)?)?;
            aten::where_scalarother(&inside, &((grad * grad_output)? / 3.0)?, 0.into())
        },
    )
}

#[op_grad(aten::softplus)]
fn softplus(grad: &Tensor, this: &Tensor, beta: Scalar, threshold: Scalar) -> Result<Tensor> {
    aten::softplus_backward(grad, this, beta, threshold)
}

#[op_grad(aten::softplus_backward)]
fn softplus_backward(
    grad: &Tensor,
    grad_output: &Tensor,
    this: &Tensor,
    beta: Scalar,
    threshold: Scalar,
) -> (impl Gradient, impl Gradient) {
    (
        move || aten::softplus_backward(grad, this, beta, threshold),
        move || {
            let scaled = (this * beta)?;
            let bend = aten::sigmoid_backward(&((grad * grad_output)? * beta)?, &scaled.sigmoid()?)?;
            bend.masked_fill_scalar(&scaled.gt_scalar(threshold)?, 0)
        },
    )
}

/// Both keep the gradient where the magnitude is above a bound.
macro_rules! shrinks {
    ($($shrink:ident $backward:ident;)*) => {$(
        #[op_grad(aten::$shrink)]
        fn $shrink(grad: &Tensor, this: &Tensor, lambd: Scalar) -> Result<Tensor> {
            aten::$backward(grad, this, lambd)
        }

        #[op_grad(aten::$backward)]
        fn $backward(grad: &Tensor, this: &Tensor, lambd: Scalar) -> (impl Gradient, impl Gradient) {
            (move || aten::$backward(grad, this, lambd), None::<Tensor>)
        }
    )*};
}

shrinks! {
    hardshrink hardshrink_backward;
    softshrink softshrink_backward;
}

#[op_grad(aten::log_sigmoid_forward, not_differentiable(buffer))]
fn log_sigmoid(grad: &Tensor, this: &Tensor, buffer: &Tensor) -> Result<Tensor> {
    aten::log_sigmoid_backward(grad, this, buffer)
}

#[op_grad(aten::log_sigmoid_backward, not_differentiable(buffer))]
fn log_sigmoid_backward(
    grad: &Tensor,
    grad_output: &Tensor,
    this: &Tensor,
    buffer: &Tensor,
) -> (impl Gradient, impl Gradient) {
    (
        move || aten::log_sigmoid_backward(grad, this, buffer),
        move || aten::sigmoid_backward(&(grad * grad_output)?, &this.sigmoid()?)?.neg(),
    )
}

#[op_grad(aten::sigmoid_backward)]
fn sigmoid_backward(grad: &Tensor, grad_output: &Tensor, output: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || aten::sigmoid_backward(grad, &conj(output)?),
        move || (conj(grad)? * grad_output)? * conj(&(1 - (output * 2)?)?)?,
    )
}

#[op_grad(aten::tanh_backward)]
fn tanh_backward(grad: &Tensor, grad_output: &Tensor, output: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || aten::tanh_backward(grad, &conj(output)?), move || ((conj(grad)? * grad_output)? * conj(output)?)? * -2)
}
