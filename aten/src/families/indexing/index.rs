//! Elements picked by their positions, and put there.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, ErrorKind, Problem, Spec, broadcast, wrap_dim};

use crate::{Reduce, ReduceAt, is_complex_number};

/// Refuses what is no list of positions.
pub(crate) fn check_index(argument: &'static str, index: &Tensor) -> Result<(), BadArgument> {
    match index.dtype() {
        DType::I64 | DType::I32 => Ok(()),
        other => Err(BadArgument::dtype(argument, other, &[DType::I32, DType::I64])),
    }
}

/// A tensor without dimensions counts as one of one.
#[must_use]
pub fn sizes_or_one(tensor: &Tensor) -> &[i64] {
    if tensor.sizes().is_empty() { &[1] } else { tensor.sizes() }
}

/// Along one dimension the elements at the positions that `index` has; along the others those at the index's own.
#[op_def("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", plan, out = "out")]
pub fn gather(_: ...) -> Result<Tensor>;

#[op_plan(gather)]
fn gather_plan(this: &Tensor, dim: i64, index: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    if index.geometry().count() > 0 {
        check_index("index", index)?;
    }
    check_beside("index", index, this, Some(at))?;
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), index.sizes())]))
}

/// Refuses an index that is larger than `other` in any dimension but `except`.
pub(crate) fn check_beside(
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
        Err(BadArgument::sizes(argument, own, format!("at most {others:?} beside the dimension")))
    }
}

/// The positions `index` of a dimension.
#[op_def("index_select(Tensor self, int dim, Tensor index) -> Tensor", plan, out = "out")]
pub fn index_select(_: ...) -> Result<Tensor>;

#[op_plan(index_select)]
fn index_select_plan(this: &Tensor, dim: i64, index: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let count = index_count(index)?;
    let mut sizes = Dims::from_slice(this.sizes());
    match sizes.get_mut(at) {
        Some(size) => *size = count,
        None if count != 1 => {
            return Err(BadArgument::count("index", index.sizes(), 1).like("self"));
        }
        None => {}
    }
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), &sizes)]))
}

/// How many positions a list has.
fn index_count(index: &Tensor) -> Result<i64, BadArgument> {
    check_index("index", index)?;
    match index.sizes() {
        [] => Ok(1),
        &[count] => Ok(count),
        more => Err(BadArgument::rank("index", more.len(), ..=1)),
    }
}

/// The elements at these positions, as if there were one dimension.
#[op_def("take(Tensor self, Tensor index) -> Tensor", plan, out = "out")]
pub fn take(_: ...) -> Result<Tensor>;

#[op_plan(take)]
fn take_plan(this: &Tensor, index: &Tensor) -> Result<Plan<()>, BadArgument> {
    if index.dtype() != DType::I64 {
        return Err(BadArgument::dtype("index", index.dtype(), DType::I64));
    }
    if this.geometry().count() == 0 && index.geometry().count() != 0 {
        return Err(BadArgument::new("index", Problem::Index { index: 0, size: 0 }));
    }
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), index.sizes())]))
}

/// The elements at the positions `indices` of a dimension, the others being broadcast.
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

/// The elements at the positions that one tensor for each dimension has; dimensions without one are whole.
#[op_def("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", plan, out = "Tensor_out")]
pub fn index(_: ...) -> Result<Tensor>;

#[op_plan(index)]
fn index_plan(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Plan<Indexed>> {
    if has_meta_mask(indices) {
        return Err(ErrorKind::DataDependent { operator: index::operator().name() }.into());
    }
    let indexed = Indexed::of(this, indices)?;
    let spec = Spec::contiguous(this.dtype(), &indexed.sizes);
    Ok(Plan::new(indexed, [spec]))
}

/// Whether there is a mask without elements: they say how many positions are meant.
fn has_meta_mask(indices: &[Option<Tensor>]) -> bool {
    indices.iter().flatten().any(|index| is_mask(index) && index.device() == Device::META)
}

/// Whether an index says for every position whether it is meant.
pub(crate) fn is_mask(index: &Tensor) -> bool {
    matches!(index.dtype(), DType::Bool | DType::U8)
}

/// What indexing with tensors gives.
#[derive(Clone, Default, Debug)]
pub struct Indexed {
    /// The sizes of the result.
    pub sizes: Dims,
    /// The sizes to which the indices broadcast together, which take the place of the dimensions that have one.
    pub index_sizes: Dims,
    /// Where in the result they stand.
    pub at: usize,
    /// The dimensions that have an index.
    pub dims: Vec<usize>,
    /// The index of each of these dimensions. None is a mask: a mask becomes the positions at which it is true.
    pub lists: Vec<Tensor>,
}

impl Indexed {
    pub(crate) fn of(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Self> {
        let rank = this.sizes().len();
        let mut all = Vec::with_capacity(indices.len());
        for index in indices {
            match index {
                Some(mask) if is_mask(mask) => {
                    let covered = this.sizes().get(all.len()..all.len() + mask.sizes().len());
                    if covered != Some(mask.sizes()) {
                        let expected = format!("those of the dimensions that it covers, of {:?}", this.sizes());
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
        let at = if adjacent { dims.first().copied().unwrap_or(0) } else { 0 };
        let mut sizes: Dims = (0..rank).filter(|dim| !dims.contains(dim)).map(|dim| this.sizes()[dim]).collect();
        sizes.insert_from_slice(at, &index_sizes);
        Ok(Self { sizes, index_sizes, at, dims, lists: all.into_iter().flatten().collect() })
    }
}

/// The tensor with `values` at the positions that `indices` say, added to what is there if it accumulates.
#[op_def(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn index_put(_: ...) -> Result<Tensor>;

#[op_plan(index_put)]
fn index_put_plan(this: &Tensor, indices: &[Option<Tensor>], values: &Tensor) -> Result<Plan<Indexed>> {
    if this.dtype() != values.dtype() {
        return Err(BadArgument::dtype("values", values.dtype(), this.dtype()).like("self").into());
    }
    let mut indexed = Indexed::default();
    if !has_meta_mask(indices) {
        indexed = Indexed::of(this, indices)?;
        check_broadcasts("values", values, &indexed.sizes)?;
    }
    Ok(Plan::new(indexed, [Spec::like(this, this.dtype())]))
}

/// [`index_put`], as it is called elsewhere.
#[op_def(
    "_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor",
    out = "out"
)]
pub fn _index_put_impl(_: ...) -> Result<Tensor> {
    index_put(this, indices, values, accumulate)
}

/// [`index_put_`], as it is called elsewhere.
#[op_def(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor(a!)"
)]
pub fn _index_put_impl_(_: ...) -> Result<()> {
    index_put_(this, indices, values, accumulate)
}

/// Refuses a tensor that does not stretch to these sizes.
pub(crate) fn check_broadcasts(argument: &'static str, tensor: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    match broadcast([sizes, tensor.sizes()]) {
        Ok(both) if both[..] == *sizes => Ok(()),
        _ => {
            Err(BadArgument::new(argument, Problem::Broadcast { sizes: tensor.sizes().to_vec(), with: sizes.to_vec() }))
        }
    }
}

/// The tensor with `source` at these positions, as if there were one dimension.
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
        return Err(BadArgument::count("source", source.sizes(), index.geometry().count()).like("index"));
    }
    Ok(Plan::new((), [Spec::like(this, this.dtype())]))
}

/// The tensor with one number at these positions of a dimension.
#[op_def(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    plan,
    inplace,
    out = "int_Scalar_out"
)]
pub fn index_fill_int_scalar(_: ...) -> Result<Tensor>;

#[op_plan(index_fill_int_scalar)]
fn index_fill_int_scalar_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    if is_complex_number(value) && !this.dtype().is_complex() {
        return Err(BadArgument::value("value", value, format!("real, as `self` is of {}", this.dtype())));
    }
    value.check_fits("value", this.dtype())?;
    filled(this, dim, index)
}

/// The same with a number that is a tensor.
#[op_def(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    plan,
    inplace,
    out = "int_Tensor_out"
)]
pub fn index_fill_int_tensor(_: ...) -> Result<Tensor>;

#[op_plan(index_fill_int_tensor)]
fn index_fill_int_tensor_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    crate::one("value", value)?;
    filled(this, dim, index)
}

#[op_impl(index_fill_int_tensor, CompositeExplicitAutograd)]
fn index_fill_int_tensor_any(_plan: &usize, out: &mut Tensor, _: ...) -> Result<()> {
    index_fill_int_scalar_out(this, dim, index, crate::_local_scalar_dense(value)?, out)
}

/// The plan of an operator that fills positions of a dimension. Its value is the dimension.
fn filled(this: &Tensor, dim: i64, index: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    index_count(index)?;
    Ok(Plan::new(at, [Spec::like(this, this.dtype())]))
}

/// The tensor with the positions of `source` at these positions of a dimension.
#[op_def("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", plan, inplace, out = "out")]
pub fn index_copy(_: ...) -> Result<Tensor>;

#[op_plan(index_copy)]
fn index_copy_plan(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Plan<usize>, BadArgument> {
    with_source(this, dim, index, source)
}

/// The tensor plus `alpha` times the positions of `source` at these positions of a dimension.
#[op_def(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn index_add(_: ...) -> Result<Tensor>;

/// A sum with multiples.
pub struct AddAt {
    /// The dimension that the positions are of.
    pub dim: usize,
    /// The factor of the source. The dtype holds it.
    pub alpha: Scalar,
}

#[op_plan(index_add)]
fn index_add_plan(_: ...) -> Result<Plan<AddAt>, BadArgument> {
    let Plan { value: dim, outputs } = with_source(this, dim, index, source)?;
    alpha.check_fits("alpha", this.dtype())?;
    Ok(Plan { value: AddAt { dim, alpha: alpha.cast(this.dtype()) }, outputs })
}

/// The tensor and the positions of `source` at these positions of a dimension, reduced.
#[op_def(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn index_reduce(_: ...) -> Result<Tensor>;

#[op_plan(index_reduce)]
fn index_reduce_plan(_: ...) -> Result<Plan<ReduceAt>, BadArgument> {
    // `index_add` makes sums.
    let words =
        [("prod", Reduce::Product), ("mean", Reduce::Mean), ("amax", Reduce::Greatest), ("amin", Reduce::Least)];
    ReduceAt::plan(this, with_source(this, dim, index, source)?, reduce, &words)
}

/// The plan of [`index_add`] and operators like it. Its value is the dimension.
fn with_source(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let count = index_count(index)?;
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), this.dtype()).like("self"));
    }
    let mut expected = Dims::from_slice(sizes_or_one(this));
    expected[at] = count;
    if *sizes_or_one(source) != expected[..] {
        return Err(BadArgument::sizes("source", source.sizes(), &expected[..])
            .because("`self` has, with a position for each of `index`"));
    }
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), this.sizes())]))
}

/// The elements where the mask is true, in one dimension.
#[op_def("masked_select(Tensor self, Tensor mask) -> Tensor", data_dependent, plan, out = "out")]
pub fn masked_select(_: ...) -> Result<Tensor>;

/// The value is the sizes to which the tensor and the mask broadcast.
#[op_plan(masked_select)]
fn masked_select_plan(this: &Tensor, mask: &Tensor) -> Result<Plan<Dims, 0>, BadArgument> {
    masked(this, mask).map(Plan::checked)
}

/// The sizes to which a tensor and its mask broadcast.
fn masked(this: &Tensor, mask: &Tensor) -> Result<Dims, BadArgument> {
    if mask.dtype() != DType::Bool {
        return Err(BadArgument::dtype("mask", mask.dtype(), DType::Bool));
    }
    broadcast([this.sizes(), mask.sizes()]).map_err(|error| BadArgument::new("mask", error.problem))
}

/// The tensor with the elements of `source`, one after another, where the mask is true.
#[op_def("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", plan, inplace, out = "out")]
pub fn masked_scatter(_: ...) -> Result<Tensor>;

#[op_plan(masked_scatter)]
fn masked_scatter_plan(this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Plan<()>, BadArgument> {
    let both = masked(this, mask)?;
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), this.dtype()).like("self"));
    }
    let is_whole = this.sizes() == mask.sizes();
    let spec = if is_whole { Spec::like(this, this.dtype()) } else { Spec::contiguous(this.dtype(), &both) };
    Ok(Plan::new((), [spec]))
}

/// The positions of the elements that are not zero, one in each row.
#[op_def("nonzero(Tensor self) -> Tensor", data_dependent, out = "out")]
pub fn nonzero(_: ...) -> Result<Tensor>;

/// The first `size` rows of [`nonzero`], and rows of `fill_value` where it has fewer.
#[op_def("nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", plan, out = "out")]
pub fn nonzero_static(_: ...) -> Result<Tensor>;

#[op_plan(nonzero_static)]
fn nonzero_static_plan(this: &Tensor, size: i64) -> Result<Plan<()>, BadArgument> {
    if size < 0 {
        return Err(BadArgument::number("size", size, 0..));
    }
    let rank = i64::try_from(this.sizes().len()).unwrap_or(0);
    Ok(Plan::new((), [Spec::contiguous(DType::I64, &[size, rank])]))
}

/// [`nonzero`], as it is called elsewhere.
#[op_def("argwhere(Tensor self) -> Tensor")]
pub fn argwhere(this: &Tensor) -> Result<Tensor> {
    nonzero(this)
}

/// The rows of `weight` at these positions.
#[op_def(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn embedding(_: ...) -> Result<Tensor> {
    if weight.sizes().len() != 2 {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 2).into());
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
    plan,
    out = "out"
)]
pub fn embedding_dense_backward(_: ...) -> Result<Tensor>;

#[op_plan(embedding_dense_backward)]
fn embedding_dense_backward_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_index("indices", indices)?;
    if !grad_output.dtype().is_floating() {
        return Err(BadArgument::dtype("grad_output", grad_output.dtype(), DTypes::Floating));
    }
    if num_weights < 0 {
        return Err(BadArgument::number("num_weights", num_weights, 0..));
    }
    match grad_output.sizes().split_last() {
        Some((&width, rows)) if rows == indices.sizes() => {
            Ok(Plan::new((), [Spec::contiguous(grad_output.dtype(), &[num_weights, width])]))
        }
        _ => Err(BadArgument::sizes(
            "grad_output",
            grad_output.sizes(),
            format!("{:?} and one size more", indices.sizes()),
        )),
    }
}

/// For each position a row that is 1 there and 0 elsewhere.
#[op_def("one_hot(Tensor self, int num_classes=-1) -> Tensor", data_dependent, plan)]
pub fn one_hot(_: ...) -> Result<Tensor>;

#[op_plan(one_hot)]
fn one_hot_plan(this: &Tensor, num_classes: i64) -> Result<Plan<(), 0>, BadArgument> {
    if this.dtype() != DType::I64 {
        return Err(BadArgument::dtype("self", this.dtype(), DType::I64));
    }
    if num_classes < 1 && (num_classes != -1 || this.geometry().count() == 0) {
        let expected = "one or more, or -1 where `self` has elements";
        return Err(BadArgument::value("num_classes", num_classes, expected));
    }
    Ok(Plan::checked(()))
}

/// The error of an operator that another is made of, about the argument by the name that it has there.
pub(crate) fn renamed(error: Error, argument: &'static str) -> Error {
    let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
    match bad {
        Some(bad) => BadArgument { argument: argument.into(), ..bad.clone() }.into(),
        None => error,
    }
}
