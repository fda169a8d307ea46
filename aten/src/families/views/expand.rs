//! Tensors brought to common sizes, or to so many dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Expected, Geometry, broadcast};

/// The sums to which a tensor of these sizes would stretch to this one.
#[op_def("sum_to_size(Tensor self, SymInt[] size) -> Tensor")]
pub fn sum_to_size(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    let own = this.sizes();
    if !matches!(broadcast([own, size]), Ok(both) if both[..] == *own) {
        return Err(BadArgument::sizes("size", size, format!("sizes that stretch to {own:?}")).into());
    }
    let new = own.len() - size.len();
    let gone = (0..).zip(own).enumerate().filter(|&(at, (_, &own))| at < new || (size[at - new] == 1 && own != 1));
    let gone: Vec<i64> = gone.map(|(_, (dim, _))| dim).collect();
    if gone.is_empty() {
        return Ok(this.clone());
    }
    crate::view(&crate::sum_dim_intlist(this, Some(&gone), true, None)?, size)
}

/// [`sum_to_size`], or the tensor itself without sizes.
#[op_def("_grad_sum_to_size(Tensor(a) self, int[]? size) -> Tensor(a)")]
pub fn _grad_sum_to_size(this: &Tensor, size: Option<&[i64]>) -> Result<Tensor> {
    size.map_or_else(|| Ok(this.clone()), |size| sum_to_size(this, size))
}

/// The tensors, all stretched to the same sizes.
#[op_def("broadcast_tensors(Tensor[] tensors) -> Tensor[]")]
pub fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let sizes =
        broadcast(tensors.iter().map(Tensor::sizes)).map_err(|error| BadArgument::new("tensors", error.problem))?;
    tensors.iter().map(|tensor| crate::expand(tensor, &sizes, false)).collect()
}

/// The tensor in one dimension or more.
#[op_def("atleast_1d(Tensor self) -> Tensor")]
pub fn atleast_1d(this: &Tensor) -> Result<Tensor> {
    grown(this, 1)
}

/// The tensor in two dimensions or more, a vector being a row.
#[op_def("atleast_2d(Tensor self) -> Tensor")]
pub fn atleast_2d(this: &Tensor) -> Result<Tensor> {
    grown(this, 2)
}

/// The tensor in three dimensions or more, a matrix being one of depth one.
#[op_def("atleast_3d(Tensor self) -> Tensor")]
pub fn atleast_3d(this: &Tensor) -> Result<Tensor> {
    grown(this, 3)
}

/// [`atleast_1d`] of each.
#[op_def("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]")]
pub fn atleast_1d_sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| grown(tensor, 1)).collect()
}

/// [`atleast_2d`] of each.
#[op_def("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]")]
pub fn atleast_2d_sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| grown(tensor, 2)).collect()
}

/// [`atleast_3d`] of each.
#[op_def("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]")]
pub fn atleast_3d_sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| grown(tensor, 3)).collect()
}

fn grown(tensor: &Tensor, rank: usize) -> Result<Tensor> {
    match (tensor.sizes().len(), rank) {
        (0, 1) => crate::view(tensor, &[1]),
        (0, 2) => crate::view(tensor, &[1, 1]),
        (0, 3) => crate::view(tensor, &[1, 1, 1]),
        (1, 2) => crate::unsqueeze(tensor, 0),
        (1, 3) => crate::unsqueeze(&crate::unsqueeze(tensor, 0)?, 2),
        (2, 3) => crate::unsqueeze(tensor, 2),
        _ => Ok(tensor.clone()),
    }
}

/// Every tensor in this many dimensions or more.
pub(crate) fn at_least(tensors: &[Tensor], rank: usize) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| grown(tensor, rank)).collect()
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
    crate::hstack(&columns.collect::<Result<Vec<_>>>()?)
}

/// [`chunk`](crate::chunk), of which the parts are not known to be views.
#[op_def("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")]
pub fn unsafe_chunk(this: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    crate::chunk(this, chunks, dim)
}

/// One number on the diagonal, which in a tall matrix may begin anew below.
#[op_def("fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)")]
pub fn fill_diagonal_(this: &mut Tensor, fill_value: Scalar, wrap: bool) -> Result<()> {
    let (&[first, second, ..], rank) = (this.sizes(), this.sizes().len()) else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..).into());
    };
    if rank > 2 && this.sizes().iter().any(|&size| size != first) {
        return Err(BadArgument::sizes("self", this.sizes(), "equal sizes where there are more than two").into());
    }
    fill_value.check_fits("fill_value", this.dtype())?;
    let least = this.sizes().iter().copied().min().unwrap_or(0);
    let step = this.strides().iter().fold(0_i64, |sum, &stride| sum.saturating_add(stride));
    let offset = this.geometry().offset();
    diagonal_filled(this, (least, step, offset), fill_value)?;
    if wrap && rank == 2 && first > second.saturating_add(1) {
        let below = second + 1;
        let all =
            i64::try_from(first.saturating_mul(second).unsigned_abs().div_ceil(below.unsigned_abs())).unwrap_or(0);
        let start = offset.saturating_add(this.strides()[0].saturating_mul(below));
        diagonal_filled(this, (all - least, step, start), fill_value)?;
    }
    Ok(())
}

fn diagonal_filled(this: &Tensor, (count, step, offset): (i64, i64, i64), value: Scalar) -> Result<()> {
    match Geometry::strided(&[count], &[step], offset) {
        Some(geometry) if count > 0 => crate::fill__scalar(&mut this.restride(geometry)?, value),
        _ => Ok(()),
    }
}

/// The matrices transposed; one number is what it is.
#[op_def("mT(Tensor(a) self) -> Tensor(a)")]
pub fn mT(this: &Tensor) -> Result<Tensor> {
    match this.sizes().len() {
        0 => numpy_T(this),
        1 => Err(BadArgument::rank("self", 1, Expected::Not(1)).into()),
        _ => crate::transpose_int(this, -2, -1),
    }
}

/// The tensor with its dimensions in reverse.
#[op_def("numpy_T(Tensor(a) self) -> Tensor(a)")]
pub fn numpy_T(this: &Tensor) -> Result<Tensor> {
    let rank = i64::try_from(this.sizes().len()).unwrap_or(0);
    crate::permute(this, &(0..rank).rev().collect::<Vec<_>>())
}

/// The matrices transposed and conjugated.
#[op_def("adjoint(Tensor(a) self) -> Tensor(a)")]
pub fn adjoint(this: &Tensor) -> Result<Tensor> {
    crate::conj(&mT(this)?)
}

/// [`adjoint`], as it is called elsewhere.
#[op_def("mH(Tensor(a) self) -> Tensor(a)")]
pub fn mH(this: &Tensor) -> Result<Tensor> {
    adjoint(this)
}

/// [`adjoint`] of one matrix.
#[op_def("matrix_H(Tensor(a) self) -> Tensor(a)")]
pub fn matrix_H(this: &Tensor) -> Result<Tensor> {
    match this.sizes().len() {
        0 | 2 => adjoint(this),
        rank => Err(BadArgument::rank("self", rank, 2).into()),
    }
}

/// [`diagonal`](crate::diagonal), of the last two dimensions unless others are named.
#[op_def("linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)")]
pub fn linalg_diagonal(a: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    crate::diagonal(a, offset, dim1, dim2)
}

/// The matrix with these elements on its diagonal.
#[op_def("diagflat(Tensor self, int offset=0) -> Tensor")]
pub fn diagflat(this: &Tensor, offset: i64) -> Result<Tensor> {
    crate::diag(&crate::reshape(this, &[-1])?, offset)
}
