//! Kernels of grid sampling.
//!
//! The types `bf16` and `f16` have kernels of their own (`half_precision`). PyTorch rounds them after each operation here, and a sum over
//! sixteen elements of an image would otherwise differ by several units.

mod axis_taps;
mod coordinate;
mod full_precision;
mod half_precision;

use aten::GridSamplePlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{bf16, f16};

use engine::contiguous::with_compute_type;

/// The minimum number of elements for each thread.
const GRAIN_SIZE: usize = 1 << 12;

macro_rules! define_grid_samplers {
    ($($rank:literal $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(plan: &GridSamplePlan, out: &mut Tensor, input: &Tensor, grid: &Tensor) -> Result<()> {
            match input.dtype() {
                DType::BF16 => half_precision::write_samples::<bf16>(plan, out, input, grid),
                DType::F16 => half_precision::write_samples::<f16>(plan, out, input, grid),
                dtype => with_compute_type!($name "input", dtype; T in [f32 f64] => {
                    full_precision::write_samples::<T>(plan, out, input, grid)
                }),
            }
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(plan: &GridSamplePlan, out: [&mut Tensor; 2], _: ...) -> Result<()> {
            match input.dtype() {
                DType::BF16 => half_precision::write_sample_gradients::<bf16>(plan, out, grad_output, input, grid),
                DType::F16 => half_precision::write_sample_gradients::<f16>(plan, out, grad_output, input, grid),
                dtype => with_compute_type!($backward "input", dtype; T in [f32 f64] => {
                    full_precision::write_sample_gradients::<T>(plan, out, grad_output, input, grid)
                }),
            }
        }
    )*};
}

define_grid_samplers! {
    2 grid_sampler_2d grid_sampler_2d_backward;
    3 grid_sampler_3d grid_sampler_3d_backward;
}
