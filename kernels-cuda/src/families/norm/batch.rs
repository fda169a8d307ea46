//! CUDA kernels of batch norm: each channel has statistics over all its elements, one weight and one bias.

use super::{BackwardInputs, NORMALIZATION, Vector};
use crate::engine::reduce::{class, folded};
use crate::engine::walk::Divisor;
use crate::families::reduction::variance::MOMENTS;
use crate::prelude::*;

parameters! {
    /// The kernels' `struct Batch`: the scalars of a batch norm.
    struct Batch {
        eps: f64,
        momentum: f64,
        correction: f64,
        channels: u32,
    }

    /// The kernels' `struct Planes`: the map from an element to its channel.
    struct Planes {
        count: i64,
        area: Divisor,
        channels: Divisor,
        packed: u32,
    }
}

fn size(size: i64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX >> 1)
}

/// Allocates the coefficients of channels: four for each.
fn channels(input: &Tensor) -> Result<Tensor> {
    Spec::contiguous(class(input.dtype()).unwrap_or(DType::F32), &[input.sizes()[1], 4]).on(input.device())
}

/// Applies the channels' coefficients to an input, a gradient, or both, which have the same layout.
fn apply(input: Option<&Tensor>, gradient: Option<&Tensor>, becomes: &Tensor, out: &mut Tensor) -> Result<()> {
    let Some(first) = input.or(gradient) else { return Ok(()) };
    let beside = if out.strides() == first.strides() { out.clone() } else { first.fresh_like(out.dtype())? };
    let launch = Launch::on(&beside)?;
    let (sizes, count) = (first.sizes(), first.geometry().count());
    let area =
        if first.geometry().suggested_format() == MemoryFormat::Contiguous { sizes[2..].iter().product() } else { 1 };
    let (from, slope, to) = (launch.place_or_null(input)?, launch.place_or_null(gradient)?, launch.place(&beside)?);
    let pack = 4 * first.dtype().size() as u64;
    let packed = count % 4 == 0 && [from, slope, to].iter().all(|place| place.is_aligned_to(pack));
    let planes =
        Planes { count, area: Divisor::new(size(area)), channels: Divisor::new(size(sizes[1])), packed: packed.into() };
    let grid = Grid::cover(if packed { count / 4 } else { count });
    let arguments = (from, slope, to, becomes, planes);
    launch.run(&NORMALIZATION, "channels", &[first.dtype()], grid, arguments)?;
    if out.strides() != first.strides() {
        write(out, &beside)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn elements_each(input: &Tensor) -> f64 {
    input.geometry().count() as f64 / input.sizes()[1].max(1) as f64
}

/// Normalises channels by their own statistics and updates the running ones, or normalises by the running ones.
fn normalized<O: Operation>(
    [out, mean, rstd]: [&mut Tensor; 3],
    input: &Tensor,
    [weight, bias]: [Option<&Tensor>; 2],
    running: [Option<&Tensor>; 2],
    train: bool,
    momentum: f64,
    eps: f64,
) -> Result<()> {
    let becomes = channels(input)?;
    let launch = Launch::on(&becomes)?;
    let vector = |tensor| Vector::of(launch, tensor);
    let own = if train { Some(moments::<O>(input)?) } else { None };
    let [means, vars] = match &own {
        Some([vars, means]) => [vector(Some(means))?, vector(Some(vars))?],
        None => [vector(running[0])?, vector(running[1])?],
    };
    let [mean_moves, var_moves] =
        running.map(|running| running.filter(|_| train).map(|running| launch.writing(running)).transpose());
    let written = (mean_moves?, var_moves?);
    let moving = if train { [vector(running[0])?, vector(running[1])?] } else { [Vector::NONE; 2] };
    let count = elements_each(input);
    let batch = Batch { eps, momentum, correction: count / (count - 1.0), channels: size(input.sizes()[1]) };
    let saved = (vector(Some(mean))?, vector(Some(rstd))?);
    let (weight, bias) = (vector(weight)?, vector(bias)?);
    let arguments = (means, vars, weight, bias, saved.0, saved.1, moving[0], moving[1], &becomes, batch);
    launch.cover(&NORMALIZATION, "statistics", &[becomes.dtype()], input.sizes()[1], arguments)?;
    drop(written);
    apply(Some(&aten::contiguous(input, input.geometry().suggested_format())?), None, &becomes, out)
}

/// Returns the variances of channels, without correction, and their means.
fn moments<O: Operation>(input: &Tensor) -> Result<[Tensor; 2]> {
    let gone: Vec<bool> = (0..input.sizes().len()).map(|dim| dim != 1).collect();
    let spec = Spec::contiguous(class(input.dtype()).unwrap_or(DType::F32), &[input.sizes()[1]]);
    let (vars, means) = (spec.clone().on(input.device())?, spec.on(input.device())?);
    folded::<O>(&MOMENTS, input, &gone, input.dtype(), [0.0; 2], &[&vars, &means])?;
    Ok([vars, means])
}

#[op_impl(aten::native_batch_norm, CUDA)]
fn batch_norm(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (parameters, running) = ([weight, bias], [running_mean, running_var]);
    normalized::<aten::native_batch_norm>(out, input, parameters, running, training, momentum, eps)
}

#[op_impl(aten::native_batch_norm_backward, CUDA)]
fn batch_norm_backward(_plan: &(), [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let statistics = if train { [save_mean, save_invstd] } else { [running_mean, running_var] };
    let [Some(mean), Some(spread)] = statistics else { return Ok(()) };
    let becomes = channels(input)?;
    let launch = Launch::on(&becomes)?;
    let by = Vector::of(launch, weight)?;
    // In training, the reciprocal deviations were saved. In evaluation, they are computed from the running variances.
    let rstd = if train {
        spread.clone()
    } else {
        let rstd = Spec::contiguous(becomes.dtype(), spread.sizes()).on(input.device())?;
        let batch = Batch { eps, momentum: 0.0, correction: 1.0, channels: size(input.sizes()[1]) };
        let (means, vars) = (Vector::of(launch, Some(mean))?, Vector::of(launch, Some(spread))?);
        let (none, saved) = (Vector::NONE, Vector::of(launch, Some(&rstd))?);
        let arguments = (means, vars, by, none, none, saved, none, none, &becomes, batch);
        launch.cover(&NORMALIZATION, "statistics", &[becomes.dtype()], input.sizes()[1], arguments)?;
        rstd
    };
    let layout = input.geometry().suggested_format();
    let (input, grad) = (aten::contiguous(input, layout)?, aten::contiguous(grad_out, layout)?);
    let inputs = BackwardInputs { grad, input, mean: mean.clone(), rstd };
    if train || output_mask[1] || output_mask[2] {
        let sizes = inputs.input.sizes();
        let (images, channels, area) = (sizes[0], sizes[1], sizes[2..].iter().product::<i64>());
        if channels > 0 {
            let slopes = match layout {
                MemoryFormat::Contiguous => inputs.planes([images, channels, area], [1, channels])?,
                _ => inputs.columns(images * area, channels, true)?,
            };
            let become_of = train.then_some((&becomes, &inputs, weight, elements_each(&inputs.input)));
            slopes.total([of_weight, of_bias], become_of)?;
        }
    }
    match (output_mask[0], train) {
        (false, _) => Ok(()),
        (true, true) => apply(Some(&inputs.input), Some(&inputs.grad), &becomes, of_input),
        (true, false) => apply(None, Some(&inputs.grad), &becomes, of_input),
    }
}
