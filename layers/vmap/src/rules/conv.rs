//! Batch rules of convolutions. The batch is folded into the images, or into the channel groups if the weight or bias is batched.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Result, Tensor};

use crate::batch::{Batch, Mapped};
use crate::shape_words::{fold_batch_into_dim, unfold_mapped_result};

#[op_vmap(aten::convolution)]
fn convolution(batch: &Batch, _: ...) -> Result<Mapped> {
    let convolve = |input: &Tensor, weight: &Tensor, bias: Option<&Tensor>, groups| {
        aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    };
    if weight.is_mapped() || bias.as_ref().is_some_and(Mapped::is_mapped) {
        let bias = bias.map(|bias| fold_batch_into_dim(&batch.expand_batch_first(&bias)?, 0)).transpose()?;
        let (input, weight) = (
            fold_batch_into_dim(&batch.expand_batch_first(&input)?, 1)?,
            fold_batch_into_dim(&batch.expand_batch_first(&weight)?, 0)?,
        );
        return unfold_mapped_result(
            batch,
            &convolve(&input, &weight, bias.as_ref(), groups.saturating_mul(batch.size()))?,
            1,
        );
    }
    let bias = bias.as_ref().map(Mapped::tensor);
    unfold_mapped_result(
        batch,
        &convolve(&fold_batch_into_dim(&input.batch_first()?, 0)?, weight.tensor(), bias, groups)?,
        0,
    )
}

#[op_vmap(aten::convolution_backward)]
fn convolution_backward(batch: &Batch, _: ...) -> Result<(Mapped, Mapped, Mapped)> {
    let sizes: Option<Vec<i64>> =
        bias_sizes.map(|sizes| sizes.iter().map(|size| size.saturating_mul(batch.size())).collect());
    let (grad_input, grad_weight, grad_bias) = aten::convolution_backward(
        &fold_batch_into_dim(&batch.expand_batch_first(&grad_output)?, 1)?,
        &fold_batch_into_dim(&batch.expand_batch_first(&input)?, 1)?,
        &fold_batch_into_dim(&batch.expand_batch_first(&weight)?, 0)?,
        sizes.as_deref(),
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups.saturating_mul(batch.size()),
        output_mask,
    )?;
    // A gradient that is not requested has one dimension and no elements.
    let of_input = unfold_mapped_result(batch, &grad_input, usize::from(output_mask[0]))?;
    Ok((of_input, unfold_mapped_result(batch, &grad_weight, 0)?, unfold_mapped_result(batch, &grad_bias, 0)?))
}
