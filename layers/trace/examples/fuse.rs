//! Measures fusion: chains of eight elementwise operators, one by one, fused, and as a loop written by hand, on the same number of threads.
//!
//! `cargo run --release -p dispatch-trace --example fuse [elements] [threads]`

use std::thread;
use std::time::Instant;

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Device, Element, Spec, bf16};
use dispatch_trace::trace;
use kernels_cpu::math::{Real, vectorised};
use kernels_cpu::thread_pool;

const TIMING_ROUNDS: usize = 21;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let count = arguments.next().and_then(std::result::Result::ok).unwrap_or(1 << 24);
    if let Some(Ok(threads)) = arguments.next() {
        thread_pool::set_num_threads(threads);
    }
    println!("{count} elements, {} threads; best of {TIMING_ROUNDS}", thread_pool::num_threads());
    println!("| chain | eager ms | fused ms | by hand ms | eager / fused | fused / by hand |");
    println!("|---|---|---|---|---|---|");
    let x: Vec<f32> = (0..1000_u16).map(|i| f32::from(i) * 0.01 - 5.0).cycle().take(count).collect();
    let narrow: Vec<bf16> = x.iter().map(|x| bf16::from_f32(*x)).collect();
    measure_and_print::<f32, ArithmeticChain>("arithmetic, f32", &x, arithmetic_chain)?;
    measure_and_print::<f32, TranscendentalChain>("functions, f32", &x, transcendental_chain)?;
    measure_and_print::<bf16, ArithmeticChain>("arithmetic, bf16", &narrow, arithmetic_chain)
}

/// A chain of operators, written by hand as a function of one element. It must be inlined completely, or it is not compiled for the widest
/// instructions.
trait HandwrittenChain<T> {
    fn apply(x: T) -> T;
}

struct ArithmeticChain;
struct TranscendentalChain;

fn arithmetic_chain(x: &Tensor) -> Result<Tensor> {
    let x = (((x * 1.5)? + 0.5)?.relu()? - 0.25)?;
    (x.abs()? * 1.125)?.clamp(0.125..=6.0)? + 1.0
}

impl HandwrittenChain<f32> for ArithmeticChain {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        (((x * 1.5 + 0.5).max(0.0) - 0.25).abs() * 1.125).clamp(0.125, 6.0) + 1.0
    }
}

/// Rounds to `bf16` after every operator, as separate calls do.
impl HandwrittenChain<bf16> for ArithmeticChain {
    #[inline(always)]
    fn apply(x: bf16) -> bf16 {
        let x = round_to_bf16(round_to_bf16(round_to_bf16(bf16_to_f32(x) * 1.5) + 0.5).max(0.0) - 0.25);
        f32_to_bf16(round_to_bf16(x.abs() * 1.125).clamp(0.125, 6.0) + 1.0)
    }
}

fn transcendental_chain(x: &Tensor) -> Result<Tensor> {
    let x = ((x * 0.5)?.sigmoid()? + 0.5)?.log()?;
    x.exp()?.sqrt()?.tanh()? - 0.25
}

impl HandwrittenChain<f32> for TranscendentalChain {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        let x = Real::log(Real::sigmoid(x * 0.5) + 0.5);
        Real::tanh(Real::sqrt(Real::exp(x))) - 0.25
    }
}

#[inline(always)]
fn round_to_bf16(x: f32) -> f32 {
    bf16_to_f32(f32_to_bf16(x))
}

#[inline(always)]
fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// Rounds to the nearest `bf16`. NaN and infinities are not handled.
#[inline(always)]
fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    bf16::from_bits((bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16)
}

fn measure_and_print<T: Element + Send + Sync + PartialEq, H: HandwrittenChain<T>>(
    name: &str,
    elements: &[T],
    chain: fn(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let x = Tensor::from_slice(elements);
    let fused = trace(|x| Ok([chain(&x[0])?]), std::slice::from_ref(&x))?.fuse();
    assert_eq!(fused.passes().map(<[usize]>::len).collect::<Vec<_>>(), [8]);
    // The loop written by hand allocates its result, too.
    let by_hand = || -> Result<Tensor> {
        let mut out = Spec::contiguous(x.dtype(), x.sizes()).on(Device::CPU)?;
        run_handwritten_loop::<T, H>(&x.read::<T>()?, &mut out.write::<T>()?);
        Ok(out)
    };
    let mut best = [f64::INFINITY; 3];
    for _ in 0..TIMING_ROUNDS {
        let mut take = |at: usize, work: &mut dyn FnMut() -> Result<()>| {
            let start = Instant::now();
            work()?;
            best[at] = best[at].min(start.elapsed().as_secs_f64() * 1e3);
            Ok::<(), Error>(())
        };
        take(0, &mut || chain(&x).map(drop))?;
        take(1, &mut || fused.run(std::slice::from_ref(&x)).map(drop))?;
        take(2, &mut || by_hand().map(drop))?;
    }
    let (eager, given, out) = (chain(&x)?, fused.run(std::slice::from_ref(&x))?, by_hand()?);
    assert!(*eager.read::<T>()? == *given[0].read::<T>()?, "{name}: not what the operators give");
    assert!(*eager.read::<T>()? == *out.read::<T>()?, "{name}: the loop computes something else");
    let [eager, fused, by_hand] = best;
    println!("| {name} | {eager:.1} | {fused:.1} | {by_hand:.1} | {:.2} | {:.2} |", eager / fused, fused / by_hand);
    Ok(())
}

/// Runs the handwritten loop over all elements, on as many threads as the kernels use.
fn run_handwritten_loop<T: Copy + Send + Sync, H: HandwrittenChain<T>>(from: &[T], to: &mut [T]) {
    let part = from.len().div_ceil(thread_pool::num_threads()).max(1);
    thread::scope(|scope| {
        for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
            scope.spawn(move || {
                vectorised(
                    #[inline(always)]
                    || {
                        for (to, from) in to.iter_mut().zip(from) {
                            *to = H::apply(*from);
                        }
                    },
                );
            });
        }
    });
}
