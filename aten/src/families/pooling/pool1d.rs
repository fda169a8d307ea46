//! Pooling in one dimension. Each operator calls the operator for images with images of one row.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims};

use crate::{squeeze_dim, unsqueeze};

/// Computes [`avg_pool2d`](fn@crate::avg_pool2d) in one dimension.
#[op_def(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
    out = "out"
)]
pub fn avg_pool1d(_: ...) -> Result<Tensor> {
    let kernel = prepend_entry("kernel_size", kernel_size, 1)?;
    let (stride, padding) = (stride_or_kernel_size(stride, &kernel)?, prepend_entry("padding", padding, 0)?);
    let row = as_one_row_image(this)?;
    squeeze_dim(&crate::avg_pool2d(&row, &kernel, &stride, &padding, ceil_mode, count_include_pad, None)?, -2)
}

/// Computes [`max_pool2d_with_indices`](fn@crate::max_pool2d_with_indices) in one dimension.
#[op_def(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)"
)]
pub fn max_pool1d_with_indices(_: ...) -> Result<(Tensor, Tensor)> {
    let kernel = prepend_entry("kernel_size", kernel_size, 1)?;
    let (stride, padding) = (stride_or_kernel_size(stride, &kernel)?, prepend_entry("padding", padding, 0)?);
    let dilation = prepend_entry("dilation", dilation, 1)?;
    let row = as_one_row_image(this)?;
    let (values, indices) = crate::max_pool2d_with_indices(&row, &kernel, &stride, &padding, &dilation, ceil_mode)?;
    Ok((squeeze_dim(&values, -2)?, squeeze_dim(&indices, -2)?))
}

/// Computes [`max_pool2d`](fn@crate::max_pool2d) in one dimension.
#[op_def(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor"
)]
pub fn max_pool1d(_: ...) -> Result<Tensor> {
    Ok(max_pool1d_with_indices(this, kernel_size, stride, padding, dilation, ceil_mode)?.0)
}

/// Computes [`adaptive_avg_pool2d`](fn@crate::adaptive_avg_pool2d) in one dimension.
#[op_def("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", out = "out")]
pub fn adaptive_avg_pool1d(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
    squeeze_dim(
        &crate::adaptive_avg_pool2d(&as_one_row_image(this)?, &prepend_entry("output_size", output_size, 1)?)?,
        -2,
    )
}

/// Computes [`adaptive_max_pool2d`](fn@crate::adaptive_max_pool2d) in one dimension.
#[op_def("adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)")]
pub fn adaptive_max_pool1d(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
    let (values, indices) =
        crate::adaptive_max_pool2d(&as_one_row_image(this)?, &prepend_entry("output_size", output_size, 1)?)?;
    Ok((squeeze_dim(&values, -2)?, squeeze_dim(&indices, -2)?))
}

/// Views sequences as images of one row.
fn as_one_row_image(this: &Tensor) -> Result<Tensor> {
    match this.sizes().len() {
        2 | 3 => unsqueeze(this, -2),
        rank => Err(BadArgument::rank("self", rank, &[2, 3]).into()),
    }
}

/// Returns `[first, entry]` for a list with one entry. Refuses other lists.
fn prepend_entry(argument: &'static str, list: &[i64], first: i64) -> Result<Dims, BadArgument> {
    match list {
        [one] => Ok(Dims::from_slice(&[first, *one])),
        _ => Err(BadArgument::length(argument, list.len(), 1)),
    }
}

/// Returns the stride as a list for images of one row. An empty stride means the window's size.
fn stride_or_kernel_size(stride: &[i64], kernel: &Dims) -> Result<Dims, BadArgument> {
    if stride.is_empty() { Ok(kernel.clone()) } else { prepend_entry("stride", stride, 1) }
}
