//! CUDA kernels of random integers and permutations.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::IntegerRange;

use crate::engine::elementwise::REAL_DTYPES;
use crate::engine::random_stream::{fill_random, generator_or_default, random_block_count};
use crate::prelude::*;

kernel! {
    // SAFETY: `fill_random` passes a packed tensor and its count to each launch.
    static INTEGERS_KERNEL = unsafe { Kernel::new("integers", include_str!("../../../kernels/random/integers.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["integers_from_32_bits", "integers_from_64_bits"], &REAL_DTYPES);
    }) };
}

/// The maximum size of a range for which 32 random bits per integer are uniform enough.
const MAX_32_BIT_RANGE: u64 = 1 << 28;

#[op_impl(aten::random, CUDA, in_place, strided)]
#[op_impl(aten::random_from, CUDA, in_place, strided)]
#[op_impl(aten::random_to, CUDA, in_place, strided)]
fn random_integers(plan: &IntegerRange, out: &mut Tensor, generator: Option<&Generator>) -> Result<()> {
    let (dtype, span) = (out.dtype(), plan.max.wrapping_sub(plan.min).cast_unsigned());
    let (template, rows) =
        if span < MAX_32_BIT_RANGE { ("integers_from_32_bits", 4) } else { ("integers_from_64_bits", 2) };
    fill_random(out, generator, rows, |launch, grid, to, stream| {
        Ok(launch.run(&INTEGERS_KERNEL, template, &[dtype], grid, (to, stream, plan.min, span.wrapping_add(1)))?)
    })
}

/// Computes the permutation on the CPU, with the same random numbers: each swap depends on the one before.
#[op_impl(aten::randperm_generator, CUDA)]
fn randperm(_plan: &(), out: &mut Tensor, n: i64, generator: Option<&Generator>) -> Result<()> {
    let generator = generator_or_default(generator, out.device())?;
    // An element takes a 64-bit number, and a block yields two. All blocks are reserved at once, so that no other call draws them.
    let (seed, first) = generator.reserve(random_block_count(n, 2).unsigned_abs());
    let there = Generator::new(Device::CPU, seed);
    there.seek(first);
    let order = aten::randperm_generator(n, Some(&there), Some(out.dtype()), None, Some(Device::CPU), None)?;
    aten::copy_(out, &order, false)
}
