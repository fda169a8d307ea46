//! Batch rules of operators on images, volumes or signals: the batch of vmap is folded into dimension 0, the operator's own batch
//! dimension.

use dispatch_runtime::{Operator, Result, Value};

use crate::batch::Batch;
use crate::call;
use crate::shape_words::{fold_batch_into_dim, unfold_batch_from_dim};

/// Batches an operator whose tensors have `rank` dimensions, with items along dimension 0. The batch is folded into the items. If slices
/// have one dimension fewer, each slice is one item.
fn fold_batch_into_items(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
    rank: usize,
) -> Result<Option<Vec<Value>>> {
    let mut slices_have_items = None;
    let mut values = arguments.to_vec();
    for (value, argument) in values.iter_mut().zip(&operator.schema().arguments) {
        match value {
            Value::Tensor(tensor) => {
                let mapped = batch.unwrap_tensor(tensor);
                let has_items = mapped.slice_rank() == rank;
                if !(has_items || mapped.slice_rank() + 1 == rank)
                    || *slices_have_items.get_or_insert(has_items) != has_items
                {
                    return Ok(None);
                }
                let each = batch.expand_batch_first(&mapped)?;
                *value = if has_items { fold_batch_into_dim(&each, 0)? } else { each }.into();
            }
            Value::Ints(sizes) if argument.name == "input_size" && sizes.len() == rank => {
                sizes[0] = sizes[0].saturating_mul(batch.size());
            }
            // A result that is not requested has no items.
            Value::Bools(mask) if mask.contains(&false) => return Ok(None),
            _ => {}
        }
    }
    let results = operator.call(values)?.into_iter().map(|result| match result {
        Value::Tensor(tensor) if slices_have_items == Some(true) => {
            let items = tensor.sizes().first().map_or(0, |all| all / batch.size());
            Ok(unfold_batch_from_dim(&tensor, 0, batch.size(), items)?.into())
        }
        other => Ok(other),
    });
    call::wrap_call_results(batch, operator, arguments, results.collect::<Result<_>>()?).map(Some)
}

value_rules! {
    |batch, operator, arguments| fold_batch_into_items(batch, operator, arguments, 3) =>
    reflection_pad1d reflection_pad1d_backward replication_pad1d replication_pad1d_backward;
    #[cfg(feature = "resize")]
    upsample_linear1d upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward
    _upsample_nearest_exact1d _upsample_nearest_exact1d_backward;
    #[cfg(feature = "conv")]
    col2im
}

value_rules! {
    |batch, operator, arguments| fold_batch_into_items(batch, operator, arguments, 4) =>
    reflection_pad2d reflection_pad2d_backward replication_pad2d replication_pad2d_backward;
    #[cfg(feature = "pooling")]
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward
    avg_pool2d avg_pool2d_backward max_pool2d_with_indices max_pool2d_with_indices_backward max_unpool2d;
    #[cfg(feature = "resize")]
    upsample_bicubic2d upsample_bicubic2d_backward upsample_bilinear2d upsample_bilinear2d_backward
    upsample_nearest2d upsample_nearest2d_backward _upsample_nearest_exact2d _upsample_nearest_exact2d_backward
    _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward
    _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward grid_sampler_2d grid_sampler_2d_backward;
    #[cfg(feature = "conv")]
    im2col
}

value_rules! {
    |batch, operator, arguments| fold_batch_into_items(batch, operator, arguments, 5) =>
    reflection_pad3d reflection_pad3d_backward replication_pad3d replication_pad3d_backward;
    #[cfg(feature = "pooling")]
    _adaptive_avg_pool3d _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward
    avg_pool3d avg_pool3d_backward max_pool3d_with_indices max_pool3d_with_indices_backward max_unpool3d;
    #[cfg(feature = "resize")]
    upsample_trilinear3d upsample_trilinear3d_backward upsample_nearest3d upsample_nearest3d_backward
    _upsample_nearest_exact3d _upsample_nearest_exact3d_backward
    grid_sampler_3d grid_sampler_3d_backward
}
