//! Elementwise comparison.

use dispatch_runtime::prelude::*;

/// `self == other`
#[op_def("eq.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), inplace, out = "Tensor_out")]
pub fn eq(_: ...) -> Result<Tensor>;

/// `self == other`, of a number
#[op_def("eq.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = eq(this, &Tensor::number(other)))]
pub fn eq_scalar(_: ...) -> Result<Tensor>;

/// `self != other`
#[op_def("ne.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), inplace, out = "Tensor_out")]
pub fn ne(_: ...) -> Result<Tensor>;

/// `self != other`, of a number
#[op_def("ne.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = ne(this, &Tensor::number(other)))]
pub fn ne_scalar(_: ...) -> Result<Tensor>;

/// `self < other`
#[op_def("lt.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn lt(_: ...) -> Result<Tensor>;

/// `self < other`, of a number
#[op_def("lt.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = lt(this, &Tensor::number(other)))]
pub fn lt_scalar(_: ...) -> Result<Tensor>;

/// `self <= other`
#[op_def("le.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn le(_: ...) -> Result<Tensor>;

/// `self <= other`, of a number
#[op_def("le.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = le(this, &Tensor::number(other)))]
pub fn le_scalar(_: ...) -> Result<Tensor>;

/// `self > other`
#[op_def("gt.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn gt(_: ...) -> Result<Tensor>;

/// `self > other`, of a number
#[op_def("gt.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = gt(this, &Tensor::number(other)))]
pub fn gt_scalar(_: ...) -> Result<Tensor>;

/// `self >= other`
#[op_def("ge.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn ge(_: ...) -> Result<Tensor>;

/// `self >= other`, of a number
#[op_def("ge.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = ge(this, &Tensor::number(other)))]
pub fn ge_scalar(_: ...) -> Result<Tensor>;
