//! Operators that compute the gradients of activation functions.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use dispatch_runtime::prelude::*;
use dispatch_runtime::result_dtype;

use crate::prelude::*;

/// The gradient of [`threshold`](fn@crate::threshold): `grad_output` if `self` is above `threshold`, else 0
#[op_def("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor", shape = pointwise(grad_output, this), dtypes(floating, integral), check = crate::check_scalars_fit_compute_dtype(result_dtype([grad_output, this]), [("threshold", threshold)]), out = "grad_input"(grad_input))]
pub fn threshold_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`gelu`](fn@crate::gelu)
#[op_def(
    r#"gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor"#,
    shape = pointwise(grad_output, this), dtypes(floating), check = super::activation::check_gelu_approximate(approximate),
    out = "grad_input"(grad_input)
)]
pub fn gelu_backward(grad_output: &Tensor, this: &Tensor, approximate: &str) -> Result<Tensor>;

/// `grad_output * output * (1 - output)`
#[op_def("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", shape = pointwise, dtypes(floating, complex), out = "grad_input"(grad_input))]
pub fn sigmoid_backward(_: ...) -> Result<Tensor>;

/// `grad_output * (1 - output^2)`
#[op_def("tanh_backward(Tensor grad_output, Tensor output) -> Tensor", shape = pointwise, dtypes(floating, complex), out = "grad_input"(grad_input))]
pub fn tanh_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`silu`](fn@crate::silu)
#[op_def("silu_backward(Tensor grad_output, Tensor self) -> Tensor", shape = pointwise, dtypes(floating, complex), out = "grad_input"(grad_input))]
pub fn silu_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`mish`](fn@crate::mish)
#[op_def("mish_backward(Tensor grad_output, Tensor self) -> Tensor", shape = pointwise, dtypes(floating))]
pub fn mish_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`leaky_relu`](fn@crate::leaky_relu)
#[op_def("leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor", shape = pointwise(grad_output, this), dtypes(floating), check = crate::check_scalars_fit_compute_dtype(result_dtype([grad_output, this]), [("negative_slope", negative_slope)]), out = "grad_input"(grad_input))]
pub fn leaky_relu_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`elu`](fn@crate::elu)
#[op_def("elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) -> Tensor", shape = pointwise(grad_output, self_or_result), dtypes(floating), check = crate::check_scalars_fit_compute_dtype(grad_output.dtype(), [("alpha", alpha), ("scale", scale), ("input_scale", input_scale)]), out = "grad_input"(grad_input))]
pub fn elu_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`hardtanh`](fn@crate::hardtanh)
#[op_def("hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor", shape = pointwise(grad_output, this), dtypes(floating), check = crate::check_scalars_fit_compute_dtype(result_dtype([grad_output, this]), [("min_val", min_val), ("max_val", max_val)]), out = "grad_input"(grad_input))]
pub fn hardtanh_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`hardsigmoid`](fn@crate::hardsigmoid)
#[op_def("hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor", shape = pointwise, dtypes(floating), out = "grad_input"(grad_input))]
pub fn hardsigmoid_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`hardswish`](fn@crate::hardswish)
#[op_def("hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", shape = pointwise, dtypes(floating), out = "out")]
pub fn hardswish_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`hardshrink`](fn@crate::hardshrink)
#[op_def("hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor", shape = pointwise(grad_out, this), dtypes(floating), check = crate::check_scalars_fit(result_dtype([grad_out, this]), [("lambd", lambd)]), out = "grad_input"(grad_input))]
pub fn hardshrink_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`softshrink`](fn@crate::softshrink)
#[op_def("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", shape = pointwise(grad_output, this), dtypes(floating), check = crate::check_scalars_fit(result_dtype([grad_output, this]), [("lambd", lambd)]), out = "grad_input"(grad_input))]
pub fn softshrink_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`softplus`](fn@crate::softplus)
#[op_def("softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor", shape = pointwise(grad_output, this), dtypes(floating), check = crate::check_scalars_fit_compute_dtype(result_dtype([grad_output, this]), [("beta", beta), ("threshold", threshold)]), out = "grad_input"(grad_input))]
pub fn softplus_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`log_sigmoid`](fn@crate::log_sigmoid)
#[op_def("log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor", shape = pointwise(grad_output, this), dtypes(floating), out = "grad_input"(grad_input))]
pub fn log_sigmoid_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`logit`](fn@crate::logit)
#[op_def("logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor", shape = pointwise(grad_output, this), dtypes(floating), out = "grad_input"(grad_input))]
pub fn logit_backward(_: ...) -> Result<Tensor>;

/// The gradient of [`gelu`](crate::gelu), composed of operators that can be differentiated any number of times.
#[op_def("infinitely_differentiable_gelu_backward(Tensor grad, Tensor self) -> Tensor")]
pub fn infinitely_differentiable_gelu_backward(_: ...) -> Result<Tensor> {
    let probability = (((this * FRAC_1_SQRT_2)?.erf()? + 1)? * 0.5)?;
    let density = (((this.square()? * -0.5)?.exp()?) * (FRAC_1_SQRT_2 * FRAC_2_SQRT_PI / 2.0))?;
    grad * (probability + (this * density)?)?
}

/// The gradients of [`_prelu_kernel`](crate::_prelu_kernel) for its input and for its weight, in the sizes of the result.
#[op_def("_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)")]
pub fn _prelu_kernel_backward(_: ...) -> Result<(Tensor, Tensor)> {
    let positive = this.gt(0)?;
    let of_input = crate::where_self(&positive, grad_output, &(grad_output * weight)?)?;
    let of_weight = crate::where_scalarself(&positive, 0.into(), &(grad_output * this)?)?;
    let of_weight = of_weight.expand(of_input.sizes())?;
    Ok((of_input, of_weight))
}
