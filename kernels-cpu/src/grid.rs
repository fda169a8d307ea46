//! Images sampled at the places of a grid.
//!
//! Narrow types have a way of their own (`narrow`): PyTorch rounds them after each operation here, and a sum over sixteen elements
//! of an image would show a difference of several units.

mod along;
mod coordinate;
mod narrow;
mod wide;

use aten::Sampling;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{bf16, f16};

use crate::packed::computed;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 12;

macro_rules! samplers {
    ($($rank:literal $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            input: &Tensor,
            grid: &Tensor,
            interpolation_mode: i64,
            padding_mode: i64,
            align_corners: bool,
        ) -> Result<Tensor> {
            let sampling = Sampling::new($rank, input, grid, (interpolation_mode, padding_mode, align_corners))?;
            match input.dtype() {
                DType::BF16 => narrow::sampled::<bf16>(input, grid, &sampling),
                DType::F16 => narrow::sampled::<f16>(input, grid, &sampling),
                dtype => computed!($name "input", dtype; T in [f32 f64] => {
                    wide::sampled::<T>(input, grid, &sampling)
                }),
            }
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(
            grad_output: &Tensor,
            input: &Tensor,
            grid: &Tensor,
            interpolation_mode: i64,
            padding_mode: i64,
            align_corners: bool,
            output_mask: &[bool],
        ) -> Result<(Tensor, Tensor)> {
            let sampling = Sampling::new($rank, input, grid, (interpolation_mode, padding_mode, align_corners))?;
            match input.dtype() {
                DType::BF16 => narrow::gradients::<bf16>(grad_output, input, grid, &sampling, output_mask),
                DType::F16 => narrow::gradients::<f16>(grad_output, input, grid, &sampling, output_mask),
                dtype => computed!($backward "input", dtype; T in [f32 f64] => {
                    wide::gradients::<T>(grad_output, input, grid, &sampling, output_mask)
                }),
            }
        }
    )*};
}

samplers! {
    2 grid_sampler_2d grid_sampler_2d_backward;
    3 grid_sampler_3d grid_sampler_3d_backward;
}
