//! CUDA kernels of `embedding_dense_backward` and `one_hot`.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::gather::{IndexList, IndexLists, combine_dtype};
use crate::engine::prefix_sum::read_device_integer;
use crate::families::indexing::index_add::{RowLayout, SortedRows};
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, with their counts.
    static EMBEDDING_KERNEL = unsafe { Kernel::new("embedding", include_str!("../../../kernels/indexing/embedding.cu"), |instances| {
        instances.add("max_class", &[]);
        instances.add("one_hot", &[]);
    }) };
}

#[op_impl(aten::embedding_dense_backward, CUDA)]
fn embedding_dense_backward(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    copy_into(out, &Tensor::number(0.into()))?;
    let (dtype, launch) = (grad_output.dtype(), Launch::on_device_of(out)?);
    let rows = contiguous(grad_output, dtype)?;
    let list = IndexList::from_tensor(indices, indices.sizes(), (num_weights, 1));
    let lists = IndexLists::from_list(list, false, fault_site!("aten::embedding_dense_backward", "indices"));
    let keys = lists.byte_offsets(launch, indices.sizes(), num_weights)?;
    let sorted = SortedRows::new(&keys, num_weights, padding_idx)?;
    let shares = scale_grad_by_freq.then(|| sorted.scales_over_count(None, combine_dtype(dtype))).transpose()?;
    let width = grad_output.sizes().last().copied().unwrap_or(0);
    sorted.add_to_targets(
        dtype,
        &[width],
        &RowLayout::from_matrix(launch, out)?,
        &RowLayout::from_matrix(launch, &rows)?,
        None,
        shares.as_ref(),
    )
}

#[op_impl(aten::one_hot, CUDA)]
fn one_hot(_plan: &(), this: &Tensor, num_classes: i64) -> Result<Tensor> {
    let classes = contiguous(this, DType::I64)?;
    let launch = Launch::on_device_of(&classes)?;
    let all = classes.geometry().count();
    let count = if num_classes == -1 {
        let mut largest = Spec::contiguous(DType::I64, &[1]).on(this.device())?;
        copy_into(&mut largest, &Tensor::number(0.into()))?;
        launch.run_per_element(&EMBEDDING_KERNEL, "max_class", &[], all, (all, &classes, &largest))?;
        read_device_integer(launch, &largest)?.saturating_add(1)
    } else {
        num_classes
    };
    let mut sizes = Dims::from_slice(this.sizes());
    sizes.push(count);
    let out = Spec::contiguous(DType::I64, &sizes).on(this.device())?;
    let spots = out.geometry().count();
    let (site, fault) = (fault_site!("aten::one_hot", "self"), launch.fault_record());
    launch.run_per_element(&EMBEDDING_KERNEL, "one_hot", &[], spots, (spots, &out, &classes, count, site, fault))?;
    Ok(out)
}
