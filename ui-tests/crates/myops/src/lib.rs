//! Operators in another crate than the test cases.
#![forbid(unsafe_code)]
#![warn(clippy::pedantic, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

/// Multiplies two tensors elementwise.
#[op_def("mymul(Tensor self, Tensor other) -> Tensor")]
pub fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// Multiplies a tensor with itself.
#[op_def("square(Tensor self) -> Tensor")]
pub fn square(this: &Tensor) -> Result<Tensor> {
    mymul(this, this)
}

/// Scales a tensor in place.
#[op_def("scale_(Tensor(a!) self, float by=2) -> Tensor(a!)")]
pub fn scale_(this: &mut Tensor, by: f64) -> Result<()>;

/// Adds several tensors.
#[op_def("total(Tensor[] tensors, float[]? weights=None) -> Tensor")]
pub fn total(tensors: &[Tensor], weights: Option<&[f64]>) -> Result<Tensor>;

/// Sums over dimensions.
#[op_def("sum.dim(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")]
pub fn sum_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor>;

/// Multiplies a tensor with an optional weight.
#[op_def("weighted(Tensor self, Tensor? weight=None) -> Tensor")]
pub fn weighted(this: &Tensor, weight: Option<&Tensor>) -> Result<Tensor>;

/// Splits a tensor into two halves.
#[op_def("halve(Tensor self, int dim) -> (Tensor, Tensor)")]
pub fn halve(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)>;

/// Reads a clock: an operator without tensor arguments.
#[op_def("now(str clock) -> float")]
pub fn now(clock: &str) -> Result<f64>;

/// Normalises the trailing dimensions.
#[op_def(
    "norm(Tensor input, SymInt[] sizes, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn norm(
    input: &Tensor,
    sizes: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// The input as rows of `columns` elements.
pub struct NormPlan {
    /// The number of elements in a row.
    pub columns: usize,
}

#[op_plan(norm)]
fn norm_plan(input: &Tensor, sizes: &[i64]) -> Result<Plan<NormPlan, 3>> {
    let like = Spec::contiguous(input.dtype(), input.sizes());
    Ok(Plan::new(NormPlan { columns: sizes.len() }, [like.clone(), like.clone(), like]))
}

/// Reverses the order of elements.
#[op_def("flip(Tensor self) -> Tensor", plan, inplace, out = "out")]
pub fn flip(this: &Tensor) -> Result<Tensor>;

#[op_plan(flip)]
fn flip_plan(this: &Tensor) -> Result<Plan<()>> {
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())]))
}
