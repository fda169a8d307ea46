//! Segments of a dimension, each reduced to one element.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec, wrap_dim};

/// What becomes of the elements of each segment, of which the lengths or the ends are given.
#[op_def(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    out = "out"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn segment_reduce(
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    indices: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    r#unsafe: bool,
    initial: Option<Scalar>,
) -> Result<Tensor>;

#[op_meta(segment_reduce)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn segment_reduce_meta(
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    indices: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    _unsafe: bool,
    _initial: Option<Scalar>,
) -> Result<Tensor> {
    refuse_indices(indices)?;
    Segments::new(data, reduce, lengths, offsets, axis)?.spec(data).on(Device::META)
}

/// The gradient of [`segment_reduce`]; elements that all are the largest or the smallest share it.
#[op_def(
    "_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
    out = "out"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn _segment_reduce_backward(
    grad: &Tensor,
    output: &Tensor,
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor>;

#[op_meta(_segment_reduce_backward)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn _segment_reduce_backward_meta(
    grad: &Tensor,
    output: &Tensor,
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    _initial: Option<Scalar>,
) -> Result<Tensor> {
    Segments::new(data, reduce, lengths, offsets, axis)?.check_results(grad, output, data)?;
    Spec::contiguous(data.dtype(), data.sizes()).on(Device::META)
}

/// Refuses segments that are told by the number of each element's.
///
/// # Errors
///
/// Where they are, as in PyTorch.
pub fn refuse_indices(indices: Option<&Tensor>) -> Result<(), BadArgument> {
    let expected = "none: give `lengths` or `offsets`";
    indices.map_or(Ok(()), |_| Err(BadArgument::value("indices", "a tensor", expected)))
}

/// What becomes of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segment {
    /// The sum of its elements.
    Sum,
    /// Their mean.
    Mean,
    /// Their product.
    Product,
    /// The largest.
    Most,
    /// The smallest.
    Least,
}

/// How a dimension is cut.
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a> {
    /// What becomes of the segments.
    pub reduce: Segment,
    /// The dimension.
    pub axis: usize,
    /// How many segments there are along it.
    pub count: i64,
    /// What tells where they are, and whether by their ends.
    pub told: (&'a Tensor, bool),
}

impl<'a> Segments<'a> {
    /// What the arguments say.
    ///
    /// # Errors
    ///
    /// Where they do not go together.
    pub fn new(
        data: &Tensor,
        reduce: &str,
        lengths: Option<&'a Tensor>,
        offsets: Option<&'a Tensor>,
        axis: i64,
    ) -> Result<Self, BadArgument> {
        let reduce = match reduce {
            "sum" => Segment::Sum,
            "mean" => Segment::Mean,
            "prod" => Segment::Product,
            "max" | "amax" => Segment::Most,
            "min" | "amin" => Segment::Least,
            other => return Err(BadArgument::value("reduce", other, "`sum`, `mean`, `prod`, `max` or `min`")),
        };
        if data.sizes().is_empty() {
            return Err(BadArgument::rank("data", 0, "at least 1"));
        }
        if !data.dtype().is_floating() {
            return Err(BadArgument::dtype("data", data.dtype(), "floating"));
        }
        let axis = wrap_dim("axis", axis, data.sizes().len())?;
        let (name, told, by_ends) = match (lengths, offsets) {
            (_, Some(offsets)) => ("offsets", offsets, true),
            (Some(lengths), None) => ("lengths", lengths, false),
            (None, None) => return Err(BadArgument::value("lengths", "none", "given where `offsets` is not")),
        };
        crate::check_index(name, told)?;
        match told.sizes() {
            [outer @ .., count] if *outer == data.sizes()[..axis] && *count >= i64::from(by_ends) => {
                Ok(Self { reduce, axis, count: count - i64::from(by_ends), told: (told, by_ends) })
            }
            sizes => {
                let expected = format!("{:?}, and one size more", &data.sizes()[..axis]);
                Err(BadArgument::sizes(name, sizes, expected))
            }
        }
    }

    /// What the result looks like.
    #[must_use]
    pub fn spec(&self, data: &Tensor) -> Spec {
        let mut sizes = Dims::from_slice(data.sizes());
        sizes[self.axis] = self.count;
        Spec::contiguous(data.dtype(), &sizes)
    }

    /// Refuses a gradient and a result of other sizes.
    ///
    /// # Errors
    ///
    /// Where there is one.
    pub fn check_results(&self, grad: &Tensor, output: &Tensor, data: &Tensor) -> Result<(), BadArgument> {
        let spec = self.spec(data);
        for (name, tensor) in [("grad", grad), ("output", output)] {
            if tensor.sizes() != spec.geometry.sizes() {
                return Err(BadArgument::sizes(name, tensor.sizes(), format!("{:?}", spec.geometry.sizes())));
            }
            if tensor.dtype() != data.dtype() {
                return Err(BadArgument::dtype(name, tensor.dtype(), data.dtype().to_string()));
            }
        }
        Ok(())
    }
}
