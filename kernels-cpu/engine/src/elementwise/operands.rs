//! The operands of an elementwise call, and the loop over them.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

mod tiles;
mod walker;

use std::mem::MaybeUninit;

use dispatch_runtime::{Complex64, DType, Element, Operand, Operands, Scalar};

use super::fusible::{ElementFn, KernelLoop, Loop};
use super::gather::{gather, repeat};
use super::{Cheap, LoopNest};
use crate::convert::{Convert, conversion};
use crate::thread_pool;
use walker::{Walker, walk_alike, walk_in_place};

/// The number of elements of a block, which fits the cache.
pub(super) const BLOCK: usize = 1024;
/// Rows shorter than this are gathered into blocks.
const SHORT: usize = 128;
/// The fewest elements that are worth a thread.
pub(super) const GRAIN: usize = 32 * 1024;
/// The most elements that are copied to the stack for an in-place call.
const FEW: usize = 16;

/// The input of an operator's loop.
pub enum LoopInput<'a, const N: usize> {
    /// The operands of a call.
    Walk(Walk<'a, N>),
    /// No operands: the loop is stored here, with the index of the operand that it [keeps](LoopInput::keeps).
    Capture(&'a mut Option<KernelLoop>, &'a mut Option<usize>),
}

/// The result and the `N` inputs of a call.
pub struct Walk<'a, const N: usize> {
    out: &'a Operand<'a>,
    inputs: &'a [Operand<'a>; N],
    /// The dtype that the operands promote to. A narrow dtype has no loop of its own, but values are still rounded to it.
    common: DType,
    /// The operand that the loop [keeps](LoopInput::keeps).
    kept: Option<usize>,
    /// Whether all operands are contiguous and have the same sizes, and all inputs have the same dtype.
    alike: bool,
}

/// A buffer for a block of elements of any type that loops compute in.
#[repr(align(64))]
pub(super) struct Block([MaybeUninit<u8>; BLOCK * 16]);

impl Block {
    pub(super) const fn new() -> Self {
        Self([MaybeUninit::uninit(); BLOCK * 16])
    }

    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl<'a, const N: usize> LoopInput<'a, N> {
    /// # Safety
    ///
    /// If `alike` is true, every operand is contiguous, all have the same sizes, and all inputs have the same dtype.
    #[inline]
    pub(super) unsafe fn new(operands: &'a Operands<'_, 1, N>, common: DType, alike: bool) -> Self {
        let [out] = operands.written();
        Self::Walk(Walk { out, inputs: operands.read(), common, kept: None, alike })
    }

    /// Applies `f` to every element. `C` is the type that the loop computes in, `R` that of its results.
    ///
    /// The loop is compiled once, for calls and for passes. The code around it is compiled once per number of operands.
    #[inline(always)]
    pub fn run<C: Element, R: Element>(&mut self, f: impl Fn([C; N]) -> R + Send + Sync + 'static) {
        let row = ElementFn::new(f);
        match self {
            Self::Walk(walk) => walk.run(C::DTYPE, R::DTYPE, &row),
            Self::Capture(place, _) => **place = Some(KernelLoop::new(C::DTYPE, R::DTYPE, row)),
        }
    }
}

impl<const N: usize> LoopInput<'_, N> {
    /// Declares, before the loop runs, that this operand keeps its full precision if it is a single element. Any other operand is rounded
    /// to a 16-bit float if the operands promote to one. PyTorch multiplies and divides by such unrounded numbers, and rounds all other
    /// operands to the common dtype.
    pub fn keeps(&mut self, operand: usize) {
        match self {
            Self::Walk(walk) => walk.kept = Some(operand),
            Self::Capture(_, kept) => **kept = Some(operand),
        }
    }

    /// Applies `f` to every element, as [`run`](Self::run) does. `cheap` and its scalars describe `f`, so that fusion can compute it in
    /// registers.
    #[inline(always)]
    pub fn run_cheap<C: Element, R: Element>(
        &mut self,
        cheap: Cheap,
        numbers: &[Scalar],
        f: impl Fn([C; N]) -> R + Send + Sync + 'static,
    ) {
        self.run(f);
        if let Self::Capture(Some(row), _) = self {
            row.cheap = Some((cheap, numbers.to_vec()));
        }
    }
}

impl<const N: usize> Walk<'_, N> {
    #[inline(never)]
    fn run(&self, computed: DType, results: DType, row: &dyn Loop) {
        if !(self.alike && self.out.dtype() == results && self.inputs[0].dtype() == computed) {
            return self.walk_any(computed, results, row);
        }
        let count = usize::try_from(self.out.geometry().count()).unwrap_or(0);
        let starts = BasePointers {
            out: self.out.start(),
            inputs: self.inputs.each_ref().map(|input| input.start().cast_const()),
        };
        // SAFETY: all operands have `count` contiguous elements of the loop's types, as they are alike. An input that is also the result is
        // read from a copy; no other input shares memory with it.
        unsafe {
            match (starts.is_in_place(), count) {
                (false, ..=GRAIN) => row.run(starts.out, &starts.inputs, count),
                (false, _) => walk_alike(count, results.size(), computed.size(), &starts, row),
                (true, ..=FEW) => {
                    // Room for `FEW` elements of the largest type.
                    let mut block = [const { MaybeUninit::<Complex64>::uninit() }; FEW];
                    let aside = block.as_mut_ptr().cast::<u8>();
                    aside.copy_from_nonoverlapping(starts.out, count * computed.size());
                    row.run(starts.out, &starts.with_block(aside), count);
                }
                (true, _) => walk_in_place(count, computed.size(), &starts, row),
            }
        }
    }

    #[inline(never)]
    fn walk_any(&self, computed: DType, results: DType, row: &dyn Loop) {
        let narrow = Narrow::between(computed, self.common);
        let out_way = ElementPath::of_result(self.out.dtype(), results, narrow.filter(|_| results == computed));
        let out = Lane { start: self.out.start(), way: out_way };
        let inputs = std::array::from_fn(|i| {
            let input = &self.inputs[i];
            let is_kept = self.kept == Some(i) && input.geometry().count() == 1;
            let way = ElementPath::of_input(input.dtype(), computed, narrow, is_kept);
            // An input that is also written goes through a block, because the loop may assume that it does not read its results.
            let direct = way.direct && input.start() != self.out.start();
            Lane { start: input.start(), way: ElementPath { direct, ..way } }
        });
        let sizes = self.out.geometry().sizes();
        match N {
            1 => self.walk_planned::<2>(sizes, &out, &inputs, row),
            2 => self.walk_planned::<3>(sizes, &out, &inputs, row),
            3 => self.walk_planned::<4>(sizes, &out, &inputs, row),
            _ => self.walk_planned::<5>(sizes, &out, &inputs, row),
        }
    }

    fn walk_planned<const M: usize>(&self, sizes: &[i64], out: &Lane, inputs: &[Lane; N], row: &dyn Loop) {
        let geometries: [_; M] = std::array::from_fn(|i| {
            let operand = if i == 0 { self.out } else { &self.inputs[(i - 1).min(N - 1)] };
            (operand.geometry(), operand.dtype().size())
        });
        let nest = LoopNest::new(sizes, geometries);
        if let Some(turned) = tiles::transposed_inputs(&nest, inputs) {
            let (groups, elements) = tiles::groups(&nest);
            thread_pool::parallel_for(0..groups, GRAIN.div_ceil(elements), |part| {
                // SAFETY: the nest is that of the operands, whose lanes these are, and each thread has its own groups.
                unsafe { Walker::new(out, inputs, row).tiled(&nest, turned, part) };
            });
            return;
        }
        let count = nest.count();
        thread_pool::parallel_for(0..count, GRAIN, |part| {
            let mut walker = Walker::new(out, inputs, row);
            let (length, steps) = nest.row();
            // SAFETY: the nest is that of the operands, whose lanes these are, and each thread has its own elements.
            unsafe {
                if length < SHORT && nest.count() > length {
                    walker.gathered(&nest, part);
                } else {
                    nest.rows(part.start, part.end, |offsets, count| walker.row(&offsets, &steps, count));
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
    fn with_block(&self, block: *const u8) -> [*const u8; N] {
        self.inputs.map(|input| if input == self.out { block } else { input })
    }
}

/// An operand of a call, with the conversion of its elements.
struct Lane {
    start: *mut u8,
    way: ElementPath,
}

/// The conversion of elements between an operand and the loop.
pub(super) struct ElementPath {
    /// The size of an element in the loop.
    pub(super) size: usize,
    /// The conversion from the operand's dtype to the loop's, or back.
    convert: Convert,
    /// Whether contiguous elements can be used without a copy.
    pub(super) direct: bool,
    /// The dtype that values are rounded to between the operand and the loop, if any.
    narrow: Option<Narrow>,
}

/// Rounding to a narrow dtype: conversions from the loop's dtype to the promoted dtype and back.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    dtype: DType,
    down: Convert,
    up: Convert,
}

impl Narrow {
    /// Returns the rounding to `dtype`; `None` if loops compute in `dtype` itself.
    pub(super) fn between(computed: DType, dtype: DType) -> Option<Self> {
        let between = || Self { dtype, down: conversion(computed, dtype), up: conversion(dtype, computed) };
        (computed != dtype).then(between)
    }

    /// Returns whether the narrow dtype represents every value of `dtype`.
    fn holds(&self, dtype: DType) -> bool {
        // `bf16`, the dtype with the shortest significand, has eight bits of it: enough for integers of one byte.
        let is_exact = |dtype: DType| dtype.is_floating() || dtype.size() == 1;
        dtype.promote(self.dtype) == self.dtype && (self.dtype.is_integral() || is_exact(dtype))
    }

    /// Rounds elements of a loop to the narrow dtype.
    ///
    /// # Safety
    ///
    /// There are `count` elements of the loop's dtype, which are `size` bytes large, and no more than a block has room for.
    unsafe fn apply(&self, elements: *mut u8, count: usize, block: &mut Block, size: isize) {
        let narrow_size = isize::try_from(self.dtype.size()).unwrap_or(0);
        // SAFETY: guaranteed by the caller, and the block has room for as many.
        unsafe {
            (self.down)(elements, size, block.start(), narrow_size, count);
            (self.up)(block.start(), narrow_size, elements, size, count);
        }
    }
}

// SAFETY: the operand that it points into is held for as long as the call, and threads write disjoint parts.
unsafe impl Sync for Lane {}

impl ElementPath {
    pub(super) fn of_input(dtype: DType, computed: DType, narrow: Option<Narrow>, is_kept: bool) -> Self {
        let narrow = narrow.filter(|narrow| !(narrow.holds(dtype) || is_kept && narrow.dtype.is_floating()));
        let direct = dtype == computed && narrow.is_none();
        let convert = if dtype == computed { gather(dtype.size()) } else { conversion(dtype, computed) };
        Self { size: computed.size(), convert, direct, narrow }
    }

    pub(super) fn of_result(dtype: DType, results: DType, narrow: Option<Narrow>) -> Self {
        let narrow = narrow.filter(|narrow| narrow.dtype != dtype);
        let direct = dtype == results && narrow.is_none();
        Self { size: results.size(), convert: conversion(results, dtype), direct, narrow }
    }

    /// Returns the path of elements that are in the loop's dtype already.
    pub(super) fn in_the_loop(&self) -> Self {
        Self { direct: true, narrow: None, ..*self }
    }

    /// Copies elements of an operand to the loop's buffer, converted. With a step of 0, one element is converted and repeated.
    ///
    /// # Safety
    ///
    /// There are `count` elements, `step` bytes apart, and room for `count` of the loop's, no more than a block has room for.
    pub(super) unsafe fn load(&self, from: *const u8, step: isize, to: *mut u8, count: usize, narrowed: &mut Block) {
        let size = self.size.cast_signed();
        let distinct = if step == 0 { count.min(1) } else { count };
        // SAFETY: guaranteed by the caller.
        unsafe { (self.convert)(from, step, to, size, distinct) };
        if let Some(narrow) = self.narrow {
            // SAFETY: `distinct` elements have just been written to `to`.
            unsafe { narrow.apply(to, distinct, narrowed, size) };
        }
        if distinct < count {
            // SAFETY: `to` has room for `count` elements, and the first was written.
            unsafe { repeat(self.size, to, count) };
        }
    }

    /// Copies results of the loop to the operand, converted.
    ///
    /// # Safety
    ///
    /// There are `count` contiguous results, no more than a block has room for, and room for `count` elements, `step` bytes apart.
    pub(super) unsafe fn store(&self, from: *mut u8, to: *mut u8, step: isize, count: usize, narrowed: &mut Block) {
        let size = self.size.cast_signed();
        if let Some(narrow) = self.narrow {
            // SAFETY: guaranteed by the caller; the results were written by the loop.
            unsafe { narrow.apply(from, count, narrowed, size) };
        }
        // SAFETY: guaranteed by the caller.
        unsafe { (self.convert)(from, size, to, step, count) };
    }
}
