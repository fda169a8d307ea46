//! CUDA kernels of `grid_sample`: interpolation of images at the positions of a grid.
//!
//! A sample is a weighted sum of a few elements of the image, its taps; the same elements and weights give the gradients. A thread keeps
//! one position, and loops over the channels.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{GridSamplePlan, Interpolation, PaddingMode};

use crate::engine::images::Images;
use crate::prelude::*;

kernel! {
    // SAFETY: each side comes with its own sizes and strides, `aten` checked them, and taps outside of an image are not read.
    static GRID_SAMPLE_KERNEL = unsafe { Kernel::new("grid_sample", include_str!("../../../kernels/resize/grid_sample.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["grid_sample", "grid_gradient", "image_gradient"], &FLOATING_DTYPES);
    }) };
}

define_parameters! {
    /// The kernels' `struct Sampling`: the grid's strides and the modes of sampling.
    struct GridSampling {
        grid_strides: [i64; 5],
        interpolation: u32,
        padding_mode: u32,
        align_corners: u32,
        rank: u32,
    }
}

impl GridSampling {
    fn new(sampling: &GridSamplePlan, grid: &Tensor) -> Self {
        let rank = grid.sizes().len() - 2;
        let mut grid_strides = [0; 5];
        // The strides of the batch, of the positions (two dimensions are the last of three), and of the coordinates.
        grid_strides[0] = grid.strides()[0];
        grid_strides[4 - rank..].copy_from_slice(&grid.strides()[1..]);
        Self {
            grid_strides,
            interpolation: match sampling.interpolation {
                Interpolation::Linear => 0,
                Interpolation::Nearest => 1,
                Interpolation::Cubic => 2,
            },
            padding_mode: match sampling.padding_mode {
                PaddingMode::Zeros => 0,
                PaddingMode::Border => 1,
                PaddingMode::Reflection => 2,
            },
            align_corners: sampling.align_corners.into(),
            rank: u32::try_from(rank).unwrap_or(0),
        }
    }
}

/// Returns the number of positions in all images, and a grid with a thread for each. Enough rows of blocks share the channels to keep the
/// device busy.
fn position_grid(launch: Launch, sizes: &[i64]) -> (i64, Grid) {
    let positions = sizes[0] * sizes[2..].iter().product::<i64>();
    let enough = i64::from(launch.multiprocessors()) * 2048 * 4;
    let rows = (enough / positions.max(1) + 1).min(sizes[1]).clamp(1, 1 << 15);
    let grid = Grid::for_elements(if sizes[1] == 0 { 0 } else { positions });
    (positions, Grid { blocks: [grid.blocks[0], u32::try_from(rows).unwrap_or(1), 1], ..grid })
}

fn launch_grid_sample(
    rank: usize,
    sampling: &GridSamplePlan,
    out: &Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let launch = Launch::on_device_of(out)?;
    let (positions, blocks) = position_grid(launch, out.sizes());
    let images = (Images::from_tensor(out, rank), Images::from_tensor(input, rank));
    let arguments = (positions, out, input, grid, images.0, images.1, GridSampling::new(sampling, grid));
    Ok(launch.run(&GRID_SAMPLE_KERNEL, "grid_sample", &[input.dtype()], blocks, arguments)?)
}

fn launch_grid_sample_backward(
    rank: usize,
    sampling: &GridSamplePlan,
    [of_input, of_grid]: [&mut Tensor; 2],
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
    output_mask: &[bool],
) -> Result<()> {
    let dtype = input.dtype();
    let launch = Launch::on_device_of(input)?;
    let sampling_values = GridSampling::new(sampling, grid);
    let (positions, blocks) = position_grid(launch, grad_output.sizes());
    let output = Images::from_tensor(grad_output, rank);
    if output_mask[1] {
        let arguments =
            (positions, of_grid, grad_output, input, grid, output, Images::from_tensor(input, rank), sampling_values);
        launch.run_per_element(&GRID_SAMPLE_KERNEL, "grid_gradient", &[dtype], positions, arguments)?;
    }
    if output_mask[0] {
        // Half-precision gradients are accumulated in `f32`.
        let narrow = dtype != DType::F64 && dtype != DType::F32;
        let mut sums = if narrow { of_input.allocate_like(DType::F32)? } else { of_input.clone() };
        copy_into(&mut sums, &Tensor::number(0.into()))?;
        let arguments =
            (positions, &sums, grad_output, grid, output, Images::from_tensor(&sums, rank), sampling_values);
        launch.run(&GRID_SAMPLE_KERNEL, "image_gradient", &[dtype], blocks, arguments)?;
        if narrow {
            copy_into(of_input, &sums)?;
        }
    }
    Ok(())
}

macro_rules! define_grid_samplers {
    ($($rank:literal $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &GridSamplePlan, out: &mut Tensor, input: &Tensor, grid: &Tensor) -> Result<()> {
            check_dtype(aten::$name::operator(), "input", input.dtype(), &FLOATING_DTYPES)?;
            launch_grid_sample($rank, plan, out, input, grid)
        }

        #[op_impl(aten::$backward, CUDA)]
        fn $backward(plan: &GridSamplePlan, out: [&mut Tensor; 2], _: ...) -> Result<()> {
            check_dtype(aten::$backward::operator(), "input", input.dtype(), &FLOATING_DTYPES)?;
            launch_grid_sample_backward($rank, plan, out, grad_output, input, grid, output_mask)
        }
    )*};
}

define_grid_samplers! {
    2 grid_sampler_2d grid_sampler_2d_backward;
    3 grid_sampler_3d grid_sampler_3d_backward;
}
