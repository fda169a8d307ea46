//! CUDA kernels of `sort`, `topk`, `kthvalue`, medians and `mode`.

use crate::engine::sort_select::{Found, Nth, SortInput, placed};
use crate::prelude::*;

/// Writes the first elements of each line into the results. If lines are not contiguous there, they are copied from temporary tensors.
fn first([values, indices]: [&mut Tensor; 2], lines: &SortInput, dim: usize) -> Result<()> {
    let is_direct = |out: &Tensor| dim + 1 >= out.sizes().len() && out.geometry().is_contiguous();
    let most = values.sizes().get(dim).copied().unwrap_or(1);
    if is_direct(values) && is_direct(indices) {
        return lines.first_into(most, &(values.clone(), indices.clone()));
    }
    let found = lines.first(most)?;
    placed(&found.0, values, dim)?;
    placed(&found.1, indices, dim)
}

#[op_impl(aten::sort, CUDA)]
#[op_impl(aten::sort_stable, CUDA)]
fn sort(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, descending: bool) -> Result<()> {
    first(out, &SortInput::along(this, *plan, descending)?, *plan)
}

#[op_impl(aten::topk, CUDA)]
fn topk(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, largest: bool) -> Result<()> {
    first(out, &SortInput::along(this, *plan, largest)?, *plan)
}

/// Returns the result tensors, which have one element for each line and are contiguous.
fn found([values, indices]: [&mut Tensor; 2]) -> Found {
    (values.clone(), indices.clone())
}

#[op_impl(aten::kthvalue, CUDA)]
fn kthvalue(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, k: i64) -> Result<()> {
    SortInput::along(this, *plan, false)?.nth(Nth::Is(k), &found(out))
}

#[op_impl(aten::median_dim, CUDA)]
fn median_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    SortInput::along(this, *plan, false)?.nth(Nth::Median { of_numbers: false }, &found(out))
}

#[op_impl(aten::nanmedian_dim, CUDA)]
fn nanmedian_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    SortInput::along(this, *plan, false)?.nth(Nth::Median { of_numbers: true }, &found(out))
}

#[op_impl(aten::mode, CUDA)]
fn mode(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    SortInput::along(this, *plan, false)?.most_frequent(&found(out))
}

/// Writes the median of all elements, or NaN if there are none.
fn median_of_all(out: &mut Tensor, this: &Tensor, of_numbers: bool) -> Result<()> {
    if this.geometry().count() == 0 {
        return write(out, &Tensor::number(f64::NAN.into()));
    }
    let row = contiguous(this, this.dtype())?;
    let row = row.restride(Geometry::contiguous(&[row.geometry().count()]).with_offset(row.geometry().offset()))?;
    let mut place = out.fresh_like(DType::I64)?;
    SortInput::along(&row, 0, false)?.nth(Nth::Median { of_numbers }, &found([out, &mut place]))
}

#[op_impl(aten::median, CUDA)]
fn median(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    median_of_all(out, this, false)
}

#[op_impl(aten::nanmedian, CUDA)]
fn nanmedian(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    median_of_all(out, this, true)
}
