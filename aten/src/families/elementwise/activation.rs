//! Activation functions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use crate::reshape;

/// `max(self, 0)`
#[op_def("relu(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn relu(_: ...) -> Result<Tensor>;

/// `self` above zero, `negative_slope * self` below
#[op_def("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", shape = pointwise, dtypes(floating), check = crate::check_scalars_fit_compute_dtype(this.dtype(), [("negative_slope", negative_slope)]), inplace, out = "out")]
pub fn leaky_relu(_: ...) -> Result<Tensor>;

/// `self * P(X <= self)` for a standard normal `X`, or the approximation of this by `tanh`
#[op_def(
    r#"gelu(Tensor self, *, str approximate="none") -> Tensor"#,
    shape = pointwise, dtypes(floating), check = check_gelu_approximate(approximate), inplace, out = "out"
)]
pub fn gelu(this: &Tensor, approximate: &str) -> Result<Tensor>;

/// `self * sigmoid(self)`
#[op_def("silu(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, complex), inplace, out = "out")]
pub fn silu(_: ...) -> Result<Tensor>;

/// `scale * self` above zero, `scale * alpha * (e^(input_scale * self) - 1)` below
#[op_def("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", shape = pointwise, dtypes(floating), check = crate::check_scalars_fit_compute_dtype(this.dtype(), [("alpha", alpha), ("scale", scale), ("input_scale", input_scale)]), inplace, out = "out")]
pub fn elu(_: ...) -> Result<Tensor>;

/// `min(max(self, min_val), max_val)`
#[op_def("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", shape = pointwise, dtypes(floating, integral), check = crate::check_hardtanh(this, min_val, max_val), inplace, out = "out")]
pub fn hardtanh(_: ...) -> Result<Tensor>;

/// `min(max(self + 3, 0), 6) / 6`
#[op_def("hardsigmoid(Tensor self) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn hardsigmoid(_: ...) -> Result<Tensor>;

/// `self * hardsigmoid(self)`
#[op_def("hardswish(Tensor self) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn hardswish(_: ...) -> Result<Tensor>;

/// `log(1 + e^(beta * self)) / beta`, or `self` if `beta * self` is above `threshold`
#[op_def("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", shape = pointwise, dtypes(floating), check = crate::check_scalars_fit_compute_dtype(this.dtype(), [("beta", beta), ("threshold", threshold)]), out = "out")]
pub fn softplus(_: ...) -> Result<Tensor>;

/// `self * tanh(softplus(self))`
#[op_def("mish(Tensor self) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn mish(_: ...) -> Result<Tensor>;

/// `self` if it is above `threshold`, else `value`
#[op_def("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", shape = pointwise, dtypes(floating, integral), check = crate::check_threshold(this, threshold, value), inplace, out = "out")]
pub fn threshold(_: ...) -> Result<Tensor>;

/// 0 if `|self| <= lambd`, else `self`
#[op_def("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", shape = pointwise, dtypes(floating), check = crate::check_scalars_fit(this.dtype(), [("lambd", lambd)]), out = "out")]
pub fn hardshrink(_: ...) -> Result<Tensor>;

/// `self` moved towards zero by `lambd`, or 0 if `|self| <= lambd`
#[op_def("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", shape = pointwise, dtypes(floating), check = crate::check_softshrink(this, lambd), out = "out")]
pub fn softshrink(_: ...) -> Result<Tensor>;

/// `max(self, 0) + min(alpha * (e^(self / alpha) - 1), 0)`
#[op_def("celu(Tensor self, Scalar alpha=1.) -> Tensor", out = "out")]
pub fn celu(this: &Tensor, alpha: Scalar) -> Result<Tensor> {
    elu(this, alpha, 1.0.into(), inverse_alpha(this, alpha)?)
}

/// [`celu`], in place
#[op_def("celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)")]
pub fn celu_(this: &mut Tensor, alpha: Scalar) -> Result<()> {
    elu_(this, alpha, 1.0.into(), inverse_alpha(this, alpha)?)
}

/// [`elu`] with the constants `alpha` and `scale` of self-normalising networks
#[op_def("selu(Tensor self) -> Tensor")]
pub fn selu(this: &Tensor) -> Result<Tensor> {
    elu(this, SELU_ALPHA.into(), SELU_SCALE.into(), 1.0.into())
}

/// [`selu`], in place
#[op_def("selu_(Tensor(a!) self) -> Tensor(a!)")]
pub fn selu_(this: &mut Tensor) -> Result<()> {
    elu_(this, SELU_ALPHA.into(), SELU_SCALE.into(), 1.0.into())
}

/// `min(max(self, 0), 6)`
#[op_def("relu6(Tensor self) -> Tensor")]
pub fn relu6(this: &Tensor) -> Result<Tensor> {
    hardtanh(this, 0.into(), 6.into())
}

/// [`relu6`], in place
#[op_def("relu6_(Tensor(a!) self) -> Tensor(a!)")]
pub fn relu6_(this: &mut Tensor) -> Result<()> {
    hardtanh_(this, 0.into(), 6.into())
}

/// `log(sigmoid(self))`
#[op_def("log_sigmoid(Tensor self) -> Tensor", out = "out")]
pub fn log_sigmoid(this: &Tensor) -> Result<Tensor> {
    Ok(log_sigmoid_forward(this)?.0)
}

/// `self` above zero, `weight * self` below
#[op_def("_prelu_kernel(Tensor self, Tensor weight) -> Tensor", shape = pointwise, dtypes(floating))]
pub fn _prelu_kernel(_: ...) -> Result<Tensor>;

/// `log(sigmoid(self))`, and a buffer for the backward pass
#[op_def("log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", out = "output")]
pub fn log_sigmoid_forward(_: ...) -> Result<(Tensor, Tensor)>;

const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

fn inverse_alpha(this: &Tensor, alpha: Scalar) -> Result<Scalar> {
    let inverse = alpha.to_f64().map_or(alpha, |alpha| alpha.recip().into());
    crate::check_scalars_fit_compute_dtype(this.dtype(), [("alpha", alpha)])?;
    match crate::check_scalars_fit_compute_dtype(this.dtype(), [("alpha", inverse)]) {
        Ok(()) if alpha.to_f64() != Some(0.0) => Ok(inverse),
        _ => Err(BadArgument::value(
            "alpha",
            alpha,
            format!("a number with an inverse that {} can represent", this.dtype()),
        )
        .into()),
    }
}

#[op_meta(log_sigmoid_forward)]
fn log_sigmoid_forward_meta(this: &Tensor) -> Result<(Tensor, Tensor)> {
    let spec = Spec::contiguous(this.dtype(), this.sizes());
    Ok((spec.clone().on(Device::META)?, spec.on(Device::META)?))
}

/// Checks that `approximate` is an approximation of `gelu`: `none` or `tanh`.
pub(crate) fn check_gelu_approximate(approximate: &str) -> Result<(), BadArgument> {
    match approximate {
        "none" | "tanh" => Ok(()),
        other => Err(BadArgument::keyword("approximate", other, &["none", "tanh"])),
    }
}

/// `self` above zero, `weight * self` below, with one weight in total or one for each channel.
#[op_def("prelu(Tensor self, Tensor weight) -> Tensor")]
pub fn prelu(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
    if weight.dtype() != this.dtype() {
        return Err(BadArgument::dtype("weight", weight.dtype(), this.dtype()).like("self").into());
    }
    if weight.sizes().len() > 1 {
        return Err(BadArgument::rank("weight", weight.sizes().len(), &[0, 1]).into());
    }
    let (rank, count) = (this.sizes().len(), weight.geometry().count());
    let channels = this.sizes().get(1).copied().unwrap_or(1);
    if count != 1 && (rank == 0 || count != channels) {
        return Err(BadArgument::sizes(
            "weight",
            weight.sizes(),
            format!("one weight, or {channels} for the channels"),
        )
        .into());
    }
    let mut sizes = Dims::from_elem(1, rank);
    if let Some(size) = sizes.get_mut(1) {
        *size = count;
    }
    _prelu_kernel(this, &reshape(weight, &sizes)?)
}
