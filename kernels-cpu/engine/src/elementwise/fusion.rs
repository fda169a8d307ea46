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

use super::fusible::ContiguousLoop;
use super::loop_nest::LoopNest;
use super::operands::{ElementBlock, GRAIN_SIZE, OperandConversion};
use crate::thread_pool;

/// The number of elements of a tile: small enough that a dozen tiles stay in the L1 cache while the processor prefetches the next ones.
const ELEMENTS_PER_TILE: usize = 512;

/// The most inputs of a loop, and of all operations of a run together.
const MAX_LOOP_INPUTS: usize = 24;

struct CpuFuser;

impl Fuser for CpuFuser {
    fn fuse(&self, chain: &dispatch_runtime::FusionGroup) -> Option<Box<dyn dispatch_runtime::FusedKernel>> {
        compile::compile_pass(chain).map(|pass| Box::new(pass) as Box<dyn dispatch_runtime::FusedKernel>)
    }
}

fuser!(keys::CPU, CpuFuser);

/// A compiled chain of calls for fixed dtypes and sizes. Only [`compile`] makes one.
struct FusedPass {
    sizes: Vec<i64>,
    inputs: Vec<Spec>,
    /// Inputs of one element, and scalars.
    uniform_inputs: Vec<UniformInput>,
    /// Inputs that are broadcast to the results' sizes.
    broadcast_inputs: Vec<BroadcastInput>,
    calls: Vec<FusedCall>,
    results: Vec<DType>,
    /// The size of a thread's memory for tiles.
    tile_bytes: usize,
}

/// The offset of a tile in a thread's memory, in bytes.
type TileOffset = usize;

/// The location of the elements of a call's input or result.
#[derive(Clone, Copy)]
enum ElementLocation {
    Input(usize),
    Result(usize),
    Tile(TileOffset),
}

struct FusedCall {
    kernel_loop: Box<dyn ContiguousLoop>,
    inputs: Vec<FusedCallOperand>,
    out: FusedCallOperand,
}

/// One input or result of a call.
struct FusedCallOperand {
    location: ElementLocation,
    /// The size of an element at this location.
    size: usize,
    path: OperandConversion,
    /// The tile for the converted elements, if a conversion is needed.
    conversion_tile: TileOffset,
}

struct UniformInput {
    source: UniformSource,
    path: OperandConversion,
    tile: TileOffset,
}

enum UniformSource {
    Input(usize),
    Scalar(ElementBytes),
}

/// The bytes of one element of any dtype.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct ElementBytes([u8; 16]);

impl ElementBytes {
    /// Returns the only element of a tensor; `None` if it cannot be read.
    fn from_tensor(tensor: &Tensor) -> Option<Self> {
        let operands = Operands::borrow(&[], [], &["number"], [tensor]).ok()?;
        let [operand]: &[Operand<'_>; 1] = operands.read();
        let mut bytes = [0; 16];
        let element = bytes.get_mut(..operand.dtype().size()).filter(|_| operand.geometry().count() == 1)?;
        // SAFETY: the operand holds one element, of as many bytes.
        unsafe { element.as_mut_ptr().copy_from_nonoverlapping(operand.start(), element.len()) };
        Some(Self(bytes))
    }
}

struct BroadcastInput {
    input: usize,
    size: usize,
    path: OperandConversion,
    tile: TileOffset,
}

impl dispatch_runtime::FusedKernel for FusedPass {
    fn run(&self, inputs: &[&Tensor]) -> Result<Option<Vec<Tensor>>> {
        if inputs.len() != self.inputs.len()
            || !self.inputs.iter().zip(inputs).all(|(spec, input)| input_matches_spec(spec, input))
        {
            return Ok(None);
        }
        let result = |dtype: &DType| Spec::contiguous(*dtype, &self.sizes).on(Device::CPU);
        let mut results = self.results.iter().map(result).collect::<Result<Vec<_>>>()?;
        // If other code writes to an input, the pass is refused; the operator that reads the input then returns the error.
        let Ok(read) =
            inputs.iter().map(|input| Operands::borrow(&[], [], &["input"], [*input])).collect::<Result<Vec<_>>>()
        else {
            return Ok(None);
        };
        let written = results.iter_mut().map(|result| Operands::borrow(&["out"], [result], &[], []));
        let written = written.collect::<Result<Vec<_>>>()?;
        let pointers = OperandPointers {
            inputs: read.iter().map(|operands: &Operands<'_, 0, 1>| operands.read()[0].start()).collect(),
            results: written.iter().map(|operands: &Operands<'_, 1, 0>| operands.written()[0].start()).collect(),
        };
        let nests: Vec<LoopNest<2>> = self.broadcast_inputs.iter().map(|input| self.broadcast_nest(input)).collect();
        thread_pool::parallel_for(0..self.result_element_count(), GRAIN_SIZE, |part| {
            let mut tiles = TileBuffers::new(self.tile_bytes);
            // SAFETY: inputs match their specs, results have the pass's number and sizes, no other thread has this part of them, and the
            // tiles are those of this pass.
            unsafe {
                self.uniform_inputs.iter().for_each(|uniform| uniform.fill_tile(&pointers, &mut tiles));
                for start in part.clone().step_by(ELEMENTS_PER_TILE) {
                    let count = ELEMENTS_PER_TILE.min(part.end - start);
                    for (input, nest) in self.broadcast_inputs.iter().zip(&nests) {
                        input.fill_tile(nest, &pointers, &mut tiles, start, count);
                    }
                    self.calls.iter().for_each(|call| call.run(&pointers, &mut tiles, start, count));
                }
            }
        });
        drop((read, written));
        Ok(Some(results))
    }
}

/// Returns whether an input is contiguous and has the device, dtype and sizes of its spec.
fn input_matches_spec(spec: &Spec, input: &Tensor) -> bool {
    input.device() == Device::CPU
        && input.dtype() == spec.dtype
        && input.sizes() == spec.geometry.sizes()
        && input.geometry().is_contiguous()
        && !input.is_number()
}

impl FusedPass {
    fn result_element_count(&self) -> usize {
        usize::try_from(Spec::contiguous(DType::Bool, &self.sizes).geometry.count()).unwrap_or(0)
    }

    /// Returns the loop nest over a broadcast input and contiguous results.
    fn broadcast_nest(&self, broadcast: &BroadcastInput) -> LoopNest<2> {
        let results = Spec::contiguous(DType::Bool, &self.sizes).geometry;
        LoopNest::new(
            &self.sizes,
            [(&results, broadcast.path.size), (&self.inputs[broadcast.input].geometry, broadcast.size)],
        )
    }
}

/// Pointers to the first element of each input and result. The threads of one run share it, and each writes its own part.
struct OperandPointers {
    inputs: Vec<*mut u8>,
    results: Vec<*mut u8>,
}

// SAFETY: the operands that these point into are held for as long as the run, and threads write disjoint parts.
unsafe impl Sync for OperandPointers {}

/// The buffers of one thread, kept between calls.
struct TileBuffers {
    cache_lines: Vec<CacheLine>,
    rounding_buffer: ElementBlock,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
#[expect(dead_code, reason = "its bytes are accessed through pointers")]
struct CacheLine([MaybeUninit<u8>; 64]);

impl TileBuffers {
    fn new(bytes: usize) -> Self {
        let cache_lines = vec![CacheLine([MaybeUninit::uninit(); 64]); bytes.div_ceil(size_of::<CacheLine>())];
        Self { cache_lines, rounding_buffer: ElementBlock::new() }
    }

    fn tile_pointer(&mut self, tile: TileOffset) -> *mut u8 {
        self.cache_lines.as_mut_ptr().cast::<u8>().wrapping_add(tile)
    }
}

impl UniformInput {
    /// # Safety
    ///
    /// `pointers` has the inputs and results of this pass, and `tiles` are this pass's.
    unsafe fn fill_tile(&self, pointers: &OperandPointers, tiles: &mut TileBuffers) {
        let to = tiles.tile_pointer(self.tile);
        let from = match &self.source {
            UniformSource::Input(input) => pointers.inputs[*input].cast_const(),
            UniformSource::Scalar(ElementBytes(bytes)) => bytes.as_ptr(),
        };
        // SAFETY: there is one element, and a tile has room for `ELEMENTS_PER_TILE` of the loop's elements.
        unsafe { self.path.load_elements(from, 0, to, ELEMENTS_PER_TILE, &mut tiles.rounding_buffer) };
    }
}

impl BroadcastInput {
    /// # Safety
    ///
    /// The safety conditions of [`UniformInput::fill_tile`] hold, and the results have `count` elements from `start` on, no more than a
    /// tile.
    unsafe fn fill_tile(
        &self,
        nest: &LoopNest<2>,
        pointers: &OperandPointers,
        tiles: &mut TileBuffers,
        start: usize,
        count: usize,
    ) {
        let (from, to) = (pointers.inputs[self.input], tiles.tile_pointer(self.tile));
        let (_, [_, step]) = nest.innermost_dim();
        let mut filled = 0;
        nest.visit_rows(start, start + count, |[_, offset], count| {
            let to = to.wrapping_add(filled * self.path.size);
            // SAFETY: the nest stays inside the input, and a tile has room for `ELEMENTS_PER_TILE` of the loop's elements.
            unsafe {
                self.path.load_elements(from.wrapping_offset(offset), step, to, count, &mut tiles.rounding_buffer);
            };
            filled += count;
        });
    }
}

impl FusedCallOperand {
    fn element_pointer(&self, pointers: &OperandPointers, tiles: &mut TileBuffers, start: usize) -> *mut u8 {
        match self.location {
            ElementLocation::Input(input) => pointers.inputs[input].wrapping_add(start * self.size),
            ElementLocation::Result(result) => pointers.results[result].wrapping_add(start * self.size),
            ElementLocation::Tile(tile) => tiles.tile_pointer(tile),
        }
    }
}

impl FusedCall {
    /// # Safety
    ///
    /// The safety conditions of [`BroadcastInput::fill_tile`] hold, and the calls before this one have run.
    #[inline]
    unsafe fn run(&self, pointers: &OperandPointers, tiles: &mut TileBuffers, start: usize, count: usize) {
        let mut inputs = [std::ptr::null(); MAX_LOOP_INPUTS];
        for (pointer, operand) in inputs.iter_mut().zip(&self.inputs) {
            let mut at = operand.element_pointer(pointers, tiles, start);
            if !operand.path.direct {
                let from = std::mem::replace(&mut at, tiles.tile_pointer(operand.conversion_tile));
                // SAFETY: inputs have as many elements as there are results, and tiles have `ELEMENTS_PER_TILE`, including the conversion
                // tile.
                unsafe {
                    operand.path.load_elements(from, operand.size.cast_signed(), at, count, &mut tiles.rounding_buffer);
                };
            }
            *pointer = at.cast_const();
        }
        let out = self.out.element_pointer(pointers, tiles, start);
        let inputs = &inputs[..self.inputs.len()];
        // SAFETY: inputs and results have `count` elements each, and results are in tensors or tiles of their own.
        unsafe {
            if self.out.path.direct {
                self.kernel_loop.run(out, inputs, count);
            } else {
                let converted = tiles.tile_pointer(self.out.conversion_tile);
                self.kernel_loop.run(converted, inputs, count);
                self.out.path.store_elements(
                    converted,
                    out,
                    self.out.size.cast_signed(),
                    count,
                    &mut tiles.rounding_buffer,
                );
            }
        }
    }
}
