//! Gradient formulas of concatenation, repetition, flips and block matrices.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::wrap_dim;

use crate::{TensorOutline, not_differentiable, op_grad};

// `repeat_interleave` returns indices.
not_differentiable!(aten::repeat_interleave);

#[op_grad(aten::cat)]
fn cat(grad: &Tensor, tensors: &[TensorOutline], dim: i64, needs: &[bool]) -> Result<Vec<Option<Tensor>>> {
    let mut start = 0_i64;
    let parts = tensors.iter().zip(needs).map(|(tensor, &needed)| {
        // An empty one-dimensional tensor can be concatenated with any tensor.
        if tensor.sizes() == [0] {
            return needed.then(|| tensor.zeros()).transpose();
        }
        let length = tensor.sizes()[wrap_dim("dim", dim, tensor.rank())?];
        let from = start;
        start = from.saturating_add(length);
        needed.then(|| grad.narrow(dim, from, length)).transpose()
    });
    parts.collect()
}

#[op_grad(aten::repeat)]
fn repeat(grad: &Tensor, this: &TensorOutline, repeats: &[i64]) -> Result<Tensor> {
    if repeats.contains(&0) {
        return this.zeros();
    }
    let new = repeats.len() - this.rank();
    let (mut sizes, mut dims) = (repeats[..new].to_vec(), (0..).take(new).collect::<Vec<i64>>());
    for (&times, &size) in repeats[new..].iter().zip(this.sizes()) {
        if times != 1 {
            dims.extend(i64::try_from(sizes.len()));
            sizes.push(times);
        }
        sizes.push(size);
    }
    let grad = grad.reshape(&sizes)?;
    if dims.is_empty() { Ok(grad) } else { grad.sum_dims(&dims) }
}

derivatives! {
    flip(grad; dims: &[i64]) => grad.flip(dims);
    roll(grad; shifts: &[i64], dims: &[i64]) =>
        aten::roll(grad, &shifts.iter().map(|shift| shift.saturating_neg()).collect::<Vec<_>>(), dims);
    tril(grad; diagonal: i64) => aten::tril(grad, diagonal);
    triu(grad; diagonal: i64) => aten::triu(grad, diagonal);
    diag_embed(grad; offset: i64, dim1: i64, dim2: i64) => aten::diagonal(grad, offset, dim1, dim2);
    pixel_shuffle(grad; upscale_factor: i64) => grad.pixel_unshuffle(upscale_factor);
    pixel_unshuffle(grad; downscale_factor: i64) => grad.pixel_shuffle(downscale_factor);
    channel_shuffle(grad; this: &TensorOutline, groups: i64) => grad.channel_shuffle(this.sizes()[1] / groups);
}

#[op_grad(aten::block_diag)]
fn block_diag(grad: &Tensor, tensors: &[TensorOutline]) -> Result<Vec<Tensor>> {
    let (mut row, mut column) = (0_i64, 0_i64);
    let blocks = tensors.iter().map(|tensor| {
        let (rows, columns) = match *tensor.sizes() {
            [rows, columns] => (rows, columns),
            _ => (1, tensor.element_count()),
        };
        let block = grad.narrow(0, row, rows)?.narrow(1, column, columns)?.reshape(tensor.sizes());
        (row, column) = (row.saturating_add(rows), column.saturating_add(columns));
        block
    });
    blocks.collect()
}

#[op_grad(aten::_chunk_cat)]
fn _chunk_cat(grad: &Tensor, tensors: &[TensorOutline], dim: i64, num_chunks: i64) -> Result<Vec<Tensor>> {
    let mut start = 0_i64;
    let parts = tensors.iter().map(|tensor| {
        let at = wrap_dim("dim", dim, tensor.rank())?;
        let (outer, inner) = tensor.sizes().split_at(at);
        let inner_count = dispatch_runtime::element_count(&inner[1..]);
        let padded = inner[0].unsigned_abs().div_ceil(num_chunks.unsigned_abs());
        let length = i64::try_from(padded).unwrap_or(i64::MAX).saturating_mul(inner_count);
        let dim_index = i64::try_from(at).unwrap_or(0);
        let part = grad.narrow(dim_index + 1, start, length)?;
        start = start.saturating_add(length);
        let sizes: Vec<i64> = outer.iter().copied().chain([-1]).chain(inner[1..].iter().copied()).collect();
        part.reshape(&sizes)?.narrow(dim_index, 0, inner[0])
    });
    parts.collect()
}
