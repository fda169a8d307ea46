//! The stream of random numbers on a device. It equals the CPU's: a seed produces the same numbers on every device.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::graph;
use crate::prelude::*;

kernel! {
    // SAFETY: the launch passes a tensor of two integers, which one thread writes.
    static RANDOM_STREAM_KERNEL = unsafe { Kernel::new("random_stream", include_str!("../../kernels/engine/random_stream.cu"), |instances| {
        instances.add("write_origin", &[DType::I64]);
    }) };
}

define_parameters! {
    /// The kernels' `struct RandomStream`: the part of a generator's stream that a launch draws.
    pub(crate) struct RandomStream {
        seed: u64,
        first: u64,
        count: i64,
        origin: DevicePointer,
    }
}

/// Fills a tensor with random numbers from a generator's stream. Each block of the stream gives `elements_per_block` elements.
pub(crate) fn fill_random(
    this: &mut Tensor,
    generator: Option<&Generator>,
    elements_per_block: i64,
    draw: impl FnOnce(Launch, Grid, DevicePointer, RandomStream) -> Result<()>,
) -> Result<()> {
    let generator = generator_or_default(generator, this.device())?;
    let launch = Launch::on_device_of(this)?;
    let _writing = launch.begin_write(this)?;
    if !this.geometry().is_contiguous() {
        let mut packed = Spec::contiguous(this.dtype(), this.sizes()).on(this.device())?;
        fill_random(&mut packed, Some(&generator), elements_per_block, draw)?;
        return copy_into(this, &packed);
    }
    let count = this.geometry().count();
    let blocks = random_block_count(count, elements_per_block);
    let stream = if let Some((first, origin)) = graph::reserve_random_blocks(&generator, blocks.unsigned_abs())? {
        RandomStream { seed: 0, first, count, origin: launch.pointer(&origin)? }
    } else {
        let (seed, first) = generator.reserve(blocks.unsigned_abs());
        RandomStream { seed, first, count, origin: DevicePointer::NULL }
    };
    if count == 0 {
        return Ok(());
    }
    draw(launch, Grid::for_elements(blocks), launch.pointer(this)?, stream)
}

/// Returns the number of the stream's blocks for `count` elements, if each block gives `elements_per_block` elements.
pub(crate) fn random_block_count(count: i64, elements_per_block: i64) -> i64 {
    let group = i64::try_from(Generator::BLOCKS_PER_GROUP).unwrap_or(1);
    count.unsigned_abs().div_ceil((elements_per_block * group).unsigned_abs()).cast_signed() * group
}

/// Reserves the generator's next blocks for a replay, and writes their seed and first block to `origin`.
pub(crate) fn write_replay_origin(launch: Launch, generator: &Generator, blocks: u64, origin: &Tensor) -> Result<()> {
    let (seed, first) = generator.reserve(blocks);
    Ok(launch.run(&RANDOM_STREAM_KERNEL, "write_origin", &[DType::I64], Grid::new(1, 1), (origin, seed, first))?)
}

/// Returns the given generator, or the device's default one.
pub(crate) fn generator_or_default(generator: Option<&Generator>, device: Device) -> Result<Generator> {
    let Some(generator) = generator else { return Ok(Generator::default_for(device)) };
    if generator.device().key() == device.key() {
        return Ok(generator.clone());
    }
    let problem = Problem::Device { found: generator.device(), expected: device };
    Err(BadArgument::new("generator", problem).into())
}
