//! The dtype by which a kernel for several dtypes chooses its code.

use crate::error::{Error, ErrorKind};
use crate::name::in_schema;
use crate::operator::Operation;
use crate::scalar::DType;
use crate::tensor::Tensor;

/// The dtype that a kernel over several is chosen by.
pub trait HasDType {
    /// None for a list without tensors, or a tensor that was not given.
    fn dtype_of(&self) -> Option<DType>;
}

impl HasDType for &Tensor {
    fn dtype_of(&self) -> Option<DType> {
        Some(self.dtype())
    }
}

impl HasDType for &mut Tensor {
    fn dtype_of(&self) -> Option<DType> {
        Some(self.dtype())
    }
}

impl HasDType for Option<&Tensor> {
    fn dtype_of(&self) -> Option<DType> {
        self.map(Tensor::dtype)
    }
}

impl HasDType for &[Tensor] {
    fn dtype_of(&self) -> Option<DType> {
        self.first().map(Tensor::dtype)
    }
}

impl HasDType for DType {
    fn dtype_of(&self) -> Option<DType> {
        Some(*self)
    }
}

impl HasDType for Option<DType> {
    fn dtype_of(&self) -> Option<DType> {
        *self
    }
}

/// The error of a kernel over several dtypes that met another one.
#[cold]
#[must_use]
pub fn unsupported_dtype<O: Operation>(
    argument: &'static str,
    dtype: Option<DType>,
    supported: &'static [DType],
) -> Error {
    let (operator, argument) = (O::operator().name(), in_schema(argument));
    match dtype {
        Some(dtype) => ErrorKind::UnsupportedDType { operator, argument, dtype, supported }.into(),
        None => Error::kernel(format!("`{argument}` holds no tensor to tell the dtype by")).in_operator(operator),
    }
}
