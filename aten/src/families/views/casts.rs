//! PyTorch's names for conversions to one dtype.

use dispatch_runtime::prelude::*;

macro_rules! define_casts {
    ($($name:ident $schema:literal $dtype:ident;)*) => {$(
        /// Converts a tensor to the dtype in the operator's name.
        #[op_def($schema)]
        pub fn $name(this: &Tensor, non_blocking: bool) -> Result<Tensor> {
            crate::to_dtype(this, DType::$dtype, non_blocking, false, None)
        }
    )*};
}

define_casts! {
    _cast_Byte "_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor" U8;
    _cast_Char "_cast_Char(Tensor self, bool non_blocking=False) -> Tensor" I8;
    _cast_Short "_cast_Short(Tensor self, bool non_blocking=False) -> Tensor" I16;
    _cast_Int "_cast_Int(Tensor self, bool non_blocking=False) -> Tensor" I32;
    _cast_Long "_cast_Long(Tensor self, bool non_blocking=False) -> Tensor" I64;
    _cast_Half "_cast_Half(Tensor self, bool non_blocking=False) -> Tensor" F16;
    _cast_Float "_cast_Float(Tensor self, bool non_blocking=False) -> Tensor" F32;
    _cast_Double "_cast_Double(Tensor self, bool non_blocking=False) -> Tensor" F64;
}
