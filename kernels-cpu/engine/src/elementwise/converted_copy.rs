//! Copies of elements from one tensor to another, with conversion.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use dispatch_runtime::{DType, Operands};

use super::LoopNest;
use super::strided_copy::{repeat_first_element, strided_copy_function};
use super::transpose::TransposeTiles;
use crate::convert::{ConvertFn, conversion_function};
use crate::data_movement::BasePointer;
use crate::thread_pool;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 32 * 1024;

/// Copies the elements of the tensor that is read to the tensor that is written, converted and broadcast.
pub fn copy_converted(operands: &Operands<'_, 1, 1>) {
    let ([to], [from]) = (operands.written(), operands.read());
    if from.is_same_elements_as(to) {
        return;
    }
    let conversion = RowConversion::new(from.dtype(), to.dtype());
    let (sizes, to_size, from_size) = (to.geometry().sizes(), to.dtype().size(), from.dtype().size());
    let nest = LoopNest::new(sizes, [(to.geometry(), to_size), (from.geometry(), from_size)]);
    if from.dtype() == to.dtype()
        && let Some(tiles) = TransposeTiles::for_nest(&nest, to_size)
    {
        // SAFETY: the nest stays inside the operands, which share no element: only operands with the same elements may, and for those the
        // function has returned.
        return unsafe { tiles.copy_in_tiles(to.start(), from.start()) };
    }
    let (to, from) = (BasePointer(to.start()), BasePointer(from.start()));
    thread_pool::parallel_for(0..nest.element_count(), GRAIN_SIZE, |part| {
        let (_, [to_step, from_step]) = nest.innermost_dim();
        nest.visit_rows(part.start, part.end, |[to_offset, from_offset], count| {
            let (to, from) = (to.at_byte_offset(to_offset), from.at_byte_offset(from_offset));
            // SAFETY: the nest stays inside the operands, which share no element: only operands with the same elements may, and for those
            // the function has returned.
            unsafe { conversion.copy_row(from, from_step, to, to_step, count) };
        });
    });
}

/// The conversion of a row between two dtypes.
struct RowConversion {
    convert: ConvertFn,
    size: usize,
    is_same_dtype: bool,
}

impl RowConversion {
    fn new(from: DType, to: DType) -> Self {
        Self { convert: conversion_function(from, to), size: to.size(), is_same_dtype: from == to }
    }

    /// # Safety
    ///
    /// There are `count` elements on either side, with these strides in bytes, and the two sides do not overlap.
    unsafe fn copy_row(&self, from: *const u8, from_step: isize, to: *mut u8, to_step: isize, count: usize) {
        let dense = to_step.unsigned_abs() == self.size;
        if self.is_same_dtype && dense && from_step == to_step {
            // SAFETY: guaranteed by the caller; both sides are contiguous, in the same order.
            unsafe { std::ptr::copy_nonoverlapping(from, to, count * self.size) };
        } else if from_step == 0 && dense && count > 1 {
            // SAFETY: guaranteed by the caller.
            unsafe {
                (self.convert)(from, 0, to, to_step, 1);
                repeat_first_element(self.size, to, count);
            }
        } else if self.is_same_dtype && to_step == self.size.cast_signed() {
            // SAFETY: guaranteed by the caller.
            unsafe { strided_copy_function(self.size)(from, from_step, to, to_step, count) };
        } else {
            // SAFETY: guaranteed by the caller.
            unsafe { (self.convert)(from, from_step, to, to_step, count) };
        }
    }
}
