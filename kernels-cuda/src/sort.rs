//! Sorting, and what needs a part of an order.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Dims, Geometry, Spec};

use crate::copying::packed;
use crate::order::{Found, Nth, Ranks, placed};

fn both((values, indices): &Found, spec: Spec, dim: i64) -> Result<(Tensor, Tensor)> {
    let places = Spec { dtype: DType::I64, ..spec.clone() };
    Ok((placed(values, spec, dim)?, placed(indices, places, dim)?))
}

#[op_impl(aten::sort, CUDA)]
fn sort(this: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    let spec = aten::sort_spec(this, dim)?;
    both(&Ranks::along(this, dim, descending)?.sorted()?, spec, dim)
}

#[op_impl(aten::sort_stable, CUDA)]
fn sort_stable(this: &Tensor, _stable: Option<bool>, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    sort(this, dim, descending)
}

#[op_impl(aten::topk, CUDA)]
fn topk(this: &Tensor, k: i64, dim: i64, largest: bool, _sorted: bool) -> Result<(Tensor, Tensor)> {
    let spec = aten::topk_spec(this, k, dim)?;
    both(&Ranks::along(this, dim, largest)?.first(k)?, spec, dim)
}

/// One element of each line.
fn one(
    this: &Tensor,
    dim: i64,
    keepdim: bool,
    choose: impl FnOnce(&Ranks) -> Result<Found>,
) -> Result<(Tensor, Tensor)> {
    let spec = aten::extreme_spec(this, &[dim], keepdim)?;
    let shaped = |found: &Tensor| found.restride(Geometry::contiguous(spec.geometry.sizes()));
    let (values, indices) = choose(&Ranks::along(this, dim, false)?)?;
    Ok((shaped(&values)?, shaped(&indices)?))
}

#[op_impl(aten::kthvalue, CUDA)]
fn kthvalue(this: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    aten::kth_check(this, k, dim)?;
    one(this, dim, keepdim, |lines| lines.nth(Nth::Is(k)))
}

#[op_impl(aten::median_dim, CUDA)]
fn median_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    one(this, dim, keepdim, |lines| lines.nth(Nth::Median { of_numbers: false }))
}

#[op_impl(aten::nanmedian_dim, CUDA)]
fn nanmedian_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    one(this, dim, keepdim, |lines| lines.nth(Nth::Median { of_numbers: true }))
}

#[op_impl(aten::mode, CUDA)]
fn mode(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    one(this, dim, keepdim, Ranks::most_frequent)
}

/// The median of all elements; of none, what is not a number.
fn median_of_all(this: &Tensor, of_numbers: bool) -> Result<Tensor> {
    if this.geometry().count() == 0 {
        let mut out = Spec::contiguous(this.dtype(), &[]).on(this.device())?;
        crate::copying::write(&mut out, &Tensor::number(f64::NAN.into()))?;
        return Ok(out);
    }
    let row = packed(this, this.dtype())?;
    let row = row.restride(Geometry::contiguous(&[row.geometry().count()]).at(row.geometry().offset()))?;
    let (median, _) = Ranks::along(&row, 0, false)?.nth(Nth::Median { of_numbers })?;
    Ok(median.restride(Geometry::contiguous(&Dims::new()))?)
}

#[op_impl(aten::median, CUDA)]
fn median(this: &Tensor) -> Result<Tensor> {
    median_of_all(this, false)
}

#[op_impl(aten::nanmedian, CUDA)]
fn nanmedian(this: &Tensor) -> Result<Tensor> {
    median_of_all(this, true)
}
