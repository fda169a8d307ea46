//! Normalisation over the last dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use super::{Three, check_floating, check_sizes, check_statistics, gradient_specs, on_meta};
use crate::element_count;

/// Normalises over the last dimensions. Gives the mean and the reciprocal of the standard deviation too.
#[op_def(
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
pub fn native_layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// Normalises over the last dimensions.
#[op_def(
    "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor"
)]
pub fn layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    _cudnn_enable: bool,
) -> Result<Tensor> {
    Ok(native_layer_norm(input, normalized_shape, weight, bias, eps)?.0)
}

/// The gradients of `native_layer_norm`; one that is not wanted has no elements.
#[op_def(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn native_layer_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)>;

#[op_meta(native_layer_norm)]
fn layer_norm_meta(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    _eps: f64,
) -> Result<Three> {
    on_meta(layer_norm_specs(input, normalized_shape, weight, bias)?)
}

#[op_meta(native_layer_norm_backward)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn layer_norm_backward_meta(
    grad_out: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    _bias: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<Three> {
    on_meta(layer_norm_gradients(grad_out, input, normalized_shape, [mean, rstd], weight, output_mask)?)
}

/// What a normalisation over the last dimensions looks like, and its statistics.
///
/// # Errors
///
/// Where the sizes do not fit together, or a dtype has no fraction.
pub fn layer_norm_specs(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
) -> Result<[Spec; 3], BadArgument> {
    check_floating(input)?;
    let outer = input.sizes().len().checked_sub(normalized_shape.len()).filter(|_| !normalized_shape.is_empty());
    let Some(outer) = outer.filter(|&outer| input.sizes()[outer..] == *normalized_shape) else {
        return Err(BadArgument::sizes(
            "normalized_shape",
            normalized_shape,
            format!("the last of the sizes {:?} of `input`", input.sizes()),
        ));
    };
    check_sizes("weight", weight, normalized_shape)?;
    check_sizes("bias", bias, normalized_shape)?;
    let mut sizes = Dims::from_slice(input.sizes());
    sizes[outer..].fill(1);
    let stats = Spec::contiguous(weight.or(bias).map_or_else(|| input.dtype(), Tensor::dtype), &sizes);
    Ok([Spec::contiguous(input.dtype(), input.sizes()), stats.clone(), stats])
}

/// What the gradients of a normalisation over the last dimensions look like.
///
/// # Errors
///
/// As [`layer_norm_specs`] and [`gradient_specs`], and where there are not as many statistics as lines.
pub fn layer_norm_gradients(
    grad_out: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    [mean, rstd]: [&Tensor; 2],
    weight: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<[Spec; 3], BadArgument> {
    layer_norm_specs(input, normalized_shape, weight, None)?;
    let lines = element_count(&input.sizes()[..input.sizes().len() - normalized_shape.len()]);
    check_statistics([("mean", mean), ("rstd", rstd)], lines)?;
    gradient_specs(grad_out, input, normalized_shape, weight, output_mask)
}
