//! Contiguous elements of tensors, in a type that loops compute in.
//!
//! Loops that read each element several times work on slices. A contiguous tensor of the right dtype is borrowed. Any other tensor is
//! copied once, which costs less than the loop.
#![expect(unsafe_code, reason = "casts from elements to bytes")]

use std::ops::Deref;

use dispatch_runtime::{Arithmetic, DType, Geometry, Operands, ReadGuard, Result, Tensor};

use crate::allocation::filled_vec;
use crate::compute::ComputeType;
use crate::convert::conversion_function;
use crate::elementwise::loop_nest::LoopNest;

/// A tensor's elements in row-major order.
pub enum ContiguousElements<'a, T: Arithmetic> {
    /// The elements of the tensor itself, borrowed.
    Borrowed(ReadGuard<'a, T>),
    /// A converted copy of the elements.
    Owned(Vec<T>),
}

impl<T: Arithmetic> Deref for ContiguousElements<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(elements) => elements,
            Self::Owned(elements) => elements,
        }
    }
}

/// Returns the elements of a tensor as `T`, without a copy if the tensor is contiguous and has this dtype.
pub fn contiguous_elements<T: Arithmetic>(tensor: &Tensor) -> Result<ContiguousElements<'_, T>> {
    if tensor.dtype() == T::DTYPE && tensor.geometry().is_contiguous() {
        return Ok(ContiguousElements::Borrowed(tensor.read::<T>()?));
    }
    broadcast_to_vec(tensor, tensor.sizes()).map(ContiguousElements::Owned)
}

/// Copies the elements of a tensor as `T`; for small tensors such as statistics, weights and indices.
pub fn convert_to_vec<T: ComputeType>(tensor: &Tensor) -> Result<Vec<T>> {
    broadcast_to_vec(tensor, tensor.sizes())
}

/// Writes `values` to a tensor with any dtype and strides, converted.
///
/// # Panics
///
/// Panics if the number of values differs from the tensor's number of elements.
pub fn write_f64_values(out: &mut Tensor, values: &[f64]) -> Result<()> {
    write_contiguous(out, |out: &mut [f64]| {
        out.copy_from_slice(values);
        Ok(())
    })
}

/// Copies the elements of a tensor as `T`, broadcast to `sizes`.
///
/// # Panics
///
/// Panics if the tensor does not broadcast to `sizes`; plans check this before.
pub fn broadcast_to_vec<T: Arithmetic>(tensor: &Tensor, sizes: &[i64]) -> Result<Vec<T>> {
    let mut elements = filled_vec(T::ZERO, element_count(sizes))?;
    let operands = Operands::borrow(&[], [], &["self"], [tensor])?;
    let [operand] = operands.read();
    // SAFETY: a tensor's geometry stays inside its storage, which the operand holds, and `elements` has as many elements as `sizes` say.
    unsafe {
        let from = StridedElements { start: operand.start(), dtype: operand.dtype(), geometry: operand.geometry() };
        let dense = &Geometry::contiguous(sizes);
        let to = StridedElements { start: elements.as_mut_ptr().cast(), dtype: T::DTYPE, geometry: dense };
        copy_strided(sizes, &from, &to);
    }
    Ok(elements)
}

/// Calls `make` to write all elements of a tensor, in row-major order. `make` must write every element, because the slice has arbitrary
/// values at first. It is not called for an empty tensor, whose other sizes can be arbitrarily large.
pub fn write_contiguous<T: ComputeType>(out: &mut Tensor, make: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    if out.dtype() != T::DTYPE || !out.geometry().is_contiguous() {
        let mut elements = filled_vec(T::ZERO, element_count(out.sizes()))?;
        make(&mut elements)?;
        // SAFETY: `elements` has as many elements as the tensor's sizes say.
        return unsafe { copy_to_tensor(elements.as_mut_ptr().cast(), T::DTYPE, out) };
    }
    make(&mut out.write::<T>()?)
}

/// Writes contiguous elements of `dtype` to a tensor.
///
/// # Safety
///
/// `start` points to as many elements as the tensor has.
unsafe fn copy_to_tensor(start: *mut u8, dtype: DType, out: &mut Tensor) -> Result<()> {
    let operands = Operands::borrow(&["out"], [out], &[], [])?;
    let [to] = operands.written();
    let sizes = to.geometry().sizes();
    let from = StridedElements { start, dtype, geometry: &Geometry::contiguous(sizes) };
    // SAFETY: guaranteed by the caller, and a geometry stays inside its storage, which the operand holds.
    unsafe {
        copy_strided(sizes, &from, &StridedElements { start: to.start(), dtype: to.dtype(), geometry: to.geometry() });
    };
    Ok(())
}

/// Returns the number of elements of a tensor of these sizes.
pub fn element_count(sizes: &[i64]) -> usize {
    usize::try_from(Geometry::contiguous(sizes).count()).unwrap_or(usize::MAX)
}

struct StridedElements<'a> {
    start: *mut u8,
    dtype: DType,
    geometry: &'a Geometry,
}

/// # Safety
///
/// Every element that `from`'s geometry reaches can be read, and every element that `to`'s geometry reaches can be written.
unsafe fn copy_strided(sizes: &[i64], from: &StridedElements<'_>, to: &StridedElements<'_>) {
    let convert = conversion_function(from.dtype, to.dtype);
    let nest = LoopNest::new(sizes, [(to.geometry, to.dtype.size()), (from.geometry, from.dtype.size())]);
    if nest.element_count() == 0 {
        return;
    }
    let (_, [to_step, from_step]) = nest.innermost_dim();
    nest.visit_rows(0, nest.element_count(), |[to_offset, from_offset], count| {
        let (from, to) = (from.start.wrapping_offset(from_offset), to.start.wrapping_offset(to_offset));
        // SAFETY: guaranteed by the caller, as the loop nest stays inside both geometries.
        unsafe { convert(from, from_step, to, to_step, count) };
    });
}

/// Runs a block of code with the type that a dtype is computed in. Returns an error for other dtypes and for booleans.
#[macro_export]
#[doc(hidden)]
macro_rules! __with_compute_type_contiguous {
    ($operator:ident $argument:literal, $dtype:expr; $T:ident in [$($ty:ident)+] => $body:expr) => {{
        let dtype: ::dispatch_runtime::DType = $dtype;
        let computed = (dtype != ::dispatch_runtime::DType::Bool).then(|| $crate::convert::compute_dtype(dtype));
        $crate::reduce::with_compute_type!(@ aten::$operator, $argument, dtype, computed, $T [$($ty),+] $body)
    }};
}
pub use __with_compute_type_contiguous as with_compute_type;
