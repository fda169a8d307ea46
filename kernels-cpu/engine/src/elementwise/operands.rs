//! The operands of one call, and the loop over them.
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

/// How many elements pass through the cache at a time.
pub(super) const BLOCK: usize = 1024;
/// Rows shorter than this are gathered into blocks.
const SHORT: usize = 128;
/// How many elements are worth another thread.
pub(super) const GRAIN: usize = 32 * 1024;
/// How many elements are copied aside without much ado.
const FEW: usize = 16;

/// What the loop of one operator runs on.
pub enum LoopInput<'a, const N: usize> {
    /// The operands of a call.
    Walk(Walk<'a, N>),
    /// None yet: the loop leaves its row here, and the operand that it [keeps](LoopInput::keeps).
    Capture(&'a mut Option<KernelLoop>, &'a mut Option<usize>),
}

/// One result and `N` inputs.
pub struct Walk<'a, const N: usize> {
    out: &'a Operand<'a>,
    inputs: &'a [Operand<'a>; N],
    /// What the operands promote to: a narrow dtype has no loop of its own, but its numbers are no wider for that.
    common: DType,
    /// The operand that the loop [keeps](LoopInput::keeps).
    kept: Option<usize>,
    /// All operands lie side by side and are of the same sizes, and all inputs of the same dtype.
    alike: bool,
}

/// A block of any type that loops compute in.
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
    /// If the operands are `alike`, the elements of each lie side by side, all have the same sizes, and all inputs the same dtype.
    #[inline]
    pub(super) unsafe fn new(operands: &'a Operands<'_, 1, N>, common: DType, alike: bool) -> Self {
        let [out] = operands.written();
        Self::Walk(Walk { out, inputs: operands.read(), common, kept: None, alike })
    }

    /// Applies `f` to every element. `C` is the type that the loop computes in, `R` that of its results.
    ///
    /// The loop is compiled once, for calls and for passes, and all around it once for each number of operands.
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
    /// Says before the loop runs that this operand, where it is one element, keeps what halves do not hold of it; any other is a half as
    /// soon as the operands promote to that. PyTorch multiplies and divides by such numbers, and has all else of the common dtype.
    pub fn keeps(&mut self, operand: usize) {
        match self {
            Self::Walk(walk) => walk.kept = Some(operand),
            Self::Capture(_, kept) => **kept = Some(operand),
        }
    }

    /// The same for an operation that runs know, with these numbers.
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
        // SAFETY: all operands have `count` elements of the loop's types side by side, as they are alike. An input that is the result
        // too is read from a copy; no other shares memory with it.
        unsafe {
            match (starts.is_in_place(), count) {
                (false, ..=GRAIN) => row.run(starts.out, &starts.inputs, count),
                (false, _) => walk_alike(count, results.size(), computed.size(), &starts, row),
                (true, ..=FEW) => {
                    // As many as there are of the largest elements.
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
            // What is written in place goes through a block: the loop may count on not reading what it wrote.
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
                // SAFETY: the nest is that of the operands, whose lanes these are, and threads have groups of their own.
                unsafe { Walker::new(out, inputs, row).tiled(&nest, turned, part) };
            });
            return;
        }
        let count = nest.count();
        thread_pool::parallel_for(0..count, GRAIN, |part| {
            let mut walker = Walker::new(out, inputs, row);
            let (length, steps) = nest.row();
            // SAFETY: as above, of elements.
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

/// Where the first elements are: shared by the threads of one call, each of which touches its own part.
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

    /// The inputs, with a copy in place of the one that is the result too.
    #[inline(always)]
    fn with_block(&self, block: *const u8) -> [*const u8; N] {
        self.inputs.map(|input| if input == self.out { block } else { input })
    }
}

/// One operand, and how its elements reach the loop.
struct Lane {
    start: *mut u8,
    way: ElementPath,
}

/// How elements of one dtype reach the loop, or leave it.
pub(super) struct ElementPath {
    /// Of one element in the loop.
    pub(super) size: usize,
    /// From the operand's dtype to the loop's, or back.
    convert: Convert,
    /// Elements that lie side by side can be used where they are.
    pub(super) direct: bool,
    /// For elements that the dtype between the operand's and the loop's does not hold.
    narrow: Option<Narrow>,
}

/// The way from the loop's dtype to the one that the operands promote to, and back.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    dtype: DType,
    down: Convert,
    up: Convert,
}

impl Narrow {
    /// None where loops compute in the dtype itself.
    pub(super) fn between(computed: DType, dtype: DType) -> Option<Self> {
        let between = || Self { dtype, down: conversion(computed, dtype), up: conversion(dtype, computed) };
        (computed != dtype).then(between)
    }

    /// Whether the narrow dtype has all that another has.
    fn holds(&self, dtype: DType) -> bool {
        // The eight bits that integers of one byte have are as many as the shortest fraction's.
        let is_exact = |dtype: DType| dtype.is_floating() || dtype.size() == 1;
        dtype.promote(self.dtype) == self.dtype && (self.dtype.is_integral() || is_exact(dtype))
    }

    /// Makes elements of a loop what the narrow dtype has in their place.
    ///
    /// # Safety
    ///
    /// There are `count` elements of the loop's dtype, which are `size` bytes large, and no more than a block holds.
    unsafe fn apply(&self, elements: *mut u8, count: usize, block: &mut Block, size: isize) {
        let narrow_size = isize::try_from(self.dtype.size()).unwrap_or(0);
        // SAFETY: as the caller says, and the block holds as many.
        unsafe {
            (self.down)(elements, size, block.start(), narrow_size, count);
            (self.up)(block.start(), narrow_size, elements, size, count);
        }
    }
}

// SAFETY: as for `BasePointers`.
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

    /// That of elements which the loop has already.
    pub(super) fn in_the_loop(&self) -> Self {
        Self { direct: true, narrow: None, ..*self }
    }

    /// Brings elements to the loop; where they are all one, it is repeated.
    ///
    /// # Safety
    ///
    /// There are `count` elements, these many bytes apart, and room for as many of the loop's, no more than a block holds.
    pub(super) unsafe fn load(&self, from: *const u8, step: isize, to: *mut u8, count: usize, narrowed: &mut Block) {
        let size = self.size.cast_signed();
        let distinct = if step == 0 { count.min(1) } else { count };
        // SAFETY: as the caller says.
        unsafe { (self.convert)(from, step, to, size, distinct) };
        if let Some(narrow) = self.narrow {
            // SAFETY: as above, for what was just brought.
            unsafe { narrow.apply(to, distinct, narrowed, size) };
        }
        if distinct < count {
            // SAFETY: as above.
            unsafe { repeat(self.size, to, count) };
        }
    }

    /// Brings results to where they belong.
    ///
    /// # Safety
    ///
    /// There are `count` results side by side, no more than a block holds, and room for as many elements, these many bytes apart.
    pub(super) unsafe fn store(&self, from: *mut u8, to: *mut u8, step: isize, count: usize, narrowed: &mut Block) {
        let size = self.size.cast_signed();
        if let Some(narrow) = self.narrow {
            // SAFETY: as the caller says, of results that the loop has left.
            unsafe { narrow.apply(from, count, narrowed, size) };
        }
        // SAFETY: as the caller says.
        unsafe { (self.convert)(from, size, to, step, count) };
    }
}
