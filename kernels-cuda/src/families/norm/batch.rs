//! CUDA kernels of batch norm: each channel has statistics over all its elements, one weight and one bias.

use super::{BackwardInputs, NORMALIZATION_KERNEL, StridedVector};
use crate::engine::reduce::{reduce, reduction_dtype};
use crate::engine::walk::FastDivisor;
use crate::families::reduction::variance::MOMENTS;
use crate::prelude::*;

define_parameters! {
    /// The kernels' `struct BatchNormScalars`: the scalars of a batch norm.
    struct BatchNormScalars {
        eps: f64,
        momentum: f64,
        correction: f64,
        channels: u32,
        is_training: u32,
    }

    /// The kernels' `struct ChannelMap`: the map from an element to its channel.
    struct ChannelMap {
        count: i64,
        area: FastDivisor,
        channels: FastDivisor,
        packed: u32,
    }
}

fn to_u32(size: i64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX >> 1)
}

/// Allocates the coefficients of channels: four for each.
fn allocate_coefficients(input: &Tensor) -> Result<Tensor> {
    Spec::contiguous(reduction_dtype(input.dtype()).unwrap_or(DType::F32), &[input.sizes()[1], 4]).on(input.device())
}

/// Applies the channels' coefficients to an input, a gradient, or both, which have the same layout.
fn apply_coefficients(
    input: Option<&Tensor>,
    gradient: Option<&Tensor>,
    coefficients: &Tensor,
    out: &mut Tensor,
) -> Result<()> {
    let Some(first) = input.or(gradient) else { return Ok(()) };
    let result = if out.strides() == first.strides() { out.clone() } else { first.allocate_like(out.dtype())? };
    let launch = Launch::on_device_of(&result)?;
    let (sizes, count) = (first.sizes(), first.geometry().count());
    let area =
        if first.geometry().suggested_format() == MemoryFormat::Contiguous { sizes[2..].iter().product() } else { 1 };
    let (from, grad, to) =
        (launch.pointer_or_null(input)?, launch.pointer_or_null(gradient)?, launch.pointer(&result)?);
    let pack = 4 * first.dtype().size() as u64;
    let packed = count % 4 == 0 && [from, grad, to].iter().all(|address| address.is_aligned_to(pack));
    let planes = ChannelMap {
        count,
        area: FastDivisor::new(to_u32(area)),
        channels: FastDivisor::new(to_u32(sizes[1])),
        packed: packed.into(),
    };
    let launch_grid = Grid::for_elements(if packed { count / 4 } else { count });
    let arguments = (from, grad, to, coefficients, planes);
    launch.run(&NORMALIZATION_KERNEL, "apply_channels", &[first.dtype()], launch_grid, arguments)?;
    if out.strides() != first.strides() {
        copy_into(out, &result)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn elements_per_channel(input: &Tensor) -> f64 {
    input.geometry().count() as f64 / input.sizes()[1].max(1) as f64
}

/// Normalises channels by their own statistics and updates the running ones, or normalises by the running ones.
fn normalize_channels<O: Operation>(
    [out, mean, rstd]: [&mut Tensor; 3],
    input: &Tensor,
    [weight, bias]: [Option<&Tensor>; 2],
    running: [Option<&Tensor>; 2],
    train: bool,
    momentum: f64,
    eps: f64,
) -> Result<()> {
    let coefficients = allocate_coefficients(input)?;
    let launch = Launch::on_device_of(&coefficients)?;
    let vector = |tensor| StridedVector::from_tensor(launch, tensor);
    let own = if train { Some(channel_moments::<O>(input)?) } else { None };
    let [means, vars] = match &own {
        Some([vars, means]) => [vector(Some(means))?, vector(Some(vars))?],
        None => [vector(running[0])?, vector(running[1])?],
    };
    let [mean_moves, var_moves] =
        running.map(|running| running.filter(|_| train).map(|running| launch.begin_write(running)).transpose());
    let written = (mean_moves?, var_moves?);
    let moving = if train { [vector(running[0])?, vector(running[1])?] } else { [StridedVector::NULL; 2] };
    let count = elements_per_channel(input);
    let batch = BatchNormScalars {
        eps,
        momentum,
        correction: count / (count - 1.0),
        channels: to_u32(input.sizes()[1]),
        is_training: u32::from(train),
    };
    let saved = (vector(Some(mean))?, vector(Some(rstd))?);
    let (weight, bias) = (vector(weight)?, vector(bias)?);
    let arguments = (means, vars, weight, bias, saved.0, saved.1, moving[0], moving[1], &coefficients, batch);
    launch.run_per_element(
        &NORMALIZATION_KERNEL,
        "batch_statistics",
        &[coefficients.dtype()],
        input.sizes()[1],
        arguments,
    )?;
    drop(written);
    apply_coefficients(Some(&aten::contiguous(input, input.geometry().suggested_format())?), None, &coefficients, out)
}

/// Returns the variances of channels, without correction, and their means.
fn channel_moments<O: Operation>(input: &Tensor) -> Result<[Tensor; 2]> {
    let reduced_dims: Vec<bool> = (0..input.sizes().len()).map(|dim| dim != 1).collect();
    let spec = Spec::contiguous(reduction_dtype(input.dtype()).unwrap_or(DType::F32), &[input.sizes()[1]]);
    let (vars, means) = (spec.clone().on(input.device())?, spec.on(input.device())?);
    reduce::<O>(&MOMENTS, input, &reduced_dims, input.dtype(), [0.0; 2], &[&vars, &means])?;
    Ok([vars, means])
}

#[op_impl(aten::native_batch_norm, CUDA)]
fn batch_norm(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (parameters, running) = ([weight, bias], [running_mean, running_var]);
    normalize_channels::<aten::native_batch_norm>(out, input, parameters, running, training, momentum, eps)
}

#[op_impl(aten::native_batch_norm_backward, CUDA)]
fn batch_norm_backward(_plan: &(), [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let statistics = if train { [save_mean, save_invstd] } else { [running_mean, running_var] };
    let [Some(mean), Some(spread)] = statistics else { return Ok(()) };
    let coefficients = allocate_coefficients(input)?;
    let launch = Launch::on_device_of(&coefficients)?;
    let by = StridedVector::from_tensor(launch, weight)?;
    // In training, the reciprocal deviations were saved. In evaluation, they are computed from the running variances.
    let rstd = if train {
        spread.clone()
    } else {
        let rstd = Spec::contiguous(coefficients.dtype(), spread.sizes()).on(input.device())?;
        let batch = BatchNormScalars {
            eps,
            momentum: 0.0,
            correction: 1.0,
            channels: to_u32(input.sizes()[1]),
            is_training: 0,
        };
        let (means, vars) =
            (StridedVector::from_tensor(launch, Some(mean))?, StridedVector::from_tensor(launch, Some(spread))?);
        let (none, saved) = (StridedVector::NULL, StridedVector::from_tensor(launch, Some(&rstd))?);
        let arguments = (means, vars, by, none, none, saved, none, none, &coefficients, batch);
        launch.run_per_element(
            &NORMALIZATION_KERNEL,
            "batch_statistics",
            &[coefficients.dtype()],
            input.sizes()[1],
            arguments,
        )?;
        rstd
    };
    let layout = input.geometry().suggested_format();
    let (input, grad) = (aten::contiguous(input, layout)?, aten::contiguous(grad_out, layout)?);
    let inputs = BackwardInputs { grad, input, mean: mean.clone(), rstd };
    if train || output_mask[1] || output_mask[2] {
        let sizes = inputs.input.sizes();
        let (images, channels, area) = (sizes[0], sizes[1], sizes[2..].iter().product::<i64>());
        if channels > 0 {
            let sums = match layout {
                MemoryFormat::Contiguous => inputs.sum_gradients_by_plane([images, channels, area], [1, channels])?,
                _ => inputs.sum_gradients_by_column(images * area, channels, true)?,
            };
            let with_coefficients =
                train.then_some((&coefficients, &inputs, weight, elements_per_channel(&inputs.input)));
            sums.compute_parameter_gradients([of_weight, of_bias], with_coefficients)?;
        }
    }
    match (output_mask[0], train) {
        (false, _) => Ok(()),
        (true, true) => apply_coefficients(Some(&inputs.input), Some(&inputs.grad), &coefficients, of_input),
        (true, false) => apply_coefficients(None, Some(&inputs.grad), &coefficients, of_input),
    }
}
