//! Broadcasting: `expand`, its inverse `sum_to_size`, and `atleast_*`, which adds dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, broadcast};

/// Returns a view in which dimensions of size 1, and new dimensions in front, are broadcast to `size`.
#[op_def(
    "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn expand(this: &Tensor, size: &[i64], _implicit: bool) -> Result<Tensor> {
    let geometry = expanded_geometry(this.geometry(), size)?;
    Ok(this.restride(geometry)?)
}

/// Returns the geometry of a view that is broadcast to `size`.
fn expanded_geometry(geometry: &Geometry, size: &[i64]) -> Result<Geometry, BadArgument> {
    let (own, rank) = (geometry.sizes(), geometry.rank());
    let bad_size = || {
        BadArgument::sizes(
            "size",
            size,
            format!("sizes to which {own:?} broadcasts: each size equal, -1, or in place of 1"),
        )
    };
    let new = size.len().checked_sub(rank).ok_or_else(bad_size)?;
    let (mut sizes, mut strides) = (Dims::from_slice(size), Dims::from_elem(0, size.len()));
    for at in (0..size.len()).rev() {
        let before = at.checked_sub(new);
        let (own_size, stride) = match before {
            Some(dim) => (own[dim], geometry.strides()[dim]),
            None => (1, sizes.get(at + 1).map_or(0, |&size| size.saturating_mul(strides[at + 1]))),
        };
        match size[at] {
            -1 if before.is_some() => sizes[at] = own_size,
            requested if requested == own_size => {}
            0.. if own_size == 1 => {
                strides[at] = 0;
                continue;
            }
            _ => return Err(bad_size()),
        }
        strides[at] = stride;
    }
    Geometry::strided(&sizes, &strides, geometry.offset()).ok_or_else(bad_size)
}

/// Returns a view broadcast to the sizes of another tensor, as by [`expand`].
#[op_def("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", check = crate::check_broadcasts_to_tensor(("self", this), ("other", other)))]
pub fn expand_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    expand(this, other.sizes(), false)
}

/// Another name of [`expand`].
#[op_def("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)")]
pub fn broadcast_to(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    expand(this, size, false)
}

/// Sums over the broadcast dimensions: the inverse of `expand` from `size` to the sizes of `self`.
#[op_def("sum_to_size(Tensor self, SymInt[] size) -> Tensor")]
pub fn sum_to_size(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    let own = this.sizes();
    if !matches!(broadcast([own, size]), Ok(both) if both[..] == *own) {
        return Err(BadArgument::sizes("size", size, format!("sizes that broadcast to {own:?}")).into());
    }
    let new = own.len() - size.len();
    let summed_dims =
        (0..).zip(own).enumerate().filter(|&(at, (_, &own))| at < new || (size[at - new] == 1 && own != 1));
    let summed_dims: Vec<i64> = summed_dims.map(|(_, (dim, _))| dim).collect();
    if summed_dims.is_empty() {
        return Ok(this.clone());
    }
    crate::view(&crate::sum_dim_intlist(this, Some(&summed_dims), true, None)?, size)
}

/// Computes [`sum_to_size`], or returns the tensor itself if `size` is absent.
#[op_def("_grad_sum_to_size(Tensor(a) self, int[]? size) -> Tensor(a)")]
pub fn _grad_sum_to_size(this: &Tensor, size: Option<&[i64]>) -> Result<Tensor> {
    size.map_or_else(|| Ok(this.clone()), |size| sum_to_size(this, size))
}

/// Broadcasts the tensors to their common sizes, as views.
#[op_def("broadcast_tensors(Tensor[] tensors) -> Tensor[]")]
pub fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let sizes =
        broadcast(tensors.iter().map(Tensor::sizes)).map_err(|error| BadArgument::new("tensors", error.problem))?;
    tensors.iter().map(|tensor| expand(tensor, &sizes, false)).collect()
}

/// Returns the tensor, viewed with at least one dimension.
#[op_def("atleast_1d(Tensor self) -> Tensor")]
pub fn atleast_1d(this: &Tensor) -> Result<Tensor> {
    unsqueeze_to_rank(this, 1)
}

/// Returns the tensor, viewed with at least two dimensions. A vector becomes a row.
#[op_def("atleast_2d(Tensor self) -> Tensor")]
pub fn atleast_2d(this: &Tensor) -> Result<Tensor> {
    unsqueeze_to_rank(this, 2)
}

/// Returns the tensor, viewed with at least three dimensions. A matrix gets a last dimension of size 1.
#[op_def("atleast_3d(Tensor self) -> Tensor")]
pub fn atleast_3d(this: &Tensor) -> Result<Tensor> {
    unsqueeze_to_rank(this, 3)
}

/// Computes [`atleast_1d`] of each tensor.
#[op_def("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]")]
pub fn atleast_1d_sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| unsqueeze_to_rank(tensor, 1)).collect()
}

/// Computes [`atleast_2d`] of each tensor.
#[op_def("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]")]
pub fn atleast_2d_sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| unsqueeze_to_rank(tensor, 2)).collect()
}

/// Computes [`atleast_3d`] of each tensor.
#[op_def("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]")]
pub fn atleast_3d_sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| unsqueeze_to_rank(tensor, 3)).collect()
}

/// Adds dimensions of size 1, as `atleast_1d` to `atleast_3d` do.
fn unsqueeze_to_rank(tensor: &Tensor, rank: usize) -> Result<Tensor> {
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

/// Returns each tensor, viewed with at least `rank` dimensions.
pub(crate) fn unsqueeze_all_to_rank(tensors: &[Tensor], rank: usize) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| unsqueeze_to_rank(tensor, rank)).collect()
}
