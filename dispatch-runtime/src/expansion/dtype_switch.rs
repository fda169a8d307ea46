//! Selection of a kernel's code by dtype, for kernels over several dtypes.

use crate::error::{Error, ErrorKind};
use crate::name::argument_name_in_schema;
use crate::operator::Operation;
use crate::scalar::DType;
use crate::spec::result_dtype;
use crate::tensor::Tensor;

/// An argument whose dtype selects the code of a kernel over several dtypes.
pub trait HasDType {
    /// Returns the dtype, or `None` for a list without tensors or a tensor that was not given.
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

/// The operands of an elementwise operator: the dtype that they promote to.
impl<const N: usize> HasDType for [&Tensor; N] {
    fn dtype_of(&self) -> Option<DType> {
        (N > 0).then(|| result_dtype(self.iter().copied()))
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

/// Returns the error of a kernel that was called with a dtype that is not in its list.
#[cold]
#[must_use]
pub fn unsupported_dtype_error<O: Operation>(
    argument: &'static str,
    dtype: Option<DType>,
    supported: &'static [DType],
) -> Error {
    let (operator, argument) = (O::operator().name(), argument_name_in_schema(argument));
    match dtype {
        Some(dtype) => ErrorKind::UnsupportedDType { operator, argument, dtype, supported }.into(),
        None => {
            Error::kernel(format!("`{argument}` has no tensor whose dtype selects the kernel")).in_operator(operator)
        }
    }
}
