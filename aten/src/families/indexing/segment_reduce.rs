//! `segment_reduce`: reduction of each segment of a dimension to one element, and its gradient.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec, wrap_dim};

use crate::ReductionType;

/// Reduces each segment of the dimension `axis` to one element. `lengths` or `offsets` gives the segments.
#[op_def(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn segment_reduce(_: ...) -> Result<Tensor>;

#[op_plan(segment_reduce)]
fn segment_reduce_plan<'a>(
    data: &Tensor,
    reduce: &str,
    lengths: Option<&'a Tensor>,
    indices: Option<&Tensor>,
    offsets: Option<&'a Tensor>,
    axis: i64,
) -> Result<Plan<SegmentReducePlan<'a>>, BadArgument> {
    if indices.is_some() {
        return Err(BadArgument::value("indices", "a tensor", "left out; give `lengths` or `offsets` instead"));
    }
    shared_segment_reduce_plan(data, reduce, lengths, offsets, axis)
}

/// The gradient of [`segment_reduce`]. If several elements are equal to the maximum or minimum, they share the gradient equally.
#[op_def(
    "_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn _segment_reduce_backward(_: ...) -> Result<Tensor>;

#[op_plan(_segment_reduce_backward)]
fn segment_reduce_backward_plan<'a>(
    grad: &Tensor,
    output: &Tensor,
    data: &Tensor,
    reduce: &str,
    lengths: Option<&'a Tensor>,
    offsets: Option<&'a Tensor>,
    axis: i64,
) -> Result<Plan<SegmentReducePlan<'a>>, BadArgument> {
    let Plan { value, outputs: [spec] } = shared_segment_reduce_plan(data, reduce, lengths, offsets, axis)?;
    for (name, tensor) in [("grad", grad), ("output", output)] {
        if tensor.sizes() != spec.geometry.sizes() {
            return Err(BadArgument::sizes(name, tensor.sizes(), spec.geometry.sizes()));
        }
        if tensor.dtype() != data.dtype() {
            return Err(BadArgument::dtype(name, tensor.dtype(), data.dtype()));
        }
    }
    Ok(Plan::new(value, [Spec::contiguous(data.dtype(), data.sizes())]))
}

/// The plan of [`segment_reduce`]: the segments of the dimension, and the reduction.
#[derive(Clone, Copy, Debug)]
pub struct SegmentReducePlan<'a> {
    /// The reduction of each segment.
    pub reduce: ReductionType,
    /// The dimension that is divided into segments.
    pub axis: usize,
    /// The number of segments.
    pub count: i64,
    /// The tensor that gives the segments. It has their offsets if the flag is true, else their lengths.
    pub boundaries: (&'a Tensor, bool),
}

/// Checks the arguments of a segment reduction and returns its plan.
fn shared_segment_reduce_plan<'a>(
    data: &Tensor,
    reduce: &str,
    lengths: Option<&'a Tensor>,
    offsets: Option<&'a Tensor>,
    axis: i64,
) -> Result<Plan<SegmentReducePlan<'a>>, BadArgument> {
    let reduce = match reduce {
        "sum" => ReductionType::Sum,
        "mean" => ReductionType::Mean,
        "prod" => ReductionType::Product,
        "max" | "amax" => ReductionType::Max,
        "min" | "amin" => ReductionType::Min,
        other => return Err(BadArgument::keyword("reduce", other, &["sum", "mean", "prod", "max", "min"])),
    };
    if data.sizes().is_empty() {
        return Err(BadArgument::rank("data", 0, 1..));
    }
    if !data.dtype().is_floating() {
        return Err(BadArgument::dtype("data", data.dtype(), DTypes::Floating));
    }
    let axis = wrap_dim("axis", axis, data.sizes().len())?;
    let (name, boundaries, are_offsets) = match (lengths, offsets) {
        (_, Some(offsets)) => ("offsets", offsets, true),
        (Some(lengths), None) => ("lengths", lengths, false),
        (None, None) => return Err(BadArgument::value("lengths", "left out", "given if `offsets` is left out")),
    };
    crate::check_index_dtype(name, boundaries)?;
    match boundaries.sizes() {
        [outer @ .., count] if *outer == data.sizes()[..axis] && *count >= i64::from(are_offsets) => {
            let count = count - i64::from(are_offsets);
            let mut sizes = Dims::from_slice(data.sizes());
            sizes[axis] = count;
            let value = SegmentReducePlan { reduce, axis, count, boundaries: (boundaries, are_offsets) };
            Ok(Plan::new(value, [Spec::contiguous(data.dtype(), &sizes)]))
        }
        sizes => {
            let expected = format!("the sizes {:?} and one more size", &data.sizes()[..axis]);
            Err(BadArgument::sizes(name, sizes, expected))
        }
    }
}
