//! Operators that give a tensor other memory: `set_` and its relatives.
//!
//! The memory and the geometry of a tensor never change. So these operators bind the caller's handle to another tensor, and other handles
//! keep the tensor of before.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Marks, Problem, Spec, Storage};

use crate::check_no_negative_entry;

/// Binds the handle to a tensor without elements.
#[op_def("set_(Tensor(a!) self) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn set_(this: &mut Tensor) -> Result<()> {
    let empty = Spec::contiguous(this.dtype(), &[0]).on(this.device())?;
    *this = with_math_bits_of(empty, this);
    Ok(())
}

/// Binds the handle to a tensor with the memory and the geometry of `source`.
#[op_def("set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn set__source_tensor(this: &mut Tensor, source: &Tensor) -> Result<()> {
    check_same_elements(this, source)?;
    *this = with_math_bits_of(source.restride(source.geometry().clone())?, this);
    Ok(())
}

/// Binds the handle to a tensor in the memory of `source`, which is contiguous. The offset counts from the first element of `source`.
#[op_def(
    "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)"
)]
pub fn set__source_tensor_storage_offset(
    this: &mut Tensor,
    source: &Tensor,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<()> {
    if !source.geometry().is_contiguous() {
        let problem =
            Problem::Value { found: format!("strides {:?}", source.strides()), expected: "contiguous elements".into() };
        return Err(BadArgument::new("source", problem).into());
    }
    let offset = storage_offset.saturating_add(source.geometry().offset());
    let view = with_storage(source, source.storage(), offset, size, stride)?;
    set__source_tensor(this, &view)
}

/// Binds the handle to a tensor with all elements of a storage.
#[op_def("set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn set__source_storage(this: &mut Tensor, source: &Value) -> Result<()> {
    let storage = storage_argument(source)?;
    let count = i64::try_from(storage.size() / this.dtype().size()).unwrap_or(i64::MAX);
    *this = with_storage(this, storage, 0, &[count], &[])?;
    Ok(())
}

/// Binds the handle to a tensor with these sizes, strides and offset in a storage. Without strides it is contiguous.
#[op_def(
    "set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn set__source_storage_storage_offset(
    this: &mut Tensor,
    source: &Value,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<()> {
    *this = with_storage(this, storage_argument(source)?, storage_offset, size, stride)?;
    Ok(())
}

/// Returns a tensor like `self` without elements.
#[op_def("set(Tensor self) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn set(this: &Tensor) -> Result<Tensor> {
    Spec::contiguous(this.dtype(), &[0]).on(this.device())
}

/// Returns a copy of `source`, which has the dtype and the device of `self`.
#[op_def(
    "set.source_Tensor(Tensor self, Tensor source) -> Tensor",
    out = "source_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn set_source_tensor(this: &Tensor, source: &Tensor) -> Result<Tensor> {
    check_same_elements(this, source)?;
    crate::clone(source, None)
}

/// Returns a copy of all elements of a storage, in the dtype of `self`.
#[op_def(
    "set.source_Storage(Tensor self, Storage source) -> Tensor",
    out = "source_Storage_out", body = CompositeExplicitAutograd
)]
pub fn set_source_storage(this: &Tensor, source: &Value) -> Result<Tensor> {
    let mut view = this.clone();
    set__source_storage(&mut view, source)?;
    crate::clone(&view, None)
}

/// Returns a copy of the elements with these sizes, strides and offset in a storage.
#[op_def(
    "set.source_Storage_storage_offset(Tensor self, Storage source, SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor",
    out = "source_Storage_storage_offset_out", body = CompositeExplicitAutograd
)]
pub fn set_source_storage_storage_offset(
    this: &Tensor,
    source: &Value,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    crate::clone(&with_storage(this, storage_argument(source)?, storage_offset, size, stride)?, None)
}

/// Returns a tensor with the same memory and without history.
#[op_def("data(Tensor self) -> Tensor")]
pub fn data(this: &Tensor) -> Result<Tensor> {
    crate::detach(this)
}

/// Binds the handle to a tensor with the memory of `new_data`. A leaf that requires gradients stays one.
#[op_def("set_data(Tensor(a!) self, Tensor new_data) -> ()")]
pub fn set_data(this: &mut Tensor, new_data: &Tensor) -> Result<()> {
    if !crate::_has_compatible_shallow_copy_type(this, new_data)? {
        let problem = Problem::Device { found: new_data.device(), expected: this.device() };
        return Err(BadArgument::new("new_data", problem).into());
    }
    let data = crate::detach(new_data)?;
    if this.requires_grad() && this.is_leaf() {
        data.mark(Marks::REQUIRES_GRAD);
    }
    *this = data;
    Ok(())
}

/// Binds the handle to a tensor with the memory of `source`, as [`set_data`] does.
#[op_def("shallow_copy_data_(Tensor(a!) self, Tensor source) -> Tensor(a!)")]
pub fn shallow_copy_data_(this: &mut Tensor, source: &Tensor) -> Result<()> {
    set_data(this, source)
}

/// Copies the elements to new memory. In PyTorch, the copy is made when either tensor is written.
#[op_def("_lazy_clone(Tensor self) -> Tensor")]
pub fn _lazy_clone(this: &Tensor) -> Result<Tensor> {
    crate::clone(this, None)
}

/// Returns the tensor itself. The call passes the tensor through the active layers.
#[op_def("lift(Tensor self) -> Tensor", out = "out")]
pub fn lift(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

fn check_same_elements(this: &Tensor, source: &Tensor) -> Result<(), BadArgument> {
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), this.dtype()).like("self"));
    }
    if source.device() != this.device() {
        let problem = Problem::Device { found: source.device(), expected: this.device() };
        return Err(BadArgument::new("source", problem));
    }
    Ok(())
}

fn storage_argument(value: &Value) -> Result<&Storage, BadArgument> {
    match value {
        Value::Storage(storage) => Ok(storage),
        other => Err(BadArgument::value("source", format!("{other:?}"), "a storage")),
    }
}

/// Returns a tensor of the dtype of `like` in a storage on the same device.
fn with_storage(like: &Tensor, storage: &Storage, offset: i64, size: &[i64], stride: &[i64]) -> Result<Tensor> {
    if storage.device() != like.device() {
        let problem = Problem::Device { found: storage.device(), expected: like.device() };
        return Err(BadArgument::new("source", problem).into());
    }
    check_no_negative_entry("size", size)?;
    let geometry = if stride.is_empty() {
        Geometry::contiguous(size).with_offset(offset)
    } else {
        Geometry::strided(size, stride, offset)
            .ok_or_else(|| BadArgument::length("stride", stride.len(), size.len()).like("size"))?
    };
    let tensor = Tensor::new(storage.clone(), like.dtype(), geometry)?;
    Ok(with_math_bits_of(tensor, like))
}

fn with_math_bits_of(tensor: Tensor, like: &Tensor) -> Tensor {
    if tensor.math_bits() == like.math_bits() { tensor } else { tensor.with_math_bits(like.math_bits()) }
}
