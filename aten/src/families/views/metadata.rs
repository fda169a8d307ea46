//! Queries of metadata: sizes, strides, offset, memory format.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, MemoryFormat, Problem, wrap_dim};

/// Returns the number of elements.
#[op_def("numel(Tensor self) -> int")]
pub fn numel(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().count())
}

/// Returns the entry of `numbers`, the sizes or strides of `this`, at the dimension `dim`.
fn size_or_stride_of_dim(this: &Tensor, numbers: &[i64], dim: i64) -> Result<i64> {
    let rank = this.sizes().len();
    let at = wrap_dim("dim", dim, rank)?;
    numbers.get(at).copied().ok_or_else(|| BadArgument::new("dim", Problem::Dim { dim, rank }).into())
}

/// Returns the size of a dimension.
#[op_def("size.int(Tensor self, int dim) -> int")]
pub fn size_int(this: &Tensor, dim: i64) -> Result<i64> {
    size_or_stride_of_dim(this, this.sizes(), dim)
}

/// Returns the size of each dimension.
#[op_def("size(Tensor self) -> int[]")]
pub fn size(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.sizes().to_vec())
}

/// Returns the stride of a dimension, in elements.
#[op_def("stride.int(Tensor self, int dim) -> int")]
pub fn stride_int(this: &Tensor, dim: i64) -> Result<i64> {
    size_or_stride_of_dim(this, this.strides(), dim)
}

/// Returns the stride of each dimension, in elements.
#[op_def("stride(Tensor self) -> int[]")]
pub fn stride(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.strides().to_vec())
}

/// Computes [`size_int`]. In PyTorch the size may be symbolic.
#[op_def("sym_size.int(Tensor self, int dim) -> SymInt")]
pub fn sym_size_int(this: &Tensor, dim: i64) -> Result<i64> {
    size_or_stride_of_dim(this, this.sizes(), dim)
}

/// Computes [`size`]. In PyTorch the sizes may be symbolic.
#[op_def("sym_size(Tensor self) -> SymInt[]")]
pub fn sym_size(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.sizes().to_vec())
}

/// Returns the number of elements. In PyTorch it may be symbolic.
#[op_def("sym_numel(Tensor self) -> SymInt")]
pub fn sym_numel(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().count())
}

/// Returns the stride of a dimension, in elements. In PyTorch it may be symbolic.
#[op_def("sym_stride.int(Tensor self, int dim) -> SymInt")]
pub fn sym_stride_int(this: &Tensor, dim: i64) -> Result<i64> {
    size_or_stride_of_dim(this, this.strides(), dim)
}

/// Computes [`stride`]. In PyTorch the strides may be symbolic.
#[op_def("sym_stride(Tensor self) -> SymInt[]")]
pub fn sym_stride(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.strides().to_vec())
}

/// Returns the offset of the tensor in its storage, in elements. In PyTorch it may be symbolic.
#[op_def("sym_storage_offset(Tensor self) -> SymInt")]
pub fn sym_storage_offset(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().offset())
}

/// Returns the number of dimensions.
#[op_def("dim(Tensor self) -> int")]
pub fn dim(this: &Tensor) -> Result<i64> {
    Ok(i64::try_from(this.sizes().len()).unwrap_or(i64::MAX))
}

/// Returns the size of an element in bytes.
#[op_def("element_size(Tensor self) -> int")]
pub fn element_size(this: &Tensor) -> Result<i64> {
    Ok(i64::try_from(this.dtype().size()).unwrap_or(i64::MAX))
}

/// Returns the offset of the tensor in its storage, in elements.
#[op_def("storage_offset(Tensor self) -> int")]
pub fn storage_offset(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().offset())
}

/// Returns whether the elements are contiguous in row-major order.
#[op_def("is_contiguous(Tensor self) -> bool")]
pub fn is_contiguous(this: &Tensor) -> Result<bool> {
    Ok(this.geometry().is_contiguous())
}

/// Returns whether the elements are contiguous in this memory format.
#[op_def("is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool")]
pub fn is_contiguous_memory_format(this: &Tensor, memory_format: MemoryFormat) -> Result<bool> {
    Ok(this.geometry().is_in_format(memory_format))
}

/// Returns whether two tensors have the same sizes.
#[op_def("is_same_size(Tensor self, Tensor other) -> bool")]
pub fn is_same_size(this: &Tensor, other: &Tensor) -> Result<bool> {
    Ok(this.sizes() == other.sizes())
}

/// Returns whether two tensors have the same storage and the same geometry.
#[op_def("is_set_to(Tensor self, Tensor tensor) -> bool")]
pub fn is_set_to(this: &Tensor, tensor: &Tensor) -> Result<bool> {
    Ok(this.storage().same(tensor.storage()) && this.geometry() == tensor.geometry())
}

/// Returns the index of the tensor's device among the devices of its backend, or -1 for the CPU and for Meta.
#[op_def("get_device(Tensor self) -> int")]
pub fn get_device(this: &Tensor) -> Result<i64> {
    let device = this.device();
    Ok(if [Device::CPU, Device::META].contains(&device) { -1 } else { device.index().map_or(0, i64::from) })
}

/// Returns whether the storages of two tensors have the same number of elements of their dtypes.
#[op_def("_has_same_storage_numel(Tensor self, Tensor other) -> bool")]
pub fn _has_same_storage_numel(this: &Tensor, other: &Tensor) -> Result<bool> {
    // A storage of Meta has no size of its own.
    let count = |tensor: &Tensor| match tensor.device() {
        Device::META => usize::try_from(tensor.geometry().count()).unwrap_or(usize::MAX),
        _ => tensor.storage().size() / tensor.dtype().size(),
    };
    Ok(count(this) == count(other))
}

/// Returns whether a tensor is contiguous in a memory format. In PyTorch the result may be symbolic.
#[op_def("sym_is_contiguous(Tensor self, MemoryFormat memory_format=contiguous_format) -> SymBool")]
pub fn sym_is_contiguous(this: &Tensor, memory_format: MemoryFormat) -> Result<bool> {
    is_contiguous_memory_format(this, memory_format)
}

/// Returns the sizes of a tensor as a vector of integers.
#[op_def("_shape_as_tensor(Tensor self) -> Tensor")]
pub fn _shape_as_tensor(this: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from(this.sizes().to_vec()))
}

/// Returns false: no tensor is distributed over machines.
#[op_def("is_distributed(Tensor self) -> bool")]
pub fn is_distributed(_: ...) -> Result<bool> {
    let _ = this;
    Ok(false)
}

/// Returns false: zeros always have memory.
#[op_def("_is_zerotensor(Tensor self) -> bool")]
pub fn _is_zerotensor(_: ...) -> Result<bool> {
    let _ = this;
    Ok(false)
}

/// Returns 0 if no elements share memory, 1 if elements do because of a stride of 0, and 2 if this is not known.
#[op_def("_debug_has_internal_overlap(Tensor self) -> int")]
pub fn _debug_has_internal_overlap(this: &Tensor) -> Result<i64> {
    let geometry = this.geometry();
    if geometry.count() == 0 || geometry.is_dense() {
        return Ok(0);
    }
    let repeats = geometry.strides().iter().zip(geometry.sizes()).any(|(stride, size)| *stride == 0 && *size > 1);
    Ok(if repeats { 1 } else { 2 })
}

/// Returns whether [`set_data`](crate::set_data) can give a tensor the memory of `from`: both are of one backend, or of two of PyTorch's
/// dense ones.
#[op_def("_has_compatible_shallow_copy_type(Tensor self, Tensor from) -> bool")]
pub fn _has_compatible_shallow_copy_type(this: &Tensor, from: &Tensor) -> Result<bool> {
    let dense = [keys::CPU, keys::CUDA, keys::HIP, keys::MPS, keys::XPU, keys::HPU, keys::MTIA];
    let is_dense = |tensor: &Tensor| dense.iter().any(|&backend| tensor.keys().has(backend));
    Ok(this.device().key() == from.device().key() || is_dense(this) && is_dense(from))
}
