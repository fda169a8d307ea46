//! Whole numbers.

use dispatch_runtime::prelude::*;

use aten::GROUP;

use super::{Words, filled, fillers, on_cpu};
use crate::math::vectorised;

fillers! {
    random random_() => all;
    random_from random__from(from: i64, to: Option<i64>) => between;
    random_to random__to(to: i64) => below;
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
    let beyond = last.wrapping_sub(first).cast_unsigned();
    let different = u128::from(beyond) + 1;
    if beyond < NARROW {
        filled::<i64, 4>(this, generator, |words, _| {
            let mut rows = [[0; GROUP]; 4];
            vectorised(
                #[inline(always)]
                || {
                    for (to, word) in rows.as_flattened_mut().iter_mut().zip(words.as_flattened()) {
                        *to = first.wrapping_add(((u64::from(*word) * (beyond + 1)) >> 32).cast_signed());
                    }
                },
            );
            rows
        })
    } else {
        filled::<i64, 2>(this, generator, |words, _| {
            wide(words).map(|row| {
                row.map(|word| {
                    let offset = ((u128::from(word) * different) >> 64) as u64;
                    first.wrapping_add(offset.cast_signed())
                })
            })
        })
    }
}

/// Two words as one.
fn wide(words: &Words) -> [[u64; GROUP]; 2] {
    let join = |low: &[u32; GROUP], high: &[u32; GROUP]| {
        std::array::from_fn(|at| u64::from(high[at]) << 32 | u64::from(low[at]))
    };
    [join(&words[0], &words[1]), join(&words[2], &words[3])]
}

/// The order in which random numbers sort, which is the same wherever and however they are sorted.
#[op_impl(aten::randperm_generator_out, CPU)]
fn randperm(n: i64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    aten::check_randperm(n, out.dtype())?;
    dispatch_runtime::Spec::contiguous(out.dtype(), &[n]).fit("out", out)?;
    let generator = on_cpu(generator)?;
    let mut numbers = dispatch_runtime::Spec::contiguous(DType::I64, &[n]).on(Device::CPU)?;
    filled::<i64, 2>(&mut numbers, Some(&generator), |words, _| wide(words).map(|row| row.map(u64::cast_signed)))?;
    let mut order: Vec<(i64, i64)> = numbers.read::<i64>()?.iter().copied().zip(0..).collect();
    order.sort_unstable();
    numbers.write::<i64>()?.iter_mut().zip(&order).for_each(|(to, (_, position))| *to = *position);
    crate::moves::copy(out, &numbers)
}
