//! Kernels of random integers and permutations.

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

use aten::IntegerRange;

use super::{BLOCKS_PER_GROUP, GroupWords, cpu_generator, fill_from_words};
use engine::math::vectorised;

/// The number of different integers for which one 32-bit word is uniform enough.
const MAX_RANGE_OF_ONE_WORD: u64 = 1 << 28;

#[op_impl(aten::random, CPU, in_place, strided)]
#[op_impl(aten::random_from, CPU, in_place, strided)]
#[op_impl(aten::random_to, CPU, in_place, strided)]
fn random_integers(plan: &IntegerRange, out: &mut Tensor, generator: Option<&Generator>) -> Result<()> {
    let IntegerRange { min: first, max: last } = *plan;
    let last_offset = last.wrapping_sub(first).cast_unsigned();
    let different = u128::from(last_offset) + 1;
    if last_offset < MAX_RANGE_OF_ONE_WORD {
        fill_from_words::<i64, 4>(out, generator, |words, _| {
            let mut rows = [[0; BLOCKS_PER_GROUP]; 4];
            vectorised!({
                for (to, word) in rows.as_flattened_mut().iter_mut().zip(words.as_flattened()) {
                    *to = first.wrapping_add(((u64::from(*word) * (last_offset + 1)) >> 32).cast_signed());
                }
            });
            rows
        })
    } else {
        fill_from_words::<i64, 2>(out, generator, |words, _| {
            join_word_pairs(words).map(|row| {
                row.map(|word| {
                    let offset = ((u128::from(word) * different) >> 64) as u64;
                    first.wrapping_add(offset.cast_signed())
                })
            })
        })
    }
}

/// Joins pairs of words to 64-bit words.
fn join_word_pairs(words: &GroupWords) -> [[u64; BLOCKS_PER_GROUP]; 2] {
    let join = |low: &[u32; BLOCKS_PER_GROUP], high: &[u32; BLOCKS_PER_GROUP]| {
        std::array::from_fn(|at| u64::from(high[at]) << 32 | u64::from(low[at]))
    };
    [join(&words[0], &words[1]), join(&words[2], &words[3])]
}

/// Shuffles by the method of Fisher and Yates: swaps each element in turn with a random one at or after its index.
#[op_impl(aten::randperm_generator, CPU)]
fn randperm(_plan: &(), out: &mut Tensor, n: i64, generator: Option<&Generator>) -> Result<()> {
    let generator = cpu_generator(generator)?;
    let mut numbers = Spec::contiguous(DType::I64, &[n]).on(Device::CPU)?;
    fill_from_words::<i64, 2>(&mut numbers, Some(&generator), |words, _| {
        join_word_pairs(words).map(|row| row.map(u64::cast_signed))
    })?;
    // The swaps access memory at random, so narrow elements are faster.
    let narrow = i32::try_from(n).is_ok();
    let mut order = Spec::contiguous(if narrow { DType::I32 } else { DType::I64 }, &[n]).on(Device::CPU)?;
    if narrow {
        shuffle::<i32>(&mut order.write()?, &numbers.read()?, 0..);
    } else {
        shuffle::<i64>(&mut order.write()?, &numbers.read()?, 0..);
    }
    engine::data_movement::copy_elements(out, &order)
}

fn shuffle<T>(order: &mut [T], numbers: &[i64], positions: impl Iterator<Item = T>) {
    order.iter_mut().zip(positions).for_each(|(to, position)| *to = position);
    for (at, number) in numbers.iter().enumerate() {
        let left = (order.len() - at) as u128;
        #[expect(clippy::cast_possible_truncation, reason = "the result is less than `left`")]
        let last_offset = ((u128::from(number.cast_unsigned()) * left) >> 64) as usize;
        order.swap(at, at + last_offset);
    }
}
