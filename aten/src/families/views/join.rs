//! Concatenation along a dimension or a diagonal, or of all elements to one vector.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Problem, Spec, result_dtype, wrap_dim};

use crate::image_spec_like;
use crate::prelude::*;

/// Concatenates tensors along a dimension.
#[op_def("cat(Tensor[] tensors, int dim=0) -> Tensor", plan, float8, out = "out")]
pub fn cat(_: ...) -> Result<Tensor>;

/// The plan of a concatenation.
pub struct CatPlan<'a> {
    /// The dimension along which to concatenate.
    pub dim: usize,
    /// The tensors to concatenate. A tensor with sizes `[0]` is left out, because it may be concatenated with tensors of any sizes.
    pub tensors: Vec<&'a Tensor>,
}

#[op_plan(cat)]
fn cat_plan(tensors: &[Tensor], dim: i64) -> Result<Plan<CatPlan<'_>>, BadArgument> {
    let parts: Vec<&Tensor> = tensors.iter().filter(|tensor| tensor.sizes() != [0]).collect();
    let Some(first) = parts.first().copied().or_else(|| tensors.first()) else {
        return Err(BadArgument::new("tensors", Problem::NoTensors));
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
            let expected = format!("the sizes of the first, {:?}, in every dimension except {at}", first.sizes());
            return Err(BadArgument::sizes("tensors", part.sizes(), expected));
        }
        sizes[at] = sizes[at].saturating_add(part.sizes()[at]);
    }
    let dtype = result_dtype(tensors);
    if let Some(other) = tensors.iter().find(|tensor| dtype.is_float8() && tensor.dtype() != dtype) {
        return Err(BadArgument::dtype("tensors", other.dtype(), dtype).because("float8 dtypes promote with no other"));
    }
    let format = first.geometry().suggested_format();
    let all = tensors.iter().all(|tensor| tensor.geometry().suggested_format() == format);
    let geometry = if all { image_spec_like(first, &sizes).geometry } else { Geometry::contiguous(&sizes) };
    Ok(Plan::new(CatPlan { dim: at, tensors: parts }, [Spec { dtype, geometry }]))
}

/// Another name of [`cat`].
#[op_def("concat(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = cat)]
pub fn concat(_: ...) -> Result<Tensor>;

/// Another name of [`cat`].
#[op_def("concatenate(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = cat)]
pub fn concatenate(_: ...) -> Result<Tensor>;

/// Stacks tensors of the same sizes along a new dimension.
#[op_def("stack(Tensor[] tensors, int dim=0) -> Tensor", out = "out")]
pub fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(BadArgument::new("tensors", Problem::NoTensors).into());
    };
    wrap_dim("dim", dim, first.sizes().len() + 1)?;
    if let Some(other) = tensors.iter().find(|tensor| tensor.sizes() != first.sizes()) {
        return Err(BadArgument::sizes("tensors", other.sizes(), first.sizes()).because("the first has").into());
    }
    let parts: Vec<Tensor> = tensors.iter().map(|tensor| crate::unsqueeze(tensor, dim)).collect::<Result<_>>()?;
    cat(&parts, dim)
}

/// Another name of [`stack`].
#[op_def("_stack(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = stack)]
pub fn _stack(_: ...) -> Result<Tensor>;

/// Checks that the tensors have equal sizes outside of the stacked dimension, for `hstack` (`rank` 1), `vstack` (2) or `dstack` (3).
fn check_hvdstack_sizes(tensors: &[Tensor], rank: usize) -> Result<(), BadArgument> {
    let Some(first) = tensors.first() else { return Ok(()) };
    let dim = match rank {
        1 => usize::from(first.sizes().len() > 1),
        2 => 0,
        _ => 2,
    };
    check_cat_sizes(tensors, dim, |sizes| match (sizes, rank) {
        ([], _) => Dims::from_elem(1, rank),
        (&[size], 2) => Dims::from_slice(&[1, size]),
        (&[size], 3) => Dims::from_slice(&[1, size, 1]),
        (&[height, width], 3) => Dims::from_slice(&[height, width, 1]),
        _ => Dims::from_slice(sizes),
    })
}

/// Concatenates tensors along the second dimension, vectors along the first.
#[op_def("hstack(Tensor[] tensors) -> Tensor", out = "out", check = check_hvdstack_sizes(tensors, 1))]
pub fn hstack(tensors: &[Tensor]) -> Result<Tensor> {
    let parts = super::expand::unsqueeze_all_to_rank(tensors, 1)?;
    cat(&parts, i64::from(parts.first().is_some_and(|part| part.sizes().len() != 1)))
}

/// Concatenates tensors along the first dimension. A vector is a row.
#[op_def("vstack(Tensor[] tensors) -> Tensor", out = "out", check = check_hvdstack_sizes(tensors, 2))]
pub fn vstack(tensors: &[Tensor]) -> Result<Tensor> {
    cat(&super::expand::unsqueeze_all_to_rank(tensors, 2)?, 0)
}

/// Another name of [`vstack`].
#[op_def("row_stack(Tensor[] tensors) -> Tensor", out = "out", calls = vstack)]
pub fn row_stack(_: ...) -> Result<Tensor>;

/// Concatenates tensors along the third dimension.
#[op_def("dstack(Tensor[] tensors) -> Tensor", out = "out", check = check_hvdstack_sizes(tensors, 3))]
pub fn dstack(tensors: &[Tensor]) -> Result<Tensor> {
    cat(&super::expand::unsqueeze_all_to_rank(tensors, 3)?, 2)
}

/// Checks that the tensors have equal sizes in all dimensions except `dim`. `with_added_dims` returns the sizes with added dimensions.
pub(super) fn check_cat_sizes(
    tensors: &[Tensor],
    dim: usize,
    with_added_dims: impl Fn(&[i64]) -> Dims,
) -> Result<(), BadArgument> {
    let Some(first) = tensors.first().map(Tensor::sizes) else { return Ok(()) };
    let other_sizes = |sizes: &[i64]| {
        let sizes = with_added_dims(sizes).into_iter().enumerate();
        sizes.filter(|(at, _)| *at != dim).map(|(_, size)| size).collect::<Dims>()
    };
    match tensors.iter().find(|tensor| other_sizes(tensor.sizes()) != other_sizes(first)) {
        Some(odd) => {
            let expected =
                format!("{:?} in all dimensions except {dim}, as the first has sizes {first:?}", other_sizes(first));
            Err(BadArgument::sizes("tensors", odd.sizes(), expected))
        }
        None => Ok(()),
    }
}

/// Returns the sizes of a tensor as a matrix of columns. A vector becomes one column.
fn column_matrix_sizes(sizes: &[i64]) -> Dims {
    match sizes {
        [] => Dims::from_slice(&[1, 1]),
        &[size] => Dims::from_slice(&[size, 1]),
        _ => Dims::from_slice(sizes),
    }
}

/// Concatenates tensors along the second dimension. A vector is a column.
#[op_def("column_stack(Tensor[] tensors) -> Tensor", out = "out", check = check_cat_sizes(tensors, 1, column_matrix_sizes))]
pub fn column_stack(tensors: &[Tensor]) -> Result<Tensor> {
    let columns = tensors.iter().map(|tensor| match tensor.sizes() {
        [] => crate::view(tensor, &[1, 1]),
        [_] => crate::unsqueeze(tensor, 1),
        _ => Ok(tensor.clone()),
    });
    hstack(&columns.collect::<Result<Vec<_>>>()?)
}

/// Returns the block-diagonal matrix of the tensors.
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
    let result = crate::zeros(&[total(0), total(1)], Some(result_dtype(tensors)), None, Some(first.device()), None)?;
    let (mut row, mut column) = (0, 0);
    for matrix in &matrices {
        let &[rows, columns] = matrix.sizes() else { continue };
        let band = crate::narrow(&result, 0, row, rows)?;
        crate::copy_(&mut crate::narrow(&band, 1, column, columns)?, matrix, false)?;
        (row, column) = (row + rows, column + columns);
    }
    Ok(result)
}

/// Splits each tensor into chunks along a dimension, with zero padding, and concatenates the chunks of all tensors side by side.
#[op_def(
    "_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _chunk_cat(tensors: &[Tensor], dim: i64, num_chunks: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(BadArgument::new("tensors", Problem::NoTensors).into());
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
            let expected =
                format!("{:?} in the dimensions before dimension {at}, as the first has", &first.sizes()[..at]);
            return Err(BadArgument::sizes("tensors", tensor.sizes(), expected).into());
        }
        if dim < 0 && wrap_dim("dim", dim, tensor.sizes().len())? != at {
            return Err(BadArgument::rank("tensors", tensor.sizes().len(), first.sizes().len())
                .because("the first has")
                .into());
        }
        if tensor.geometry().count() == 0 {
            return Err(BadArgument::element_count("tensors", tensor.sizes(), 1..).into());
        }
        parts.push(pad_to_chunks(tensor, at, num_chunks)?);
    }
    cat(&parts, i64::try_from(at).unwrap_or(0).saturating_add(1))
}

/// Pads a tensor and reshapes it to one row per chunk.
fn pad_to_chunks(tensor: &Tensor, at: usize, chunks: i64) -> Result<Tensor> {
    let (outer, inner) = tensor.sizes().split_at(at);
    let missing = inner[0].unsigned_abs().div_ceil(chunks.unsigned_abs()).saturating_mul(chunks.unsigned_abs());
    let missing = i64::try_from(missing).unwrap_or(i64::MAX) - inner[0];
    let mut pad = Dims::from_elem(0, 2 * inner.len());
    pad[2 * inner.len() - 1] = missing;
    let filled = if missing == 0 { tensor.clone() } else { crate::constant_pad_nd(tensor, &pad, 0.into())? };
    let sizes: Dims = outer.iter().copied().chain([chunks, -1]).collect();
    crate::reshape(&filled, &sizes)
}

/// Concatenates the elements of all tensors to one vector.
#[op_def("flatten_dense_tensors(Tensor[] tensors) -> Tensor")]
pub fn flatten_dense_tensors(tensors: &[Tensor]) -> Result<Tensor> {
    let flat: Vec<Tensor> = tensors.iter().map(|tensor| tensor.reshape(-1)).collect::<Result<_>>()?;
    cat(&flat, 0)
}

fn check_flat_size(flat: &Tensor, tensors: &[Tensor]) -> Result<(), BadArgument> {
    let wanted = tensors.iter().fold(0_i64, |count, tensor| count.saturating_add(tensor.geometry().count()));
    if matches!(flat.sizes(), &[count] if count >= wanted) {
        return Ok(());
    }
    let expected = format!("one dimension of size {wanted} or more, as `tensors` have {wanted} elements");
    Err(BadArgument::sizes("flat", flat.sizes(), expected))
}

/// Splits a vector into tensors with the sizes of others.
#[op_def("unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[]", check = check_flat_size(flat, tensors))]
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
