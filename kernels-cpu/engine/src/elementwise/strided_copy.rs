//! Loops that copy elements to contiguous memory, without conversion.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use crate::convert::ConvertFn;
use crate::data_movement::with_word_of_size;
use crate::math::vectorised;

/// Returns the function that copies strided elements of this size to contiguous memory.
pub(super) fn strided_copy_function(size: usize) -> ConvertFn {
    with_word_of_size!(size, Word => copy_strided_to_contiguous::<Word>)
}

/// Copies the first of `count` contiguous elements over the others.
///
/// # Safety
///
/// `first` points to an initialised element, and has room for `count`.
pub(super) unsafe fn repeat_first_element(size: usize, first: *mut u8, count: usize) {
    // SAFETY: guaranteed by the caller; both strides are zero, so only the first element is read.
    unsafe { strided_copy_function(size)(first, 0, first, 0, count) };
}

/// # Safety
///
/// There are `count` elements, `step` bytes apart, and room for `count` contiguous ones. Elements are plain data of the size of `T`, and
/// aligned to it.
unsafe fn copy_strided_to_contiguous<T: Copy>(from: *const u8, step: isize, to: *mut u8, _: isize, count: usize) {
    let (size, to) = (size_of::<T>().cast_signed(), to.cast::<T>());
    if step == size {
        // SAFETY: guaranteed by the caller; the two ranges do not overlap.
        return unsafe { to.copy_from_nonoverlapping(from.cast(), count) };
    }
    if step == 0 {
        if count > 0 {
            // SAFETY: there is at least one element.
            let element = unsafe { from.cast::<T>().read() };
            vectorised(
                #[inline(always)]
                move || {
                    // SAFETY: guaranteed by the caller.
                    (0..count).for_each(move |i| unsafe { to.add(i).write(element) });
                },
            );
        }
        return;
    }
    vectorised(
        #[inline(always)]
        move || {
            if step == 2 * size {
                // The compiler turns a constant stride into a few shuffles.
                let from = from.cast::<T>();
                // SAFETY: guaranteed by the caller.
                (0..count).for_each(move |i| unsafe { to.add(i).write(from.add(2 * i).read()) });
            } else {
                let mut from = from;
                for i in 0..count {
                    // SAFETY: guaranteed by the caller.
                    unsafe { to.add(i).write(from.cast::<T>().read()) };
                    from = from.wrapping_offset(step);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_copies_have_the_right_elements() {
        let from: Vec<u32> = (0..64).collect();
        for step in [-3_isize, -1, 0, 1, 2, 3] {
            for count in [0, 1, 5, 20] {
                let mut to = [99; 21];
                let start = if step < 0 { 63 } else { 0 };
                // SAFETY: up to twenty elements, three apart, are inside of the sixty-four.
                unsafe {
                    strided_copy_function(4)(from[start..].as_ptr().cast(), 4 * step, to.as_mut_ptr().cast(), 4, count);
                };
                for (i, &element) in to.iter().enumerate() {
                    let expected = start.wrapping_add_signed(step * i.cast_signed());
                    assert_eq!(
                        usize::try_from(element).unwrap(),
                        if i < count { expected } else { 99 },
                        "{i} of {count}, step {step}"
                    );
                }
            }
        }
    }

    #[test]
    fn repeat_first_element_fills_the_buffer() {
        let mut elements = [7_u64, 0, 0, 1];
        // SAFETY: room for three.
        unsafe { repeat_first_element(8, elements.as_mut_ptr().cast(), 3) };
        assert_eq!(elements, [7, 7, 7, 1]);
    }
}
