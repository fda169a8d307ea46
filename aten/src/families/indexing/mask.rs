//! Elements that a mask selects, and the indices of nonzero elements.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec, broadcast};

use crate::new_zero_gradient;
use crate::prelude::*;

/// The elements at which the mask is true, as a vector.
#[op_def("masked_select(Tensor self, Tensor mask) -> Tensor", data_dependent, plan, float8, out = "out")]
pub fn masked_select(_: ...) -> Result<Tensor>;

/// Returns the plan of [`masked_select`]. The plan's value is the sizes to which the tensor and the mask broadcast.
#[op_plan(masked_select)]
fn masked_select_plan(this: &Tensor, mask: &Tensor) -> Result<Plan<Dims, 0>, BadArgument> {
    mask_broadcast_sizes(this, mask).map(Plan::without_outputs)
}

/// Checks a mask, and returns the sizes to which the tensor and the mask broadcast.
fn mask_broadcast_sizes(this: &Tensor, mask: &Tensor) -> Result<Dims, BadArgument> {
    if mask.dtype() != DType::Bool {
        return Err(BadArgument::dtype("mask", mask.dtype(), DType::Bool));
    }
    broadcast([this.sizes(), mask.sizes()]).map_err(|error| BadArgument::new("mask", error.problem))
}

/// `self`, with the elements of `source` written, in order, where the mask is true.
#[op_def("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", plan, inplace, out = "out")]
pub fn masked_scatter(_: ...) -> Result<Tensor>;

#[op_plan(masked_scatter)]
fn masked_scatter_plan(this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Plan<()>, BadArgument> {
    let both = mask_broadcast_sizes(this, mask)?;
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), this.dtype()).like("self"));
    }
    let is_whole = this.sizes() == mask.sizes();
    let spec = if is_whole { Spec::like(this, this.dtype()) } else { Spec::contiguous(this.dtype(), &both) };
    Ok(Plan::new((), [spec]))
}

/// The indices of the nonzero elements: a matrix with a row for each of them.
#[op_def("nonzero(Tensor self) -> Tensor", data_dependent, out = "out")]
pub fn nonzero(_: ...) -> Result<Tensor>;

/// The first `size` rows of [`nonzero`], padded with rows of `fill_value` if there are fewer.
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

/// Another name of [`nonzero`].
#[op_def("argwhere(Tensor self) -> Tensor")]
pub fn argwhere(this: &Tensor) -> Result<Tensor> {
    nonzero(this)
}

/// The gradient of [`masked_select`](crate::masked_select).
#[op_def("masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor")]
pub fn masked_select_backward(grad: &Tensor, input: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let sizes = broadcast([input.sizes(), mask.sizes()]).map_err(|error| BadArgument::new("mask", error.problem))?;
    masked_scatter(&new_zero_gradient(grad, &sizes)?, mask, grad)
}

/// The indices of the nonzero elements: a vector for each dimension.
#[op_def("nonzero_numpy(Tensor self) -> Tensor[]")]
pub fn nonzero_numpy(this: &Tensor) -> Result<Vec<Tensor>> {
    let this = if this.sizes().is_empty() { this.unsqueeze(0)? } else { this.clone() };
    this.nonzero()?.unbind(1)
}

/// The indices at which the condition is true: a vector for each dimension. Another name of [`nonzero_numpy`].
#[op_def("where(Tensor condition) -> Tensor[]")]
pub fn r#where(condition: &Tensor) -> Result<Vec<Tensor>> {
    nonzero_numpy(condition)
}
