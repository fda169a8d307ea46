//! The CPU kernels of `roi_align` and its gradient.

use dispatch_runtime::prelude::*;
use kernels_cpu::engine::parallel_chunks;

use super::elements::{GRAIN_SIZE, contiguous, fill_with_zeros, is_empty};
use super::sample_grid::{GridOptions, SampleGrid};
use crate::{_roi_align_backward, RegionSizes, roi_align};

/// Returns the options of `roi_align`. Without `aligned`, no region is smaller than a pixel.
fn grid_options(spatial_scale: f64, sampling_ratio: i64, aligned: bool) -> GridOptions {
    let (shift, least_length) = if aligned { (0.5, None) } else { (0.0, Some(1.0)) };
    GridOptions { spatial_scale, sampling_ratio, shift, least_length }
}

/// The number of regions from which each is one piece of work.
const MIN_REGIONS: usize = 32;

#[op_impl(roi_align, CPU, dtypes(floating))]
fn roi_align_cpu<T: Floating>(
    plan: &RegionSizes,
    out: &mut Tensor,
    input: &Tensor,
    rois: &Tensor,
    spatial_scale: f64,
    sampling_ratio: i64,
    aligned: bool,
) -> Result<()> {
    if is_empty(out) {
        return Ok(());
    }
    let grids = SampleGrid::<T>::for_regions(rois, plan, grid_options(spatial_scale, sampling_ratio, aligned))?;
    let input = contiguous(input)?;
    let pixels = input.read::<T>()?;
    let (area, bins) = (plan.height * plan.width, plan.pooled_height * plan.pooled_width);
    let mut means = out.write::<T>()?;
    // A piece of work is all channels of a region, which share their points, unless there are few regions.
    let channels = if grids.len() < MIN_REGIONS { 1 } else { plan.channels };
    parallel_chunks(&mut means, channels * bins, (GRAIN_SIZE / (channels * bins)).max(1), |piece, means| {
        let (grid, first) = (&grids[piece * channels / plan.channels], piece * channels % plan.channels);
        let count = at_least_one(grid.sample_count());
        grid.for_each_part(plan.width, |part, points| {
            for (channel, means) in means.chunks_exact_mut(bins).enumerate() {
                let pixels = &pixels[(grid.image * plan.channels + first + channel) * area..][..area];
                means[part.clone()].iter_mut().zip(points.sums(pixels)).for_each(|(mean, sum)| *mean = sum / count);
            }
        });
    });
    Ok(())
}

#[op_impl(_roi_align_backward, CPU, dtypes(floating))]
fn roi_align_backward_cpu<T: Floating>(
    plan: &RegionSizes,
    out: &mut Tensor,
    grad: &Tensor,
    rois: &Tensor,
    spatial_scale: f64,
    sampling_ratio: i64,
    aligned: bool,
) -> Result<()> {
    if is_empty(grad) {
        return fill_with_zeros::<T>(out);
    }
    let grids = SampleGrid::<T>::for_regions(rois, plan, grid_options(spatial_scale, sampling_ratio, aligned))?;
    let grad = contiguous(grad)?;
    let grads = grad.read::<T>()?;
    let bins = plan.pooled_height * plan.pooled_width;
    let mut pixels = out.write::<T>()?;
    // Each channel of an image is one piece of work, so the order of the sums does not depend on the threads.
    parallel_chunks(&mut pixels, plan.height * plan.width, 1, |line, pixels| {
        let (image, channel) = (line / plan.channels, line % plan.channels);
        pixels.fill(T::ZERO);
        for (region, grid) in grids.iter().enumerate().filter(|(_, grid)| grid.image == image) {
            let count = at_least_one(grid.sample_count());
            let grads = &grads[(region * plan.channels + channel) * bins..][..bins];
            for (bin, &grad) in grads.iter().enumerate() {
                let bin = [bin / plan.pooled_width, bin % plan.pooled_width];
                grid.add_gradient(pixels, plan.width, bin, grad, count);
            }
        }
    });
    Ok(())
}

fn at_least_one<T: Floating>(count: T) -> T {
    if count < T::ONE { T::ONE } else { count }
}
