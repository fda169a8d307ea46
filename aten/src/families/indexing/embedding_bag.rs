//! `embedding_bag`: sums, means and maxima over bags of embedding rows.
//!
//! A bag is a range of `indices`; `offsets` has the start of each bag.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Sizes, Spec};

use crate::words::impl_words;
use crate::{arange, bucketize, check_index_dtype, sub_scalar};

/// The reduction of the rows of a bag.
///
/// ```
/// assert_eq!("max".parse(), Ok(aten::BagMode::Max));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BagMode {
    /// The sum of the rows.
    Sum,
    /// The mean of the rows. This is the default.
    #[default]
    Mean,
    /// The maximum of each column.
    Max,
}

impl_words! { BagMode, "mode": Sum = "sum", Mean = "mean", Max = "max", }

impl BagMode {
    /// Returns PyTorch's number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Sum => 0,
            Self::Mean => 1,
            Self::Max => 2,
        }
    }

    fn from_number(mode: i64) -> Result<Self, BadArgument> {
        match mode {
            0 => Ok(Self::Sum),
            1 => Ok(Self::Mean),
            2 => Ok(Self::Max),
            other => Err(BadArgument::number("mode", other, 0..=2).because("0 is sum, 1 is mean and 2 is max")),
        }
    }
}

macro_rules! define_embedding_bags {
    ($($name:ident $plan:ident $forward_only:literal $schema:literal;)*) => {$(
        /// Reduces the embedding rows of each bag to one row.
        /// Returns the reduced rows, the bag of each index, the size of each bag, and the indices of the maxima.
        #[op_def($schema, plan, out = "out")]
        pub fn $name(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)>;

        #[op_plan($name)]
        fn $plan(_: ...) -> Result<Plan<BagMode, 4>, BadArgument> {
            let last = (include_last_offset, $forward_only);
            embedding_bag_plan([weight, indices, offsets], mode, per_sample_weights, last, padding_idx)
        }
    )*};
}

define_embedding_bags! {
    _embedding_bag _embedding_bag_plan false
    "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)";
    _embedding_bag_forward_only _embedding_bag_forward_only_plan true
    "_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)";
}

/// [`_embedding_bag`] without padding.
#[op_def(
    "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
    check = _embedding_bag::plan(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, -1)
)]
pub fn embedding_bag(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let (scale, last) = (scale_grad_by_freq, include_last_offset);
    _embedding_bag(weight, indices, offsets, scale, mode, sparse, per_sample_weights, last, -1)
}

/// [`_embedding_bag`] that ignores the row `padding_idx`. A negative `padding_idx` counts from the end.
#[op_def(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
    check = _embedding_bag::plan(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, -1)
)]
pub fn embedding_bag_padding_idx(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let rows = weight.sizes().first().copied().unwrap_or(0);
    let padding = match padding_idx {
        Some(index) if (-rows..rows).contains(&index) => index.rem_euclid(rows),
        Some(index) => {
            return Err(BadArgument::number("padding_idx", index, -rows..=rows - 1).into());
        }
        None => -1,
    };
    let (scale, last) = (scale_grad_by_freq, include_last_offset);
    _embedding_bag(weight, indices, offsets, scale, mode, sparse, per_sample_weights, last, padding)
}

/// The gradient of [`_embedding_bag`] for its table `weight`.
#[op_def(
    "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor"
)]
pub fn _embedding_bag_backward(_: ...) -> Result<Tensor> {
    if sparse {
        return Err(BadArgument::number("sparse", true, false).because("sparse gradients are not supported").into());
    }
    let bags = bag_of_each_index(indices, offsets, offset2bag)?;
    _embedding_bag_dense_backward(
        grad,
        indices,
        &bags,
        bag_size,
        maximum_indices,
        num_weights,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        padding_idx,
    )
}

/// Returns the bag of each index. It is computed from `offsets` if [`_embedding_bag`] left `offset2bag` empty.
fn bag_of_each_index(indices: &Tensor, offsets: &Tensor, offset2bag: &Tensor) -> Result<Tensor> {
    if offset2bag.geometry().count() == indices.geometry().count() {
        return Ok(offset2bag.clone());
    }
    let count = Scalar::Int(indices.geometry().count());
    let index_count = arange(count, Some(DType::I64), None, Some(indices.device()), None)?;
    sub_scalar(&bucketize(&index_count, offsets, false, true)?, 1.into(), 1.into())
}

/// The gradient of [`_embedding_bag`] for its table `weight`, given the bag of each index.
#[op_def(
    "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    plan,
    out = "out"
)]
pub fn _embedding_bag_dense_backward(_: ...) -> Result<Tensor>;

#[op_plan(_embedding_bag_dense_backward)]
fn _embedding_bag_dense_backward_plan(_: ...) -> Result<Plan<BagMode>, BadArgument> {
    let mode = BagMode::from_number(mode)?;
    let &[bags, width] = grad.sizes() else {
        return Err(BadArgument::rank("grad", grad.sizes().len(), 2));
    };
    if num_weights < 0 {
        return Err(BadArgument::number("num_weights", num_weights, 0..));
    }
    check_index_vector("indices", indices)?;
    check_index_vector("offset2bag", offset2bag)?;
    if mode != BagMode::Max && offset2bag.sizes() != indices.sizes() {
        return Err(BadArgument::sizes("offset2bag", offset2bag.sizes(), indices.sizes()).like("indices"));
    }
    if mode != BagMode::Sum && check_index_vector("bag_size", bag_size)? != bags {
        return Err(BadArgument::sizes("bag_size", bag_size.sizes(), &[bags][..]).because("each bag has one"));
    }
    if mode == BagMode::Max && maximum_indices.sizes() != grad.sizes() {
        return Err(BadArgument::sizes("maximum_indices", maximum_indices.sizes(), grad.sizes()).like("grad"));
    }
    if let Some(weights) = per_sample_weights {
        check_per_sample_weights(weights, grad.dtype(), indices, mode)?;
    }
    Ok(Plan::new(mode, [Spec::contiguous(grad.dtype(), &[num_weights, width])]))
}

/// The gradient of [`_embedding_bag`] for `per_sample_weights`.
#[op_def(
    "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
    plan,
    out = "out"
)]
pub fn _embedding_bag_per_sample_weights_backward(_: ...) -> Result<Tensor>;

#[op_plan(_embedding_bag_per_sample_weights_backward)]
fn per_sample_weights_backward_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    if BagMode::from_number(mode)? != BagMode::Sum {
        return Err(BadArgument::number("mode", mode, 0).because("only sums have weights"));
    }
    let count = check_index_vector("indices", indices)?;
    match (grad.sizes(), weight.sizes()) {
        (&[_, width], &[_, other]) if width == other => Ok(Plan::new((), [Spec::contiguous(grad.dtype(), &[count])])),
        (_, wanted) => Err(BadArgument::sizes(
            "grad",
            grad.sizes(),
            Sizes::Dim { dim: 1, size: wanted.last().copied().unwrap_or(0).into() },
        )
        .like("weight")),
    }
}

#[op_impl(_embedding_bag_per_sample_weights_backward, CompositeExplicitAutograd)]
fn per_sample_weights_backward_composite(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let bags = crate::index_select(grad, 0, &bag_of_each_index(indices, offsets, offset2bag)?)?;
    let rows = crate::index_select(weight, 0, indices)?;
    let each = crate::sum_dim_intlist(&crate::mul(&bags, &rows)?, Some(&[1]), false, Some(out.dtype()))?;
    crate::masked_fill_scalar_out(&each, &crate::eq_scalar(indices, padding_idx.into())?, 0.into(), out)
}

/// Checks the arguments of [`_embedding_bag`] and returns its plan. For sums, bag sizes are not computed; with `forward_only`, their output
/// still has the length of `offsets`. A plain sum (without padding, in `f32` or a half dtype) also leaves the bags of the indices empty.
fn embedding_bag_plan(
    [weight, indices, offsets]: [&Tensor; 3],
    mode: i64,
    per_sample_weights: Option<&Tensor>,
    (include_last_offset, forward_only): (bool, bool),
    padding_idx: i64,
) -> Result<Plan<BagMode, 4>, BadArgument> {
    let mode = BagMode::from_number(mode)?;
    let &[_, width] = weight.sizes() else {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 2));
    };
    if !weight.dtype().is_floating() {
        return Err(BadArgument::dtype("weight", weight.dtype(), DTypes::Floating));
    }
    let index_count = check_index_vector("indices", indices)?;
    let count = check_index_vector("offsets", offsets)?;
    if include_last_offset && count < 1 {
        return Err(
            BadArgument::element_count("offsets", offsets.sizes(), 1..).because("`include_last_offset` is true")
        );
    }
    if let Some(weights) = per_sample_weights {
        check_per_sample_weights(weights, weight.dtype(), indices, mode)?;
    }
    let is_plain_sum =
        mode == BagMode::Sum && padding_idx < 0 && matches!(weight.dtype(), DType::F32 | DType::F16 | DType::BF16);
    let dtype = if [indices, offsets].iter().any(|list| list.dtype() == DType::I64) { DType::I64 } else { DType::I32 };
    let bags = count - i64::from(include_last_offset);
    let counts = if mode == BagMode::Sum && forward_only { count } else { bags };
    let list = |size: i64| Spec::contiguous(dtype, &[size]);
    let max_indices = if mode == BagMode::Max { Spec::contiguous(dtype, &[bags, width]) } else { list(counts) };
    let out = Spec::contiguous(weight.dtype(), &[bags, width]);
    Ok(Plan::new(mode, [out, list(if is_plain_sum { 0 } else { index_count }), list(counts), max_indices]))
}

/// Checks a vector of indices and returns its length.
fn check_index_vector(argument: &'static str, list: &Tensor) -> Result<i64, BadArgument> {
    check_index_dtype(argument, list)?;
    match list.sizes() {
        &[count] => Ok(count),
        more => Err(BadArgument::rank(argument, more.len(), 1)),
    }
}

fn check_per_sample_weights(
    weights: &Tensor,
    dtype: DType,
    indices: &Tensor,
    mode: BagMode,
) -> Result<(), BadArgument> {
    if mode != BagMode::Sum {
        return Err(BadArgument::value("per_sample_weights", "a tensor", "left out, as only sums have weights"));
    }
    if weights.sizes() != indices.sizes() {
        return Err(BadArgument::sizes("per_sample_weights", weights.sizes(), indices.sizes()).like("indices"));
    }
    if weights.dtype() != dtype {
        return Err(
            BadArgument::dtype("per_sample_weights", weights.dtype(), dtype).because("the rows of the table are")
        );
    }
    Ok(())
}
