//! Tensors joined along a dimension, along a diagonal, or as one list of elements.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Spec, result_dtype, wrap_dim};

use crate::images_like;
use crate::prelude::*;

/// The tensors one after another along a dimension.
#[op_def("cat(Tensor[] tensors, int dim=0) -> Tensor", plan, out = "out")]
pub fn cat(_: ...) -> Result<Tensor>;

/// Tensors that are joined.
pub struct Cat<'a> {
    /// The dimension.
    pub dim: usize,
    /// The tensors that join. One of one dimension and no elements joins anything, and is left out.
    pub parts: Vec<&'a Tensor>,
}

#[op_plan(cat)]
fn cat_plan(tensors: &[Tensor], dim: i64) -> Result<Plan<Cat<'_>>, BadArgument> {
    let parts: Vec<&Tensor> = tensors.iter().filter(|tensor| tensor.sizes() != [0]).collect();
    let Some(first) = parts.first().copied().or_else(|| tensors.first()) else {
        return Err(BadArgument::length("tensors", 0, 1..));
    };
    let rank = first.sizes().len();
    if rank == 0 {
        return Err(BadArgument::rank("tensors", 0, 1..));
    }
    let at = wrap_dim("dim", dim, rank)?;
    let mut sizes = Dims::from_slice(first.sizes());
    sizes[at] = 0;
    for part in &parts {
        let fits =
            part.sizes().len() == rank && (0..rank).all(|dim| dim == at || part.sizes()[dim] == first.sizes()[dim]);
        if !fits {
            let expected = format!("the sizes of the first, {:?}, in every dimension but {at}", first.sizes());
            return Err(BadArgument::sizes("tensors", part.sizes(), expected));
        }
        sizes[at] = sizes[at].saturating_add(part.sizes()[at]);
    }
    let dtype = result_dtype(tensors);
    let format = first.geometry().format();
    let all = tensors.iter().all(|tensor| tensor.geometry().format() == format);
    let geometry = if all { images_like(first, &sizes).geometry } else { Geometry::contiguous(&sizes) };
    Ok(Plan::new(Cat { dim: at, parts }, [Spec { dtype, geometry }]))
}

/// [`cat`], as it is called elsewhere.
#[op_def("concat(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = cat)]
pub fn concat(_: ...) -> Result<Tensor>;

/// [`cat`], as it is called elsewhere.
#[op_def("concatenate(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = cat)]
pub fn concatenate(_: ...) -> Result<Tensor>;

/// The tensors side by side along a new dimension.
#[op_def("stack(Tensor[] tensors, int dim=0) -> Tensor", out = "out")]
pub fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(BadArgument::length("tensors", 0, 1..).into());
    };
    wrap_dim("dim", dim, first.sizes().len() + 1)?;
    if let Some(other) = tensors.iter().find(|tensor| tensor.sizes() != first.sizes()) {
        return Err(BadArgument::sizes("tensors", other.sizes(), first.sizes()).because("the first has").into());
    }
    let parts: Vec<Tensor> = tensors.iter().map(|tensor| crate::unsqueeze(tensor, dim)).collect::<Result<_>>()?;
    cat(&parts, dim)
}

/// [`stack`], as it is called elsewhere.
#[op_def("_stack(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = stack)]
pub fn _stack(_: ...) -> Result<Tensor>;

/// Refuses a tensor that does not fit the first, beside each other (`rank` 1), below each other (2) or behind each other (3).
fn check_stacked(tensors: &[Tensor], rank: usize) -> Result<(), BadArgument> {
    let Some(first) = tensors.first() else { return Ok(()) };
    let dim = match rank {
        1 => usize::from(first.sizes().len() > 1),
        2 => 0,
        _ => 2,
    };
    check_joined(tensors, dim, |sizes| match (sizes, rank) {
        ([], _) => Dims::from_elem(1, rank),
        (&[size], 2) => Dims::from_slice(&[1, size]),
        (&[size], 3) => Dims::from_slice(&[1, size, 1]),
        (&[height, width], 3) => Dims::from_slice(&[height, width, 1]),
        _ => Dims::from_slice(sizes),
    })
}

/// The tensors beside each other: along the second dimension, and vectors along the first.
#[op_def("hstack(Tensor[] tensors) -> Tensor", out = "out", check = check_stacked(tensors, 1))]
pub fn hstack(tensors: &[Tensor]) -> Result<Tensor> {
    let parts = super::expand::at_least(tensors, 1)?;
    cat(&parts, i64::from(parts.first().is_some_and(|part| part.sizes().len() != 1)))
}

/// The tensors below each other, a vector being a row.
#[op_def("vstack(Tensor[] tensors) -> Tensor", out = "out", check = check_stacked(tensors, 2))]
pub fn vstack(tensors: &[Tensor]) -> Result<Tensor> {
    cat(&super::expand::at_least(tensors, 2)?, 0)
}

/// [`vstack`], as it is called elsewhere.
#[op_def("row_stack(Tensor[] tensors) -> Tensor", out = "out", calls = vstack)]
pub fn row_stack(_: ...) -> Result<Tensor>;

/// The tensors behind each other, along the third dimension.
#[op_def("dstack(Tensor[] tensors) -> Tensor", out = "out", check = check_stacked(tensors, 3))]
pub fn dstack(tensors: &[Tensor]) -> Result<Tensor> {
    cat(&super::expand::at_least(tensors, 3)?, 2)
}

/// Refuses a tensor that differs from the first beside the dimension that they are joined along. `grown` gives the sizes that are joined.
pub(super) fn check_joined(tensors: &[Tensor], dim: usize, grown: impl Fn(&[i64]) -> Dims) -> Result<(), BadArgument> {
    let Some(first) = tensors.first().map(Tensor::sizes) else { return Ok(()) };
    let beside = |sizes: &[i64]| {
        let sizes = grown(sizes).into_iter().enumerate();
        sizes.filter(|(at, _)| *at != dim).map(|(_, size)| size).collect::<Dims>()
    };
    match tensors.iter().find(|tensor| beside(tensor.sizes()) != beside(first)) {
        Some(odd) => {
            let expected = format!("{:?} beside dimension {dim}, as the first has sizes {first:?}", beside(first));
            Err(BadArgument::sizes("tensors", odd.sizes(), expected))
        }
        None => Ok(()),
    }
}

/// The sizes of columns beside each other, a vector being one.
fn columns(sizes: &[i64]) -> Dims {
    match sizes {
        [] => Dims::from_slice(&[1, 1]),
        &[size] => Dims::from_slice(&[size, 1]),
        _ => Dims::from_slice(sizes),
    }
}

/// The tensors beside each other, a vector being a column.
#[op_def("column_stack(Tensor[] tensors) -> Tensor", out = "out", check = check_joined(tensors, 1, columns))]
pub fn column_stack(tensors: &[Tensor]) -> Result<Tensor> {
    let columns = tensors.iter().map(|tensor| match tensor.sizes() {
        [] => crate::view(tensor, &[1, 1]),
        [_] => crate::unsqueeze(tensor, 1),
        _ => Ok(tensor.clone()),
    });
    hstack(&columns.collect::<Result<Vec<_>>>()?)
}

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
    cat(&parts, i64::try_from(at).unwrap_or(0).saturating_add(1))
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

/// The elements of all tensors, one after another.
#[op_def("flatten_dense_tensors(Tensor[] tensors) -> Tensor")]
pub fn flatten_dense_tensors(tensors: &[Tensor]) -> Result<Tensor> {
    let flat: Vec<Tensor> = tensors.iter().map(|tensor| tensor.reshape(&[-1])).collect::<Result<_>>()?;
    cat(&flat, 0)
}

fn check_parts(flat: &Tensor, tensors: &[Tensor]) -> Result<(), BadArgument> {
    let wanted = tensors.iter().fold(0_i64, |count, tensor| count.saturating_add(tensor.geometry().count()));
    if matches!(flat.sizes(), &[count] if count >= wanted) {
        return Ok(());
    }
    let expected = format!("one dimension of {wanted}, as many as `tensors` have elements");
    Err(BadArgument::sizes("flat", flat.sizes(), expected))
}

/// The elements of one tensor in the sizes of others.
#[op_def("unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[]", check = check_parts(flat, tensors))]
pub fn unflatten_dense_tensors(flat: &Tensor, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let part = |tensor: &Tensor| {
        let count = tensor.geometry().count();
        let run = crate::narrow(flat, 0, start, count)?;
        start += count;
        run.reshape(tensor.sizes())
    };
    tensors.iter().map(part).collect()
}
