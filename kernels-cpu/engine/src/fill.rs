//! Fills a dense tensor with one value, or with a list of values.
#![expect(unsafe_code, reason = "the loop nest checked every offset")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Element, operands};

use crate::convert::conversion_function;
use crate::data_movement::{BasePointer, GRAIN_SIZE};
use crate::thread_pool::parallel_for;

/// Fills a dense tensor with one value.
pub fn fill(out: &mut Tensor, value: Scalar) -> Result<()> {
    match value {
        Scalar::Bool(value) => fill_with_element(out, &[i64::from(value)]),
        Scalar::Int(value) => fill_with_element(out, &[value]),
        Scalar::Float(value) => fill_with_element(out, &[value]),
        Scalar::Complex(value) => fill_with_element(out, &[value]),
    }
}

fn fill_with_element<T: Element>(out: &mut Tensor, value: &[T; 1]) -> Result<()> {
    let operands = operands!(write out)?;
    let [to] = operands.written();
    assert!(to.geometry().is_dense(), "only a dense tensor is filled");
    let (start, size) = (BasePointer(to.start()), to.dtype().size());
    let (convert, step) = (conversion_function(T::DTYPE, to.dtype()), size.cast_signed());
    let count = usize::try_from(to.geometry().count()).unwrap_or(0);
    parallel_for(0..count, GRAIN_SIZE, |piece| {
        let at = start.at_byte_offset(step * piece.start.cast_signed());
        // SAFETY: the elements lie side by side and the operand holds them; no other thread has the elements of a piece.
        unsafe { convert(value.as_ptr().cast(), 0, at, step, piece.len()) };
    });
    Ok(())
}

/// Fills a contiguous tensor with `elements`, converted.
pub fn fill_from_slice<T: Element>(out: &mut Tensor, elements: &[T]) -> Result<()> {
    let operands = operands!(write out)?;
    let [to] = operands.written();
    assert!(to.geometry().is_contiguous(), "only a contiguous tensor is filled from a slice");
    let count = usize::try_from(to.geometry().count()).unwrap_or(0).min(elements.len());
    let step = to.dtype().size().cast_signed();
    // SAFETY: source and destination are contiguous, and the operand holds the written elements.
    unsafe {
        conversion_function(T::DTYPE, to.dtype())(
            elements.as_ptr().cast(),
            size_of::<T>().cast_signed(),
            to.start(),
            step,
            count,
        );
    }
    Ok(())
}
