//! Tensors that show the memory of another.
//!
//! A view is geometry alone, so one kernel serves every backend.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, wrap_dim};

use crate::{infer_size, restrided, view_geometry, view_strides};

/// The same elements in another tensor.
#[op_def("alias(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn alias(_: ...) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// The same elements, of which no derivative is known.
#[op_def("detach(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn detach(this: &Tensor) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// The same elements: a tensor that was just made enters the layers of the call.
#[op_def("lift_fresh(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn lift_fresh(this: &Tensor) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// The same elements in other sizes, one of which may be -1.
#[op_def("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view(_: ...) -> Result<Tensor> {
    Ok(this.restride(view_geometry(this.geometry(), size)?)?)
}

/// [`view`] of a tensor that nobody else looks at.
#[op_def("_unsafe_view(Tensor self, SymInt[] size) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn _unsafe_view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    Ok(this.restride(view_geometry(this.geometry(), size)?)?)
}

/// The same elements in sizes and strides that were worked out before.
#[op_def(
    "_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn _reshape_alias(this: &Tensor, size: &[i64], stride: &[i64]) -> Result<Tensor> {
    restrided(this, size, stride, this.geometry().offset())
}

/// Any walk through the tensor's memory.
#[op_def(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn as_strided(this: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
    restrided(this, size, stride, storage_offset.unwrap_or_else(|| this.geometry().offset()))
}

/// The same elements, again and again in dimensions of size 1 and in new ones.
#[op_def(
    "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn expand(this: &Tensor, size: &[i64], _implicit: bool) -> Result<Tensor> {
    let geometry = expanded(this.geometry(), size)?;
    Ok(this.restride(geometry)?)
}

fn expanded(geometry: &Geometry, size: &[i64]) -> Result<Geometry, BadArgument> {
    let (own, rank) = (geometry.sizes(), geometry.rank());
    let refuse =
        || BadArgument::sizes("size", size, format!("sizes that {own:?} stretches to: equal, -1, or in place of 1"));
    let new = size.len().checked_sub(rank).ok_or_else(refuse)?;
    let (mut sizes, mut strides) = (Dims::from_slice(size), Dims::from_elem(0, size.len()));
    for at in (0..size.len()).rev() {
        let before = at.checked_sub(new);
        let (had, stride) = match before {
            Some(dim) => (own[dim], geometry.strides()[dim]),
            None => (1, sizes.get(at + 1).map_or(0, |&size| size.saturating_mul(strides[at + 1]))),
        };
        match size[at] {
            -1 if before.is_some() => sizes[at] = had,
            wanted if wanted == had => {}
            0.. if had == 1 => {
                strides[at] = 0;
                continue;
            }
            _ => return Err(refuse()),
        }
        strides[at] = stride;
    }
    Geometry::strided(&sizes, &strides, geometry.offset()).ok_or_else(refuse)
}

/// The same elements with the dimensions in this order.
#[op_def("permute(Tensor(a) self, int[] dims) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn permute(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let (geometry, rank) = (this.geometry(), this.sizes().len());
    if dims.len() != rank {
        return Err(BadArgument::length("dims", dims.len(), rank).because("`self` has dimensions").into());
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
    restrided(this, &sizes, &strides, geometry.offset())
}

/// The same elements with two dimensions in each other's place.
#[op_def("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn transpose_int(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    transposed(this, ("dim0", dim0), ("dim1", dim1))
}

fn transposed(this: &Tensor, (name0, dim0): (&'static str, i64), (name1, dim1): (&'static str, i64)) -> Result<Tensor> {
    let geometry = this.geometry();
    let (a, b) = (wrap_dim(name0, dim0, geometry.rank())?, wrap_dim(name1, dim1, geometry.rank())?);
    let (mut sizes, mut strides) = (Dims::from_slice(geometry.sizes()), Dims::from_slice(geometry.strides()));
    if a != b {
        sizes.swap(a, b);
        strides.swap(a, b);
    }
    restrided(this, &sizes, &strides, geometry.offset())
}

/// The matrix with rows and columns in each other's place; a vector as it is.
#[op_def("t(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn t(this: &Tensor) -> Result<Tensor> {
    matrix_transposed(this)
}

fn matrix_transposed(this: &Tensor) -> Result<Tensor> {
    match this.sizes().len() {
        0 | 1 => transposed(this, ("self", 0), ("self", 0)),
        2 => transposed(this, ("self", 0), ("self", 1)),
        rank => Err(BadArgument::rank("self", rank, ..=2).into()),
    }
}

/// The same bytes as elements of another type.
#[op_def("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
    let geometry = reinterpreted(this, dtype)?;
    Ok(Tensor::new(this.storage().clone(), dtype, geometry)?.with_keys(this.keys()))
}

/// The walk through the same bytes in elements of another size: the last dimension takes the difference.
fn reinterpreted(this: &Tensor, dtype: DType) -> Result<Geometry, BadArgument> {
    let (geometry, from, to) = (this.geometry(), this.dtype().size(), dtype.size());
    if from == to {
        return Ok(geometry.clone());
    }
    let refuse = |expected: &'static str| {
        BadArgument::dtype("dtype", dtype, expected).because(format!("`self` is of {}", this.dtype()))
    };
    let (Some(&last), Some(&1)) = (geometry.sizes().last(), geometry.strides().last()) else {
        return Err(refuse("of the same size where the last dimension is not side by side"));
    };
    let (mut sizes, mut strides) = (Dims::from_slice(geometry.sizes()), Dims::from_slice(geometry.strides()));
    let (inner, end) = (sizes.len() - 1, refuse("small enough"));
    let factor = i64::try_from(from.max(to) / from.min(to)).unwrap_or(1);
    let offset = if from > to {
        sizes[inner] = last.saturating_mul(factor);
        strides[..inner].iter_mut().for_each(|stride| *stride = stride.saturating_mul(factor));
        geometry.offset().saturating_mul(factor)
    } else {
        if strides[..inner].iter().copied().chain([geometry.offset(), last]).any(|place| place % factor != 0) {
            return Err(refuse("such that the last size, every other stride and the offset divide by the difference"));
        }
        sizes[inner] = last / factor;
        strides[..inner].iter_mut().for_each(|stride| *stride /= factor);
        geometry.offset() / factor
    };
    Geometry::strided(&sizes, &strides, offset).ok_or(end)
}

/// The elements in other sizes, one of which may be -1: a view where there is one, otherwise a copy.
#[op_def("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)")]
pub fn reshape(this: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let size = infer_size("shape", shape, this.geometry().count())?;
    let is_view = this.geometry().is_contiguous() || view_strides(this.geometry(), &size).is_some();
    if is_view { view(this, &size) } else { _unsafe_view(&crate::alias_copy(this)?, &size) }
}

/// Refuses another tensor with another number of elements.
fn check_count(this: &Tensor, other: &Tensor) -> Result<(), BadArgument> {
    if this.geometry().count() == other.geometry().count() {
        return Ok(());
    }
    let expected = format!("as many elements as `self`, which has sizes {:?}", this.sizes());
    Err(BadArgument::sizes("other", other.sizes(), expected))
}

/// [`view`] in the sizes of another tensor.
#[op_def("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", check = check_count(this, other))]
pub fn view_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    view(this, other.sizes())
}

/// [`reshape`] to the sizes of another tensor.
#[op_def("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", check = check_count(this, other))]
pub fn reshape_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    reshape(this, other.sizes())
}

/// [`expand`] to the sizes of another tensor.
#[op_def("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", check = crate::check_stretches(("self", this), ("other", other)))]
pub fn expand_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    expand(this, other.sizes(), false)
}

/// [`expand`], as it is called elsewhere.
#[op_def("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)")]
pub fn broadcast_to(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    expand(this, size, false)
}

/// The elements in one dimension.
#[op_def("ravel(Tensor(a) self) -> Tensor(a)")]
pub fn ravel(this: &Tensor) -> Result<Tensor> {
    reshape(this, &[-1])
}

/// These dimensions and those between them as one.
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

/// One dimension as several.
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

/// The dimensions `source` in the places `destination`, and the others in their order.
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

/// One dimension in another place.
#[op_def("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)")]
pub fn movedim_int(this: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
    movedim_intlist(this, &[source], &[destination])
}

/// [`movedim_intlist`], as it is called elsewhere.
#[op_def("moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")]
pub fn moveaxis_intlist(this: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
    movedim_intlist(this, source, destination)
}

/// [`movedim_int`], as it is called elsewhere.
#[op_def("moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)")]
pub fn moveaxis_int(this: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
    movedim_int(this, source, destination)
}

/// [`transpose_int`], as it is called elsewhere.
#[op_def("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)")]
pub fn swapaxes(this: &Tensor, axis0: i64, axis1: i64) -> Result<Tensor> {
    transpose_int(this, axis0, axis1)
}

/// [`transpose_int`], as it is called elsewhere.
#[op_def("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")]
pub fn swapdims(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    transpose_int(this, dim0, dim1)
}

/// How many elements there are.
#[op_def("numel(Tensor self) -> int")]
pub fn numel(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().count())
}

/// [`transpose_int`], of the handle itself.
#[op_def("transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn transpose_(this: &mut Tensor, dim0: i64, dim1: i64) -> Result<()> {
    *this = transpose_int(this, dim0, dim1)?;
    Ok(())
}

/// [`t`], of the handle itself.
#[op_def("t_(Tensor(a!) self) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn t_(this: &mut Tensor) -> Result<()> {
    *this = t(this)?;
    Ok(())
}

/// [`as_strided`], of the handle itself.
#[op_def(
    "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn as_strided_(this: &mut Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<()> {
    *this = as_strided(this, size, stride, storage_offset)?;
    Ok(())
}

/// [`transpose_`], as it is called elsewhere.
#[op_def("swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)")]
pub fn swapaxes_(this: &mut Tensor, axis0: i64, axis1: i64) -> Result<()> {
    transpose_(this, axis0, axis1)
}

/// [`transpose_`], as it is called elsewhere.
#[op_def("swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)")]
pub fn swapdims_(this: &mut Tensor, dim0: i64, dim1: i64) -> Result<()> {
    transpose_(this, dim0, dim1)
}
