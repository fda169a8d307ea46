//! The operands of an elementwise call, and the loop over them.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

mod row_runner;
mod tiles;

use std::mem::MaybeUninit;

use dispatch_runtime::{Complex64, DType, Element, Operand, Operands, Scalar};

use super::fusible::{ContiguousLoop, KernelLoop, MapLoop};
use super::strided_copy::{repeat_first_element, strided_copy_function};
use super::{CheapOperation, LoopNest};
use crate::convert::{ConvertFn, conversion_function};
use crate::thread_pool;
use row_runner::{RowRunner, run_contiguous, run_in_place};

/// The number of elements of a block, which fits the cache.
pub(super) const ELEMENTS_PER_BLOCK: usize = 1024;
/// The row length below which several rows are gathered into one block.
const MAX_SHORT_ROW_LENGTH: usize = 128;
/// The fewest elements that are worth a thread.
pub(super) const GRAIN_SIZE: usize = 32 * 1024;
/// The most elements that are copied to the stack for an in-place call.
const MAX_STACK_COPY_ELEMENTS: usize = 16;

/// The argument of an operator's loop: the operands of a call, or a place to store the loop for fusion.
pub enum LoopReceiver<'a, const N: usize> {
    /// The operands of a call.
    Call(CallOperands<'a, N>),
    /// No operands: the loop is stored in these references, with the index of the operand that it [keeps](LoopReceiver::keep_full_precision).
    CaptureLoop(&'a mut Option<KernelLoop>, &'a mut Option<usize>),
}

/// The result and the `N` inputs of a call.
pub struct CallOperands<'a, const N: usize> {
    out: &'a Operand<'a>,
    inputs: &'a [Operand<'a>; N],
    /// The dtype that the operands promote to. A narrow dtype has no loop of its own, but values are still rounded to it.
    common_dtype: DType,
    /// The operand that the loop [keeps](LoopReceiver::keep_full_precision).
    kept_operand: Option<usize>,
    /// Whether all operands are contiguous and have the same sizes, and all inputs have the same dtype.
    are_alike: bool,
}

/// A buffer for a block of elements of any type that loops compute in.
#[repr(align(64))]
pub(super) struct ElementBlock([MaybeUninit<u8>; ELEMENTS_PER_BLOCK * 16]);

impl ElementBlock {
    pub(super) const fn new() -> Self {
        Self([MaybeUninit::uninit(); ELEMENTS_PER_BLOCK * 16])
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl<'a, const N: usize> LoopReceiver<'a, N> {
    /// # Safety
    ///
    /// If `are_alike` is true, every operand is contiguous, all have the same sizes, and all inputs have the same dtype.
    #[inline]
    pub(super) unsafe fn new(operands: &'a Operands<'_, 1, N>, common_dtype: DType, are_alike: bool) -> Self {
        // SAFETY: guaranteed by the caller.
        Self::Call(unsafe { CallOperands::new(operands, common_dtype, are_alike) })
    }

    /// Runs the operator's loop, which applies `f` to every element. `C` is the type that the loop computes in, `R` that of its results.
    ///
    /// The loop is compiled once, for calls and for passes. The code around it is compiled once per number of operands.
    #[inline(always)]
    pub fn run<C: Element, R: Element>(&mut self, f: impl Fn([C; N]) -> R + Send + Sync + 'static) {
        let kernel_loop = MapLoop::new(f);
        match self {
            Self::Call(operands) => operands.run(C::DTYPE, R::DTYPE, &kernel_loop),
            Self::CaptureLoop(captured, _) => **captured = Some(KernelLoop::new(C::DTYPE, R::DTYPE, kernel_loop)),
        }
    }
}

impl<const N: usize> LoopReceiver<'_, N> {
    /// Declares, before the loop runs, that this operand keeps its full precision if it is a single element. Any other operand is rounded
    /// to a 16-bit float if the operands promote to one. PyTorch multiplies and divides by such unrounded numbers, and rounds all other
    /// operands to the common dtype.
    pub fn keep_full_precision(&mut self, operand: usize) {
        match self {
            Self::Call(operands) => operands.kept_operand = Some(operand),
            Self::CaptureLoop(_, kept_operand) => **kept_operand = Some(operand),
        }
    }

    /// Applies `f` to every element, as [`run`](Self::run) does. `cheap` and its scalars describe `f`, so that fusion can compute it in
    /// registers.
    #[inline(always)]
    pub fn run_cheap_operation<C: Element, R: Element>(
        &mut self,
        cheap: CheapOperation,
        numbers: &[Scalar],
        f: impl Fn([C; N]) -> R + Send + Sync + 'static,
    ) {
        self.run(f);
        if let Self::CaptureLoop(Some(kernel_loop), _) = self {
            kernel_loop.cheap = Some((cheap, numbers.to_vec()));
        }
    }
}

impl<'a, const N: usize> CallOperands<'a, N> {
    /// # Safety
    ///
    /// If `are_alike` is true, every operand is contiguous, all have the same sizes, and all inputs have the same dtype.
    #[inline]
    pub(super) unsafe fn new(operands: &'a Operands<'_, 1, N>, common_dtype: DType, are_alike: bool) -> Self {
        let [out] = operands.written();
        Self { out, inputs: operands.read(), common_dtype, kept_operand: None, are_alike }
    }

    /// Runs a loop over all elements. The loop takes and returns elements of these dtypes.
    #[inline(never)]
    pub(super) fn run(&self, compute_dtype: DType, result_dtype: DType, kernel_loop: &dyn ContiguousLoop) {
        if !(self.are_alike && self.out.dtype() == result_dtype && self.inputs[0].dtype() == compute_dtype) {
            return self.run_with_conversions(compute_dtype, result_dtype, kernel_loop);
        }
        let count = usize::try_from(self.out.geometry().count()).unwrap_or(0);
        let pointers = BasePointers {
            out: self.out.start(),
            inputs: self.inputs.each_ref().map(|input| input.start().cast_const()),
        };
        // SAFETY: all operands have `count` contiguous elements of the loop's types, as they are alike. An input that is also the result is
        // read from a copy; no other input shares memory with it.
        unsafe {
            match (pointers.is_in_place(), count) {
                (false, ..=GRAIN_SIZE) => kernel_loop.run(pointers.out, &pointers.inputs, count),
                (false, _) => run_contiguous(count, result_dtype.size(), compute_dtype.size(), &pointers, kernel_loop),
                (true, ..=MAX_STACK_COPY_ELEMENTS) => {
                    // Room for `MAX_STACK_COPY_ELEMENTS` elements of the largest type.
                    let mut block = [const { MaybeUninit::<Complex64>::uninit() }; MAX_STACK_COPY_ELEMENTS];
                    let aside = block.as_mut_ptr().cast::<u8>();
                    aside.copy_from_nonoverlapping(pointers.out, count * compute_dtype.size());
                    kernel_loop.run(pointers.out, &pointers.inputs_without_alias(aside), count);
                }
                (true, _) => run_in_place(count, compute_dtype.size(), &pointers, kernel_loop),
            }
        }
    }

    #[inline(never)]
    fn run_with_conversions(&self, compute_dtype: DType, result_dtype: DType, kernel_loop: &dyn ContiguousLoop) {
        let rounding = NarrowRounding::for_dtype(compute_dtype, self.common_dtype);
        let out_path = OperandConversion::for_result(
            self.out.dtype(),
            result_dtype,
            rounding.filter(|_| result_dtype == compute_dtype),
        );
        let out = CallOperand { start: self.out.start(), path: out_path };
        let inputs = std::array::from_fn(|i| {
            let input = &self.inputs[i];
            let is_kept = self.kept_operand == Some(i) && input.geometry().count() == 1;
            let path = OperandConversion::for_input(input.dtype(), compute_dtype, rounding, is_kept);
            // An input that is also written goes through a block, because the loop may assume that it does not read its results.
            let direct = path.direct && input.start() != self.out.start();
            CallOperand { start: input.start(), path: OperandConversion { direct, ..path } }
        });
        let sizes = self.out.geometry().sizes();
        match N {
            1 => self.run_loop_nest::<2>(sizes, &out, &inputs, kernel_loop),
            2 => self.run_loop_nest::<3>(sizes, &out, &inputs, kernel_loop),
            3 => self.run_loop_nest::<4>(sizes, &out, &inputs, kernel_loop),
            _ => self.run_loop_nest::<5>(sizes, &out, &inputs, kernel_loop),
        }
    }

    fn run_loop_nest<const M: usize>(
        &self,
        sizes: &[i64],
        out: &CallOperand,
        inputs: &[CallOperand; N],
        kernel_loop: &dyn ContiguousLoop,
    ) {
        let geometries: [_; M] = std::array::from_fn(|i| {
            let operand = if i == 0 { self.out } else { &self.inputs[(i - 1).min(N - 1)] };
            (operand.geometry(), operand.dtype().size())
        });
        let nest = LoopNest::new(sizes, geometries);
        if let Some(transposed) = tiles::transposed_inputs(&nest, inputs) {
            let (groups, elements) = tiles::row_group_count_and_length(&nest);
            thread_pool::parallel_for(0..groups, GRAIN_SIZE.div_ceil(elements), |part| {
                // SAFETY: the nest is that of these operands, and each thread has its own groups.
                unsafe { RowRunner::new(out, inputs, kernel_loop).run_row_groups(&nest, transposed, part) };
            });
            return;
        }
        let count = nest.element_count();
        thread_pool::parallel_for(0..count, GRAIN_SIZE, |part| {
            let mut row_runner = RowRunner::new(out, inputs, kernel_loop);
            let (length, steps) = nest.innermost_dim();
            // SAFETY: the nest is that of these operands, and each thread has its own elements.
            unsafe {
                if length < MAX_SHORT_ROW_LENGTH && nest.element_count() > length {
                    row_runner.run_short_rows(&nest, part);
                } else {
                    nest.visit_rows(part.start, part.end, |offsets, count| row_runner.run_row(&offsets, &steps, count));
                }
            }
        });
    }
}

/// The operands' first elements. The threads of one call share it, and each accesses its own part.
struct BasePointers<const N: usize> {
    out: *mut u8,
    inputs: [*const u8; N],
}

// SAFETY: the operands that these point into are held for as long as the call, and threads write disjoint parts.
unsafe impl<const N: usize> Sync for BasePointers<N> {}

impl<const N: usize> BasePointers<N> {
    #[inline(always)]
    fn is_in_place(&self) -> bool {
        self.inputs.iter().any(|input| *input == self.out)
    }

    /// Returns the inputs, with a copy in place of the input that is also the result.
    #[inline(always)]
    fn inputs_without_alias(&self, block: *const u8) -> [*const u8; N] {
        self.inputs.map(|input| if input == self.out { block } else { input })
    }
}

/// An operand of a call, with the conversion of its elements.
struct CallOperand {
    start: *mut u8,
    path: OperandConversion,
}

/// The conversion of elements between an operand and the loop.
pub(super) struct OperandConversion {
    /// The size of an element in the loop.
    pub(super) size: usize,
    /// The conversion from the operand's dtype to the loop's, or back.
    convert: ConvertFn,
    /// Whether contiguous elements can be used without a copy.
    pub(super) direct: bool,
    /// The dtype that values are rounded to between the operand and the loop, if any.
    rounding: Option<NarrowRounding>,
}

/// Rounding to a narrow dtype: conversions from the loop's dtype to the promoted dtype and back.
#[derive(Clone, Copy)]
pub(super) struct NarrowRounding {
    dtype: DType,
    narrow: ConvertFn,
    widen: ConvertFn,
}

impl NarrowRounding {
    /// Returns the rounding to `dtype`; `None` if loops compute in `dtype` itself.
    pub(super) fn for_dtype(compute_dtype: DType, dtype: DType) -> Option<Self> {
        let rounding = || Self {
            dtype,
            narrow: conversion_function(compute_dtype, dtype),
            widen: conversion_function(dtype, compute_dtype),
        };
        (compute_dtype != dtype).then(rounding)
    }

    /// Returns whether the narrow dtype represents every value of `dtype`.
    fn represents_all_values_of(&self, dtype: DType) -> bool {
        // `bf16`, the dtype with the shortest significand, has eight bits of it: enough for integers of one byte.
        let is_exact = |dtype: DType| dtype.is_floating() || dtype.size() == 1;
        if self.dtype.is_float8() {
            return dtype == self.dtype || dtype == DType::Bool;
        }
        dtype.promote(self.dtype) == self.dtype && (self.dtype.is_integral() || is_exact(dtype))
    }

    /// Rounds elements of a loop to the narrow dtype.
    ///
    /// # Safety
    ///
    /// There are `count` elements of the loop's dtype, which are `size` bytes large, and no more than a block has room for.
    unsafe fn round_elements(&self, elements: *mut u8, count: usize, block: &mut ElementBlock, size: isize) {
        let narrow_size = isize::try_from(self.dtype.size()).unwrap_or(0);
        // SAFETY: guaranteed by the caller, and the block has room for as many.
        unsafe {
            (self.narrow)(elements, size, block.as_mut_ptr(), narrow_size, count);
            (self.widen)(block.as_mut_ptr(), narrow_size, elements, size, count);
        }
    }
}

// SAFETY: the operand that it points into is held for as long as the call, and threads write disjoint parts.
unsafe impl Sync for CallOperand {}

impl OperandConversion {
    pub(super) fn for_input(
        dtype: DType,
        compute_dtype: DType,
        rounding: Option<NarrowRounding>,
        is_kept: bool,
    ) -> Self {
        let rounding = rounding
            .filter(|rounding| !(rounding.represents_all_values_of(dtype) || is_kept && rounding.dtype.is_floating()));
        let direct = dtype == compute_dtype && rounding.is_none();
        let convert = if dtype == compute_dtype {
            strided_copy_function(dtype.size())
        } else {
            conversion_function(dtype, compute_dtype)
        };
        Self { size: compute_dtype.size(), convert, direct, rounding }
    }

    pub(super) fn for_result(dtype: DType, result_dtype: DType, rounding: Option<NarrowRounding>) -> Self {
        let rounding = rounding.filter(|rounding| rounding.dtype != dtype);
        let direct = dtype == result_dtype && rounding.is_none();
        Self { size: result_dtype.size(), convert: conversion_function(result_dtype, dtype), direct, rounding }
    }

    /// Returns the path of elements that are in the loop's dtype already.
    pub(super) fn without_conversion(&self) -> Self {
        Self { direct: true, rounding: None, ..*self }
    }

    /// Copies elements of an operand to the loop's buffer, converted. With a step of 0, one element is converted and repeated.
    ///
    /// # Safety
    ///
    /// There are `count` elements, `step` bytes apart, and room for `count` of the loop's, no more than a block has room for.
    pub(super) unsafe fn load_elements(
        &self,
        from: *const u8,
        step: isize,
        to: *mut u8,
        count: usize,
        buffer: &mut ElementBlock,
    ) {
        let size = self.size.cast_signed();
        let distinct = if step == 0 { count.min(1) } else { count };
        // SAFETY: guaranteed by the caller.
        unsafe { (self.convert)(from, step, to, size, distinct) };
        if let Some(narrow) = self.rounding {
            // SAFETY: `distinct` elements have just been written to `to`.
            unsafe { narrow.round_elements(to, distinct, buffer, size) };
        }
        if distinct < count {
            // SAFETY: `to` has room for `count` elements, and the first was written.
            unsafe { repeat_first_element(self.size, to, count) };
        }
    }

    /// Copies results of the loop to the operand, converted.
    ///
    /// # Safety
    ///
    /// There are `count` contiguous results, no more than a block has room for, and room for `count` elements, `step` bytes apart.
    pub(super) unsafe fn store_elements(
        &self,
        from: *mut u8,
        to: *mut u8,
        step: isize,
        count: usize,
        buffer: &mut ElementBlock,
    ) {
        let size = self.size.cast_signed();
        if let Some(narrow) = self.rounding {
            // SAFETY: guaranteed by the caller; the results were written by the loop.
            unsafe { narrow.round_elements(from, count, buffer, size) };
        }
        // SAFETY: guaranteed by the caller.
        unsafe { (self.convert)(from, size, to, step, count) };
    }
}
