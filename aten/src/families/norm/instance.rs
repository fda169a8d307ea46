//! Instance normalisation: of each channel of each image.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, MemoryFormat};

use crate::{batch_norm, contiguous, copy_, mean_dim, repeat, view};

/// Normalises each channel of each image by its own statistics, or by the running statistics.
#[op_def(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    check = super::check_channel_parameters(input, [("weight", weight), ("bias", bias), ("running_mean", running_mean), ("running_var", running_var)])
)]
pub fn instance_norm(_: ...) -> Result<Tensor> {
    let [pictures, channels, inner @ ..] = input.sizes() else {
        return Err(BadArgument::rank("input", input.sizes().len(), 2..).into());
    };
    for (name, running) in [("running_mean", running_mean), ("running_var", running_var)] {
        if running.is_none() && !use_input_stats {
            return Err(BadArgument::value(name, "left out", "given, unless the input's statistics are used").into());
        }
    }
    // The batch is viewed as one image that has the channels of all images.
    let repeated = |tensor: Option<&Tensor>| tensor.map(|tensor| repeat(tensor, &[*pictures])).transpose();
    let (weight, bias) = (repeated(weight)?, repeated(bias)?);
    let (means, vars) = (repeated(running_mean)?, repeated(running_var)?);
    let sizes = [&[1, pictures.saturating_mul(*channels)], inner].concat();
    let one = view(&contiguous(input, MemoryFormat::Contiguous)?, &sizes)?;
    let out = batch_norm(
        &one,
        weight.as_ref(),
        bias.as_ref(),
        means.as_ref(),
        vars.as_ref(),
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )?;
    for (running, all) in [(running_mean, means), (running_var, vars)] {
        if let (Some(running), Some(all)) = (running, all) {
            let mean = mean_dim(&view(&all, &[*pictures, *channels])?, Some(&[0]), false, None)?;
            copy_(&mut running.clone(), &mean, false)?;
        }
    }
    view(&out, input.sizes())
}
