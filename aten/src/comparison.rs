//! Elementwise comparison.

use dispatch_runtime::prelude::*;

/// `self == other`
#[op_def("eq.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "Tensor_out")]
pub fn eq(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self == other`, of a number
#[op_def("eq.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn eq_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    eq(this, &Tensor::number(other))
}

/// `self == other`, of a number, in place
#[op_def("eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn eq__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    eq_(this, &Tensor::number(other))
}

/// `self == other`, of a number, into a tensor of the caller's
#[op_def("eq.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn eq_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    eq_tensor_out(this, &Tensor::number(other), out)
}

/// `self != other`
#[op_def("ne.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "Tensor_out")]
pub fn ne(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self != other`, of a number
#[op_def("ne.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn ne_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    ne(this, &Tensor::number(other))
}

/// `self != other`, of a number, in place
#[op_def("ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn ne__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    ne_(this, &Tensor::number(other))
}

/// `self != other`, of a number, into a tensor of the caller's
#[op_def("ne.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn ne_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    ne_tensor_out(this, &Tensor::number(other), out)
}

/// `self < other`
#[op_def("lt.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "Tensor_out")]
pub fn lt(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self < other`, of a number
#[op_def("lt.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn lt_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    lt(this, &Tensor::number(other))
}

/// `self < other`, of a number, in place
#[op_def("lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn lt__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    lt_(this, &Tensor::number(other))
}

/// `self < other`, of a number, into a tensor of the caller's
#[op_def("lt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn lt_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    lt_tensor_out(this, &Tensor::number(other), out)
}

/// `self <= other`
#[op_def("le.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "Tensor_out")]
pub fn le(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self <= other`, of a number
#[op_def("le.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn le_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    le(this, &Tensor::number(other))
}

/// `self <= other`, of a number, in place
#[op_def("le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn le__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    le_(this, &Tensor::number(other))
}

/// `self <= other`, of a number, into a tensor of the caller's
#[op_def("le.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn le_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    le_tensor_out(this, &Tensor::number(other), out)
}

/// `self > other`
#[op_def("gt.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "Tensor_out")]
pub fn gt(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self > other`, of a number
#[op_def("gt.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn gt_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    gt(this, &Tensor::number(other))
}

/// `self > other`, of a number, in place
#[op_def("gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn gt__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    gt_(this, &Tensor::number(other))
}

/// `self > other`, of a number, into a tensor of the caller's
#[op_def("gt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn gt_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    gt_tensor_out(this, &Tensor::number(other), out)
}

/// `self >= other`
#[op_def("ge.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "Tensor_out")]
pub fn ge(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self >= other`, of a number
#[op_def("ge.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn ge_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    ge(this, &Tensor::number(other))
}

/// `self >= other`, of a number, in place
#[op_def("ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn ge__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    ge_(this, &Tensor::number(other))
}

/// `self >= other`, of a number, into a tensor of the caller's
#[op_def("ge.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn ge_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    ge_tensor_out(this, &Tensor::number(other), out)
}
