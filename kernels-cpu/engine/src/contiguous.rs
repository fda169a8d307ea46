//! Tensors side by side, in a type that loops compute in.
//!
//! Engines that look at an element many times read slices. Where a tensor is one already it is lent; where not, it is copied once,
//! which costs less than the engine does.
#![expect(unsafe_code, reason = "elements of a dtype as bytes")]

use std::ops::Deref;

use dispatch_runtime::{DType, Geometry, Operands, Read, Result, Tensor};

use crate::allocation::times;
use crate::compute::Compute;
use crate::convert::conversion;
use crate::elementwise::loop_nest::LoopNest;

/// A tensor's elements, the last dimension fastest.
pub enum Contiguous<'a, T: Compute> {
    /// Those of the tensor itself.
    Lent(Read<'a, T>),
    /// A copy.
    Own(Vec<T>),
}

impl<T: Compute> Deref for Contiguous<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Lent(elements) => elements,
            Self::Own(elements) => elements,
        }
    }
}

/// The elements of a tensor as `T`.
pub fn packed<T: Compute>(tensor: &Tensor) -> Result<Contiguous<'_, T>> {
    if tensor.dtype() == T::DTYPE && tensor.geometry().is_contiguous() {
        return Ok(Contiguous::Lent(tensor.read::<T>()?));
    }
    broadcast_contiguous(tensor, tensor.sizes()).map(Contiguous::Own)
}

/// A copy of the elements of a tensor as `T`: statistics, weights, positions.
pub fn elements<T: Compute>(tensor: &Tensor) -> Result<Vec<T>> {
    broadcast_contiguous(tensor, tensor.sizes())
}

/// Writes numbers into a tensor of as many elements, whatever its dtype and strides.
///
/// # Panics
///
/// If there are more or fewer.
pub fn write(out: &mut Tensor, values: &[f64]) -> Result<()> {
    fill(out, |out: &mut [f64]| {
        out.copy_from_slice(values);
        Ok(())
    })
}

/// The elements of a tensor as `T`, repeated to these sizes.
///
/// # Panics
///
/// If it does not broadcast to them, which plans refuse.
pub fn broadcast_contiguous<T: Compute>(tensor: &Tensor, sizes: &[i64]) -> Result<Vec<T>> {
    let mut elements = times(T::ZERO, count(sizes))?;
    let operands = Operands::take(&[], [], &["self"], [tensor])?;
    let [operand] = operands.read();
    // SAFETY: a tensor's geometry stays inside its storage, which the operand holds, and there are as many elements as sizes say.
    unsafe {
        let from = Side { start: operand.start(), dtype: operand.dtype(), geometry: operand.geometry() };
        let dense = &Geometry::contiguous(sizes);
        let to = Side { start: elements.as_mut_ptr().cast(), dtype: T::DTYPE, geometry: dense };
        copy(sizes, &from, &to);
    }
    Ok(elements)
}

/// Has `make` write the elements of a tensor, the last dimension fastest. It writes every element: before, they are arbitrary. If there
/// are none, it is not called: it may loop over other sizes, and they may be of any number.
pub fn fill<T: Compute>(out: &mut Tensor, make: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    if out.dtype() != T::DTYPE || !out.geometry().is_contiguous() {
        let mut elements = times(T::ZERO, count(out.sizes()))?;
        make(&mut elements)?;
        // SAFETY: there are as many elements as sizes say.
        return unsafe { store(elements.as_mut_ptr().cast(), T::DTYPE, out) };
    }
    make(&mut out.write::<T>()?)
}

/// Writes elements of `dtype`, side by side, to a tensor.
///
/// # Safety
///
/// There are as many as the tensor has.
unsafe fn store(start: *mut u8, dtype: DType, out: &mut Tensor) -> Result<()> {
    let operands = Operands::take(&["out"], [out], &[], [])?;
    let [to] = operands.written();
    let sizes = to.geometry().sizes();
    let from = Side { start, dtype, geometry: &Geometry::contiguous(sizes) };
    // SAFETY: the caller's promise, and a geometry stays inside of its storage, which the operand holds.
    unsafe { copy(sizes, &from, &Side { start: to.start(), dtype: to.dtype(), geometry: to.geometry() }) };
    Ok(())
}

/// The number of elements of a tensor of these sizes.
pub fn count(sizes: &[i64]) -> usize {
    usize::try_from(Geometry::contiguous(sizes).count()).unwrap_or(usize::MAX)
}

struct Side<'a> {
    start: *mut u8,
    dtype: DType,
    geometry: &'a Geometry,
}

/// # Safety
///
/// Every element that the geometries lead to can be read, and written on the other side.
unsafe fn copy(sizes: &[i64], from: &Side<'_>, to: &Side<'_>) {
    let convert = conversion(from.dtype, to.dtype);
    let nest = LoopNest::new(sizes, [(to.geometry, to.dtype.size()), (from.geometry, from.dtype.size())]);
    if nest.count() == 0 {
        return;
    }
    let (_, [to_step, from_step]) = nest.row();
    nest.rows(0, nest.count(), |[to_offset, from_offset], count| {
        let (from, to) = (from.start.wrapping_offset(from_offset), to.start.wrapping_offset(to_offset));
        // SAFETY: the caller's promise, as the nest stays inside of both geometries.
        unsafe { convert(from, from_step, to, to_step, count) };
    });
}

/// Runs a body for the type that a dtype is computed in, or refuses the dtype, and booleans in any case.
#[macro_export]
#[doc(hidden)]
macro_rules! __computed_packed {
    ($operator:ident $argument:literal, $dtype:expr; $T:ident in [$($ty:ident)+] => $body:expr) => {{
        let dtype: ::dispatch_runtime::DType = $dtype;
        let computed = (dtype != ::dispatch_runtime::DType::Bool).then(|| $crate::convert::computed_in(dtype));
        $crate::reduce::computed!(@ aten::$operator, $argument, dtype, computed, $T [$($ty),+] $body)
    }};
}
pub use __computed_packed as computed;
