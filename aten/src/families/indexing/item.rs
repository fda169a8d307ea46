//! Reading of the only element of a tensor as a scalar.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

/// The first element of a tensor as a scalar.
#[op_def("_local_scalar_dense(Tensor self) -> Scalar", data_dependent)]
pub fn _local_scalar_dense(_: ...) -> Result<Scalar>;

/// The only element of a tensor as a scalar.
#[op_def("item(Tensor self) -> Scalar")]
pub fn item(this: &Tensor) -> Result<Scalar> {
    check_one_element(this)?;
    _local_scalar_dense(this)
}

/// Whether the only element of a tensor is nonzero.
#[op_def("is_nonzero(Tensor self) -> bool")]
pub fn is_nonzero(this: &Tensor) -> Result<bool> {
    check_one_element(this)?;
    Ok(is_nonzero_scalar(_local_scalar_dense(this)?))
}

/// Returns whether a scalar is not zero.
pub(crate) fn is_nonzero_scalar(scalar: Scalar) -> bool {
    match scalar {
        Scalar::Bool(value) => value,
        Scalar::Int(value) => value != 0,
        Scalar::Float(value) => value != 0.0,
        Scalar::Complex(value) => value.re != 0.0 || value.im != 0.0,
    }
}

fn check_one_element(this: &Tensor) -> Result<(), BadArgument> {
    if this.geometry().count() == 1 { Ok(()) } else { Err(BadArgument::element_count("self", this.sizes(), 1)) }
}
