//! Kernels of the uniform, normal, exponential, Cauchy and geometric distributions.

use dispatch_runtime::prelude::*;

use super::{BLOCKS_PER_GROUP, GroupWords, fill_from_words};
use engine::compute::RealFloat;
use engine::inlined::inlined;
use engine::math::{Real, vectorised};

/// A floating-point type whose random numbers are computed from random words.
pub(super) trait FromRandomBits: RealFloat {
    /// The number of rows of elements that one group of blocks provides.
    const ROWS_PER_GROUP: usize;

    /// Returns a uniform number from zero up to below one, a multiple of two to the power of minus `bits`.
    fn uniform(words: &GroupWords, row: usize, at: usize, bits: u32) -> Self;

    /// Returns a uniform number above zero and below one.
    fn open_uniform(words: &GroupWords, row: usize, at: usize) -> Self;
}

inlined! {
    impl FromRandomBits for f32 {
        const ROWS_PER_GROUP: usize = 4;
        // Converted as signed integers, as processors have an instruction for that.
        #[expect(clippy::cast_precision_loss, reason = "the integer has at most 24 bits")]
        fn uniform(words: &GroupWords, row: usize, at: usize, bits: u32) -> Self =
            (words[row][at] >> (32 - bits)).cast_signed() as Self * power_of_half(bits);
        #[expect(clippy::cast_precision_loss, reason = "the conversion rounds")]
        fn open_uniform(words: &GroupWords, row: usize, at: usize) -> Self = {
            let fine = (words[row][at] >> 1).cast_signed() as Self + 0.5;
            (fine * power_of_half(31)).min(1.0 - Self::EPSILON / 2.0)
        };
    }

    impl FromRandomBits for f64 {
        const ROWS_PER_GROUP: usize = 2;
        fn uniform(words: &GroupWords, row: usize, at: usize, _bits: u32) -> Self = {
            let word = u64::from(words[2 * row + 1][at]) << 32 | u64::from(words[2 * row][at]);
            // The upper bits become the fraction of a number from one up to below two.
            Self::from_bits(word >> 12 | 0x3ff << 52) - 1.0
        };
        fn open_uniform(words: &GroupWords, row: usize, at: usize) -> Self = Self::uniform(words, row, at, 52) + Self::EPSILON / 4.0;
    }
}

#[inline(always)]
fn power_of_half(exponent: u32) -> f32 {
    f32::from_bits((127 - exponent) << 23)
}

/// Returns rows of elements that `element` computes from the row's number and the index in the row.
#[inline(always)]
fn rows_from_fn<T: FromRandomBits, const N: usize>(element: impl Fn(usize, usize) -> T) -> [[T; BLOCKS_PER_GROUP]; N] {
    let mut rows = [[T::from_f64(0.0); BLOCKS_PER_GROUP]; N];
    vectorised!({
        for (row, numbers) in rows.iter_mut().enumerate() {
            for (at, to) in numbers.iter_mut().enumerate() {
                *to = element(row, at);
            }
        }
    });
    rows
}

/// Runs a block of code with the type in which a dtype is computed, and the number of rows that a group has of this type.
macro_rules! with_compute_precision {
    ($dtype:expr, $T:ident $N:ident => $body:expr) => {
        match $dtype {
            DType::F64 | DType::C128 => {
                type $T = f64;
                const $N: usize = <f64 as FromRandomBits>::ROWS_PER_GROUP;
                $body
            }
            _ => {
                type $T = f32;
                const $N: usize = <f32 as FromRandomBits>::ROWS_PER_GROUP;
                $body
            }
        }
    };
}

#[op_impl(aten::normal_, CPU)]
fn normal_(_plan: &(), this: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    // The real and the imaginary part have half of the variance each.
    let std = if this.dtype().is_complex() { std * std::f64::consts::FRAC_1_SQRT_2 } else { std };
    with_compute_precision!(this.dtype(), T N => fill_normal::<T, N>(this, generator, mean, std, false))
}

#[op_impl(aten::log_normal, CPU, in_place, strided)]
fn log_normal(_plan: &(), out: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    with_compute_precision!(out.dtype(), T N => fill_normal::<T, N>(out, generator, mean, std, true))
}

/// Draws normal numbers by the Box-Muller method: random words make a radius and an angle, which make two numbers.
fn fill_normal<T: FromRandomBits, const N: usize>(
    this: &mut Tensor,
    generator: Option<&Generator>,
    mean: f64,
    std: f64,
    exponentiated: bool,
) -> Result<()> {
    let (mean, std) = (T::from_f64(mean), T::from_f64(std));
    fill_from_words::<T, N>(this, generator, |words, _| {
        let mut rows = [[mean; BLOCKS_PER_GROUP]; N];
        vectorised!({
            for pair in 0..N / 2 {
                for at in 0..BLOCKS_PER_GROUP {
                    let radius = (T::from_f64(-2.0) * T::open_uniform(words, 2 * pair, at).log()).sqrt();
                    let angle = T::from_f64(std::f64::consts::TAU) * T::uniform(words, 2 * pair + 1, at, 24);
                    rows[2 * pair][at] = mean + std * radius * angle.cos_limited();
                    rows[2 * pair + 1][at] = mean + std * radius * angle.sin_limited();
                }
            }
            if exponentiated {
                rows.as_flattened_mut().iter_mut().for_each(|x| *x = Real::exp(*x));
            }
        });
        rows
    })
}

#[op_impl(aten::uniform, CPU, in_place, strided)]
fn uniform(_plan: &(), out: &mut Tensor, from: f64, to: f64, generator: Option<&Generator>) -> Result<()> {
    // Uses no more random bits than the dtype represents. Otherwise numbers would round up to one.
    let bits = match out.dtype() {
        DType::F16 => 11,
        DType::BF16 => 8,
        _ => 24,
    };
    with_compute_precision!(out.dtype(), T N => {
        let (from, to): (T, T) = (Floating::from_f64(from), Floating::from_f64(to));
        fill_from_words::<T, N>(out, generator, |words, _| {
            rows_from_fn(
                #[inline(always)]
                |row, at| {
                    let element = T::uniform(words, row, at, bits) * (to - from) + from;
                    if element < to { element } else { from }
                },
            )
        })
    })
}

#[op_impl(aten::exponential, CPU, in_place, strided)]
fn exponential(_plan: &(), out: &mut Tensor, lambd: f64, generator: Option<&Generator>) -> Result<()> {
    with_compute_precision!(out.dtype(), T N => fill_exponential::<T, N>(out, generator, lambd))
}

pub(super) fn fill_exponential<T: FromRandomBits, const N: usize>(
    this: &mut Tensor,
    generator: Option<&Generator>,
    lambd: f64,
) -> Result<()> {
    let scale = T::from_f64(-1.0 / lambd);
    fill_from_words::<T, N>(this, generator, |words, _| {
        rows_from_fn(
            #[inline(always)]
            |row, at| scale * T::open_uniform(words, row, at).log(),
        )
    })
}

#[op_impl(aten::cauchy, CPU, in_place, strided)]
fn cauchy(_plan: &(), out: &mut Tensor, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<()> {
    with_compute_precision!(out.dtype(), T N => {
        let [median, sigma, pi, half]: [T; 4] = [median, sigma, std::f64::consts::PI, 0.5].map(Floating::from_f64);
        fill_from_words::<T, N>(out, generator, |words, _| {
            rows_from_fn(
                #[inline(always)]
                |row, at| {
                    let angle = pi * (T::open_uniform(words, row, at) - half);
                    median + sigma * angle.tan_limited()
                },
            )
        })
    })
}

#[op_impl(aten::geometric, CPU, in_place, strided)]
fn geometric(_plan: &(), out: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    // In double precision, as counts may exceed the integers that single precision represents.
    let scale = (-p).ln_1p().recip();
    fill_from_words::<f64, 2>(out, generator, |words, _| {
        rows_from_fn(
            #[inline(always)]
            |row, at| (Real::log(<f64 as FromRandomBits>::open_uniform(words, row, at)) * scale).ceil().max(1.0),
        )
    })
}
