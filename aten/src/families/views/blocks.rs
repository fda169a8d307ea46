//! Tensors put together in blocks.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Expected, MemoryFormat, result_dtype, wrap_dim};

/// The matrices along a diagonal, and zeros.
#[op_def("block_diag(Tensor[] tensors) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn block_diag(tensors: &[Tensor]) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return crate::empty_memory_format(&[1, 0], None, None, None, None, None);
    };
    let matrices = tensors.iter().map(|tensor| match tensor.sizes() {
        [] => crate::view(tensor, &[1, 1]),
        [_] => crate::unsqueeze(tensor, 0),
        [_, _] => Ok(tensor.clone()),
        more => Err(BadArgument::rank("tensors", more.len(), ..=2).into()),
    });
    let matrices = matrices.collect::<Result<Vec<_>>>()?;
    let total = |dim: usize| matrices.iter().fold(0_i64, |sum, matrix| sum.saturating_add(matrix.sizes()[dim]));
    let made = crate::zeros(&[total(0), total(1)], Some(result_dtype(tensors)), None, Some(first.device()), None)?;
    let (mut row, mut column) = (0, 0);
    for matrix in &matrices {
        let &[rows, columns] = matrix.sizes() else { continue };
        let band = crate::narrow(&made, 0, row, rows)?;
        crate::copy_(&mut crate::narrow(&band, 1, column, columns)?, matrix, false)?;
        (row, column) = (row + rows, column + columns);
    }
    Ok(made)
}

/// Each tensor cut into chunks along a dimension, the last of them filled up with zeros, and the chunks of all side by side.
#[op_def(
    "_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _chunk_cat(tensors: &[Tensor], dim: i64, num_chunks: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(BadArgument::length("tensors", 0, 1..).into());
    };
    if num_chunks <= 0 {
        return Err(BadArgument::number("num_chunks", num_chunks, 1..).into());
    }
    let at = wrap_dim("dim", dim, first.sizes().len())?;
    let mut parts = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        if tensor.dtype() != first.dtype() {
            return Err(BadArgument::dtype("tensors", tensor.dtype(), first.dtype()).because("the first is").into());
        }
        if tensor.sizes().len() <= at || tensor.sizes()[..at] != first.sizes()[..at] {
            let expected = format!("{:?} before the dimension, as the first has", &first.sizes()[..at]);
            return Err(BadArgument::sizes("tensors", tensor.sizes(), expected).into());
        }
        if dim < 0 && wrap_dim("dim", dim, tensor.sizes().len())? != at {
            return Err(BadArgument::rank("tensors", tensor.sizes().len(), first.sizes().len())
                .because("the first has")
                .into());
        }
        if tensor.geometry().count() == 0 {
            return Err(BadArgument::count("tensors", tensor.sizes(), 1..).into());
        }
        parts.push(in_chunks(tensor, at, num_chunks)?);
    }
    crate::cat(&parts, i64::try_from(at).unwrap_or(0).saturating_add(1))
}

/// A tensor with its chunks in rows.
fn in_chunks(tensor: &Tensor, at: usize, chunks: i64) -> Result<Tensor> {
    let (outer, inner) = tensor.sizes().split_at(at);
    let missing = inner[0].unsigned_abs().div_ceil(chunks.unsigned_abs()).saturating_mul(chunks.unsigned_abs());
    let missing = i64::try_from(missing).unwrap_or(i64::MAX) - inner[0];
    let mut pad = Dims::from_elem(0, 2 * inner.len());
    pad[2 * inner.len() - 1] = missing;
    let filled = if missing == 0 { tensor.clone() } else { crate::constant_pad_nd(tensor, &pad, 0.into())? };
    let sizes: Dims = outer.iter().copied().chain([chunks, -1]).collect();
    crate::reshape(&filled, &sizes)
}

/// The tensor with every part along a dimension whose norm is above `maxnorm` scaled down to it.
#[op_def(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    inplace, out = "out", body = CompositeExplicitAutograd
)]
pub fn renorm(_: ...) -> Result<Tensor> {
    let rank = this.sizes().len();
    let real = |argument, number: Scalar, fits: fn(f64) -> bool, expected: Expected<Scalar>| match number.to_f64() {
        Some(value) if fits(value) => Ok(value),
        _ => Err(BadArgument::number(argument, number, expected)),
    };
    let p = real("p", p, |p| p > 0.0, Expected::Above(0.into()))?;
    let most = real("maxnorm", maxnorm, |most| most >= 0.0, (0..).into())?;
    if rank < 2 {
        return Err(BadArgument::rank("self", rank, 2..).into());
    }
    if !this.dtype().is_floating() && !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrComplex).into());
    }
    let at = wrap_dim("dim", dim, rank)?;
    let others: Vec<i64> =
        (0..rank).filter(|other| *other != at).map(|other| i64::try_from(other).unwrap_or(0)).collect();
    crate::mul(&crate::contiguous(this, MemoryFormat::Contiguous)?, &scale_to(this, p, &others, most)?)
}

/// What brings norms over dimensions down to `most`, in the tensor's dtype.
fn scale_to(this: &Tensor, p: f64, dims: &[i64], most: f64) -> Result<Tensor> {
    let wide = match this.dtype() {
        DType::F16 | DType::BF16 => Some(DType::F32),
        _ => None,
    };
    let norm = crate::linalg_vector_norm(this, p.into(), Some(dims), true, wide)?;
    let above = crate::gt_scalar(&norm, most.into())?;
    let down = crate::mul_scalar(&crate::reciprocal(&crate::add_scalar(&norm, 1e-7.into(), 1.into())?)?, most.into())?;
    let scale = crate::where_scalarother(&above, &down, 1.0.into())?;
    crate::to_dtype(&scale, this.dtype(), false, false, None)
}

/// The rows at these positions, scaled down where their norm is above `max_norm`.
#[op_def(
    "embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
    inplace, out = "out", body = CompositeExplicitAutograd
)]
pub fn embedding_renorm(this: &Tensor, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<Tensor> {
    if this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2).into());
    }
    crate::check_index("indices", indices)?;
    let positions = crate::reshape(indices, &[-1])?;
    let rows = crate::index_select(this, 0, &positions).map_err(|error| crate::renamed(error, "indices"))?;
    let scaled = crate::mul(&rows, &scale_to(&rows, norm_type, &[1], max_norm)?)?;
    crate::index_copy(this, 0, &positions, &scaled)
}
