//! Layer normalisation: over the last dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec, element_count};

use super::{
    check_floating, check_normalized_shape, check_sizes_and_floating_dtype, check_statistics_count, gradient_specs,
};

/// Normalises over the last dimensions. Also returns the mean and the reciprocal of the standard deviation.
#[op_def(
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn native_layer_norm(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

/// The plan of a layer normalisation: the input as rows.
pub struct LayerNormPlan {
    /// The number of leading dimensions, which are not normalised over.
    pub leading_dims: usize,
    /// The number of elements of a row.
    pub columns: i64,
}

#[op_plan(native_layer_norm)]
fn layer_norm_plan(_: ...) -> Result<Plan<LayerNormPlan, 3>, BadArgument> {
    let rows = check_layer_norm(input, normalized_shape, weight, bias)?;
    let mut sizes = Dims::from_slice(input.sizes());
    sizes[rows.leading_dims..].fill(1);
    let stats = Spec::contiguous(weight.or(bias).map_or_else(|| input.dtype(), Tensor::dtype), &sizes);
    Ok(Plan::new(rows, [Spec::contiguous(input.dtype(), input.sizes()), stats.clone(), stats]))
}

/// Normalises over the last dimensions.
#[op_def(
    "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
    check = check_normalized_shape(input, normalized_shape, [("weight", weight), ("bias", bias)])
)]
pub fn layer_norm(_: ...) -> Result<Tensor> {
    Ok(native_layer_norm(input, normalized_shape, weight, bias, eps)?.0)
}

/// Computes the gradients of `native_layer_norm`. A gradient that `output_mask` does not request has no elements.
#[op_def(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn native_layer_norm_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(native_layer_norm_backward)]
fn layer_norm_backward_plan(_: ...) -> Result<Plan<LayerNormPlan, 3>, BadArgument> {
    let rows = check_layer_norm(input, normalized_shape, weight, None)?;
    check_statistics_count([("mean", mean), ("rstd", rstd)], element_count(&input.sizes()[..rows.leading_dims]))?;
    Ok(Plan::new(rows, gradient_specs(grad_out, input, normalized_shape, weight, output_mask)?))
}

/// Checks the arguments of a normalisation over the last dimensions and returns its plan. `normalized_shape` must equal the last sizes of
/// the input, and the sizes of the parameters.
pub(super) fn check_layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
) -> Result<LayerNormPlan, BadArgument> {
    check_floating(input)?;
    let outer = input.sizes().len().checked_sub(normalized_shape.len()).filter(|_| !normalized_shape.is_empty());
    let Some(outer) = outer.filter(|&outer| input.sizes()[outer..] == *normalized_shape) else {
        return Err(BadArgument::sizes(
            "normalized_shape",
            normalized_shape,
            format!("the last sizes of `input`, which has sizes {:?}", input.sizes()),
        ));
    };
    check_sizes_and_floating_dtype("weight", weight, normalized_shape)?;
    check_sizes_and_floating_dtype("bias", bias, normalized_shape)?;
    Ok(LayerNormPlan { leading_dims: outer, columns: element_count(normalized_shape) })
}
