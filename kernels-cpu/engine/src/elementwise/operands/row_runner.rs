//! Loops over the operands of a call, along a loop nest.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use super::{BasePointers, CallOperand, ELEMENTS_PER_BLOCK, ElementBlock, GRAIN_SIZE};
use crate::elementwise::LoopNest;
use crate::elementwise::fusible::ContiguousLoop;
use crate::thread_pool;

/// # Safety
///
/// Every operand has `count` contiguous elements of these sizes, of the loop's types. The results overlap no input.
#[inline(never)]
pub(super) unsafe fn run_contiguous<const N: usize>(
    count: usize,
    out_size: usize,
    in_size: usize,
    pointers: &BasePointers<N>,
    kernel_loop: &dyn ContiguousLoop,
) {
    thread_pool::parallel_for(0..count, GRAIN_SIZE, |part| {
        let out = pointers.out.wrapping_add(part.start * out_size);
        let inputs = pointers.inputs.map(|input| input.wrapping_add(part.start * in_size));
        // SAFETY: guaranteed by the caller, and each thread has its own part.
        unsafe { kernel_loop.run(out, &inputs, part.len()) };
    });
}

/// Runs the loop in place. The input that is also the result is copied to a block first, because the loop may assume that it does not read
/// its results.
///
/// # Safety
///
/// Every operand has `count` contiguous elements of this size, of the loop's type. Inputs that overlap the results begin at the same
/// address.
#[inline(never)]
pub(super) unsafe fn run_in_place<const N: usize>(
    count: usize,
    size: usize,
    pointers: &BasePointers<N>,
    kernel_loop: &dyn ContiguousLoop,
) {
    thread_pool::parallel_for(0..count, GRAIN_SIZE, |part| {
        let mut block = ElementBlock::new();
        for start in part.clone().step_by(ELEMENTS_PER_BLOCK) {
            let length = ELEMENTS_PER_BLOCK.min(part.end - start);
            let here = BasePointers {
                out: pointers.out.wrapping_add(start * size),
                inputs: pointers.inputs.map(|input| input.wrapping_add(start * size)),
            };
            // SAFETY: both have room for `length` elements, and only this thread uses the fresh block. For the loop, guaranteed by the
            // caller.
            unsafe {
                block.as_mut_ptr().copy_from_nonoverlapping(here.out, length * size);
                kernel_loop.run(here.out, &here.inputs_without_alias(block.as_mut_ptr()), length);
            }
        }
    });
}

/// Runs a loop over the rows of operands along a [`LoopNest`].
pub(super) struct RowRunner<'a, const N: usize> {
    out: &'a CallOperand,
    pub(super) inputs: &'a [CallOperand; N],
    kernel_loop: &'a dyn ContiguousLoop,
    pub(super) blocks: [ElementBlock; N],
    results: ElementBlock,
    rounding_buffer: ElementBlock,
}

impl<'a, const N: usize> RowRunner<'a, N> {
    pub(super) fn new(out: &'a CallOperand, inputs: &'a [CallOperand; N], kernel_loop: &'a dyn ContiguousLoop) -> Self {
        let (blocks, results, rounding_buffer) =
            ([const { ElementBlock::new() }; N], ElementBlock::new(), ElementBlock::new());
        Self { out, inputs, kernel_loop, blocks, results, rounding_buffer }
    }

    /// Runs the loop over one row. Contiguous operands of the loop's dtype are used without a copy.
    ///
    /// # Safety
    ///
    /// Offsets and steps, that of the result first, reach `count` elements of each operand. No other code reads or writes these results
    /// at the same time. The loop has the types to which the operands are converted.
    pub(super) unsafe fn run_row<const M: usize>(&mut self, offsets: &[isize; M], steps: &[isize; M], count: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.run_row_with_blocks(offsets, steps, count, [None; N]) };
    }

    /// Runs the loop over one row. The inputs in `preloaded` were copied to contiguous memory before; then the row fits a block.
    ///
    /// # Safety
    ///
    /// The safety conditions of [`run_row`](Self::run_row) hold, and every input in `preloaded` has `count` elements of the loop's type.
    pub(super) unsafe fn run_row_with_blocks<const M: usize>(
        &mut self,
        offsets: &[isize; M],
        steps: &[isize; M],
        count: usize,
        preloaded: [Option<*const u8>; N],
    ) {
        let side_by_side =
            |operand: &CallOperand, step: isize| operand.path.direct && step.unsigned_abs() == operand.path.size;
        let out_direct = side_by_side(self.out, steps[0]);
        let direct: [bool; N] = std::array::from_fn(|i| side_by_side(&self.inputs[i], steps[i + 1]));
        let uniform: [bool; N] = std::array::from_fn(|i| steps[i + 1] == 0);
        for i in 0..N {
            if uniform[i] && !direct[i] {
                // SAFETY: guaranteed by the caller.
                unsafe { self.load_input(i, offsets[i + 1], 0, ELEMENTS_PER_BLOCK.min(count), 0) };
            }
        }
        let all_direct = out_direct && (0..N).all(|i| direct[i] || preloaded[i].is_some());
        let block = if all_direct { count } else { ELEMENTS_PER_BLOCK };
        for start in (0..count).step_by(block.max(1)) {
            let length = block.min(count - start);
            let along = |step: isize| step * isize::try_from(start).unwrap_or(0);
            let inputs: [*const u8; N] = std::array::from_fn(|i| {
                if let Some(preloaded) = preloaded[i] {
                    return preloaded;
                }
                let at = offsets[i + 1] + along(steps[i + 1]);
                if direct[i] {
                    return self.inputs[i].start.wrapping_offset(at).cast_const();
                }
                if !uniform[i] {
                    // SAFETY: guaranteed by the caller, and a block has room for `length` elements.
                    unsafe { self.load_input(i, at, steps[i + 1], length, 0) };
                }
                self.blocks[i].as_mut_ptr().cast_const()
            });
            let at = offsets[0] + along(steps[0]);
            // SAFETY: every input is in `preloaded`, in a block, or in an operand that is not the result: all have `length` elements.
            unsafe {
                if out_direct {
                    self.kernel_loop.run(self.out.start.wrapping_offset(at), &inputs, length);
                } else {
                    self.kernel_loop.run(self.results.as_mut_ptr(), &inputs, length);
                    self.store_results(at, steps[0], length, 0);
                }
            }
        }
    }

    /// Runs the loop over short rows, several in a block.
    ///
    /// # Safety
    ///
    /// The safety conditions of [`run_row`](Self::run_row) hold for this part of the elements of the operands' nest.
    pub(super) unsafe fn run_short_rows<const M: usize>(&mut self, nest: &LoopNest<M>, part: std::ops::Range<usize>) {
        let (_, steps) = nest.innermost_dim();
        for start in part.clone().step_by(ELEMENTS_PER_BLOCK) {
            let end = part.end.min(start + ELEMENTS_PER_BLOCK);
            let mut filled = 0;
            nest.visit_rows(start, end, |offsets, count| {
                for i in 0..N {
                    // SAFETY: guaranteed by the caller, and a block has room for `end - start` elements.
                    unsafe { self.load_input(i, offsets[i + 1], steps[i + 1], count, filled) };
                }
                filled += count;
            });
            let inputs: [*const u8; N] = std::array::from_fn(|i| self.blocks[i].as_mut_ptr().cast_const());
            // SAFETY: each block was filled with as many elements.
            unsafe { self.kernel_loop.run(self.results.as_mut_ptr(), &inputs, end - start) };
            let mut emptied = 0;
            nest.visit_rows(start, end, |offsets, count| {
                // SAFETY: guaranteed by the caller, and the loop has written `end - start` results.
                unsafe { self.store_results(offsets[0], steps[0], count, emptied) };
                emptied += count;
            });
        }
    }

    /// Copies elements of an input to its block, behind the `filled` elements that are there.
    ///
    /// # Safety
    ///
    /// The input has `count` elements, `step` bytes apart, from the offset on, and its block has room for them.
    unsafe fn load_input(&mut self, input: usize, offset: isize, step: isize, count: usize, filled: usize) {
        let operand = &self.inputs[input];
        let to = self.blocks[input].as_mut_ptr().wrapping_add(filled * operand.path.size);
        // SAFETY: guaranteed by the caller; a block has room for `ELEMENTS_PER_BLOCK` elements of any type.
        unsafe {
            operand.path.load_elements(
                operand.start.wrapping_offset(offset),
                step,
                to,
                count,
                &mut self.rounding_buffer,
            );
        };
    }

    /// Copies results from the block to the operand.
    ///
    /// # Safety
    ///
    /// There are `count` results behind the `emptied` ones, and the operand has as many elements, `step` bytes apart, from the offset on.
    unsafe fn store_results(&mut self, offset: isize, step: isize, count: usize, emptied: usize) {
        let from = self.results.as_mut_ptr().wrapping_add(emptied * self.out.path.size);
        // SAFETY: guaranteed by the caller, with the conversion from results to the operand's dtype.
        unsafe {
            self.out.path.store_elements(
                from,
                self.out.start.wrapping_offset(offset),
                step,
                count,
                &mut self.rounding_buffer,
            );
        };
    }
}
