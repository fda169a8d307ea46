//! Elements picked by their positions, and put there.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, ErrorKind, Problem, Spec, broadcast, wrap_dim};

/// Refuses what is no list of positions.
pub fn check_index(argument: &'static str, index: &Tensor) -> Result<(), BadArgument> {
    match index.dtype() {
        DType::I64 | DType::I32 => Ok(()),
        other => Err(BadArgument::dtype(argument, other, "int32 or int64")),
    }
}

/// A tensor without dimensions counts as one of one.
#[must_use]
pub fn sizes_or_one(tensor: &Tensor) -> &[i64] {
    if tensor.sizes().is_empty() { &[1] } else { tensor.sizes() }
}

/// Along one dimension the elements at the positions that `index` has; along the others those at the index's own.
#[op_def("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", out = "out")]
pub fn gather(this: &Tensor, dim: i64, index: &Tensor, sparse_grad: bool) -> Result<Tensor>;

#[op_meta(gather)]
fn gather_meta(this: &Tensor, dim: i64, index: &Tensor, _sparse_grad: bool) -> Result<Tensor> {
    gather_spec(this, dim, index)?.0.on(Device::META)
}

/// What [`gather`] makes, and along which dimension.
pub fn gather_spec(this: &Tensor, dim: i64, index: &Tensor) -> Result<(Spec, usize), BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    if index.geometry().count() > 0 {
        check_index("index", index)?;
    }
    check_beside("index", index, this, Some(at))?;
    Ok((Spec::contiguous(this.dtype(), index.sizes()), at))
}

/// Refuses an index that is larger than `other` in any dimension but `except`.
pub fn check_beside(
    argument: &'static str,
    index: &Tensor,
    other: &Tensor,
    except: Option<usize>,
) -> Result<(), BadArgument> {
    let (own, others) = (sizes_or_one(index), sizes_or_one(other));
    if index.geometry().count() == 0 {
        return Ok(());
    }
    if own.len() != others.len() {
        return Err(BadArgument::rank(
            argument,
            index.sizes().len(),
            format!("{}, as the tensor has", other.sizes().len()),
        ));
    }
    let fits = (0..own.len()).all(|dim| Some(dim) == except || own[dim] <= others[dim]);
    if fits {
        Ok(())
    } else {
        Err(BadArgument::sizes(argument, own, format!("at most {others:?} beside the dimension")))
    }
}

/// The positions `index` of a dimension.
#[op_def("index_select(Tensor self, int dim, Tensor index) -> Tensor", out = "out")]
pub fn index_select(this: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor>;

#[op_meta(index_select)]
fn index_select_meta(this: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    index_select_spec(this, dim, index)?.0.on(Device::META)
}

/// What [`index_select`] makes, and along which dimension.
pub fn index_select_spec(this: &Tensor, dim: i64, index: &Tensor) -> Result<(Spec, usize), BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let count = index_count(index)?;
    let mut sizes = Dims::from_slice(this.sizes());
    match sizes.get_mut(at) {
        Some(size) => *size = count,
        None if count != 1 => {
            return Err(BadArgument::sizes("index", index.sizes(), "one position, as `self` has one element"));
        }
        None => {}
    }
    Ok((Spec::contiguous(this.dtype(), &sizes), at))
}

/// How many positions a list has.
pub fn index_count(index: &Tensor) -> Result<i64, BadArgument> {
    check_index("index", index)?;
    match index.sizes() {
        [] => Ok(1),
        &[count] => Ok(count),
        more => Err(BadArgument::rank("index", more.len(), "at most 1")),
    }
}

/// The elements at these positions, as if there were one dimension.
#[op_def("take(Tensor self, Tensor index) -> Tensor", out = "out")]
pub fn take(this: &Tensor, index: &Tensor) -> Result<Tensor>;

#[op_meta(take)]
fn take_meta(this: &Tensor, index: &Tensor) -> Result<Tensor> {
    take_spec(this, index)?.on(Device::META)
}

/// What [`take`] makes.
pub fn take_spec(this: &Tensor, index: &Tensor) -> Result<Spec, BadArgument> {
    if index.dtype() != DType::I64 {
        return Err(BadArgument::dtype("index", index.dtype(), "int64"));
    }
    if this.geometry().count() == 0 && index.geometry().count() != 0 {
        return Err(BadArgument::new("index", Problem::Index { index: 0, size: 0 }));
    }
    Ok(Spec::contiguous(this.dtype(), index.sizes()))
}

/// The elements at the positions `indices` of a dimension, the others being broadcast.
#[op_def("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", out = "out")]
pub fn take_along_dim(this: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let Some(dim) = dim else {
        return gather(&crate::reshape(this, &[-1])?, 0, &crate::reshape(indices, &[-1])?, false);
    };
    let rank = this.sizes().len();
    if indices.sizes().len() != rank {
        return Err(BadArgument::rank("indices", indices.sizes().len(), format!("{rank}, as `self` has")).into());
    }
    let at = wrap_dim("dim", dim, rank)?;
    let (mut own, mut others) = (Dims::from_slice(this.sizes()), Dims::from_slice(indices.sizes()));
    let (Some(own_at), Some(others_at)) = (own.get(at).copied(), others.get(at).copied()) else {
        return gather(this, dim, indices, false);
    };
    (own[at], others[at]) = (1, 1);
    let mut both = broadcast([&own[..], &others]).map_err(|error| BadArgument::new("indices", error.problem))?;
    both[at] = own_at;
    let this = crate::expand(this, &both, false)?;
    both[at] = others_at;
    gather(&this, dim, &crate::expand(indices, &both, false)?, false)
}

/// The elements at the positions that one tensor for each dimension has; dimensions without one are whole.
#[op_def("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", out = "Tensor_out")]
pub fn index(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor>;

#[op_meta(index)]
fn index_meta(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
    refuse_masks(indices, index::operator())?;
    let indexed = Indexed::of(this, indices)?;
    Spec::contiguous(this.dtype(), &indexed.sizes).on(Device::META)
}

/// Masks say in their elements how many there are.
fn refuse_masks(indices: &[Option<Tensor>], operator: &'static Operator) -> Result<()> {
    if indices.iter().flatten().any(is_mask) {
        return Err(ErrorKind::DataDependent { operator: operator.name() }.into());
    }
    Ok(())
}

/// Whether an index says for every position whether it is meant.
#[must_use]
pub fn is_mask(index: &Tensor) -> bool {
    matches!(index.dtype(), DType::Bool | DType::U8)
}

/// What indexing with tensors gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Indexed {
    /// The sizes of the result.
    pub sizes: Dims,
    /// The sizes to which the indices broadcast together, which take the place of the dimensions that have one.
    pub index_sizes: Dims,
    /// Where in the result they stand.
    pub at: usize,
    /// The dimensions that have an index.
    pub dims: Vec<usize>,
}

impl Indexed {
    /// What `this` gives, indexed so; no index is a mask.
    ///
    /// # Errors
    ///
    /// Where there are more indices than dimensions, or they do not broadcast together.
    pub fn of(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Self, BadArgument> {
        let rank = this.sizes().len();
        if indices.len() > rank {
            let expected = format!("at most {rank}, one for each dimension");
            return Err(BadArgument::value("indices", indices.len(), expected));
        }
        for index in indices.iter().flatten() {
            if !matches!(index.dtype(), DType::I64 | DType::I32) {
                return Err(BadArgument::dtype("indices", index.dtype(), "int64, int32, bool or uint8"));
            }
        }
        let index_sizes = broadcast(indices.iter().flatten().map(Tensor::sizes))
            .map_err(|error| BadArgument::new("indices", error.problem))?;
        let dims: Vec<usize> = (0..indices.len()).filter(|&dim| indices[dim].is_some()).collect();
        let adjacent = dims.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let at = if adjacent { dims.first().copied().unwrap_or(0) } else { 0 };
        let mut sizes: Dims = (0..rank).filter(|dim| !dims.contains(dim)).map(|dim| this.sizes()[dim]).collect();
        sizes.insert_from_slice(at, &index_sizes);
        Ok(Self { sizes, index_sizes, at, dims })
    }
}

/// The tensor with `values` at the positions that `indices` say, added to what is there if it accumulates.
#[op_def(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    inplace,
    out = "out"
)]
pub fn index_put(this: &Tensor, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor>;

#[op_meta(index_put)]
fn index_put_meta(this: &Tensor, indices: &[Option<Tensor>], values: &Tensor, _accumulate: bool) -> Result<Tensor> {
    check_values(this, values)?;
    if !indices.iter().flatten().any(is_mask) {
        let indexed = Indexed::of(this, indices)?;
        check_broadcasts("values", values, &indexed.sizes)?;
    }
    Spec::pointwise(&[this], this.dtype())?.on(Device::META)
}

/// [`index_put`], as it is called elsewhere.
#[op_def(
    "_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor",
    out = "out"
)]
pub fn _index_put_impl(
    this: &Tensor,
    indices: &[Option<Tensor>],
    values: &Tensor,
    accumulate: bool,
    _: bool,
) -> Result<Tensor> {
    index_put(this, indices, values, accumulate)
}

/// [`index_put_`], as it is called elsewhere.
#[op_def(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor(a!)"
)]
pub fn _index_put_impl_(
    this: &mut Tensor,
    indices: &[Option<Tensor>],
    values: &Tensor,
    accumulate: bool,
    _: bool,
) -> Result<()> {
    index_put_(this, indices, values, accumulate)
}

/// Refuses values of another dtype.
pub fn check_values(this: &Tensor, values: &Tensor) -> Result<(), BadArgument> {
    if this.dtype() == values.dtype() {
        Ok(())
    } else {
        Err(BadArgument::dtype("values", values.dtype(), format!("{}, as `self` is", this.dtype())))
    }
}

/// Refuses a tensor that does not stretch to these sizes.
pub fn check_broadcasts(argument: &'static str, tensor: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    match broadcast([sizes, tensor.sizes()]) {
        Ok(both) if both[..] == *sizes => Ok(()),
        _ => {
            Err(BadArgument::new(argument, Problem::Broadcast { sizes: tensor.sizes().to_vec(), with: sizes.to_vec() }))
        }
    }
}

/// The tensor with `source` at these positions, as if there were one dimension.
#[op_def("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", inplace, out = "out")]
pub fn put(this: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor>;

#[op_meta(put)]
fn put_meta(this: &Tensor, index: &Tensor, source: &Tensor, _accumulate: bool) -> Result<Tensor> {
    put_spec(this, index, source)?.on(Device::META)
}

/// What [`put`] makes.
pub fn put_spec(this: &Tensor, index: &Tensor, source: &Tensor) -> Result<Spec, BadArgument> {
    if index.dtype() != DType::I64 {
        return Err(BadArgument::dtype("index", index.dtype(), "int64"));
    }
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), format!("{}, as `self` is", this.dtype())));
    }
    if source.geometry().count() != index.geometry().count() {
        return Err(BadArgument::sizes(
            "source",
            source.sizes(),
            format!("{} elements, as `index` has", index.geometry().count()),
        ));
    }
    Ok(Spec::pointwise(&[this], this.dtype())?)
}

/// The tensor with one number at these positions of a dimension.
#[op_def(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    inplace,
    out = "int_Scalar_out"
)]
pub fn index_fill_int_scalar(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor>;

#[op_meta(index_fill_int_scalar)]
fn index_fill_int_scalar_meta(this: &Tensor, dim: i64, index: &Tensor, _value: Scalar) -> Result<Tensor> {
    index_fill_spec(this, dim, index)?.0.on(Device::META)
}

/// The same with a number that is a tensor.
#[op_def(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    inplace,
    out = "int_Tensor_out"
)]
pub fn index_fill_int_tensor(this: &Tensor, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor>;

#[op_meta(index_fill_int_tensor)]
fn index_fill_int_tensor_meta(this: &Tensor, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor> {
    crate::one("value", value)?;
    index_fill_spec(this, dim, index)?.0.on(Device::META)
}

/// What [`index_fill_int_scalar`] makes, and along which dimension.
pub fn index_fill_spec(this: &Tensor, dim: i64, index: &Tensor) -> Result<(Spec, usize), BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    index_count(index)?;
    Ok((Spec::pointwise(&[this], this.dtype())?, at))
}

/// The tensor with the positions of `source` at these positions of a dimension.
#[op_def("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", inplace, out = "out")]
pub fn index_copy(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor>;

#[op_meta(index_copy)]
fn index_copy_meta(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
    index_from_spec(this, dim, index, source)?.0.on(Device::META)
}

/// The tensor plus `alpha` times the positions of `source` at these positions of a dimension.
#[op_def(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    inplace,
    out = "out"
)]
pub fn index_add(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor>;

#[op_meta(index_add)]
fn index_add_meta(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, _alpha: Scalar) -> Result<Tensor> {
    index_from_spec(this, dim, index, source)?.0.on(Device::META)
}

/// The tensor and the positions of `source` at these positions of a dimension, reduced.
#[op_def(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    inplace,
    out = "out"
)]
pub fn index_reduce(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor>;

#[op_meta(index_reduce)]
fn index_reduce_meta(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    let _ = include_self;
    check_index_reduce(reduce)?;
    index_from_spec(this, dim, index, source)?.0.on(Device::META)
}

/// Refuses a word that is no reduction of [`index_reduce`], which leaves sums to [`index_add`].
///
/// # Errors
///
/// Where it is one.
pub fn check_index_reduce(reduce: &str) -> Result<(), BadArgument> {
    match reduce {
        "prod" | "mean" | "amax" | "amin" => Ok(()),
        other => Err(BadArgument::value("reduce", other, "`prod`, `mean`, `amax` or `amin`")),
    }
}

/// What [`index_add`] and its like make, and along which dimension.
pub fn index_from_spec(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<(Spec, usize), BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let count = index_count(index)?;
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), format!("{}, as `self` is", this.dtype())));
    }
    let mut expected = Dims::from_slice(sizes_or_one(this));
    expected[at] = count;
    if *sizes_or_one(source) != expected[..] {
        return Err(BadArgument::sizes(
            "source",
            source.sizes(),
            format!("{expected:?}: those of `self`, and a position for each of `index`"),
        ));
    }
    Ok((Spec::contiguous(this.dtype(), this.sizes()), at))
}

/// The elements where the mask is true, in one dimension.
#[op_def("masked_select(Tensor self, Tensor mask) -> Tensor", data_dependent, out = "out")]
pub fn masked_select(this: &Tensor, mask: &Tensor) -> Result<Tensor>;

/// The tensor with the elements of `source`, one after another, where the mask is true.
#[op_def("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", inplace, out = "out")]
pub fn masked_scatter(this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor>;

#[op_meta(masked_scatter)]
fn masked_scatter_meta(this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
    masked_scatter_spec(this, mask, source)?.on(Device::META)
}

/// What [`masked_scatter`] makes.
pub fn masked_scatter_spec(this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Spec, BadArgument> {
    if mask.dtype() != DType::Bool {
        return Err(BadArgument::dtype("mask", mask.dtype(), "bool"));
    }
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), format!("{}, as `self` is", this.dtype())));
    }
    if this.sizes() == mask.sizes() {
        return Ok(Spec::pointwise(&[this], this.dtype())?);
    }
    let both = broadcast([this.sizes(), mask.sizes()]).map_err(|error| BadArgument::new("mask", error.problem))?;
    Ok(Spec::contiguous(this.dtype(), &both))
}

/// The positions of the elements that are not zero, one in each row.
#[op_def("nonzero(Tensor self) -> Tensor", data_dependent, out = "out")]
pub fn nonzero(this: &Tensor) -> Result<Tensor>;

/// The first `size` rows of [`nonzero`], and rows of `fill_value` where it has fewer.
#[op_def("nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", out = "out")]
pub fn nonzero_static(this: &Tensor, size: i64, fill_value: i64) -> Result<Tensor>;

#[op_meta(nonzero_static)]
fn nonzero_static_meta(this: &Tensor, size: i64, fill_value: i64) -> Result<Tensor> {
    let _ = fill_value;
    nonzero_static_spec(this, size)?.on(Device::META)
}

/// What [`nonzero_static`] makes.
pub fn nonzero_static_spec(this: &Tensor, size: i64) -> Result<Spec, BadArgument> {
    if size < 0 {
        return Err(BadArgument::value("size", size, "zero or more"));
    }
    let rank = i64::try_from(this.sizes().len()).unwrap_or(0);
    Ok(Spec::contiguous(DType::I64, &[size, rank]))
}

/// [`nonzero`], as it is called elsewhere.
#[op_def("argwhere(Tensor self) -> Tensor")]
pub fn argwhere(this: &Tensor) -> Result<Tensor> {
    nonzero(this)
}

/// The rows of `weight` at these positions.
#[op_def(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    out = "out"
)]
pub fn embedding(
    weight: &Tensor,
    indices: &Tensor,
    padding_idx: i64,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Result<Tensor>;

#[op_impl(embedding, CompositeExplicitAutograd)]
fn embedding_any(
    weight: &Tensor,
    indices: &Tensor,
    _padding_idx: i64,
    _scale_grad_by_freq: bool,
    _sparse: bool,
) -> Result<Tensor> {
    if weight.sizes().len() != 2 {
        return Err(BadArgument::rank("weight", weight.sizes().len(), "2").into());
    }
    check_index("indices", indices)?;
    let rows = index_select(weight, 0, &crate::reshape(indices, &[-1])?).map_err(|error| renamed(error, "indices"))?;
    let mut sizes = Dims::from_slice(indices.sizes());
    sizes.push(weight.sizes()[1]);
    crate::view(&rows, &sizes)
}

/// The gradient of the rows of an [`embedding`]: the sum of what came back to each.
#[op_def(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    out = "out"
)]
pub fn embedding_dense_backward(
    grad_output: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor>;

#[op_meta(embedding_dense_backward)]
fn embedding_dense_backward_meta(
    grad_output: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor> {
    let _ = (padding_idx, scale_grad_by_freq);
    embedding_backward_spec(grad_output, indices, num_weights)?.on(Device::META)
}

/// What [`embedding_dense_backward`] makes.
pub fn embedding_backward_spec(grad_output: &Tensor, indices: &Tensor, num_weights: i64) -> Result<Spec, BadArgument> {
    check_index("indices", indices)?;
    if num_weights < 0 {
        return Err(BadArgument::value("num_weights", num_weights, "zero or more"));
    }
    match grad_output.sizes().split_last() {
        Some((&width, rows)) if rows == indices.sizes() => {
            Ok(Spec::contiguous(grad_output.dtype(), &[num_weights, width]))
        }
        _ => Err(BadArgument::sizes(
            "grad_output",
            grad_output.sizes(),
            format!("{:?} and one size more", indices.sizes()),
        )),
    }
}

/// For each position a row that is 1 there and 0 elsewhere.
#[op_def("one_hot(Tensor self, int num_classes=-1) -> Tensor", data_dependent)]
pub fn one_hot(this: &Tensor, num_classes: i64) -> Result<Tensor>;

/// The error of an operator that another is made of, about the argument by the name that it has there.
pub(crate) fn renamed(error: Error, argument: &'static str) -> Error {
    let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
    match bad {
        Some(bad) => BadArgument::new(argument, bad.problem.clone()).into(),
        None => error,
    }
}
