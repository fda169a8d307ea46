//! Random numbers that are a function of a key: a seed and the number of a first block of the seed's Philox stream.
//!
//! A key is a vector of two 64-bit integers. PyTorch's keys are unsigned; these have the same bits. A block has four words of 32 bits, which
//! are computed here by operators, in 64-bit integers, so that each backend returns the same numbers.

use std::f64::consts::TAU;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use super::check_floating;
use crate::prelude::*;
use crate::{check_same_device, stack};

/// Returns `num_splits` keys that are derived from each key.
#[op_def("_philox_key_split(Tensor key, int num_splits) -> Tensor")]
pub fn _philox_key_split(_: ...) -> Result<Tensor> {
    check_keys(key)?;
    if num_splits < 1 {
        return Err(BadArgument::number("num_splits", num_splits, 1..).into());
    }
    let keys = key.reshape([1, -1, 2])?;
    let numbers = Tensor::arange(0..num_splits, (DType::I64, key.device()))?.unsqueeze(1)?;
    let blocks = philox_words(&keys.select(-1, 0)?, &(keys.select(-1, 1)? + numbers)?)?;
    keys_of_blocks(&blocks)?.reshape([&[num_splits], key.sizes()].concat())
}

/// Returns the key that is derived from each key by the number `data`.
#[op_def("_philox_key_fold_in(Tensor key, int data) -> Tensor")]
pub fn _philox_key_fold_in(_: ...) -> Result<Tensor> {
    check_keys(key)?;
    fold_in(key, &(key.select(-1, 1)? + data)?)
}

/// Returns the key that is derived from each key by the number `data`, a tensor with one element.
#[op_def("_philox_key_fold_in.Tensor(Tensor key, Tensor data) -> Tensor")]
pub fn _philox_key_fold_in_tensor(_: ...) -> Result<Tensor> {
    check_keys(key)?;
    check_same_device([("key", key), ("data", data)])?;
    if data.dtype() != DType::I64 {
        return Err(BadArgument::dtype("data", data.dtype(), DType::I64).into());
    }
    if data.geometry().count() != 1 {
        return Err(BadArgument::element_count("data", data.sizes(), 1).into());
    }
    fold_in(key, &(key.select(-1, 1)? + data.reshape(())?)?)
}

fn fold_in(key: &Tensor, block: &Tensor) -> Result<Tensor> {
    keys_of_blocks(&philox_words(&key.select(-1, 0)?, block)?)
}

/// Draws numbers of the uniform distribution between `low` and `high`, in the sizes of `self`. A batch of keys has a key for each row.
#[op_def(
    "_philox_uniform(Tensor self, Tensor key, float low=0., float high=1.) -> Tensor",
    inplace,
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn _philox_uniform(_: ...) -> Result<Tensor> {
    check_floating(this, false)?;
    let numbers = match this.dtype() {
        DType::F64 => (high_and_low(&stream_of_elements(this, key, 2)?, (1 << 21) - 1)? * 2.0_f64.powi(-53))?,
        dtype => {
            let bits = match dtype {
                DType::F16 => 11,
                DType::BF16 => 8,
                _ => 24,
            };
            let words = stream_of_elements(this, key, 1)?.bitwise_and((1_i64 << bits) - 1)?;
            (words.to(DType::F32)? * 2.0_f64.powi(-bits))?
        }
    };
    store_numbers(this, &((numbers * (high - low))? + low)?)
}

/// Draws numbers of the normal distribution, in the sizes of `self`, by the Box-Muller transform. A batch of keys has a key for each row.
#[op_def(
    "_philox_normal(Tensor self, Tensor key, float mean=0., float std=1.) -> Tensor",
    inplace,
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn _philox_normal(_: ...) -> Result<Tensor> {
    check_floating(this, false)?;
    // Two numbers use two words, or four in double precision.
    let (words, bits) = match this.dtype() {
        DType::F64 => (high_and_low(&stream_of_elements(this, key, 2)?, u32::MAX.into())?, 64),
        _ => (stream_of_elements(this, key, 1)?.to(DType::F32)?, 32),
    };
    let uniform = ((words * 2.0_f64.powi(-bits))? + 2.0_f64.powi(-bits - 1))?;
    let [radius, angle] = [uniform.select(-1, 0)?, uniform.select(-1, 1)?];
    let (radius, angle) = ((radius.log()? * -2)?.sqrt()?, (angle * TAU)?);
    let numbers = stack(&[(&radius * angle.cos()?)?, (radius * angle.sin()?)?], -1)?;
    store_numbers(this, &((numbers * std)? + mean)?)
}

/// Draws integers from `low` up to below `high`, in the sizes of `self`. A batch of keys has a key for each row.
///
/// By default, the bounds are those of the dtype. Bounds wrap as the dtype's integers do.
#[op_def(
    "_philox_randint(Tensor self, Tensor key, int? low=None, int? high=None) -> Tensor",
    inplace,
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn _philox_randint(_: ...) -> Result<Tensor> {
    let (bits, signed) = match this.dtype() {
        DType::U8 => (8, false),
        DType::I8 => (8, true),
        DType::I16 => (16, true),
        DType::I32 => (32, true),
        DType::I64 => (64, true),
        other => return Err(BadArgument::dtype("self", other, DTypes::Integral).into()),
    };
    let word_bits: i64 = if bits == 64 { 64 } else { 32 };
    let lowest = if signed { -(1_i128 << (bits - 1)) } else { 0 };
    let (from, to) = (low.map_or(lowest, i128::from), high.map_or(lowest + (1 << bits), i128::from));
    let count = (to - from).rem_euclid(1 << word_bits);
    if high.is_some() && count == 0 {
        return Err(BadArgument::value("high", to, "another bound than `low`").into());
    }
    if word_bits == 32 && count >= 1 << 28 && (1_i128 << 32) % count != 0 {
        let expected = "less than `low` + 2^28, or `low` plus a power of two; a tensor of int64 has no such limit";
        return Err(BadArgument::value("high", to, expected).into());
    }
    let words = stream_of_elements(this, key, word_bits / 32)?;
    let words = if word_bits == 64 {
        words.select(-1, 0)?.bitwise_left_shift(32)?.bitwise_or(&words.select(-1, 1)?)?
    } else {
        words
    };
    if high.is_none() && from == lowest {
        return store_numbers(this, &words);
    }
    store_numbers(this, &(unsigned_remainder(&words, wrap_to_i64(count))? + wrap_to_i64(from))?)
}

/// Returns the remainders of a division of unsigned words, as 64-bit integers with the bits of the words.
fn unsigned_remainder(words: &Tensor, divisor: i64) -> Result<Tensor> {
    const HIGHEST_BIT: i64 = i64::MIN;
    // Half of a word and a divisor below 2^63 are not negative. The quotient of the halves gives a remainder below twice the divisor.
    let rest = if divisor > 0 {
        let halves = words.bitwise_right_shift(1)?.bitwise_and(i64::MAX)?;
        (words - (halves.floor_divide(divisor)? * divisor.wrapping_mul(2))?)?
    } else {
        words.clone()
    };
    let is_below = rest.bitwise_xor(HIGHEST_BIT)?.lt(divisor ^ HIGHEST_BIT)?;
    crate::where_self(&is_below, &rest, &(&rest - divisor)?)
}

#[expect(clippy::cast_possible_truncation, reason = "integers of 64 bits wrap")]
const fn wrap_to_i64(number: i128) -> i64 {
    number as i64
}

/// Converts words to double precision: `word0 * 2^32 + word1`, with some bits of `word0`.
fn high_and_low(words: &Tensor, bits_of_high: i64) -> Result<Tensor> {
    let [high, low] = [words.select(-1, 0)?, words.select(-1, 1)?];
    (high.bitwise_and(bits_of_high)?.to(DType::F64)? * 2.0_f64.powi(32))? + low.to(DType::F64)?
}

/// Returns a tensor like `this` with the numbers, which are those of each key's elements and further ones.
fn store_numbers(this: &Tensor, numbers: &Tensor) -> Result<Tensor> {
    let mut result = crate::empty_like(this, None, None, None, None, None)?;
    let count = this.geometry().count();
    if count > 0 {
        let keys = numbers.sizes()[0];
        let numbers = numbers.reshape([keys, -1])?.narrow(1, 0, count / keys)?.reshape(this.sizes())?;
        crate::copy_(&mut result, &numbers.to(this.dtype())?, false)?;
    }
    Ok(result)
}

/// Returns the words of the elements of `this`, with sizes `[keys, blocks, 2, 2]`. An element has `words_per_element` words.
///
/// A key is used for all dimensions after the last one in which there are several keys.
fn stream_of_elements(this: &Tensor, key: &Tensor, words_per_element: i64) -> Result<Tensor> {
    check_keys(key)?;
    check_same_device([("self", this), ("key", key)])?;
    let (sizes, batch) = (this.sizes(), &key.sizes()[..key.sizes().len() - 1]);
    let fits = || batch.len() == sizes.len() && batch.iter().zip(sizes).all(|(&keys, &size)| keys == 1 || keys == size);
    if !batch.is_empty() && !fits() {
        let expected = format!("[2], or {sizes:?} or ones, then 2");
        return Err(BadArgument::sizes("key", key.sizes(), expected).into());
    }
    let keyed = batch.iter().rposition(|&keys| keys != 1).map_or(0, |last| last + 1);
    let keys = key.reshape([&batch[..keyed], &[2]].concat())?.expand([&sizes[..keyed], &[2]].concat())?;
    let keys = keys.reshape([dispatch_runtime::element_count(&sizes[..keyed]), 2])?;
    let words = dispatch_runtime::element_count(&sizes[keyed..]).saturating_mul(words_per_element);
    let blocks = Tensor::arange(0..words / 4 + i64::from(words % 4 != 0), (DType::I64, key.device()))?;
    let words = philox_words(&keys.narrow(1, 0, 1)?, &(keys.narrow(1, 1, 1)? + blocks)?)?;
    words.reshape([words.sizes()[0], words.sizes()[1], 2, 2])
}

/// Computes blocks of the Philox stream: four words for each pair of a seed and a number of a block. See [`dispatch_runtime::philox`].
fn philox_words(seeds: &Tensor, blocks: &Tensor) -> Result<Tensor> {
    const FACTORS: [i64; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const KEY_STEPS: [i64; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let low = |number: &Tensor| number.bitwise_and(WORD);
    let high = |number: &Tensor| number.bitwise_right_shift(32)?.bitwise_and(WORD);
    let mut keys = [low(seeds)?, high(seeds)?];
    let mut words = [low(blocks)?, high(blocks)?, blocks.zeros_like()?, blocks.zeros_like()?];
    for _ in 0..10 {
        let products = [(&words[0] * FACTORS[0])?, (&words[2] * FACTORS[1])?];
        words = [
            high(&products[1])?.bitwise_xor(&words[1])?.bitwise_xor(&keys[0])?,
            low(&products[1])?,
            high(&products[0])?.bitwise_xor(&words[3])?.bitwise_xor(&keys[1])?,
            low(&products[0])?,
        ];
        keys = [low(&(&keys[0] + KEY_STEPS[0])?)?, low(&(&keys[1] + KEY_STEPS[1])?)?];
    }
    stack(&words, -1)
}

/// The bits of a word.
const WORD: i64 = u32::MAX as i64;

/// Returns a key for each block: its words as two integers, the lower word first.
fn keys_of_blocks(blocks: &Tensor) -> Result<Tensor> {
    let [lower, upper] = [0, 1].map(|start| crate::slice(blocks, -1, Some(start), None, 2));
    lower?.bitwise_or(&upper?.bitwise_left_shift(32)?)
}

fn check_keys(key: &Tensor) -> Result<(), BadArgument> {
    if key.dtype() != DType::I64 {
        return Err(BadArgument::dtype("key", key.dtype(), DType::I64));
    }
    if key.sizes().last() == Some(&2) {
        return Ok(());
    }
    Err(BadArgument::sizes("key", key.sizes(), "a last dimension of size 2"))
}
