//! PyTorch's names for conversions to one dtype or device, and autocast's conversions.

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

/// Copies tensors to the CPU. A tensor on the CPU is returned itself, and so is one on Meta, which has no elements.
#[op_def("_to_cpu(Tensor[] tensors) -> Tensor[]")]
pub fn _to_cpu(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let to_cpu = |tensor: &Tensor| {
        let device = if tensor.device() == Device::META { Device::META } else { Device::CPU };
        crate::to_dtype_layout(tensor, None, None, Some(device), None, false, false, None)
    };
    tensors.iter().map(to_cpu).collect()
}

/// Converts a half to `float32` if autocast is enabled on its device.
#[op_def("_autocast_to_full_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled) -> Tensor(a)")]
pub fn _autocast_to_full_precision(this: &Tensor, cuda_enabled: bool, cpu_enabled: bool) -> Result<Tensor> {
    let is_half = matches!(this.dtype(), DType::F16 | DType::BF16);
    if is_half && is_enabled_for(this, cuda_enabled, cpu_enabled) {
        return crate::to_dtype(this, DType::F32, false, false, None);
    }
    Ok(this.clone())
}

/// Converts a tensor of `float32` to the dtype of autocast on its device, if autocast is enabled there.
#[op_def(
    "_autocast_to_reduced_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled, ScalarType cuda_dtype, ScalarType cpu_dtype) -> Tensor(a)"
)]
pub fn _autocast_to_reduced_precision(_: ...) -> Result<Tensor> {
    if this.dtype() != DType::F32 || !is_enabled_for(this, cuda_enabled, cpu_enabled) {
        return Ok(this.clone());
    }
    let dtype = if this.keys().has(keys::CUDA) { cuda_dtype } else { cpu_dtype };
    crate::to_dtype(this, dtype, false, false, None)
}

fn is_enabled_for(tensor: &Tensor, cuda_enabled: bool, cpu_enabled: bool) -> bool {
    if tensor.keys().has(keys::CUDA) { cuda_enabled } else { cpu_enabled }
}
