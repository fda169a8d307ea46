//! Views and copies with other sizes: `view`, `reshape`, `flatten` and `unflatten`. A view changes only the geometry, so one kernel serves
//! every backend.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, wrap_dim};

use crate::math_bits::check_not_lazy;
use crate::{infer_size, strided_view, try_view_geometry, view_geometry};

/// Returns a view with other sizes, one of which may be -1.
#[op_def("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view(_: ...) -> Result<Tensor> {
    Ok(this.restride(view_geometry(this.geometry(), size)?)?)
}

/// Computes [`view`] of a temporary tensor, with a result that is not declared as a view.
#[op_def("_unsafe_view(Tensor self, SymInt[] size) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn _unsafe_view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    Ok(this.restride(view_geometry(this.geometry(), size)?)?)
}

/// Returns a view with sizes and strides that were computed before.
#[op_def(
    "_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn _reshape_alias(this: &Tensor, size: &[i64], stride: &[i64]) -> Result<Tensor> {
    strided_view(this, size, stride, this.geometry().offset())
}

/// Returns a view of the same bytes as elements of another dtype.
#[op_def("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
    check_not_lazy(this, keys::Conjugate)?;
    check_not_lazy(this, keys::Negative)?;
    let geometry = geometry_viewed_as_dtype(this, dtype)?;
    Ok(Tensor::new(this.storage().clone(), dtype, geometry)?.with_keys(this.keys()))
}

/// Returns the geometry of the same bytes in elements of another size. Only the last dimension changes its size.
fn geometry_viewed_as_dtype(this: &Tensor, dtype: DType) -> Result<Geometry, BadArgument> {
    let (geometry, from, to) = (this.geometry(), this.dtype().size(), dtype.size());
    if from == to {
        return Ok(geometry.clone());
    }
    let bad_dtype = |expected: &'static str| {
        BadArgument::dtype("dtype", dtype, expected).because(format!("`self` is of {}", this.dtype()))
    };
    let (Some(&last), Some(&1)) = (geometry.sizes().last(), geometry.strides().last()) else {
        return Err(bad_dtype("a dtype of the same element size, unless the stride of the last dimension is 1"));
    };
    let (mut sizes, mut strides) = (Dims::from_slice(geometry.sizes()), Dims::from_slice(geometry.strides()));
    let (inner, end) = (sizes.len() - 1, bad_dtype("a dtype for which the sizes and strides fit into 64 bits"));
    let factor = i64::try_from(from.max(to) / from.min(to)).unwrap_or(1);
    let offset = if from > to {
        sizes[inner] = last.saturating_mul(factor);
        strides[..inner].iter_mut().for_each(|stride| *stride = stride.saturating_mul(factor));
        geometry.offset().saturating_mul(factor)
    } else {
        if strides[..inner]
            .iter()
            .copied()
            .chain([geometry.offset(), last])
            .any(|stride_or_offset| stride_or_offset % factor != 0)
        {
            return Err(bad_dtype(
                "a dtype whose element size divides the last size, every other stride and the offset in bytes",
            ));
        }
        sizes[inner] = last / factor;
        strides[..inner].iter_mut().for_each(|stride| *stride /= factor);
        geometry.offset() / factor
    };
    Geometry::strided(&sizes, &strides, offset).ok_or(end)
}

/// Returns the elements in other sizes, one of which may be -1: as a view if possible, otherwise as a copy.
#[op_def("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)")]
pub fn reshape(this: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let size = infer_size("shape", shape, this.geometry().count())?;
    let is_view = this.geometry().is_contiguous() || try_view_geometry(this.geometry(), &size).is_some();
    if is_view { view(this, &size) } else { _unsafe_view(&crate::alias_copy(this)?, &size) }
}

/// Checks that two tensors have the same number of elements.
fn check_same_element_count(this: &Tensor, other: &Tensor) -> Result<(), BadArgument> {
    if this.geometry().count() == other.geometry().count() {
        return Ok(());
    }
    let expected = format!("as many elements as `self`, which has sizes {:?}", this.sizes());
    Err(BadArgument::sizes("other", other.sizes(), expected))
}

/// Returns a [`view`] with the sizes of another tensor.
#[op_def("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", check = check_same_element_count(this, other))]
pub fn view_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    view(this, other.sizes())
}

/// Computes [`reshape`] to the sizes of another tensor.
#[op_def("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", check = check_same_element_count(this, other))]
pub fn reshape_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    reshape(this, other.sizes())
}

/// Reshapes the tensor to one dimension.
#[op_def("ravel(Tensor(a) self) -> Tensor(a)")]
pub fn ravel(this: &Tensor) -> Result<Tensor> {
    reshape(this, &[-1])
}

/// Merges the dimensions from `start_dim` to `end_dim` into one.
#[op_def("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)")]
pub fn flatten_using_ints(this: &Tensor, start_dim: i64, end_dim: i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let (start, end) = (wrap_dim("start_dim", start_dim, rank)?, wrap_dim("end_dim", end_dim, rank)?);
    if start > end {
        return Err(BadArgument::number("start_dim", start_dim, ..=end_dim).like("end_dim").into());
    }
    if rank == 0 {
        return reshape(this, &[1]);
    }
    if start == end {
        return Ok(this.clone());
    }
    let mut sizes = Dims::from_slice(&this.sizes()[..start]);
    sizes.push(this.sizes()[start..=end].iter().fold(1, |count: i64, &size| count.saturating_mul(size)));
    sizes.extend_from_slice(&this.sizes()[end + 1..]);
    reshape(this, &sizes)
}

/// Splits a dimension into several.
#[op_def("unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)")]
pub fn unflatten_int(this: &Tensor, dim: i64, sizes: &[i64]) -> Result<Tensor> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let own = this.sizes().get(at).copied().ok_or_else(|| BadArgument::rank("self", 0, 1..))?;
    if sizes.is_empty() {
        return Err(BadArgument::length("sizes", sizes.len(), 1..).into());
    }
    let inner = infer_size("sizes", sizes, own)?;
    let mut all = Dims::from_slice(&this.sizes()[..at]);
    all.extend_from_slice(&inner);
    all.extend_from_slice(&this.sizes()[at + 1..]);
    view(this, &all)
}

/// Reshapes a tensor to the sizes that are the elements of `shape`, a vector of integers.
#[op_def("_reshape_from_tensor(Tensor self, Tensor shape) -> Tensor")]
pub fn _reshape_from_tensor(this: &Tensor, shape: &Tensor) -> Result<Tensor> {
    crate::check_same_device([("self", this), ("shape", shape)])?;
    if shape.sizes().len() != 1 {
        return Err(BadArgument::rank("shape", shape.sizes().len(), 1).into());
    }
    if shape.dtype() != DType::I64 {
        return Err(BadArgument::dtype("shape", shape.dtype(), DType::I64).into());
    }
    let sizes = crate::unbind_int(shape, 0)?.into_iter().map(|size| match crate::item(&size)? {
        Scalar::Int(size) => Ok(size),
        other => Err(BadArgument::value("shape", other, "integers").into()),
    });
    reshape(this, &sizes.collect::<Result<Vec<i64>>>()?)
}
