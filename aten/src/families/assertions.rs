//! Assertions of exported programs: about elements, scalars and metadata.
//!
//! A failed assertion is the error [`AssertionFailed`], or the error of the argument with the wrong metadata. The functional variants take
//! and return a token, so that a program orders its assertions by data flow.

use std::fmt;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Layout, MemoryFormat};

use super::indexing::is_nonzero_scalar;

/// The exported operators of this family. See the family `indexing`.
pub(crate) mod operators {
    pub use super::*;
}

/// The error of an assertion whose condition is false.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_runtime::prelude::*;
///
/// let error = aten::_assert_scalar(false.into(), "the batch is empty").unwrap_err();
/// let failed = std::error::Error::source(&error).unwrap();
/// assert_eq!(failed.downcast_ref(), Some(&aten::AssertionFailed { message: "the batch is empty".into() }));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssertionFailed {
    /// The program's message, or a default message if that is empty.
    pub message: String,
}

impl fmt::Display for AssertionFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AssertionFailed {}

/// Returns an error with the program's message if the condition of an assertion is false.
fn check_assertion(condition: bool, message: &str) -> Result<()> {
    if condition {
        return Ok(());
    }
    let message = if message.is_empty() { "an assertion of the program failed" } else { message };
    Err(Error::kernel(AssertionFailed { message: message.to_owned() }))
}

/// Asserts that the only element of a tensor is not zero.
#[op_def("_assert_async(Tensor self) -> ()", body = CompositeExplicitAutograd)]
pub fn _assert_async(this: &Tensor) -> Result<()> {
    check_assertion(crate::is_nonzero(this)?, "the asserted tensor is zero")
}

/// Asserts that the only element of a tensor is not zero. The error is `assert_msg`.
#[op_def("_assert_async.msg(Tensor self, str assert_msg) -> ()", body = CompositeExplicitAutograd)]
pub fn _assert_async_msg(this: &Tensor, assert_msg: &str) -> Result<()> {
    check_assertion(crate::is_nonzero(this)?, assert_msg)
}

/// On Meta there are no elements, so the assertion holds.
#[op_meta(_assert_async)]
fn assert_async_meta(_: ...) -> Result<()> {
    Ok(())
}

#[op_meta(_assert_async_msg)]
fn assert_async_msg_meta(_: ...) -> Result<()> {
    Ok(())
}

/// Asserts that the only element of a tensor is not zero, and returns a copy of the token.
#[op_def(
    "_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn _functional_assert_async_msg(this: &Tensor, assert_msg: &str, dep_token: &Tensor) -> Result<Tensor> {
    check_assertion(crate::is_nonzero(this)?, assert_msg)?;
    crate::clone(dep_token, None)
}

#[op_meta(_functional_assert_async_msg)]
fn functional_assert_async_msg_meta(_: ...) -> Result<Tensor> {
    crate::clone(dep_token, None)
}

/// Asserts that a scalar is not zero. The error is `assert_msg`.
#[op_def("_assert_scalar(Scalar self, str assert_msg) -> ()")]
pub fn _assert_scalar(this: Scalar, assert_msg: &str) -> Result<()> {
    check_assertion(is_nonzero_scalar(this), assert_msg)
}

/// Asserts that a scalar is not zero, and returns a copy of the token.
#[op_def("_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor")]
pub fn _functional_assert_scalar(this: Scalar, assert_msg: &str, dep_token: &Tensor) -> Result<Tensor> {
    check_assertion(is_nonzero_scalar(this), assert_msg)?;
    crate::clone(dep_token, None)
}

/// Asserts that an integer, or the integer part of a number, is between `min` and `max`, both included.
#[op_def("sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()")]
pub fn sym_constrain_range(size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
    if size.to_f64().is_none() {
        return Err(BadArgument::value("size", "complex", "a real number").into());
    }
    let number = size.to_i64();
    let (least, greatest) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
    if least > greatest {
        return Err(BadArgument::number("max", greatest, least..).like("min").into());
    }
    if !(least..=greatest).contains(&number) {
        return Err(BadArgument::number("size", number, least..=greatest).into());
    }
    Ok(())
}

/// Asserts that the size of a dimension is between `min`, by default 0, and `max`, both included.
#[op_def("sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()")]
pub fn sym_constrain_range_for_size(size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
    if let Some(max) = max.filter(|max| *max <= 2) {
        return Err(BadArgument::number("max", max, 3..).because("sizes 0 and 1 are special cases of programs").into());
    }
    sym_constrain_range(size, Some(min.unwrap_or(0)), max)
}

/// Asserts that an integer is between `min` and `max`, and returns a copy of the token.
#[op_def("_functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor")]
pub fn _functional_sym_constrain_range(
    size: Scalar,
    min: Option<i64>,
    max: Option<i64>,
    dep_token: &Tensor,
) -> Result<Tensor> {
    sym_constrain_range(size, min, max)?;
    crate::clone(dep_token, None)
}

/// Asserts that the size of a dimension is between `min` and `max`, and returns a copy of the token.
#[op_def("_functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor")]
pub fn _functional_sym_constrain_range_for_size(
    size: Scalar,
    min: Option<i64>,
    max: Option<i64>,
    dep_token: &Tensor,
) -> Result<Tensor> {
    sym_constrain_range_for_size(size, min, max)?;
    crate::clone(dep_token, None)
}

/// Returns a token for assertions: a tensor without dimensions, with an arbitrary element.
#[op_def(
    "_make_dep_token(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)]
pub fn _make_dep_token(
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    crate::empty_memory_format(&[], dtype, layout, device, pin_memory, memory_format)
}

/// Asserts that a tensor has the given metadata. Metadata that is `None` is not checked.
#[op_def(
    "_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _assert_tensor_metadata(
    a: &Tensor,
    size: Option<&[i64]>,
    stride: Option<&[i64]>,
    dtype: Option<DType>,
    device: Option<Device>,
    layout: Option<Layout>,
) -> Result<()> {
    if let Some(size) = size.filter(|size| *size != a.sizes()) {
        return Err(BadArgument::sizes("a", a.sizes(), size).into());
    }
    if let Some(stride) = stride.filter(|stride| *stride != a.strides()) {
        return Err(BadArgument::value("a", format!("strides {:?}", a.strides()), format!("strides {stride:?}")).into());
    }
    if let Some(dtype) = dtype.filter(|dtype| *dtype != a.dtype()) {
        return Err(BadArgument::dtype("a", a.dtype(), dtype).into());
    }
    if let Some(device) = device.filter(|device| *device != a.device()) {
        return Err(
            BadArgument::value("a", format!("a tensor on {}", a.device()), format!("a tensor on {device}")).into()
        );
    }
    if let Some(layout) = layout.filter(|layout| *layout != Layout::Strided) {
        return Err(
            BadArgument::value("a", format!("a tensor with layout {}", Layout::Strided), layout.to_string()).into()
        );
    }
    Ok(())
}
