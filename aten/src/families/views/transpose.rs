//! Views with permuted dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Expected, wrap_dim};

use crate::strided_view;

/// Returns a view with the dimensions in the order `dims`.
#[op_def("permute(Tensor(a) self, int[] dims) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn permute(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let (geometry, rank) = (this.geometry(), this.sizes().len());
    if dims.len() != rank {
        return Err(BadArgument::length("dims", dims.len(), rank)
            .because("`self` has this number of dimensions")
            .into());
    }
    let (mut sizes, mut strides, mut seen) = (Dims::new(), Dims::new(), vec![false; rank]);
    for &dim in dims {
        let at = wrap_dim("dims", dim, rank)?;
        if std::mem::replace(&mut seen[at], true) {
            return Err(BadArgument::new("dims", dispatch_runtime::Problem::RepeatedDim { dim }).into());
        }
        sizes.push(geometry.sizes()[at]);
        strides.push(geometry.strides()[at]);
    }
    strided_view(this, &sizes, &strides, geometry.offset())
}

/// Returns a view with two dimensions swapped.
#[op_def("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn transpose_int(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    transpose_view(this, ("dim0", dim0), ("dim1", dim1))
}

fn transpose_view(
    this: &Tensor,
    (name0, dim0): (&'static str, i64),
    (name1, dim1): (&'static str, i64),
) -> Result<Tensor> {
    let geometry = this.geometry();
    let (a, b) = (wrap_dim(name0, dim0, geometry.rank())?, wrap_dim(name1, dim1, geometry.rank())?);
    let (mut sizes, mut strides) = (Dims::from_slice(geometry.sizes()), Dims::from_slice(geometry.strides()));
    if a != b {
        sizes.swap(a, b);
        strides.swap(a, b);
    }
    strided_view(this, &sizes, &strides, geometry.offset())
}

/// Returns the transposed view of a matrix. A vector or a single element is unchanged.
#[op_def("t(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn t(this: &Tensor) -> Result<Tensor> {
    transpose_matrix(this)
}

fn transpose_matrix(this: &Tensor) -> Result<Tensor> {
    match this.sizes().len() {
        0 | 1 => transpose_view(this, ("self", 0), ("self", 0)),
        2 => transpose_view(this, ("self", 0), ("self", 1)),
        rank => Err(BadArgument::rank("self", rank, ..=2).into()),
    }
}

/// Returns a view with the dimensions `source` moved to the indices `destination`. The others keep their order.
#[op_def("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")]
pub fn movedim_intlist(this: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
    let rank = this.sizes().len();
    if source.len() != destination.len() {
        return Err(BadArgument::length("destination", destination.len(), source.len()).like("source").into());
    }
    let mut order = vec![None; rank];
    let mut moved = vec![false; rank];
    for (&from, &to) in source.iter().zip(destination) {
        let (at, place) = (wrap_dim("source", from, rank)?, wrap_dim("destination", to, rank)?);
        if rank == 0 {
            continue;
        }
        if std::mem::replace(&mut moved[at], true) {
            return Err(BadArgument::new("source", dispatch_runtime::Problem::RepeatedDim { dim: from }).into());
        }
        if order[place].replace(at).is_some() {
            return Err(BadArgument::new("destination", dispatch_runtime::Problem::RepeatedDim { dim: to }).into());
        }
    }
    let mut others = (0..rank).filter(|&dim| !moved[dim]);
    let order = order.into_iter().map(|dim| i64::try_from(dim.or_else(|| others.next()).unwrap_or(0)).unwrap_or(0));
    permute(this, &order.collect::<Dims>())
}

/// Returns a view with one dimension moved to another index.
#[op_def("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)")]
pub fn movedim_int(this: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
    movedim_intlist(this, &[source], &[destination])
}

/// Another name of [`movedim_intlist`].
#[op_def("moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")]
pub fn moveaxis_intlist(this: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
    movedim_intlist(this, source, destination)
}

/// Another name of [`movedim_int`].
#[op_def("moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)")]
pub fn moveaxis_int(this: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
    movedim_int(this, source, destination)
}

/// Another name of [`transpose_int`].
#[op_def("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)")]
pub fn swapaxes(this: &Tensor, axis0: i64, axis1: i64) -> Result<Tensor> {
    transpose_int(this, axis0, axis1)
}

/// Another name of [`transpose_int`].
#[op_def("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")]
pub fn swapdims(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    transpose_int(this, dim0, dim1)
}

/// Changes `self` to its [`transpose_int`] view, in place.
#[op_def("transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn transpose_(this: &mut Tensor, dim0: i64, dim1: i64) -> Result<()> {
    *this = transpose_int(this, dim0, dim1)?;
    Ok(())
}

/// Changes `self` to its [`t`] view, in place.
#[op_def("t_(Tensor(a!) self) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn t_(this: &mut Tensor) -> Result<()> {
    *this = t(this)?;
    Ok(())
}

/// Another name of [`transpose_`].
#[op_def("swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)")]
pub fn swapaxes_(this: &mut Tensor, axis0: i64, axis1: i64) -> Result<()> {
    transpose_(this, axis0, axis1)
}

/// Another name of [`transpose_`].
#[op_def("swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)")]
pub fn swapdims_(this: &mut Tensor, dim0: i64, dim1: i64) -> Result<()> {
    transpose_(this, dim0, dim1)
}

/// Returns the matrices transposed, as a view. A single element is unchanged.
#[op_def("mT(Tensor(a) self) -> Tensor(a)")]
pub fn mT(this: &Tensor) -> Result<Tensor> {
    match this.sizes().len() {
        0 => numpy_T(this),
        1 => Err(BadArgument::rank("self", 1, Expected::Not(1)).into()),
        _ => transpose_int(this, -2, -1),
    }
}

/// Returns a view with the dimensions in reverse order.
#[op_def("numpy_T(Tensor(a) self) -> Tensor(a)")]
pub fn numpy_T(this: &Tensor) -> Result<Tensor> {
    let rank = i64::try_from(this.sizes().len()).unwrap_or(0);
    permute(this, &(0..rank).rev().collect::<Vec<_>>())
}

/// Returns the matrices transposed and conjugated.
#[op_def("adjoint(Tensor(a) self) -> Tensor(a)")]
pub fn adjoint(this: &Tensor) -> Result<Tensor> {
    crate::conj(&mT(this)?)
}

/// Another name of [`adjoint`].
#[op_def("mH(Tensor(a) self) -> Tensor(a)")]
pub fn mH(this: &Tensor) -> Result<Tensor> {
    adjoint(this)
}

/// Computes [`adjoint`] of one matrix.
#[op_def("matrix_H(Tensor(a) self) -> Tensor(a)")]
pub fn matrix_H(this: &Tensor) -> Result<Tensor> {
    match this.sizes().len() {
        0 | 2 => adjoint(this),
        rank => Err(BadArgument::rank("self", rank, 2).into()),
    }
}
