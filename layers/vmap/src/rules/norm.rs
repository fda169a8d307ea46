//! Batch rules of normalizations. Batched weights are applied after the normalization, and their gradients are computed as sums of
//! products.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Result, Scalar, Tensor, wrap_dim};

use crate::batch::{Batch, Mapped};
use crate::shape_words::{fold_batch_into_dim, unfold_batch_from_dim, unfold_mapped_result};

fn is_mapped_tensor(tensor: Option<&Mapped>) -> bool {
    tensor.is_some_and(Mapped::is_mapped)
}

/// Casts half-precision tensors to single precision, as kernels do internally, so that intermediate results are not rounded.
fn to_single_precision(tensor: &Tensor) -> Result<Tensor> {
    match tensor.dtype() {
        DType::F16 | DType::BF16 => cast_to_dtype(tensor, DType::F32),
        _ => Ok(tensor.clone()),
    }
}

fn cast_to_dtype(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    aten::to_dtype(tensor, dtype, false, false, None)
}

/// Returns `y * weight + bias`, both reshaped to these sizes.
fn apply_weight_and_bias(
    batch: &Batch,
    y: Tensor,
    [weight, bias]: [Option<&Mapped>; 2],
    sizes: &[i64],
) -> Result<Tensor> {
    let mut y = y;
    if let Some(weight) = weight {
        y = aten::mul(&y, &reshape_weight(batch, weight, sizes)?)?;
    }
    if let Some(bias) = bias {
        y = aten::add(&y, &reshape_weight(batch, bias, sizes)?, 1.into())?;
    }
    Ok(y)
}

/// Returns the dtype of the statistics: that of the weight or bias, otherwise that of the input.
fn statistics_dtype(input: &Tensor, parameters: [Option<&Mapped>; 2]) -> DType {
    parameters.into_iter().flatten().next().map_or_else(|| input.dtype(), |parameter| parameter.tensor().dtype())
}

/// Reshapes the weight of each slice to these sizes.
fn reshape_weight(batch: &Batch, weight: &Mapped, sizes: &[i64]) -> Result<Tensor> {
    to_single_precision(&aten::reshape(&batch.expand_batch_first(weight)?, sizes)?)
}

/// Returns the sizes of batched weights: the batch size, ones, and the normalized dimensions.
fn weight_sizes(batch: &Batch, rank: usize, normalized_shape: &[i64]) -> Vec<i64> {
    let mut sizes = vec![batch.size()];
    sizes.resize(1 + rank - normalized_shape.len(), 1);
    sizes.extend_from_slice(normalized_shape);
    sizes
}

#[op_vmap(aten::native_layer_norm)]
fn native_layer_norm(batch: &Batch, _: ...) -> Result<Option<(Mapped, Mapped, Mapped)>> {
    if input.slice_rank() < normalized_shape.len() {
        return Ok(None);
    }
    let [weight, bias] = [weight.as_ref(), bias.as_ref()];
    let each = batch.expand_batch_first(&input)?;
    let (y, mean, rstd) = if is_mapped_tensor(weight) || is_mapped_tensor(bias) {
        let (y, mean, rstd) = aten::native_layer_norm(&to_single_precision(&each)?, normalized_shape, None, None, eps)?;
        let y = apply_weight_and_bias(
            batch,
            y,
            [weight, bias],
            &weight_sizes(batch, input.slice_rank(), normalized_shape),
        )?;
        let dtype = statistics_dtype(&each, [weight, bias]);
        (cast_to_dtype(&y, each.dtype())?, cast_to_dtype(&mean, dtype)?, cast_to_dtype(&rstd, dtype)?)
    } else {
        aten::native_layer_norm(&each, normalized_shape, weight.map(Mapped::tensor), bias.map(Mapped::tensor), eps)?
    };
    Ok(Some((Mapped::from_batch_first(y), Mapped::from_batch_first(mean), Mapped::from_batch_first(rstd))))
}

/// Batches `renorm` by folding the batch into the dimension: each part has its own norm.
#[op_vmap(aten::renorm)]
fn renorm(batch: &Batch, this: Mapped, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Mapped> {
    let front = this.batch_first()?;
    let at = wrap_dim("dim", dim, this.slice_rank())?;
    let parts = aten::renorm(&fold_batch_into_dim(&front, at)?, p, i64::try_from(at).unwrap_or(i64::MAX), maxnorm)?;
    Ok(Mapped::from_batch_first(unfold_batch_from_dim(&parts, at, batch.size(), front.sizes()[at + 1])?))
}

#[op_vmap(aten::native_layer_norm_backward)]
fn native_layer_norm_backward(batch: &Batch, _: ...) -> Result<Option<(Mapped, Mapped, Mapped)>> {
    let mixed = weight.as_ref().is_some_and(|weight| weight.tensor().dtype() != input.tensor().dtype());
    let (needs_weight, needs_bias) = (output_mask[1], output_mask[2]);
    let of_none = needs_weight && weight.is_none() || needs_bias && bias.is_none();
    if mixed || of_none || input.slice_rank() < normalized_shape.len() {
        return Ok(None);
    }
    let [grad, each, mean, rstd] =
        [&grad_out, &input, &mean, &rstd].map(|tensor| to_single_precision(&batch.expand_batch_first(tensor)?));
    let (grad, each, mean, rstd) = (grad?, each?, mean?, rstd?);
    let dtype = input.tensor().dtype();
    let sizes = weight_sizes(batch, input.slice_rank(), normalized_shape);
    let inner = match weight {
        Some(weight) => aten::mul(&grad, &reshape_weight(batch, &weight, &sizes)?)?,
        None => grad.clone(),
    };
    let requested = [output_mask[0], false, false];
    // Gradients that are not requested have the sizes that they have for one slice.
    let (of_input, no_weight, no_bias) =
        aten::native_layer_norm_backward(&inner, &each, normalized_shape, &mean, &rstd, None, None, &requested)?;
    let [of_input, no_weight, no_bias] = [of_input, no_weight, no_bias].map(|gradient| cast_to_dtype(&gradient, dtype));
    let of_input = if requested[0] { Mapped::from_batch_first(of_input?) } else { Mapped::same_for_all(of_input?) };
    let of_slice = [&[batch.size()], normalized_shape].concat();
    let sum_to_slice =
        |products: &Tensor| cast_to_dtype(&aten::reshape(&aten::sum_to_size(products, &sizes)?, &of_slice)?, dtype);
    let of_weight = if needs_weight {
        let mut statistics = each.sizes()[..=input.slice_rank() - normalized_shape.len()].to_vec();
        statistics.resize(each.sizes().len(), 1);
        let normal = aten::mul(
            &aten::sub(&each, &aten::reshape(&mean, &statistics)?, 1.into())?,
            &aten::reshape(&rstd, &statistics)?,
        )?;
        Mapped::from_batch_first(sum_to_slice(&aten::mul(&grad, &normal)?)?)
    } else {
        Mapped::same_for_all(no_weight?)
    };
    let of_bias =
        if needs_bias { Mapped::from_batch_first(sum_to_slice(&grad)?) } else { Mapped::same_for_all(no_bias?) };
    Ok(Some((of_input, of_weight, of_bias)))
}

#[op_vmap(aten::native_group_norm)]
#[expect(non_snake_case, reason = "the arguments have the names of the schema")]
fn native_group_norm(batch: &Batch, _: ...) -> Result<(Mapped, Mapped, Mapped)> {
    let [weight, bias] = [weight.as_ref(), bias.as_ref()];
    let all = fold_batch_into_dim(&batch.expand_batch_first(&input)?, 0)?;
    let items = N.saturating_mul(batch.size());
    if !is_mapped_tensor(weight) && !is_mapped_tensor(bias) {
        let [weight, bias] = [weight, bias].map(|parameter| parameter.map(Mapped::tensor));
        let (y, mean, rstd) = aten::native_group_norm(&all, weight, bias, items, C, HxW, group, eps)?;
        return Ok((
            unfold_mapped_result(batch, &y, 0)?,
            unfold_mapped_result(batch, &mean, 0)?,
            unfold_mapped_result(batch, &rstd, 0)?,
        ));
    }
    let (y, mean, rstd) = aten::native_group_norm(&to_single_precision(&all)?, None, None, items, C, HxW, group, eps)?;
    let mut sizes = vec![batch.size(), 1, C];
    sizes.resize(input.slice_rank() + 1, 1);
    let y = apply_weight_and_bias(batch, unfold_mapped_result(batch, &y, 0)?.batch_first()?, [weight, bias], &sizes)?;
    let dtype = statistics_dtype(&all, [weight, bias]);
    let statistics = |of_slices: &Tensor| unfold_mapped_result(batch, &cast_to_dtype(of_slices, dtype)?, 0);
    Ok((Mapped::from_batch_first(cast_to_dtype(&y, all.dtype())?), statistics(&mean)?, statistics(&rstd)?))
}

/// Batches batch normalization by folding the batch into the channels, which are normalized separately.
#[op_vmap(aten::native_batch_norm)]
fn native_batch_norm(batch: &Batch, _: ...) -> Result<Option<(Mapped, Mapped, Mapped)>> {
    // A call that writes running statistics is a loop over slices.
    if training && (running_mean.is_some() || running_var.is_some()) {
        return Ok(None);
    }
    let channels = |tensor: Option<Mapped>| {
        tensor.map(|tensor| fold_batch_into_dim(&batch.expand_batch_first(&tensor)?, 0)).transpose()
    };
    let (weight, bias) = (channels(weight)?, channels(bias)?);
    let (mean, var) = (channels(running_mean)?, channels(running_var)?);
    let all = fold_batch_into_dim(&batch.expand_batch_first(&input)?, 1)?;
    let (y, mean, rstd) = aten::native_batch_norm(
        &all,
        weight.as_ref(),
        bias.as_ref(),
        mean.as_ref(),
        var.as_ref(),
        training,
        momentum,
        eps,
    )?;
    Ok(Some((
        unfold_mapped_result(batch, &y, 1)?,
        unfold_mapped_result(batch, &mean, 0)?,
        unfold_mapped_result(batch, &rstd, 0)?,
    )))
}

#[op_vmap(aten::native_batch_norm_backward)]
fn native_batch_norm_backward(batch: &Batch, _: ...) -> Result<(Mapped, Mapped, Mapped)> {
    let channels = |tensor: Option<Mapped>| {
        tensor.map(|tensor| fold_batch_into_dim(&batch.expand_batch_first(&tensor)?, 0)).transpose()
    };
    let (weight, mean, var) = (channels(weight)?, channels(running_mean)?, channels(running_var)?);
    let (save_mean, save_invstd) = (channels(save_mean)?, channels(save_invstd)?);
    let (of_input, of_weight, of_bias) = aten::native_batch_norm_backward(
        &fold_batch_into_dim(&batch.expand_batch_first(&grad_out)?, 1)?,
        &fold_batch_into_dim(&batch.expand_batch_first(&input)?, 1)?,
        weight.as_ref(),
        mean.as_ref(),
        var.as_ref(),
        save_mean.as_ref(),
        save_invstd.as_ref(),
        train,
        eps,
        output_mask,
    )?;
    // A gradient that is not requested has one dimension and no elements.
    let of_input = unfold_mapped_result(batch, &of_input, usize::from(output_mask[0]))?;
    Ok((of_input, unfold_mapped_result(batch, &of_weight, 0)?, unfold_mapped_result(batch, &of_bias, 0)?))
}
