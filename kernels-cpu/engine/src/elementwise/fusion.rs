//! Fusion: several elementwise calls in one pass over memory.
//!
//! A tile of every input goes through the loops of all calls before the next tile. Intermediate values stay in the L1 cache, or in
//! registers for consecutive cheap calls ([`registers`]). The loops are those of the kernels ([`fusible`](super::fusible)). Each call
//! rounds to the dtype of its result as the kernel does, and work is divided among threads as the kernels divide it.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

mod check;
mod compile;
pub(super) mod registers;

use std::mem::MaybeUninit;

use dispatch_runtime::{DType, Device, Fuser, Operand, Operands, Result, Spec, Tensor, fuser, keys};

use super::fusible::Loop;
use super::loop_nest::LoopNest;
use super::operands::{Block, ElementPath, GRAIN};
use crate::thread_pool;

/// The number of elements of a tile: small enough that a dozen tiles stay in the L1 cache while the processor prefetches the next ones.
const TILE: usize = 512;

/// The most inputs of a loop, and of all operations of a run together.
const INPUTS: usize = 24;

struct Cpu;

impl Fuser for Cpu {
    fn fuse(&self, chain: &dispatch_runtime::FusionGroup) -> Option<Box<dyn dispatch_runtime::FusedKernel>> {
        compile::pass(chain).map(|pass| Box::new(pass) as Box<dyn dispatch_runtime::FusedKernel>)
    }
}

fuser!(keys::CPU, Cpu);

/// A compiled chain of calls for fixed dtypes and sizes. Only [`compile`] makes one.
struct Pass {
    sizes: Vec<i64>,
    inputs: Vec<Spec>,
    /// Inputs of one element, and scalars.
    uniform: Vec<Uniform>,
    /// Inputs that are broadcast to the results' sizes.
    spread: Vec<Spread>,
    calls: Vec<Call>,
    results: Vec<DType>,
    /// The size of a thread's memory for tiles.
    bytes: usize,
}

/// The offset of a tile in a thread's memory, in bytes.
type Tile = usize;

/// The location of a call's input or result.
#[derive(Clone, Copy)]
enum Place {
    Input(usize),
    Result(usize),
    Tile(Tile),
}

struct Call {
    row: Box<dyn Loop>,
    inputs: Vec<End>,
    out: End,
}

/// One input or result of a call.
struct End {
    at: Place,
    /// The size of an element there.
    size: usize,
    way: ElementPath,
    /// The tile for the loop's own elements, if a conversion is needed.
    aside: Tile,
}

struct Uniform {
    from: From,
    way: ElementPath,
    to: Tile,
}

enum From {
    Input(usize),
    Number(Element),
}

/// The bytes of one element of any dtype.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Element([u8; 16]);

impl Element {
    /// Returns the only element of a tensor; `None` if it cannot be read.
    fn of(tensor: &Tensor) -> Option<Self> {
        let operands = Operands::take(&[], [], &["number"], [tensor]).ok()?;
        let [operand]: &[Operand<'_>; 1] = operands.read();
        let mut bytes = [0; 16];
        let element = bytes.get_mut(..operand.dtype().size()).filter(|_| operand.geometry().count() == 1)?;
        // SAFETY: the operand holds one element, of as many bytes.
        unsafe { element.as_mut_ptr().copy_from_nonoverlapping(operand.start(), element.len()) };
        Some(Self(bytes))
    }
}

struct Spread {
    input: usize,
    size: usize,
    way: ElementPath,
    to: Tile,
}

impl dispatch_runtime::FusedKernel for Pass {
    fn run(&self, inputs: &[&Tensor]) -> Result<Option<Vec<Tensor>>> {
        if inputs.len() != self.inputs.len() || !self.inputs.iter().zip(inputs).all(|(spec, input)| is(spec, input)) {
            return Ok(None);
        }
        let result = |dtype: &DType| Spec::contiguous(*dtype, &self.sizes).on(Device::CPU);
        let mut results = self.results.iter().map(result).collect::<Result<Vec<_>>>()?;
        // If other code writes to an input, the pass is refused; the operator that reads the input then returns the error.
        let Ok(read) =
            inputs.iter().map(|input| Operands::take(&[], [], &["input"], [*input])).collect::<Result<Vec<_>>>()
        else {
            return Ok(None);
        };
        let written = results.iter_mut().map(|result| Operands::take(&["out"], [result], &[], []));
        let written = written.collect::<Result<Vec<_>>>()?;
        let memory = Memory {
            inputs: read.iter().map(|operands: &Operands<'_, 0, 1>| operands.read()[0].start()).collect(),
            results: written.iter().map(|operands: &Operands<'_, 1, 0>| operands.written()[0].start()).collect(),
        };
        let nests: Vec<LoopNest<2>> = self.spread.iter().map(|spread| self.nest(spread)).collect();
        thread_pool::parallel_for(0..self.results_count(), GRAIN, |part| {
            let mut tiles = Tiles::new(self.bytes);
            // SAFETY: inputs match their specs, results have the pass's number and sizes, no other thread has this part of them, and the
            // tiles are those of this pass.
            unsafe {
                self.uniform.iter().for_each(|uniform| uniform.fill(&memory, &mut tiles));
                for start in part.clone().step_by(TILE) {
                    let count = TILE.min(part.end - start);
                    for (spread, nest) in self.spread.iter().zip(&nests) {
                        spread.fill(nest, &memory, &mut tiles, start, count);
                    }
                    self.calls.iter().for_each(|call| call.run(&memory, &mut tiles, start, count));
                }
            }
        });
        drop((read, written));
        Ok(Some(results))
    }
}

/// Returns whether an input is contiguous and has the device, dtype and sizes of its spec.
fn is(spec: &Spec, input: &Tensor) -> bool {
    input.device() == Device::CPU
        && input.dtype() == spec.dtype
        && input.sizes() == spec.geometry.sizes()
        && input.geometry().is_contiguous()
        && !input.is_number()
}

impl Pass {
    fn results_count(&self) -> usize {
        usize::try_from(Spec::contiguous(DType::Bool, &self.sizes).geometry.count()).unwrap_or(0)
    }

    /// Returns the loop nest over a broadcast input and contiguous results.
    fn nest(&self, spread: &Spread) -> LoopNest<2> {
        let results = Spec::contiguous(DType::Bool, &self.sizes).geometry;
        LoopNest::new(&self.sizes, [(&results, spread.way.size), (&self.inputs[spread.input].geometry, spread.size)])
    }
}

/// The first elements of inputs and results. The threads of one run share it, and each writes its own part.
struct Memory {
    inputs: Vec<*mut u8>,
    results: Vec<*mut u8>,
}

// SAFETY: the operands that these point into are held for as long as the run, and threads write disjoint parts.
unsafe impl Sync for Memory {}

/// The buffers of one thread, kept between calls.
struct Tiles {
    lines: Vec<Line>,
    narrowed: Block,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
#[expect(dead_code, reason = "what is in it is found by its place")]
struct Line([MaybeUninit<u8>; 64]);

impl Tiles {
    fn new(bytes: usize) -> Self {
        let lines = vec![Line([MaybeUninit::uninit(); 64]); bytes.div_ceil(size_of::<Line>())];
        Self { lines, narrowed: Block::new() }
    }

    fn at(&mut self, tile: Tile) -> *mut u8 {
        self.lines.as_mut_ptr().cast::<u8>().wrapping_add(tile)
    }
}

impl Uniform {
    /// # Safety
    ///
    /// `memory` has the inputs and results of this pass, and `tiles` are this pass's.
    unsafe fn fill(&self, memory: &Memory, tiles: &mut Tiles) {
        let to = tiles.at(self.to);
        let from = match &self.from {
            From::Input(input) => memory.inputs[*input].cast_const(),
            From::Number(Element(bytes)) => bytes.as_ptr(),
        };
        // SAFETY: there is one element, and a tile has room for `TILE` of the loop's elements.
        unsafe { self.way.load(from, 0, to, TILE, &mut tiles.narrowed) };
    }
}

impl Spread {
    /// # Safety
    ///
    /// The safety conditions of [`Uniform::fill`] hold, and the results have `count` elements from `start` on, no more than a tile.
    unsafe fn fill(&self, nest: &LoopNest<2>, memory: &Memory, tiles: &mut Tiles, start: usize, count: usize) {
        let (from, to) = (memory.inputs[self.input], tiles.at(self.to));
        let (_, [_, step]) = nest.row();
        let mut filled = 0;
        nest.rows(start, start + count, |[_, offset], count| {
            let to = to.wrapping_add(filled * self.way.size);
            // SAFETY: the nest stays inside the input, and a tile has room for `TILE` of the loop's elements.
            unsafe { self.way.load(from.wrapping_offset(offset), step, to, count, &mut tiles.narrowed) };
            filled += count;
        });
    }
}

impl End {
    fn start(&self, memory: &Memory, tiles: &mut Tiles, start: usize) -> *mut u8 {
        match self.at {
            Place::Input(input) => memory.inputs[input].wrapping_add(start * self.size),
            Place::Result(result) => memory.results[result].wrapping_add(start * self.size),
            Place::Tile(tile) => tiles.at(tile),
        }
    }
}

impl Call {
    /// # Safety
    ///
    /// The safety conditions of [`Spread::fill`] hold, and the calls before this one have run.
    #[inline]
    unsafe fn run(&self, memory: &Memory, tiles: &mut Tiles, start: usize, count: usize) {
        let mut inputs = [std::ptr::null(); INPUTS];
        for (place, end) in inputs.iter_mut().zip(&self.inputs) {
            let mut at = end.start(memory, tiles, start);
            if !end.way.direct {
                let from = std::mem::replace(&mut at, tiles.at(end.aside));
                // SAFETY: inputs have as many elements as there are results, and tiles have `TILE`, including the tile aside.
                unsafe { end.way.load(from, end.size.cast_signed(), at, count, &mut tiles.narrowed) };
            }
            *place = at.cast_const();
        }
        let out = self.out.start(memory, tiles, start);
        let inputs = &inputs[..self.inputs.len()];
        // SAFETY: inputs and results have `count` elements each, and results are in tensors or tiles of their own.
        unsafe {
            if self.out.way.direct {
                self.row.run(out, inputs, count);
            } else {
                let aside = tiles.at(self.out.aside);
                self.row.run(aside, inputs, count);
                self.out.way.store(aside, out, self.out.size.cast_signed(), count, &mut tiles.narrowed);
            }
        }
    }
}
