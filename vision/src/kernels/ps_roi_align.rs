//! The CPU kernels of `ps_roi_align` and its gradient.

use dispatch_runtime::prelude::*;
use kernels_cpu::engine::parallel_chunks;

use super::elements::{GRAIN_SIZE, contiguous, fill_with_zeros, is_empty};
use super::regions::BinsOfChannels;
use super::sample_grid::{GridOptions, SampleGrid};
use crate::{_ps_roi_align_backward, RegionSizes, ps_roi_align};

fn grid_options(spatial_scale: f64, sampling_ratio: i64) -> GridOptions {
    GridOptions { spatial_scale, sampling_ratio, shift: 0.5, least_length: None }
}

#[op_impl(ps_roi_align, CPU, dtypes(floating), by = input)]
fn ps_roi_align_cpu<T: Floating>(
    plan: &RegionSizes,
    out: [&mut Tensor; 2],
    input: &Tensor,
    rois: &Tensor,
    spatial_scale: f64,
    sampling_ratio: i64,
) -> Result<()> {
    if is_empty(out[0]) {
        return Ok(());
    }
    let grids = SampleGrid::<T>::for_regions(rois, plan, grid_options(spatial_scale, sampling_ratio))?;
    let [means, channel_mapping] = out;
    write_channel_mapping(channel_mapping, plan.channels)?;
    let input = contiguous(input)?;
    let pixels = input.read::<T>()?;
    let (area, bins) = (plan.height * plan.width, plan.pooled_height * plan.pooled_width);
    let channels = plan.channels / bins;
    let mut means = means.write::<T>()?;
    parallel_chunks(&mut means, bins, (GRAIN_SIZE / bins).max(1), |line, means| {
        let (grid, channel) = (&grids[line / channels], line % channels);
        for (bin, mean) in means.iter_mut().enumerate() {
            let pixels = &pixels[(grid.image * plan.channels + channel * bins + bin) * area..][..area];
            let at = [bin / plan.pooled_width, bin % plan.pooled_width];
            *mean = grid.sum(pixels, plan.width, at) / grid.sample_count();
        }
    });
    Ok(())
}

#[op_impl(_ps_roi_align_backward, CPU, dtypes(floating))]
fn ps_roi_align_backward_cpu<T: Floating>(
    plan: &RegionSizes,
    out: &mut Tensor,
    grad: &Tensor,
    rois: &Tensor,
    channel_mapping: &Tensor,
    spatial_scale: f64,
    sampling_ratio: i64,
) -> Result<()> {
    if is_empty(grad) {
        return fill_with_zeros::<T>(out);
    }
    let grids = SampleGrid::<T>::for_regions(rois, plan, grid_options(spatial_scale, sampling_ratio))?;
    let bins_of_channels = BinsOfChannels::read(channel_mapping, plan.channels)?;
    let grad = contiguous(grad)?;
    let grads = grad.read::<T>()?;
    let bins = plan.pooled_height * plan.pooled_width;
    let mut pixels = out.write::<T>()?;
    parallel_chunks(&mut pixels, plan.height * plan.width, 1, |line, pixels| {
        let (image, channel) = (line / plan.channels, line % plan.channels);
        pixels.fill(T::ZERO);
        for &index in bins_of_channels.of_channel(channel) {
            let (grid, bin) = (&grids[index / plan.channels], index % bins);
            if grid.image == image {
                let bin = [bin / plan.pooled_width, bin % plan.pooled_width];
                grid.add_gradient(pixels, plan.width, bin, grads[index], grid.sample_count());
            }
        }
    });
    Ok(())
}

/// Writes the number of the channel of the image that each bin is computed from: one after the other, in each region from 0.
pub(super) fn write_channel_mapping(out: &mut Tensor, channels: usize) -> Result<()> {
    for region in out.write::<i32>()?.chunks_mut(channels.max(1)) {
        region.iter_mut().zip(0..).for_each(|(to, channel)| *to = channel);
    }
    Ok(())
}
