//! Random numbers, which are those of the CPU: a seed gives the same ones on every device.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Integers;

use crate::engine::elementwise::DTYPES;
use crate::engine::transfer::stretched;
use crate::graph;
use crate::prelude::*;

kernel! {
    // SAFETY: `filled` gives each launch a packed tensor and its count, and what is read beside it is stretched to the same count.
    static CHANCE = unsafe { Kernel::new("chance", include_str!("../../kernels/random/distributions.cu"), |instances| {
        for template in ["evenly", "normal", "waits", "ratios"] {
            for dtype in DTYPES.into_iter().filter(|dtype| dtype.is_floating()) {
                instances.one(template, &[precision(dtype), dtype]);
            }
        }
        instances.one("begin", &[DType::I64]);
        instances.all(&["tries", "coins", "coins_of", "narrow_integers", "wide_integers"], &DTYPES);
    }) };
}

parameters! {
    /// `struct Stream` of the kernels.
    pub(crate) struct Stream {
        seed: u64,
        first: u64,
        count: i64,
        origin: Place,
    }
}

/// The type that numbers of a dtype are drawn in.
fn precision(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// How many numbers a block of the stream gives.
fn rows(dtype: DType) -> i64 {
    if dtype == DType::F64 { 2 } else { 4 }
}

/// Fills a tensor from the generator's stream, of which each block gives so many elements.
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

/// How many blocks of a stream so many elements take, if a block has this many.
fn blocks(count: i64, rows: i64) -> i64 {
    let group = i64::try_from(Generator::GROUP).unwrap_or(1);
    count.unsigned_abs().div_ceil((rows * group).unsigned_abs()).cast_signed() * group
}

/// Lets what was recorded to draw so many blocks draw the generator's next ones.
pub(crate) fn begin(launch: Launch, generator: &Generator, blocks: u64, origin: &Tensor) -> Result<()> {
    let (seed, first) = generator.reserve(blocks);
    Ok(launch.run(&CHANCE, "begin", &[DType::I64], Grid::new(1, 1), (origin, seed, first))?)
}

/// The generator that was given, or the default one of the device.
fn on_device(generator: Option<&Generator>, device: Device) -> Result<Generator> {
    let Some(generator) = generator else { return Ok(Generator::of(device)) };
    if generator.device().key() == device.key() {
        return Ok(generator.clone());
    }
    let problem = Problem::Device { found: generator.device(), expected: device };
    Err(BadArgument::new("generator", problem).into())
}

#[op_impl(aten::normal_, CUDA)]
fn normal_(_plan: &(), this: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    normal(this, mean, std, false, generator)
}

#[op_impl(aten::log_normal, CUDA, in_place, strided)]
fn log_normal(_plan: &(), out: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    normal(out, mean, std, true, generator)
}

fn normal(this: &mut Tensor, mean: f64, std: f64, exponentiated: bool, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [precision(this.dtype()), this.dtype()];
    filled(this, generator, rows(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "normal", &dtypes, grid, (to, stream, mean, std, exponentiated))?)
    })
}

#[op_impl(aten::uniform, CUDA, in_place, strided)]
fn uniform(_plan: &(), out: &mut Tensor, from: f64, to: f64, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [precision(out.dtype()), out.dtype()];
    // No more than the dtype holds, or numbers would round up to one.
    let bits = match out.dtype() {
        DType::F16 => 11,
        DType::BF16 => 8,
        _ => 24,
    };
    filled(out, generator, rows(dtypes[0]), |launch, grid, place, stream| {
        Ok(launch.run(&CHANCE, "evenly", &dtypes, grid, (place, stream, from, to, bits))?)
    })
}

#[op_impl(aten::exponential, CUDA, in_place, strided)]
fn exponential(_plan: &(), out: &mut Tensor, lambd: f64, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [precision(out.dtype()), out.dtype()];
    filled(out, generator, rows(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "waits", &dtypes, grid, (to, stream, -1.0 / lambd))?)
    })
}

#[op_impl(aten::cauchy, CUDA, in_place, strided)]
fn cauchy(_plan: &(), out: &mut Tensor, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [precision(out.dtype()), out.dtype()];
    filled(out, generator, rows(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "ratios", &dtypes, grid, (to, stream, median, sigma))?)
    })
}

#[op_impl(aten::geometric, CUDA, in_place, strided)]
fn geometric(_plan: &(), out: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    let (dtype, scale) = (out.dtype(), (-p).ln_1p().recip());
    filled(out, generator, 2, |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "tries", &[dtype], grid, (to, stream, scale))?)
    })
}

/// Up to this many different numbers a word each is even enough.
const NARROW: u64 = 1 << 28;

#[op_impl(aten::random, CUDA, in_place, strided)]
#[op_impl(aten::random_from, CUDA, in_place, strided)]
#[op_impl(aten::random_to, CUDA, in_place, strided)]
fn integers(plan: &Integers, out: &mut Tensor, generator: Option<&Generator>) -> Result<()> {
    let (dtype, beyond) = (out.dtype(), plan.last.wrapping_sub(plan.first).cast_unsigned());
    let (template, rows) = if beyond < NARROW { ("narrow_integers", 4) } else { ("wide_integers", 2) };
    filled(out, generator, rows, |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, template, &[dtype], grid, (to, stream, plan.first, beyond.wrapping_add(1)))?)
    })
}

#[op_impl(aten::bernoulli_p, CUDA)]
fn bernoulli_p(_plan: &(), out: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    coins(out, p, generator)
}

#[op_impl(aten::bernoulli__float, CUDA)]
fn bernoulli_float_(_plan: &(), this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    coins(this, p, generator)
}

fn coins(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a chance is between zero and one")]
    let (dtype, limit) = (this.dtype(), (p * 4_294_967_296.0).round() as u64);
    filled(this, generator, 4, |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "coins", &[dtype], grid, (to, stream, limit))?)
    })
}

#[op_impl(aten::bernoulli_tensor, CUDA, in_place, strided)]
fn bernoulli_tensor(_plan: &(), out: &mut Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let (chances, dtype) = (stretched(p, out, DType::F64)?, out.dtype());
    filled(out, generator, 4, |launch, grid, to, stream| {
        let site = site!("aten::bernoulli", "p");
        let arguments = (to, stream, &chances, launch.faults(), site);
        Ok(launch.run(&CHANCE, "coins_of", &[dtype], grid, arguments)?)
    })
}

/// Each swap depends on the one before, so the CPU makes them, with the same numbers.
#[op_impl(aten::randperm_generator, CUDA)]
fn randperm(_plan: &(), out: &mut Tensor, n: i64, generator: Option<&Generator>) -> Result<()> {
    let generator = on_device(generator, out.device())?;
    // A wide number for each element, two from a block. They are taken at once, so that nobody else gets them meanwhile.
    let (seed, first) = generator.reserve(blocks(n, 2).unsigned_abs());
    let there = Generator::new(Device::CPU, seed);
    there.seek(first);
    let order = aten::randperm_generator(n, Some(&there), Some(out.dtype()), None, Some(Device::CPU), None)?;
    aten::copy_(out, &order, false)
}
