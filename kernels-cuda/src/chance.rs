//! Random numbers, which are those of the CPU: a seed gives the same ones on every device.
#![expect(unsafe_code, reason = "kernels are native code")]

mod draws;
mod shaped;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Problem, Spec};

use aten::GROUP;

use crate::copying::{stretched, write};
use crate::elementwise::DTYPES;
use crate::graph;
use crate::kernel::Kernel;
use crate::launch::{Launch, Parameter, Place};
use crate::machine::Grid;
use crate::picks::site;

kernel! {
    // SAFETY: `filled` gives each launch a packed tensor and its count, and what is read beside it is stretched to the same count.
    static CHANCE = unsafe { Kernel::new("chance", include_str!("../kernels/chance.cu"), |instances| {
        for template in ["evenly", "normal", "waits", "ratios"] {
            for dtype in DTYPES.into_iter().filter(|dtype| dtype.is_floating()) {
                instances.one(template, &[precision(dtype), dtype]);
            }
        }
        instances.one("begin", &[DType::I64]);
        for template in ["tries", "coins", "coins_of", "narrow_integers", "wide_integers"] {
            instances.each(template, &DTYPES);
        }
    }) };
}

/// `struct Stream` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Stream {
    seed: u64,
    first: u64,
    count: i64,
    origin: Place,
}

impl Parameter for Stream {}

/// The type that numbers of a dtype are drawn in.
fn precision(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// How many numbers a block of the stream gives.
fn rows(dtype: DType) -> i64 {
    if dtype == DType::F64 { 2 } else { 4 }
}

/// Fills a tensor from the generator's stream, of which each block gives so many elements.
fn filled(
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
    let group = i64::try_from(GROUP).unwrap_or(1);
    count.unsigned_abs().div_ceil((rows * group).unsigned_abs()).cast_signed() * group
}

/// Lets what was recorded to draw so many blocks draw the generator's next ones.
pub(crate) fn begin(launch: Launch, generator: &Generator, blocks: u64, origin: &Tensor) -> Result<()> {
    let (seed, first) = generator.reserve(blocks);
    let arguments = (launch.place(origin)?, seed, first);
    Ok(launch.run(&CHANCE, "begin", &[DType::I64], Grid::new(1, 1), arguments)?)
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

/// Operators that fill a tensor, and their functional forms.
macro_rules! fillers {
    ($($name:ident $in_place:ident ($($argument:ident: $ty:ty),*) => $fill:path;)*) => {$(
        const _: () = {
            #[op_impl(aten::$name, CUDA)]
            fn $name(this: &Tensor, $($argument: $ty,)* generator: Option<&Generator>) -> Result<Tensor> {
                let mut made = Spec::pointwise(&[this], this.dtype())?.on(this.device())?;
                $fill(&mut made, $($argument,)* generator)?;
                Ok(made)
            }

            #[op_impl(aten::$in_place, CUDA)]
            #[allow(non_snake_case, reason = "it is called as its operator is")]
            fn $in_place(this: &mut Tensor, $($argument: $ty,)* generator: Option<&Generator>) -> Result<()> {
                $fill(this, $($argument,)* generator)
            }
        };
    )*};
}

fillers! {
    uniform uniform_(from: f64, to: f64) => evenly;
    exponential exponential_(lambd: f64) => waits;
    cauchy cauchy_(median: f64, sigma: f64) => ratios;
    log_normal log_normal_(mean: f64, std: f64) => logarithmic;
    geometric geometric_(p: f64) => tries;
    random random_() => all;
    random_from random__from(from: i64, to: Option<i64>) => between;
    random_to random__to(to: i64) => below;
}

#[op_impl(aten::normal_, CUDA)]
fn normal_(this: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_normal(this, std)?;
    normal(this, mean, std, false, generator)
}

fn logarithmic(this: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_log_normal(this, std)?;
    normal(this, mean, std, true, generator)
}

fn normal(this: &mut Tensor, mean: f64, std: f64, exponentiated: bool, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [precision(this.dtype()), this.dtype()];
    filled(this, generator, rows(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "normal", &dtypes, grid, (to, stream, mean, std, exponentiated))?)
    })
}

fn evenly(this: &mut Tensor, from: f64, to: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_uniform(this, from, to)?;
    let dtypes = [precision(this.dtype()), this.dtype()];
    // No more than the dtype holds, or numbers would round up to one.
    let bits = match this.dtype() {
        DType::F16 => 11,
        DType::BF16 => 8,
        _ => 24,
    };
    filled(this, generator, rows(dtypes[0]), |launch, grid, place, stream| {
        Ok(launch.run(&CHANCE, "evenly", &dtypes, grid, (place, stream, from, to, bits))?)
    })
}

fn waits(this: &mut Tensor, lambd: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_exponential(this, lambd)?;
    let dtypes = [precision(this.dtype()), this.dtype()];
    filled(this, generator, rows(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "waits", &dtypes, grid, (to, stream, -1.0 / lambd))?)
    })
}

fn ratios(this: &mut Tensor, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_cauchy(this, sigma)?;
    let dtypes = [precision(this.dtype()), this.dtype()];
    filled(this, generator, rows(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "ratios", &dtypes, grid, (to, stream, median, sigma))?)
    })
}

fn tries(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_geometric(this, p)?;
    let (dtype, scale) = (this.dtype(), (-p).ln_1p().recip());
    filled(this, generator, 2, |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "tries", &[dtype], grid, (to, stream, scale))?)
    })
}

fn all(this: &mut Tensor, generator: Option<&Generator>) -> Result<()> {
    let (first, last) = aten::all_integers(this)?;
    spread(this, first, last, generator)
}

fn between(this: &mut Tensor, from: i64, to: Option<i64>, generator: Option<&Generator>) -> Result<()> {
    let (first, last) = aten::integers_between(this, from, to)?;
    spread(this, first, last, generator)
}

fn below(this: &mut Tensor, to: i64, generator: Option<&Generator>) -> Result<()> {
    between(this, 0, Some(to), generator)
}

/// Up to this many different numbers a word each is even enough.
const NARROW: u64 = 1 << 28;

fn spread(this: &mut Tensor, first: i64, last: i64, generator: Option<&Generator>) -> Result<()> {
    let (dtype, beyond) = (this.dtype(), last.wrapping_sub(first).cast_unsigned());
    let (template, rows) = if beyond < NARROW { ("narrow_integers", 4) } else { ("wide_integers", 2) };
    filled(this, generator, rows, |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, template, &[dtype], grid, (to, stream, first, beyond.wrapping_add(1)))?)
    })
}

fn coins(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_chance(this, p)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a chance is between zero and one")]
    let (dtype, limit) = (this.dtype(), (p * 4_294_967_296.0).round() as u64);
    filled(this, generator, 4, |launch, grid, to, stream| {
        Ok(launch.run(&CHANCE, "coins", &[dtype], grid, (to, stream, limit))?)
    })
}

#[op_impl(aten::bernoulli_p, CUDA)]
fn bernoulli_p(this: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = Spec::pointwise(&[this], this.dtype())?.on(this.device())?;
    coins(&mut made, p, generator)?;
    Ok(made)
}

#[op_impl(aten::bernoulli__float, CUDA)]
fn bernoulli_float_(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    coins(this, p, generator)
}

fn coins_of(this: &mut Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
    aten::check_chances(this, p)?;
    let chances = stretched(p, this, DType::F64)?;
    let dtype = this.dtype();
    filled(this, generator, 4, |launch, grid, to, stream| {
        let site = site!("aten::bernoulli", "p");
        let arguments = (to, stream, launch.place(&chances)?, launch.faults(), site);
        Ok(launch.run(&CHANCE, "coins_of", &[dtype], grid, arguments)?)
    })
}

#[op_impl(aten::bernoulli_tensor, CUDA)]
fn bernoulli_tensor(this: &Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = Spec::pointwise(&[this], this.dtype())?.on(this.device())?;
    coins_of(&mut made, p, generator)?;
    Ok(made)
}

#[op_impl(aten::bernoulli__tensor, CUDA)]
fn bernoulli_tensor_(this: &mut Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
    coins_of(this, p, generator)
}

/// Each swap depends on the one before, so the CPU makes them, with the same numbers.
#[op_impl(aten::randperm_generator_out, CUDA)]
fn randperm(n: i64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    aten::check_randperm(n, out.dtype())?;
    Spec::contiguous(out.dtype(), &[n]).fit("out", out)?;
    let generator = on_device(generator, out.device())?;
    // A wide number for each element, two from a block. They are taken at once, so that nobody else gets them meanwhile.
    let (seed, first) = generator.reserve(blocks(n, 2).unsigned_abs());
    let there = Generator::new(Device::CPU, seed);
    there.seek(first);
    let mut order = Spec::contiguous(out.dtype(), &[n]).on(Device::CPU)?;
    aten::randperm_generator_out(n, Some(&there), &mut order)?;
    aten::copy_(out, &order, false)
}
