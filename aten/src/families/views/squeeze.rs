//! Views with dimensions of size 1 removed or added.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Dims, reduced_dims, wrap_dim};

use crate::strided_view;

/// Returns a view without the dimensions of size 1.
#[op_def("squeeze(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn squeeze(_: ...) -> Result<Tensor> {
    squeeze_dims_if(this, |_| true)
}

fn squeeze_dims_if(this: &Tensor, listed: impl Fn(usize) -> bool) -> Result<Tensor> {
    let kept = (0..this.sizes().len()).filter(|&dim| this.sizes()[dim] != 1 || !listed(dim));
    let (sizes, strides): (Dims, Dims) = kept.map(|dim| (this.sizes()[dim], this.strides()[dim])).unzip();
    strided_view(this, &sizes, &strides, this.geometry().offset())
}

/// Returns a view without the dimension `dim`, if it has size 1.
#[op_def("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn squeeze_dim(this: &Tensor, dim: i64) -> Result<Tensor> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    squeeze_dims_if(this, |dim| dim == at)
}

/// Returns a view without the dimensions in `dim` that have size 1.
#[op_def("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn squeeze_dims(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
    squeeze_listed_dims(this, dim)
}

fn squeeze_listed_dims(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    // If `dims` is empty, no dimension is squeezed, although `reduced_dims` reads an empty list as all dimensions.
    let rank = this.sizes().len();
    if rank == 0 {
        dims.iter().try_for_each(|&dim| wrap_dim("dim", dim, rank).map(drop))?;
    }
    let listed =
        if dims.is_empty() || rank == 0 { vec![false; rank] } else { reduced_dims(rank, dims, "dim")?.to_vec() };
    squeeze_dims_if(this, |dim| listed[dim])
}

/// Returns a view with one more dimension of size 1.
#[op_def("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn unsqueeze(this: &Tensor, dim: i64) -> Result<Tensor> {
    unsqueeze_view(this, dim)
}

fn unsqueeze_view(this: &Tensor, dim: i64) -> Result<Tensor> {
    let at = wrap_dim("dim", dim, this.sizes().len() + 1)?;
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let stride = sizes.get(at).map_or(1, |size| size.saturating_mul(strides[at]));
    sizes.insert(at, 1);
    strides.insert(at, stride);
    strided_view(this, &sizes, &strides, this.geometry().offset())
}

/// Changes `self` to its [`squeeze`] view, in place.
#[op_def("squeeze_(Tensor(a!) self) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn squeeze_(_: ...) -> Result<()> {
    *this = squeeze(this)?;
    Ok(())
}

/// Changes `self` to its [`squeeze_dim`] view, in place.
#[op_def("squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn squeeze__dim(this: &mut Tensor, dim: i64) -> Result<()> {
    *this = squeeze_dim(this, dim)?;
    Ok(())
}

/// Changes `self` to its [`squeeze_dims`] view, in place.
#[op_def("squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn squeeze__dims(this: &mut Tensor, dim: &[i64]) -> Result<()> {
    *this = squeeze_dims(this, dim)?;
    Ok(())
}

/// Changes `self` to its [`unsqueeze`] view, in place.
#[op_def("unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn unsqueeze_(this: &mut Tensor, dim: i64) -> Result<()> {
    *this = unsqueeze(this, dim)?;
    Ok(())
}
