//! CPU kernels of random numbers.
//!
//! The private function `fill_from_words` is the engine. It reserves a range of the generator's stream, and threads compute the words of
//! their groups of blocks. A distribution converts each group's words to rows of 64 elements. The documentation of `aten` says which word
//! becomes which element.
#![allow(clippy::needless_range_loop, reason = "one index is used for several arrays")]
#![expect(unsafe_code, reason = "the loop nest checked every offset")]

mod bernoulli;
mod distributions;
mod dropout;
mod integers;
mod multinomial;
mod tensor_parameters;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Operands, Problem, Spec, philox};

use engine::convert::conversion_function;
use engine::data_movement::BasePointer;
use engine::elementwise::copy_converted;
use engine::math::vectorised;
use engine::thread_pool::parallel_for;

/// The number of blocks of a group, and of elements of a row.
const BLOCKS_PER_GROUP: usize = Generator::BLOCKS_PER_GROUP;

/// The words of a group of blocks: the first word of each block, then the second of each, and so on.
pub(crate) type GroupWords = [[u32; BLOCKS_PER_GROUP]; 4];

/// The minimum number of groups for each thread.
const GRAIN_SIZE: usize = 64;

/// Fills a tensor with the elements that `make` computes from a group's words and the index of its first element.
pub(crate) fn fill_from_words<T: Element, const N: usize>(
    this: &mut Tensor,
    generator: Option<&Generator>,
    make: impl Fn(&GroupWords, usize) -> [[T; BLOCKS_PER_GROUP]; N] + Sync,
) -> Result<()> {
    let generator = cpu_generator(generator)?;
    if this.geometry().is_contiguous() {
        return fill_contiguous_from_words(this, &generator, make);
    }
    let mut contiguous = Spec::contiguous(this.dtype(), this.sizes()).on(Device::CPU)?;
    fill_contiguous_from_words(&mut contiguous, &generator, make)?;
    copy_converted(&Operands::borrow(&["self"], [this], &["self"], [&contiguous])?);
    Ok(())
}

/// Returns the given generator, or the default generator of the CPU. A generator of another device is an error.
fn cpu_generator(generator: Option<&Generator>) -> Result<Generator> {
    let Some(generator) = generator else { return Ok(Generator::default_for(Device::CPU)) };
    if generator.device().key() == Device::CPU.key() {
        return Ok(generator.clone());
    }
    let problem = Problem::Device { found: generator.device(), expected: Device::CPU };
    Err(BadArgument::new("generator", problem).into())
}

fn fill_contiguous_from_words<T: Element, const N: usize>(
    this: &mut Tensor,
    generator: &Generator,
    make: impl Fn(&GroupWords, usize) -> [[T; BLOCKS_PER_GROUP]; N] + Sync,
) -> Result<()> {
    let operands = Operands::borrow(&["self"], [this], &[], [])?;
    let [to] = operands.written();
    let count = usize::try_from(to.geometry().count()).unwrap_or(0);
    let (dtype, count) = match to.dtype() {
        DType::C64 => (DType::F32, 2 * count),
        DType::C128 => (DType::F64, 2 * count),
        dtype => (dtype, count),
    };
    let groups = count.div_ceil(N * BLOCKS_PER_GROUP);
    let (seed, first) = generator.reserve((groups * BLOCKS_PER_GROUP) as u64);
    let (convert, size, start) = (conversion_function(T::DTYPE, dtype), dtype.size(), BasePointer(to.start()));
    parallel_for(0..groups, GRAIN_SIZE, |piece| {
        for group in piece {
            let at = group * N * BLOCKS_PER_GROUP;
            let rows = make(&compute_group_words(seed, first.wrapping_add((group * BLOCKS_PER_GROUP) as u64)), at);
            let (from, to) = (rows.as_flattened().as_ptr(), start.at_byte_offset((at * size).cast_signed()));
            let (from_step, step) = (size_of::<T>().cast_signed(), size.cast_signed());
            // SAFETY: the elements are contiguous and the operand holds them; each group writes only its own elements.
            unsafe { convert(from.cast(), from_step, to, step, (count - at).min(N * BLOCKS_PER_GROUP)) };
        }
    });
    Ok(())
}

/// Computes the words of the blocks from `first` on.
#[inline(always)]
fn compute_group_words(seed: u64, first: u64) -> GroupWords {
    let mut words = [[0; BLOCKS_PER_GROUP]; 4];
    vectorised!({
        for i in 0..BLOCKS_PER_GROUP {
            let block = first.wrapping_add(i as u64);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the two halves of the block number are separate words"
            )]
            let [a, b, c, d] = philox(seed, [block as u32, (block >> 32) as u32, 0, 0]);
            (words[0][i], words[1][i], words[2][i], words[3][i]) = (a, b, c, d);
        }
    });
    words
}
