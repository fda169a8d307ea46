//! Batch rules of losses: unreduced losses for all slices, then the reduction of each slice.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Operator, Result, Tensor, Value, broadcast, result_dtype};

use crate::batch::{Batch, Mapped};
use crate::call;
use crate::shape_words::{align_rank, cast_to_promoted_dtype};

/// The values of `reduction`: none, mean, sum.
const REDUCTION_NONE: i64 = 0;
const REDUCTION_MEAN: i64 = 1;
const REDUCTION_SUM: i64 = 2;

/// Reduces the losses of each slice, whose batch dimension is 0.
fn reduce_losses_of_slices(losses: &Tensor, reduction: i64) -> Result<Tensor> {
    let dims: Vec<i64> = (1..losses.sizes().len()).filter_map(|dim| i64::try_from(dim).ok()).collect();
    match reduction {
        REDUCTION_NONE => Ok(losses.clone()),
        _ if dims.is_empty() => Ok(losses.clone()),
        REDUCTION_MEAN => aten::mean_dim(losses, Some(&dims), false, None),
        _ => aten::sum_dim_intlist(losses, Some(&dims), false, None),
    }
}

/// Returns the arguments of an elementwise loss for all slices without reduction. All tensors are expanded to the broadcast sizes, because
/// a mean counts these elements.
fn unreduced_loss_arguments(batch: &Batch, arguments: &[Value], reduction: usize) -> Result<Vec<Value>> {
    let given = || arguments.iter().filter_map(Value::as_tensor);
    let common = result_dtype(given());
    let sizes = broadcast(given().map(Tensor::sizes))?;
    let all = [&[batch.size()], &sizes[..]].concat();
    let mut values = arguments.to_vec();
    values[reduction] = Value::Int(REDUCTION_NONE);
    for value in &mut values {
        if let Value::Tensor(tensor) = value {
            let mapped = batch.unwrap_tensor(tensor);
            let each = align_rank(&Mapped::from_batch_first(batch.expand_batch_first(&mapped)?), sizes.len())?;
            *value = aten::expand(&cast_to_promoted_dtype(&mapped, each, common, common)?, &all, false)?.into();
        }
    }
    Ok(values)
}

fn reduction_argument(operator: &Operator, arguments: &[Value]) -> Option<(usize, i64)> {
    let (at, _) = operator.schema().argument("reduction")?;
    if let Value::Int(reduction) = arguments[at] { Some((at, reduction)) } else { None }
}

fn batch_elementwise_loss(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let Some((at, reduction)) = reduction_argument(operator, arguments) else { return Ok(None) };
    let results =
        operator.call(unreduced_loss_arguments(batch, arguments, at)?)?.into_iter().map(|result| match result {
            Value::Tensor(losses) => Ok(reduce_losses_of_slices(&losses, reduction)?.into()),
            other => Ok(other),
        });
    call::wrap_call_results(batch, operator, arguments, results.collect::<Result<_>>()?).map(Some)
}

value_rules! {
    batch_elementwise_loss =>
    mse_loss huber_loss smooth_l1_loss soft_margin_loss binary_cross_entropy binary_cross_entropy_with_logits
}

/// Batches the gradients of elementwise losses. For a mean, each gradient is divided by the number of elements of one slice.
fn batch_elementwise_loss_backward(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let (Some((at, reduction)), Some(this)) = (reduction_argument(operator, arguments), arguments[1].as_tensor())
    else {
        return Ok(None);
    };
    let results =
        operator.call(unreduced_loss_arguments(batch, arguments, at)?)?.into_iter().map(|result| match result {
            Value::Tensor(gradient) if reduction == REDUCTION_MEAN => {
                Ok(aten::div_scalar(&gradient, this.geometry().count().into())?.into())
            }
            other => Ok(other),
        });
    call::wrap_call_results(batch, operator, arguments, results.collect::<Result<_>>()?).map(Some)
}

value_rules! {
    batch_elementwise_loss_backward =>
    mse_loss_backward huber_loss_backward smooth_l1_loss_backward soft_margin_loss_backward binary_cross_entropy_backward
}

/// The samples of all slices as rows of class scores, with the weight of each sample. An ignored sample has weight 0.
struct ClassifiedSamples {
    scores: Tensor,
    classes: Tensor,
    weights: Tensor,
    ignored: Tensor,
    /// The batch size, and the sizes of one slice's samples.
    sizes: Vec<i64>,
    /// The class dimension in a slice of scores.
    dim: usize,
}

impl ClassifiedSamples {
    fn new(batch: &Batch, this: &Mapped, target: &Mapped, weight: Option<&Mapped>, ignore_index: i64) -> Result<Self> {
        let of_first = weight.map(Mapped::first_slice).transpose()?;
        let plan = if this.slice_rank() == 4 { aten::nll_loss2d_forward::plan } else { aten::nll_loss_forward::plan };
        plan(&this.first_slice()?, &target.first_slice()?, of_first.as_ref(), REDUCTION_NONE, ignore_index)?;
        let dim = this.slice_rank().min(2);
        let dim_in_batch = i64::try_from(dim).unwrap_or(1);
        let each = batch.expand_batch_first(this)?;
        let target = aten::to_dtype(&batch.expand_batch_first(target)?, DType::I64, false, false, None)?;
        let scores = aten::movedim_int(&each, dim_in_batch, -1)?;
        let classes = scores.sizes().last().copied().unwrap_or(0);
        let count = dispatch_runtime::element_count(target.sizes());
        let ignored = aten::eq_scalar(&target, ignore_index.into())?;
        let known = aten::masked_fill_scalar(&target, &ignored, 0.into())?;
        let weights = match weight {
            None => aten::to_dtype(&aten::logical_not(&ignored)?, each.dtype(), false, false, None)?,
            Some(weight) => {
                let rows = aten::reshape(&known, &[batch.size(), count / batch.size()])?;
                let found =
                    aten::reshape(&aten::gather(&batch.expand_batch_first(weight)?, 1, &rows, false)?, target.sizes())?;
                aten::masked_fill_scalar(&found, &ignored, 0.into())?
            }
        };
        Ok(Self {
            scores: aten::reshape(&scores, &[count, classes])?,
            classes: aten::reshape(&known, &[count])?,
            weights,
            ignored,
            sizes: target.sizes().to_vec(),
            dim,
        })
    }

    /// Multiplies the values of samples by their weights. An ignored sample gives 0, even if its value is not finite.
    fn multiply_by_weights(&self, numbers: &Tensor) -> Result<Tensor> {
        aten::masked_fill_scalar(&aten::mul(numbers, &self.weights)?, &self.ignored, 0.into())
    }

    /// Reshapes one value per slice so that it broadcasts to the slice's samples.
    fn align_with_samples(&self, of_slice: &Tensor) -> Result<Tensor> {
        let mut column = vec![1; self.sizes.len()];
        column[0] = self.sizes[0];
        aten::reshape(of_slice, &column)
    }

    fn sum_weights_of_slices(&self) -> Result<Tensor> {
        let rows = aten::reshape(&self.weights, &[self.sizes[0], dispatch_runtime::element_count(&self.sizes[1..])])?;
        aten::sum_dim_intlist(&rows, Some(&[1]), false, None)
    }
}

fn nll_loss_of_slices(
    batch: &Batch,
    this: &Mapped,
    target: &Mapped,
    weight: Option<&Mapped>,
    reduction: i64,
    ignore_index: i64,
) -> Result<(Mapped, Mapped)> {
    let samples = ClassifiedSamples::new(batch, this, target, weight, ignore_index)?;
    let losses = aten::nll_loss_forward(&samples.scores, &samples.classes, None, REDUCTION_NONE, -100)?.0;
    let losses = samples.multiply_by_weights(&aten::reshape(&losses, &samples.sizes)?)?;
    let total = samples.sum_weights_of_slices()?;
    if reduction == REDUCTION_NONE {
        let none = aten::zeros_like(&total, None, None, None, None, None)?;
        return Ok((Mapped::from_batch_first(losses), Mapped::from_batch_first(none)));
    }
    let rows = aten::reshape(&losses, &[samples.sizes[0], dispatch_runtime::element_count(&samples.sizes[1..])])?;
    let sum = aten::sum_dim_intlist(&rows, Some(&[1]), false, None)?;
    let result = if reduction == REDUCTION_MEAN { aten::div(&sum, &total)? } else { sum };
    Ok((Mapped::from_batch_first(result), Mapped::from_batch_first(total)))
}

#[expect(clippy::too_many_arguments, reason = "the operators have these arguments")]
fn nll_loss_backward_of_slices(
    batch: &Batch,
    grad_output: &Mapped,
    this: &Mapped,
    target: &Mapped,
    weight: Option<&Mapped>,
    reduction: i64,
    ignore_index: i64,
    total_weight: &Mapped,
) -> Result<Mapped> {
    let samples = ClassifiedSamples::new(batch, this, target, weight, ignore_index)?;
    let mut gradient = batch.expand_batch_first(grad_output)?;
    if reduction != REDUCTION_NONE {
        gradient = samples.align_with_samples(&gradient)?;
    }
    if reduction == REDUCTION_MEAN {
        gradient = aten::div(&gradient, &samples.align_with_samples(&batch.expand_batch_first(total_weight)?)?)?;
    }
    let of_samples = aten::reshape(&samples.multiply_by_weights(&gradient)?, &[-1])?;
    let total = aten::sum(&of_samples, None)?;
    let found =
        aten::nll_loss_backward(&of_samples, &samples.scores, &samples.classes, None, REDUCTION_NONE, -100, &total)?;
    let classes = found.sizes()[1];
    let back = aten::reshape(&found, &[&samples.sizes[..], &[classes]].concat())?;
    Ok(Mapped::from_batch_first(aten::movedim_int(&back, -1, i64::try_from(samples.dim).unwrap_or(1))?))
}

/// Returns the reduction of a slice. The unreduced loss of a single sample is computed as its sum.
fn reduction_of_slice(this: &Mapped, reduction: i64) -> i64 {
    if reduction == REDUCTION_NONE && this.slice_rank() == 1 { REDUCTION_SUM } else { reduction }
}

macro_rules! nll_loss_rules {
    ($($forward:ident $backward:ident)*) => {$(
        #[op_vmap(aten::$forward)]
        fn $forward(batch: &Batch, _: ...) -> Result<(Mapped, Mapped)> {
            let reduction = reduction_of_slice(&this, reduction);
            nll_loss_of_slices(batch, &this, &target, weight.as_ref(), reduction, ignore_index)
        }

        #[op_vmap(aten::$backward)]
        fn $backward(batch: &Batch, _: ...) -> Result<Mapped> {
            let (weight, reduction) = (weight.as_ref(), reduction_of_slice(&this, reduction));
            nll_loss_backward_of_slices(batch, &grad_output, &this, &target, weight, reduction, ignore_index, &total_weight)
        }
    )*};
}

nll_loss_rules! {
    nll_loss_forward nll_loss_backward
    nll_loss2d_forward nll_loss2d_backward
}
