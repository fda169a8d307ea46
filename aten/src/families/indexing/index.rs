//! Reading and writing of elements by index tensors: `index`, `gather`, `index_select`, `take`, `index_put` and `put`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, ErrorKind, Problem, Spec, broadcast, wrap_dim};

use crate::{new_zero_gradient, nonzero};

/// Refuses an index tensor whose dtype is neither `i32` nor `i64`.
pub(crate) fn check_index_dtype(argument: &'static str, index: &Tensor) -> Result<(), BadArgument> {
    match index.dtype() {
        DType::I64 | DType::I32 => Ok(()),
        other => Err(BadArgument::dtype(argument, other, &[DType::I32, DType::I64])),
    }
}

/// Returns the sizes of a tensor, or `[1]` if it has no dimensions.
#[must_use]
pub fn sizes_or_one(tensor: &Tensor) -> &[i64] {
    if tensor.sizes().is_empty() { &[1] } else { tensor.sizes() }
}

/// Selects along `dim` the elements at the indices in `index`: for `dim` 0, `result[i][j]` is `self[index[i][j]][j]`.
#[op_def("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", plan, float8, out = "out")]
pub fn gather(_: ...) -> Result<Tensor>;

#[op_plan(gather)]
fn gather_plan(this: &Tensor, dim: i64, index: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    if index.geometry().count() > 0 {
        check_index_dtype("index", index)?;
    }
    check_index_sizes("index", index, this, Some(at))?;
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), index.sizes())]))
}

/// Refuses an index tensor that is larger than `other` in any dimension but `except`.
pub(crate) fn check_index_sizes(
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
        return Err(BadArgument::rank(argument, index.sizes().len(), other.sizes().len()).because("the tensor has"));
    }
    let fits = (0..own.len()).all(|dim| Some(dim) == except || own[dim] <= others[dim]);
    if fits {
        Ok(())
    } else {
        Err(BadArgument::sizes(
            argument,
            own,
            match except {
                Some(dim) => format!("at most {others:?}, except in dimension {dim}"),
                None => format!("at most {others:?}"),
            },
        ))
    }
}

/// Selects the indices `index` of the dimension `dim`.
#[op_def("index_select(Tensor self, int dim, Tensor index) -> Tensor", plan, float8, out = "out")]
pub fn index_select(_: ...) -> Result<Tensor>;

#[op_plan(index_select)]
fn index_select_plan(this: &Tensor, dim: i64, index: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let count = index_vector_length(index)?;
    let mut sizes = Dims::from_slice(this.sizes());
    match sizes.get_mut(at) {
        Some(size) => *size = count,
        None if count != 1 => {
            return Err(BadArgument::element_count("index", index.sizes(), 1).like("self"));
        }
        None => {}
    }
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), &sizes)]))
}

/// Checks an index tensor of at most one dimension and returns its number of elements.
pub(super) fn index_vector_length(index: &Tensor) -> Result<i64, BadArgument> {
    check_index_dtype("index", index)?;
    match index.sizes() {
        [] => Ok(1),
        &[count] => Ok(count),
        more => Err(BadArgument::rank("index", more.len(), ..=1)),
    }
}

/// The elements of the flattened tensor at the indices `index`.
#[op_def("take(Tensor self, Tensor index) -> Tensor", plan, out = "out")]
pub fn take(_: ...) -> Result<Tensor>;

#[op_plan(take)]
fn take_plan(this: &Tensor, index: &Tensor) -> Result<Plan<()>, BadArgument> {
    if index.dtype() != DType::I64 {
        return Err(BadArgument::dtype("index", index.dtype(), DType::I64));
    }
    if this.geometry().count() == 0 && index.geometry().count() != 0 {
        return Err(BadArgument::new("index", Problem::Index { index: 0, size: 0, dim: None }));
    }
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), index.sizes())]))
}

/// Selects along `dim` the elements at the indices in `indices`. The other dimensions of both tensors broadcast.
#[op_def("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", out = "out")]
pub fn take_along_dim(this: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let Some(dim) = dim else {
        return gather(&crate::reshape(this, &[-1])?, 0, &crate::reshape(indices, &[-1])?, false);
    };
    let rank = this.sizes().len();
    if indices.sizes().len() != rank {
        return Err(BadArgument::rank("indices", indices.sizes().len(), rank).like("self").into());
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

/// The elements at the indices in one index tensor for each dimension. Dimensions without an index tensor are selected whole.
#[op_def("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", plan, float8, out = "Tensor_out")]
pub fn index(_: ...) -> Result<Tensor>;

#[op_plan(index)]
fn index_plan(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Plan<IndexPlan>> {
    if has_meta_mask(indices) {
        return Err(ErrorKind::DataDependent { operator: index::operator().name() }.into());
    }
    let plan = IndexPlan::new(this, indices)?;
    let spec = Spec::contiguous(this.dtype(), &plan.sizes);
    Ok(Plan::new(plan, [spec]))
}

/// Whether a mask is on Meta. Such a mask has no elements, so the size of the selection is unknown.
fn has_meta_mask(indices: &[Option<Tensor>]) -> bool {
    indices.iter().flatten().any(|index| is_mask(index) && index.device() == Device::META)
}

/// Whether an index tensor is a mask: `bool` or `u8`.
pub(crate) fn is_mask(index: &Tensor) -> bool {
    matches!(index.dtype(), DType::Bool | DType::U8)
}

/// The plan of indexing with tensors: the sizes of the result, and the index of each indexed dimension.
#[derive(Clone, Default, Debug)]
pub struct IndexPlan {
    /// The sizes of the result.
    pub sizes: Dims,
    /// The sizes to which the index tensors broadcast. They replace the indexed dimensions.
    pub index_sizes: Dims,
    /// The dimension of the result at which `index_sizes` begin.
    pub index_dim: usize,
    /// The indexed dimensions.
    pub dims: Vec<usize>,
    /// The index tensor of each indexed dimension. Masks are already converted to the indices at which they are true.
    pub indices: Vec<Tensor>,
}

impl IndexPlan {
    /// Converts masks to indices, and computes the sizes of the result.
    pub(crate) fn new(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Self> {
        let rank = this.sizes().len();
        let mut all = Vec::with_capacity(indices.len());
        for index in indices {
            match index {
                Some(mask) if is_mask(mask) => {
                    let covered = this.sizes().get(all.len()..all.len() + mask.sizes().len());
                    if covered != Some(mask.sizes()) {
                        let expected =
                            format!("the sizes of the dimensions that the mask covers, of {:?}", this.sizes());
                        return Err(BadArgument::sizes("indices", mask.sizes(), expected).into());
                    }
                    let rows = nonzero(mask)?;
                    for dim in 0..rows.sizes()[1] {
                        all.push(Some(crate::select_int(&rows, 1, dim)?));
                    }
                }
                other => all.push(other.clone()),
            }
        }
        if all.len() > rank {
            return Err(BadArgument::length("indices", all.len(), ..=rank).because("each dimension has one").into());
        }
        if let Some(index) = all.iter().flatten().find(|index| !matches!(index.dtype(), DType::I64 | DType::I32)) {
            return Err(BadArgument::dtype(
                "indices",
                index.dtype(),
                &[DType::I64, DType::I32, DType::Bool, DType::U8],
            )
            .into());
        }
        let index_sizes = broadcast(all.iter().flatten().map(Tensor::sizes))
            .map_err(|error| BadArgument::new("indices", error.problem))?;
        let dims: Vec<usize> = (0..all.len()).filter(|&dim| all[dim].is_some()).collect();
        let adjacent = dims.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let index_dim = if adjacent { dims.first().copied().unwrap_or(0) } else { 0 };
        let mut sizes: Dims = (0..rank).filter(|dim| !dims.contains(dim)).map(|dim| this.sizes()[dim]).collect();
        sizes.insert_from_slice(index_dim, &index_sizes);
        Ok(Self { sizes, index_sizes, index_dim, dims, indices: all.into_iter().flatten().collect() })
    }
}

/// `self`, with `values` written at the indices `indices`, or added there if `accumulate`.
#[op_def(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    plan,
    float8,
    inplace,
    out = "out"
)]
pub fn index_put(_: ...) -> Result<Tensor>;

#[op_plan(index_put)]
fn index_put_plan(this: &Tensor, indices: &[Option<Tensor>], values: &Tensor) -> Result<Plan<IndexPlan>> {
    if this.dtype() != values.dtype() {
        return Err(BadArgument::dtype("values", values.dtype(), this.dtype()).like("self").into());
    }
    let mut plan = IndexPlan::default();
    if !has_meta_mask(indices) {
        plan = IndexPlan::new(this, indices)?;
        check_broadcasts_to_sizes("values", values, &plan.sizes)?;
    }
    Ok(Plan::new(plan, [Spec::like(this, this.dtype())]))
}

/// Another name of [`index_put`].
#[op_def(
    "_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor",
    out = "out"
)]
pub fn _index_put_impl(_: ...) -> Result<Tensor> {
    index_put(this, indices, values, accumulate)
}

/// Another name of [`index_put_`].
#[op_def(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor(a!)"
)]
pub fn _index_put_impl_(_: ...) -> Result<()> {
    index_put_(this, indices, values, accumulate)
}

/// Refuses a tensor that does not broadcast to these sizes.
pub(crate) fn check_broadcasts_to_sizes(
    argument: &'static str,
    tensor: &Tensor,
    sizes: &[i64],
) -> Result<(), BadArgument> {
    match broadcast([sizes, tensor.sizes()]) {
        Ok(both) if both[..] == *sizes => Ok(()),
        _ => {
            Err(BadArgument::new(argument, Problem::Broadcast { sizes: tensor.sizes().to_vec(), with: sizes.to_vec() }))
        }
    }
}

/// `self`, with `source` written at the indices `index` of the flattened tensor, or added there if `accumulate`.
#[op_def("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", plan, inplace, out = "out")]
pub fn put(_: ...) -> Result<Tensor>;

#[op_plan(put)]
fn put_plan(this: &Tensor, index: &Tensor, source: &Tensor) -> Result<Plan<()>, BadArgument> {
    if index.dtype() != DType::I64 {
        return Err(BadArgument::dtype("index", index.dtype(), DType::I64));
    }
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), this.dtype()).like("self"));
    }
    if source.geometry().count() != index.geometry().count() {
        return Err(BadArgument::element_count("source", source.sizes(), index.geometry().count()).like("index"));
    }
    Ok(Plan::new((), [Spec::like(this, this.dtype())]))
}

/// Renames the argument in the error of an inner operator to the argument's name in the calling composite.
pub(crate) fn rename_error_argument(error: Error, argument: &'static str) -> Error {
    let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
    match bad {
        Some(bad) => BadArgument { argument: argument.into(), ..bad.clone() }.into(),
        None => error,
    }
}

/// The gradient of [`index_select`](crate::index_select).
#[op_def("index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> Tensor")]
pub fn index_select_backward(grad: &Tensor, self_sizes: &[i64], dim: i64, index: &Tensor) -> Result<Tensor> {
    crate::index_add(&new_zero_gradient(grad, self_sizes)?, dim, index, grad, 1.into())
}
