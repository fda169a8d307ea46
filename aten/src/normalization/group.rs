//! Normalisation over groups of channels.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::{Three, check_floating, check_sizes, check_statistics, gradient_specs, on_meta};
use crate::{element_count, images_like};

/// Normalises over groups of channels and all that is in them. Gives the mean and the reciprocal of the standard deviation too.
#[op_def(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn native_group_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// Normalises over groups of channels and all that is in them.
#[op_def(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor"
)]
pub fn group_norm(
    input: &Tensor,
    num_groups: i64,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    _cudnn_enabled: bool,
) -> Result<Tensor> {
    let [n, c, inner @ ..] = input.sizes() else {
        return Err(BadArgument::rank("input", input.sizes().len(), "at least 2").into());
    };
    if num_groups < 1 || c % num_groups != 0 {
        return Err(
            BadArgument::value("num_groups", num_groups, format!("a divisor of {c}, the number of channels")).into()
        );
    }
    Ok(native_group_norm(input, weight, bias, *n, *c, element_count(inner), num_groups, eps)?.0)
}

/// The gradients of `native_group_norm`; one that is not wanted has no elements.
#[op_def(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn native_group_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)>;

#[op_meta(native_group_norm)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn group_norm_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    _eps: f64,
) -> Result<Three> {
    on_meta(group_norm_specs(input, weight, bias, [N, C, HxW, group])?)
}

#[op_meta(native_group_norm_backward)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn group_norm_backward_meta(
    grad_out: &Tensor,
    input: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    output_mask: &[bool],
) -> Result<Three> {
    on_meta(group_norm_gradients(grad_out, input, [mean, rstd], weight, [N, C, HxW, group], output_mask)?)
}

/// What a normalisation over groups looks like, and its statistics. The numbers are how many there are of pictures, channels, elements
/// of a channel, and groups.
///
/// # Errors
///
/// Where the numbers and sizes do not fit together, or a dtype has no fraction.
pub fn group_norm_specs(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    [n, c, inner, group]: [i64; 4],
) -> Result<[Spec; 3], BadArgument> {
    check_floating(input)?;
    let fits = matches!(input.sizes(), [a, b, rest @ ..] if *a == n && *b == c && element_count(rest) == inner);
    if !fits {
        return Err(BadArgument::sizes(
            "input",
            input.sizes(),
            format!("[{n}, {c}] and others that multiply to {inner}"),
        ));
    }
    if group < 1 || c % group != 0 {
        return Err(BadArgument::value("group", group, format!("a divisor of {c}, the number of channels")));
    }
    check_sizes("weight", weight, &[c])?;
    check_sizes("bias", bias, &[c])?;
    let stats = Spec::contiguous(weight.or(bias).map_or_else(|| input.dtype(), Tensor::dtype), &[n, group]);
    Ok([images_like(input, input.sizes()), stats.clone(), stats])
}

/// What the gradients of a normalisation over groups look like.
///
/// # Errors
///
/// As [`group_norm_specs`] and [`gradient_specs`], and where there are not as many statistics as groups.
pub fn group_norm_gradients(
    grad_out: &Tensor,
    input: &Tensor,
    [mean, rstd]: [&Tensor; 2],
    weight: Option<&Tensor>,
    [n, c, inner, group]: [i64; 4],
    output_mask: &[bool],
) -> Result<[Spec; 3], BadArgument> {
    group_norm_specs(input, weight, None, [n, c, inner, group])?;
    check_statistics([("mean", mean), ("rstd", rstd)], n.saturating_mul(group))?;
    gradient_specs(grad_out, input, &[c], weight, output_mask)
}
