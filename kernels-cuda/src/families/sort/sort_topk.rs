//! CUDA kernels of `sort`, `topk`, `kthvalue`, medians and `mode`.

use crate::engine::sort_select::{SelectedElement, SortInput, ValuesAndIndices, copy_lines_into};
use crate::prelude::*;

/// Writes the first elements of each line into the results. If the results are not contiguous along the lines, they are copied from
/// temporary tensors.
fn write_first_elements([values, indices]: [&mut Tensor; 2], lines: &SortInput, dim: usize) -> Result<()> {
    let is_direct = |out: &Tensor| dim + 1 >= out.sizes().len() && out.geometry().is_contiguous();
    let most = values.sizes().get(dim).copied().unwrap_or(1);
    if is_direct(values) && is_direct(indices) {
        return lines.first_elements_into(most, &(values.clone(), indices.clone()));
    }
    let found = lines.first_elements(most)?;
    copy_lines_into(&found.0, values, dim)?;
    copy_lines_into(&found.1, indices, dim)
}

#[op_impl(aten::sort, CUDA)]
#[op_impl(aten::sort_stable, CUDA)]
fn sort(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, descending: bool) -> Result<()> {
    write_first_elements(out, &SortInput::along_dim(this, *plan, descending)?, *plan)
}

#[op_impl(aten::topk, CUDA)]
fn topk(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, largest: bool) -> Result<()> {
    write_first_elements(out, &SortInput::along_dim(this, *plan, largest)?, *plan)
}

/// Returns the result tensors, which have one element for each line and are contiguous.
fn clone_results([values, indices]: [&mut Tensor; 2]) -> ValuesAndIndices {
    (values.clone(), indices.clone())
}

#[op_impl(aten::kthvalue, CUDA)]
fn kthvalue(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, k: i64) -> Result<()> {
    SortInput::along_dim(this, *plan, false)?.select_nth(SelectedElement::NthSmallest(k), &clone_results(out))
}

#[op_impl(aten::median_dim, CUDA)]
fn median_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    SortInput::along_dim(this, *plan, false)?
        .select_nth(SelectedElement::Median { ignores_nan: false }, &clone_results(out))
}

#[op_impl(aten::nanmedian_dim, CUDA)]
fn nanmedian_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    SortInput::along_dim(this, *plan, false)?
        .select_nth(SelectedElement::Median { ignores_nan: true }, &clone_results(out))
}

#[op_impl(aten::mode, CUDA)]
fn mode(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    SortInput::along_dim(this, *plan, false)?.write_most_frequent(&clone_results(out))
}

/// Writes the median of all elements, or NaN if there are none.
fn write_median(out: &mut Tensor, this: &Tensor, ignores_nan: bool) -> Result<()> {
    if this.geometry().count() == 0 {
        return copy_into(out, &Tensor::number(f64::NAN.into()));
    }
    let row = contiguous(this, this.dtype())?;
    let row = row.restride(Geometry::contiguous(&[row.geometry().count()]).with_offset(row.geometry().offset()))?;
    let mut index = out.allocate_like(DType::I64)?;
    SortInput::along_dim(&row, 0, false)?
        .select_nth(SelectedElement::Median { ignores_nan }, &clone_results([out, &mut index]))
}

#[op_impl(aten::median, CUDA)]
fn median(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    write_median(out, this, false)
}

#[op_impl(aten::nanmedian, CUDA)]
fn nanmedian(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    write_median(out, this, true)
}
