//! Views that partition a tensor: `split`, `chunk`, `unbind`, `tensor_split`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected};

use super::select::{dim_and_size, select_view, slice_view};
use crate::prelude::*;
use crate::{slice, tensors_with_capacity};

/// Returns a view of the slice at each index of a dimension.
#[op_def("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", body = CompositeExplicitAutograd)]
pub fn unbind_int(this: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = dim_and_size("self", this, dim)?;
    let mut parts = tensors_with_capacity("self", size)?;
    for index in 0..size {
        parts.push(select_view(this, dim, index)?);
    }
    Ok(parts)
}

/// Splits a dimension into ranges of `split_size` indices. The last may be shorter.
#[op_def(
    "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    body = CompositeExplicitAutograd
)]
pub fn split(_: ...) -> Result<Vec<Tensor>> {
    split_by_chunk_size(this, split_size, dim)
}

fn split_by_chunk_size(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = dim_and_size("self", this, dim)?;
    if split_size < 0 || split_size == 0 && size != 0 {
        return Err(BadArgument::value("split_size", split_size, "1 or more, or 0 if the dimension is empty").into());
    }
    let count = if split_size == 0 { 1 } else { size / split_size + i64::from(size % split_size != 0) }.max(1);
    let mut parts = tensors_with_capacity("split_size", count)?;
    for part in 0..count {
        let start = part.saturating_mul(split_size);
        parts.push(slice_view(this, dim, start, start.saturating_add(split_size), 1)?);
    }
    Ok(parts)
}

/// Splits a dimension into ranges of the lengths `split_sizes`.
#[op_def(
    "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    body = CompositeExplicitAutograd
)]
pub fn split_with_sizes(_: ...) -> Result<Vec<Tensor>> {
    split_by_sizes(this, split_sizes, dim)
}

fn split_by_sizes(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = dim_and_size("self", this, dim)?;
    let sum = split_sizes.iter().fold(0, |sum: i64, &size| sum.saturating_add(size));
    if split_sizes.iter().any(|&size| size < 0) || sum != size {
        return Err(BadArgument::sizes("split_sizes", split_sizes, format!("lengths with the sum {size}")).into());
    }
    let mut start = 0;
    let mut part = |length: i64| {
        let end = start + length;
        slice_view(this, dim, std::mem::replace(&mut start, end), end, 1)
    };
    split_sizes.iter().map(|&length| part(length)).collect()
}

/// Computes [`split`], with results that are not declared as views. The caller promises to write to one at a time.
#[op_def(
    "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    out = "Tensor_out", body = CompositeExplicitAutograd
)]
pub fn unsafe_split(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    split_by_chunk_size(this, split_size, dim)
}

/// Computes [`split_with_sizes`], with results that are not declared as views. The caller promises to write to one at a time.
#[op_def(
    "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn unsafe_split_with_sizes(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    split_by_sizes(this, split_sizes, dim)
}

/// Another name of [`split_with_sizes`].
#[op_def("split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]")]
pub fn split_sizes(this: &Tensor, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    split_with_sizes(this, split_size, dim)
}

/// Splits a dimension into at most `chunks` ranges of equal length. The last may be shorter.
#[op_def("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]")]
pub fn chunk(this: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = dim_and_size("self", this, dim)?;
    if chunks <= 0 {
        return Err(BadArgument::number("chunks", chunks, 1..).into());
    }
    if size == 0 {
        let count = tensors_with_capacity("chunks", chunks)?.capacity();
        return split_with_sizes(this, &vec![0; count], dim);
    }
    split(this, size / chunks + i64::from(size % chunks != 0), dim)
}

/// Splits a dimension into `sections` ranges, whose lengths differ by at most one.
#[op_def("tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]")]
pub fn tensor_split_sections(this: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = dim_and_size("self", this, dim)?;
    if sections <= 0 {
        return Err(BadArgument::number("sections", sections, 1..).into());
    }
    let mut parts = tensors_with_capacity("sections", sections)?;
    let mut start = 0;
    for part in 0..sections {
        let end = start + size / sections + i64::from(part < size % sections);
        parts.push(slice(this, dim, Some(start), Some(end), 1)?);
        start = end;
    }
    Ok(parts)
}

/// Splits a dimension at the given indices.
#[op_def("tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]")]
pub fn tensor_split_indices(this: &Tensor, indices: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    dim_and_size("self", this, dim)?;
    let mut parts = Vec::with_capacity(indices.len() + 1);
    let mut start = 0;
    for &end in indices {
        parts.push(slice(this, dim, Some(start), Some(end), 1)?);
        start = end;
    }
    parts.push(slice(this, dim, Some(start), None, 1)?);
    Ok(parts)
}

/// Computes [`chunk`](crate::chunk), with results that are not declared as views.
#[op_def("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")]
pub fn unsafe_chunk(this: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    chunk(this, chunks, dim)
}

/// Checks that the tensor has at least `rank` dimensions. Returns the dimension that `hsplit` (`rank` 1) or `dsplit` (3) splits.
fn hsplit_or_dsplit_dim(this: &Tensor, rank: usize) -> Result<i64, BadArgument> {
    match this.sizes().len() {
        few if few < rank => Err(BadArgument::rank("self", few, rank..)),
        1 => Ok(0),
        _ => Ok(i64::try_from(rank.max(2) - 1).unwrap_or(0)),
    }
}

fn split_into_equal_sections(this: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
    let size = usize::try_from(dim).ok().and_then(|at| this.sizes().get(at).copied()).unwrap_or(0);
    if sections < 1 || size % sections != 0 {
        let bad = BadArgument::number("sections", sections, Expected::DivisorOf(size.into()));
        return Err(bad.because(format!("dimension {dim} has this size")).into());
    }
    tensor_split_sections(this, sections, dim)
}

/// Splits a tensor into `sections` of equal width: along the second dimension, vectors along the first.
#[op_def("hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")]
pub fn hsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    split_into_equal_sections(this, sections, hsplit_or_dsplit_dim(this, 1)?)
}

/// Splits a tensor at column indices: along the second dimension, vectors along the first.
#[op_def("hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")]
pub fn hsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    tensor_split_indices(this, indices, hsplit_or_dsplit_dim(this, 1)?)
}

/// Splits a tensor into `sections` of equal height, along the first dimension.
#[op_def("vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")]
pub fn vsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    hsplit_or_dsplit_dim(this, 2)?;
    split_into_equal_sections(this, sections, 0)
}

/// Splits a tensor at row indices, along the first dimension.
#[op_def("vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")]
pub fn vsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    hsplit_or_dsplit_dim(this, 2)?;
    tensor_split_indices(this, indices, 0)
}

/// Splits a tensor into `sections` of equal depth, along the third dimension.
#[op_def("dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")]
pub fn dsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    split_into_equal_sections(this, sections, hsplit_or_dsplit_dim(this, 3)?)
}

/// Splits a tensor at indices of the third dimension.
#[op_def("dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")]
pub fn dsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    tensor_split_indices(this, indices, hsplit_or_dsplit_dim(this, 3)?)
}

/// Computes [`tensor_split_sections`] if the tensor has no dimensions, else [`tensor_split_indices`].
#[op_def(
    "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]"
)]
pub fn tensor_split_tensor_indices_or_sections(_: ...) -> Result<Vec<Tensor>> {
    let given = tensor_indices_or_sections;
    if given.dtype() != DType::I64 {
        return Err(BadArgument::dtype("tensor_indices_or_sections", given.dtype(), DType::I64).into());
    }
    match given.sizes().len() {
        0 => tensor_split_sections(this, given.item()?, dim),
        1 => tensor_split_indices(this, &given.to(Device::CPU)?.contiguous()?.to_vec::<i64>()?, dim),
        rank => Err(BadArgument::rank("tensor_indices_or_sections", rank, &[0, 1]).into()),
    }
}
