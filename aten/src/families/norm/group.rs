//! Group normalisation: of groups of channels in each image.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected, Spec, element_count};

use super::{
    check_channel_parameters, check_floating, check_sizes_and_floating_dtype, check_statistics_count, gradient_specs,
};
use crate::image_spec_like;

/// Normalises each group of channels of each image. Also returns the mean and the reciprocal of the standard deviation.
#[op_def(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn native_group_norm(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

/// The plan of a group normalisation.
pub struct GroupNormPlan {
    /// The number of channels of a group.
    pub group_channels: i64,
}

#[op_plan(native_group_norm)]
fn group_norm_plan(_: ...) -> Result<Plan<GroupNormPlan, 3>, BadArgument> {
    let groups = check_group_norm(input, weight, bias, [N, C, HxW, group])?;
    let stats = Spec::contiguous(weight.or(bias).map_or_else(|| input.dtype(), Tensor::dtype), &[N, group]);
    Ok(Plan::new(groups, [image_spec_like(input, input.sizes()), stats.clone(), stats]))
}

/// Normalises each group of channels of each image.
#[op_def(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
    check = check_channel_parameters(input, [("weight", weight), ("bias", bias)])
)]
pub fn group_norm(_: ...) -> Result<Tensor> {
    let [n, c, inner @ ..] = input.sizes() else {
        return Err(BadArgument::rank("input", input.sizes().len(), 2..).into());
    };
    if num_groups < 1 || c % num_groups != 0 {
        return Err(BadArgument::number("num_groups", num_groups, Expected::DivisorOf((*c).into()))
            .because("`input` has this number of channels")
            .into());
    }
    Ok(native_group_norm(input, weight, bias, *n, *c, element_count(inner), num_groups, eps)?.0)
}

/// Computes the gradients of `native_group_norm`. A gradient that `output_mask` does not request has no elements.
#[op_def(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn native_group_norm_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(native_group_norm_backward)]
fn group_norm_backward_plan(_: ...) -> Result<Plan<GroupNormPlan, 3>, BadArgument> {
    let groups = check_group_norm(input, weight, None, [N, C, HxW, group])?;
    check_statistics_count([("mean", mean), ("rstd", rstd)], N.saturating_mul(group))?;
    Ok(Plan::new(groups, gradient_specs(grad_out, input, &[C], weight, output_mask)?))
}

/// Checks the arguments of a group normalisation and returns its plan. The array holds the numbers of images, channels, elements of a
/// channel, and groups.
fn check_group_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    [n, c, inner, group]: [i64; 4],
) -> Result<GroupNormPlan, BadArgument> {
    check_floating(input)?;
    let fits = matches!(input.sizes(), [a, b, rest @ ..] if *a == n && *b == c && element_count(rest) == inner);
    if !fits {
        return Err(BadArgument::sizes(
            "input",
            input.sizes(),
            format!("[{n}, {c}] and other sizes that multiply to {inner}"),
        ));
    }
    if group < 1 || c % group != 0 {
        return Err(BadArgument::number("group", group, Expected::DivisorOf(c.into()))
            .because("`input` has this number of channels"));
    }
    check_sizes_and_floating_dtype("weight", weight, &[c])?;
    check_sizes_and_floating_dtype("bias", bias, &[c])?;
    Ok(GroupNormPlan { group_channels: c / group })
}
