//! Kernels of padding by reflection and by repetition, and of their gradients.

use aten::{Border, BorderPadPlan};
use dispatch_runtime::prelude::*;

use engine::data_movement::{AxisOffsets, CopyAxis, copy_along_axes, copy_elements};
use kernels_cpu_indexing::index_reduction::{add_along_axes, to_compute_dtype};

/// Returns the axes of a copy to a padded tensor: for each index of a padded dimension, the offset of the element that it repeats.
fn pad_axes(inside: &[i64], padding: &[i64], border: Border, outer: &[i64], inner: &[i64]) -> Vec<CopyAxis> {
    let first = inside.len() - padding.len() / 2;
    let axis = |dim: usize| {
        let to = AxisOffsets::Stride(outer[dim]);
        if dim < first {
            return CopyAxis { size: inside[dim], to, from: AxisOffsets::Stride(inner[dim]) };
        }
        let pair = 2 * (inside.len() - 1 - dim);
        let mut places = border.source_indices(inside[dim], padding[pair], padding[pair + 1]);
        places.iter_mut().for_each(|place| *place *= inner[dim]);
        CopyAxis { size: i64::try_from(places.len()).unwrap_or(0), to, from: AxisOffsets::Table(places) }
    };
    (0..inside.len()).map(axis).collect()
}

#[op_impl(aten::reflection_pad1d, CPU)]
#[op_impl(aten::reflection_pad2d, CPU)]
#[op_impl(aten::reflection_pad3d, CPU)]
#[op_impl(aten::replication_pad1d, CPU)]
#[op_impl(aten::replication_pad2d, CPU)]
#[op_impl(aten::replication_pad3d, CPU)]
fn pad(plan: &BorderPadPlan, out: &mut Tensor, this: &Tensor, padding: &[i64]) -> Result<()> {
    // An axis has a table entry for each index of a dimension. An empty tensor may have too many.
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let axes = pad_axes(this.sizes(), padding, plan.border, out.strides(), this.strides());
    copy_along_axes(out, this, &axes)
}

#[op_impl(aten::reflection_pad1d_backward, CPU)]
#[op_impl(aten::reflection_pad2d_backward, CPU)]
#[op_impl(aten::reflection_pad3d_backward, CPU)]
#[op_impl(aten::replication_pad1d_backward, CPU)]
#[op_impl(aten::replication_pad2d_backward, CPU)]
#[op_impl(aten::replication_pad3d_backward, CPU)]
fn pad_backward(
    plan: &BorderPadPlan,
    out: &mut Tensor,
    grad_output: &Tensor,
    this: &Tensor,
    padding: &[i64],
) -> Result<()> {
    let (grad, zero) = (to_compute_dtype(grad_output)?, Tensor::number(0.into()));
    if grad.geometry().count() == 0 {
        return copy_elements(out, &zero);
    }
    let mut axes = pad_axes(this.sizes(), padding, plan.border, grad.strides(), out.strides());
    axes.iter_mut().for_each(|axis| std::mem::swap(&mut axis.to, &mut axis.from));
    add_along_axes(out, &zero, &grad, &axes)
}
