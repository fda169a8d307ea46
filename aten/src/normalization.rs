//! Normalisation: elements less their mean, over their standard deviation, with a weight and a bias.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, MemoryFormat, Problem, Spec};

/// Normalises over the last dimensions. Gives the mean and the reciprocal of the standard deviation too.
#[op_def(
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)"
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
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
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

/// Normalises over groups of channels and all that is in them. Gives the mean and the reciprocal of the standard deviation too.
#[op_def(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)"
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
        return Err(BadArgument::value("num_groups", num_groups, format!("a divisor of {c}, the number of channels")).into());
    }
    Ok(native_group_norm(input, weight, bias, *n, *c, inner.iter().product(), num_groups, eps)?.0)
}

/// The gradients of `native_group_norm`; one that is not wanted has no elements.
#[op_def(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
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

/// Normalises each channel, by its own statistics or by those of before. Gives the mean and the reciprocal of the standard deviation too.
#[op_def(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn native_batch_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// The same, in a schema that says that the running statistics are written.
#[op_def(
    "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn _native_batch_norm_legit(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// The same without running statistics.
#[op_def(
    "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"
)]
pub fn _native_batch_norm_legit_no_stats(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// Normalises each channel by its own statistics, which go into the running ones. The last result is room for a backend's notes.
#[op_def(
    "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)"
)]
pub fn _batch_norm_with_update(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor, Tensor)>;

/// Normalises each channel.
#[op_def(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn batch_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
    _cudnn_enabled: bool,
) -> Result<Tensor> {
    Ok(native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?.0)
}

/// The gradients of `native_batch_norm`; one that is not wanted has no elements.
#[op_def(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn native_batch_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    save_mean: Option<&Tensor>,
    save_invstd: Option<&Tensor>,
    train: bool,
    eps: f64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)>;

type Three = (Tensor, Tensor, Tensor);

fn on_meta(specs: [Spec; 3]) -> Result<Three> {
    let [a, b, c] = specs;
    Ok((a.on(Device::META)?, b.on(Device::META)?, c.on(Device::META)?))
}

/// Whether all of these are on Meta, where there is nothing but shapes.
pub(crate) fn all_meta<const N: usize>(arguments: [(&'static str, Option<&Tensor>); N]) -> Result<(), BadArgument> {
    for (name, tensor) in arguments {
        if let Some(tensor) = tensor
            && tensor.device() != Device::META
            && !tensor.sizes().is_empty()
        {
            let problem = Problem::Device { found: tensor.device(), expected: Device::META };
            return Err(BadArgument::new(name, problem));
        }
    }
    Ok(())
}

#[op_meta(native_layer_norm)]
fn layer_norm_meta(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    _eps: f64,
) -> Result<Three> {
    all_meta([("input", Some(input)), ("weight", weight), ("bias", bias)])?;
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
    all_meta([("grad_out", Some(grad_out)), ("input", Some(input)), ("mean", Some(mean)), ("rstd", Some(rstd))])?;
    layer_norm_specs(input, normalized_shape, weight, None)?;
    on_meta(gradient_specs(grad_out, input, normalized_shape, weight, output_mask)?)
}

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
    all_meta([("input", Some(input)), ("weight", weight), ("bias", bias)])?;
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
    all_meta([("grad_out", Some(grad_out)), ("input", Some(input)), ("mean", Some(mean)), ("rstd", Some(rstd))])?;
    group_norm_specs(input, weight, None, [N, C, HxW, group])?;
    on_meta(gradient_specs(grad_out, input, &[C], weight, output_mask)?)
}

#[op_meta(native_batch_norm)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    _momentum: f64,
    _eps: f64,
) -> Result<Three> {
    all_meta([("input", Some(input)), ("weight", weight), ("bias", bias)])?;
    on_meta(batch_norm_specs(input, [weight, bias, running_mean, running_var], training)?)
}

#[op_meta(_native_batch_norm_legit)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_legit_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    training: bool,
    _momentum: f64,
    _eps: f64,
) -> Result<Three> {
    all_meta([("input", Some(input)), ("weight", weight), ("bias", bias)])?;
    on_meta(batch_norm_specs(input, [weight, bias, Some(running_mean), Some(running_var)], training)?)
}

#[op_meta(_native_batch_norm_legit_no_stats)]
fn batch_norm_no_stats_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    _training: bool,
    _momentum: f64,
    _eps: f64,
) -> Result<Three> {
    all_meta([("input", Some(input)), ("weight", weight), ("bias", bias)])?;
    on_meta(batch_norm_specs(input, [weight, bias, None, None], true)?)
}

#[op_meta(_batch_norm_with_update)]
fn batch_norm_with_update_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    _momentum: f64,
    _eps: f64,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    all_meta([("input", Some(input)), ("weight", weight), ("bias", bias)])?;
    let (out, mean, rstd) =
        on_meta(batch_norm_specs(input, [weight, bias, Some(running_mean), Some(running_var)], true)?)?;
    Ok((out, mean, rstd, Spec::contiguous(DType::U8, &[0]).on(Device::META)?))
}

#[op_meta(native_batch_norm_backward)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_backward_meta(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    _save_mean: Option<&Tensor>,
    _save_invstd: Option<&Tensor>,
    train: bool,
    _eps: f64,
    output_mask: &[bool],
) -> Result<Three> {
    all_meta([("grad_out", Some(grad_out)), ("input", Some(input)), ("weight", weight)])?;
    let stats = if train { [None; 2] } else { [running_mean, running_var] };
    batch_norm_specs(input, [weight, None, stats[0], stats[1]], train)?;
    on_meta(gradient_specs(grad_out, input, &input.sizes()[1..2], weight, output_mask)?)
}

/// The layout that pictures keep, or elements side by side.
fn laid_out(input: &Tensor) -> Geometry {
    let formats = [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];
    let format = formats.into_iter().find(|&format| !input.geometry().is_contiguous() && input.geometry().is_in_format(format));
    let geometry = format.and_then(|format| Geometry::in_format(input.sizes(), format));
    geometry.unwrap_or_else(|| Geometry::contiguous(input.sizes()))
}

fn check_floating(input: &Tensor) -> Result<(), BadArgument> {
    if input.dtype().is_floating() { Ok(()) } else { Err(BadArgument::dtype("input", input.dtype(), "floating")) }
}

fn check_sizes(name: &'static str, tensor: Option<&Tensor>, sizes: &[i64]) -> Result<(), BadArgument> {
    match tensor {
        Some(tensor) if tensor.sizes() != sizes => Err(BadArgument::sizes(name, tensor.sizes(), format!("{sizes:?}"))),
        Some(tensor) if !tensor.dtype().is_floating() => Err(BadArgument::dtype(name, tensor.dtype(), "floating")),
        _ => Ok(()),
    }
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
    let stats = Spec::contiguous(weight.or(bias).map_or(input.dtype(), Tensor::dtype), &sizes);
    Ok([Spec::contiguous(input.dtype(), input.sizes()), stats.clone(), stats])
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
    let fits = matches!(input.sizes(), [a, b, rest @ ..] if *a == n && *b == c && rest.iter().product::<i64>() == inner);
    if !fits {
        return Err(BadArgument::sizes("input", input.sizes(), format!("[{n}, {c}] and others that multiply to {inner}")));
    }
    if group < 1 || c % group != 0 {
        return Err(BadArgument::value("group", group, format!("a divisor of {c}, the number of channels")));
    }
    check_sizes("weight", weight, &[c])?;
    check_sizes("bias", bias, &[c])?;
    let stats = Spec::contiguous(weight.or(bias).map_or(input.dtype(), Tensor::dtype), &[n, group]);
    Ok([Spec { dtype: input.dtype(), geometry: laid_out(input) }, stats.clone(), stats])
}

/// What a normalisation of channels looks like, and its statistics, of which there are none of old ones. The tensors are weight, bias,
/// and running mean and variance.
///
/// # Errors
///
/// Where the sizes do not fit together, or a dtype has no fraction.
pub fn batch_norm_specs(input: &Tensor, all: [Option<&Tensor>; 4], training: bool) -> Result<[Spec; 3], BadArgument> {
    check_floating(input)?;
    let Some(&channels) = input.sizes().get(1) else {
        return Err(BadArgument::rank("input", input.sizes().len(), "at least 2"));
    };
    for (name, tensor) in ["weight", "bias", "running_mean", "running_var"].into_iter().zip(all) {
        check_sizes(name, tensor, &[channels])?;
        if tensor.is_none() && !training && name.starts_with("running") {
            return Err(BadArgument::value(name, "nothing", "given, except in training"));
        }
    }
    let dtype = all[0].or(all[2]).map_or(input.dtype(), Tensor::dtype);
    let stats = Spec::contiguous(dtype, &[if training { channels } else { 0 }]);
    Ok([Spec { dtype: input.dtype(), geometry: laid_out(input) }, stats.clone(), stats])
}

/// What the gradients of a normalisation look like, of which those that are not wanted have no elements.
///
/// # Errors
///
/// Where the gradient does not have the sizes of the input, or the mask says nothing of one.
pub fn gradient_specs(
    grad_out: &Tensor,
    input: &Tensor,
    parameters: &[i64],
    weight: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<[Spec; 3], BadArgument> {
    check_sizes("grad_out", Some(grad_out), input.sizes())?;
    let &[of_input, of_weight, of_bias] = output_mask else {
        return Err(BadArgument::value("output_mask", output_mask.len(), "a list of 3"));
    };
    let dtype = weight.map_or(input.dtype(), Tensor::dtype);
    let of = |wanted: bool| Spec::contiguous(dtype, if wanted { parameters } else { &[0] });
    let of_input = if of_input {
        Spec { dtype: input.dtype(), geometry: laid_out(input) }
    } else {
        Spec::contiguous(input.dtype(), &[0])
    };
    Ok([of_input, of(of_weight), of(of_bias)])
}
