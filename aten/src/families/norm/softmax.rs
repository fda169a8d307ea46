//! Softmax, log-softmax, and their gradients.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec, wrap_dim};

/// Computes `exp(self) / sum(exp(self))` along a dimension.
#[op_def("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", plan, out = "out")]
pub fn _softmax(_: ...) -> Result<Tensor>;

/// Computes the logarithm of softmax along a dimension.
#[op_def("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", plan, out = "out")]
pub fn _log_softmax(_: ...) -> Result<Tensor>;

/// Computes `exp(self) / sum(exp(self))` along a dimension. `self` is converted to `dtype` first, if it is given.
#[op_def("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", out = "int_out")]
pub fn softmax_int(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    _softmax(&cast_if_dtype_given(this, dtype)?, dim, false)
}

/// Computes the logarithm of softmax along a dimension. `self` is converted to `dtype` first, if it is given.
#[op_def("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", out = "int_out")]
pub fn log_softmax_int(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    _log_softmax(&cast_if_dtype_given(this, dtype)?, dim, false)
}

/// Another name of [`softmax_int`](fn@crate::softmax_int).
#[op_def("special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", calls = softmax_int)]
pub fn special_softmax(_: ...) -> Result<Tensor>;

/// Another name of [`log_softmax_int`](fn@crate::log_softmax_int).
#[op_def("special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", calls = log_softmax_int)]
pub fn special_log_softmax(_: ...) -> Result<Tensor>;

fn cast_if_dtype_given(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) => crate::to_dtype(this, dtype, false, false, None),
        None => Ok(this.clone()),
    }
}

/// Computes softmax along a dimension. The result is zero where all elements along the dimension are minus infinity.
#[op_def("_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", plan)]
pub fn _safe_softmax(_: ...) -> Result<Tensor>;

/// Computes the gradient of softmax from its result.
#[op_def("_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor", plan, out = "out"(grad_input))]
pub fn _softmax_backward_data(_: ...) -> Result<Tensor>;

/// Computes the gradient of the logarithm of softmax from its result.
#[op_def(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    plan,
    out = "out"
)]
pub fn _log_softmax_backward_data(_: ...) -> Result<Tensor>;

#[op_plan(_softmax)]
fn softmax_plan(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Plan<usize>, BadArgument> {
    softmax_plan_in_dtype(this, dim, half_to_float.then_some(DType::F32))
}

#[op_plan(_log_softmax)]
fn log_softmax_plan(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Plan<usize>, BadArgument> {
    softmax_plan_in_dtype(this, dim, half_to_float.then_some(DType::F32))
}

#[op_plan(_safe_softmax)]
fn safe_softmax_plan(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Plan<usize>, BadArgument> {
    softmax_plan_in_dtype(this, dim, dtype)
}

#[op_plan(_softmax_backward_data)]
fn softmax_backward_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    softmax_backward_plan_in_dtype(grad_output, output, dim, input_dtype)
}

#[op_plan(_log_softmax_backward_data)]
fn log_softmax_backward_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    softmax_backward_plan_in_dtype(grad_output, output, dim, input_dtype)
}

/// Returns the plan of a softmax. The plan's value is the dimension.
fn softmax_plan_in_dtype(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Plan<usize>, BadArgument> {
    let dim = wrap_dim("dim", dim, this.sizes().len())?;
    let dtype = dtype.unwrap_or_else(|| this.dtype());
    if !dtype.is_floating() {
        return Err(BadArgument::dtype("self", dtype, DTypes::Floating));
    }
    Ok(Plan::new(dim, [Spec::contiguous(dtype, this.sizes())]))
}

/// Returns the plan of the gradient of a softmax. The plan's value is the dimension.
fn softmax_backward_plan_in_dtype(
    grad_output: &Tensor,
    output: &Tensor,
    dim: i64,
    input_dtype: DType,
) -> Result<Plan<usize>, BadArgument> {
    if grad_output.sizes() != output.sizes() {
        return Err(BadArgument::sizes("grad_output", grad_output.sizes(), output.sizes()).like("output"));
    }
    let dim = wrap_dim("dim", dim, output.sizes().len())?;
    for (name, dtype) in [("output", output.dtype()), ("input_dtype", input_dtype)] {
        if !dtype.is_floating() {
            return Err(BadArgument::dtype(name, dtype, DTypes::Floating));
        }
    }
    Ok(Plan::new(dim, [Spec::contiguous(input_dtype, output.sizes())]))
}
