//! The stream of random numbers on a device. It equals the CPU's: a seed produces the same numbers on every device.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::graph;
use crate::prelude::*;

kernel! {
    // SAFETY: the launch passes a tensor of two integers, which one thread writes.
    static BEGIN = unsafe { Kernel::new("random_stream", include_str!("../../kernels/engine/random_stream.cu"), |instances| {
        instances.one("begin", &[DType::I64]);
    }) };
}

parameters! {
    /// The kernels' `struct Stream`: the part of a generator's stream that a launch draws.
    pub(crate) struct Stream {
        seed: u64,
        first: u64,
        count: i64,
        origin: Place,
    }
}

/// Fills a tensor with random numbers from a generator's stream, of which each block yields `rows` elements.
pub(crate) fn filled(
    this: &mut Tensor,
    generator: Option<&Generator>,
    rows: i64,
    draw: impl FnOnce(Launch, Grid, Place, Stream) -> Result<()>,
) -> Result<()> {
    let generator = on_device(generator, this.device())?;
    let launch = Launch::on(this)?;
    let _writing = launch.writing(this)?;
    if !this.geometry().is_contiguous() {
        let mut packed = Spec::contiguous(this.dtype(), this.sizes()).on(this.device())?;
        filled(&mut packed, Some(&generator), rows, draw)?;
        return write(this, &packed);
    }
    let count = this.geometry().count();
    let blocks = blocks(count, rows);
    let stream = if let Some((first, origin)) = graph::draws(&generator, blocks.unsigned_abs())? {
        Stream { seed: 0, first, count, origin: launch.place(&origin)? }
    } else {
        let (seed, first) = generator.reserve(blocks.unsigned_abs());
        Stream { seed, first, count, origin: Place::NULL }
    };
    if count == 0 {
        return Ok(());
    }
    draw(launch, Grid::cover(blocks), launch.place(this)?, stream)
}

/// Returns the number of the stream's blocks for `count` elements, if each block yields `rows` elements.
pub(crate) fn blocks(count: i64, rows: i64) -> i64 {
    let group = i64::try_from(Generator::BLOCKS_PER_GROUP).unwrap_or(1);
    count.unsigned_abs().div_ceil((rows * group).unsigned_abs()).cast_signed() * group
}

/// Reserves the generator's next blocks for a replay, and writes their seed and first block to `origin`.
pub(crate) fn begin(launch: Launch, generator: &Generator, blocks: u64, origin: &Tensor) -> Result<()> {
    let (seed, first) = generator.reserve(blocks);
    Ok(launch.run(&BEGIN, "begin", &[DType::I64], Grid::new(1, 1), (origin, seed, first))?)
}

/// Returns the given generator, or the device's default one.
pub(crate) fn on_device(generator: Option<&Generator>, device: Device) -> Result<Generator> {
    let Some(generator) = generator else { return Ok(Generator::default_for(device)) };
    if generator.device().key() == device.key() {
        return Ok(generator.clone());
    }
    let problem = Problem::Device { found: generator.device(), expected: device };
    Err(BadArgument::new("generator", problem).into())
}
