//! Operators that change the sizes of a tensor in its memory, which grows if it is too small.
//!
//! The geometry of a tensor never changes. So these operators bind the caller's handle to another tensor, and other handles keep the tensor
//! of before.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, MemoryFormat, Problem, Spec};

use crate::check_no_negative_entry;

/// Binds the handle to a contiguous tensor with these sizes, which has the same memory, or a larger copy of it.
///
/// Elements that were not in the memory before have arbitrary values.
#[op_def(
    "resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn resize_(this: &mut Tensor, size: &[i64], memory_format: Option<MemoryFormat>) -> Result<()> {
    if this.requires_grad() {
        let expected = "a tensor that requires no gradients, such as one from `detach`";
        return Err(BadArgument::value("self", "a tensor that requires gradients", expected).into());
    }
    check_no_negative_entry("size", size)?;
    if memory_format.is_none() && size == this.sizes() {
        return Ok(());
    }
    let format = memory_format.unwrap_or(MemoryFormat::Contiguous);
    let geometry = Geometry::in_format(size, format).filter(|_| format != MemoryFormat::Preserve).ok_or_else(|| {
        BadArgument::value("memory_format", format, format!("a memory format for {} dimensions", size.len()))
    })?;
    let geometry = geometry.with_offset(this.geometry().offset());
    let view = this.restride(geometry.clone());
    *this = match view {
        Ok(view) => view,
        Err(_) => in_larger_memory(this, geometry)?,
    };
    Ok(())
}

/// Binds the handle to a tensor with the sizes of `the_template`, as [`resize_`] does.
#[op_def(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn resize_as_(this: &mut Tensor, the_template: &Tensor, memory_format: Option<MemoryFormat>) -> Result<()> {
    let format = match memory_format {
        Some(MemoryFormat::Preserve) => Some(the_template.geometry().suggested_format()),
        format => format,
    };
    resize_(this, the_template.sizes(), format)
}

/// Copies the elements, and changes the sizes of the copy as [`resize_`] does.
#[op_def(
    "resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn resize(this: &Tensor, size: &[i64], memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    let mut copy = crate::clone(this, None)?;
    resize_(&mut copy, size, memory_format)?;
    Ok(copy)
}

/// Copies the elements, and changes the sizes of the copy as [`resize_as_`] does.
#[op_def(
    "resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn resize_as(this: &Tensor, the_template: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    let mut copy = crate::clone(this, None)?;
    resize_as_(&mut copy, the_template, memory_format)?;
    Ok(copy)
}

/// Copies the elements, and changes the sizes of the copy as [`resize_`] does. The tensor must be on `device`.
#[op_def(
    "_resize_output(Tensor self, SymInt[] size, Device device) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _resize_output(this: &Tensor, size: &[i64], device: Device) -> Result<Tensor> {
    if this.device() != device {
        let problem = Problem::Device { found: this.device(), expected: device };
        return Err(BadArgument::new("self", problem).into());
    }
    resize(this, size, None)
}

/// Returns a tensor with this geometry in new memory, which begins with a copy of the whole memory of `this`.
fn in_larger_memory(this: &Tensor, geometry: Geometry) -> Result<Tensor> {
    let in_memory = this.with_math_bits(KeySet::EMPTY);
    let count = i64::try_from(this.storage().size() / this.dtype().size()).unwrap_or(i64::MAX);
    let larger = Spec::contiguous(this.dtype(), &[geometry.end().unwrap_or(i64::MAX)]).on(this.device())?;
    let all = Geometry::contiguous(&[count]);
    crate::copy_(&mut larger.restride(all.clone())?, &in_memory.restride(all)?, false)?;
    let resized = larger.restride(geometry)?;
    Ok(if this.math_bits().is_empty() { resized } else { resized.with_math_bits(this.math_bits()) })
}
