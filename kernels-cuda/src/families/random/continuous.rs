//! CUDA kernels of continuous distributions, and of `geometric`, which rounds exponentially distributed numbers up.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::REAL_DTYPES;
use crate::engine::random_stream::fill_random;
use crate::prelude::*;

kernel! {
    // SAFETY: `fill_random` passes a packed tensor and its count to each launch.
    static CONTINUOUS_KERNEL = unsafe { Kernel::new("continuous", include_str!("../../../kernels/random/continuous.cu"), |instances| {
        for template in ["uniform", "normal", "exponential", "cauchy"] {
            for dtype in REAL_DTYPES.into_iter().filter(|dtype| dtype.is_floating()) {
                instances.add(template, &[drawn_dtype(dtype), dtype]);
            }
        }
        instances.add_for_each_dtype("geometric", &REAL_DTYPES);
    }) };
}

/// Returns the type that numbers of a dtype are drawn in.
fn drawn_dtype(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// Returns the number of random numbers that a block of the stream yields.
fn numbers_per_block(dtype: DType) -> i64 {
    if dtype == DType::F64 { 2 } else { 4 }
}

#[op_impl(aten::normal_, CUDA)]
fn normal_(_plan: &(), this: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    fill_normal(this, mean, std, false, generator)
}

#[op_impl(aten::log_normal, CUDA, in_place, strided)]
fn log_normal(_plan: &(), out: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    fill_normal(out, mean, std, true, generator)
}

fn fill_normal(
    this: &mut Tensor,
    mean: f64,
    std: f64,
    exponentiated: bool,
    generator: Option<&Generator>,
) -> Result<()> {
    let dtypes = [drawn_dtype(this.dtype()), this.dtype()];
    fill_random(this, generator, numbers_per_block(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CONTINUOUS_KERNEL, "normal", &dtypes, grid, (to, stream, mean, std, exponentiated))?)
    })
}

#[op_impl(aten::uniform, CUDA, in_place, strided)]
fn uniform(_plan: &(), out: &mut Tensor, from: f64, to: f64, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [drawn_dtype(out.dtype()), out.dtype()];
    // The number of random bits is at most the dtype's precision. With more, numbers could round up to one.
    let bits = match out.dtype() {
        DType::F16 => 11,
        DType::BF16 => 8,
        _ => 24,
    };
    fill_random(out, generator, numbers_per_block(dtypes[0]), |launch, grid, pointer, stream| {
        Ok(launch.run(&CONTINUOUS_KERNEL, "uniform", &dtypes, grid, (pointer, stream, from, to, bits))?)
    })
}

#[op_impl(aten::exponential, CUDA, in_place, strided)]
fn exponential(_plan: &(), out: &mut Tensor, lambd: f64, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [drawn_dtype(out.dtype()), out.dtype()];
    fill_random(out, generator, numbers_per_block(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CONTINUOUS_KERNEL, "exponential", &dtypes, grid, (to, stream, -1.0 / lambd))?)
    })
}

#[op_impl(aten::cauchy, CUDA, in_place, strided)]
fn cauchy(_plan: &(), out: &mut Tensor, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<()> {
    let dtypes = [drawn_dtype(out.dtype()), out.dtype()];
    fill_random(out, generator, numbers_per_block(dtypes[0]), |launch, grid, to, stream| {
        Ok(launch.run(&CONTINUOUS_KERNEL, "cauchy", &dtypes, grid, (to, stream, median, sigma))?)
    })
}

#[op_impl(aten::geometric, CUDA, in_place, strided)]
fn geometric(_plan: &(), out: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    let (dtype, scale) = (out.dtype(), (-p).ln_1p().recip());
    fill_random(out, generator, 2, |launch, grid, to, stream| {
        Ok(launch.run(&CONTINUOUS_KERNEL, "geometric", &[dtype], grid, (to, stream, scale))?)
    })
}
