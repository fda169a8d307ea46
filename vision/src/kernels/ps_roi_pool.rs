//! The CPU kernels of `ps_roi_pool` and its gradient.

use dispatch_runtime::prelude::*;
use kernels_cpu::engine::parallel_chunks;

use super::elements::{GRAIN_SIZE, contiguous, fill_with_zeros, is_empty, to_number};
use super::pixel_bins::{BinRules, PixelBins};
use super::ps_roi_align::write_channel_mapping;
use super::regions::BinsOfChannels;
use crate::{_ps_roi_pool_backward, RegionSizes, ps_roi_pool};

/// No bin has a pixel of the last row or column of the image.
const RULES: BinRules = BinRules { includes_last_pixel: false, ends_before_last_pixel: true };

/// In the gradient of torchvision, bins have pixels of the last row and column.
const GRADIENT_RULES: BinRules = BinRules { ends_before_last_pixel: false, ..RULES };

#[op_impl(ps_roi_pool, CPU, dtypes(floating), by = input)]
fn ps_roi_pool_cpu<T: Floating>(
    plan: &RegionSizes,
    out: [&mut Tensor; 2],
    input: &Tensor,
    rois: &Tensor,
    spatial_scale: f64,
) -> Result<()> {
    if is_empty(out[0]) {
        return Ok(());
    }
    let regions = PixelBins::for_regions::<T>(rois, plan, spatial_scale, RULES)?;
    let [means, channel_mapping] = out;
    write_channel_mapping(channel_mapping, plan.channels)?;
    let input = contiguous(input)?;
    let pixels = input.read::<T>()?;
    let (area, bins) = (plan.height * plan.width, plan.pooled_height * plan.pooled_width);
    let channels = plan.channels / bins;
    let mut means = means.write::<T>()?;
    parallel_chunks(&mut means, bins, (GRAIN_SIZE / bins).max(1), |line, means| {
        let (region, channel) = (&regions[line / channels], line % channels);
        for (bin, mean) in means.iter_mut().enumerate() {
            let pixels = &pixels[(region.image * plan.channels + channel * bins + bin) * area..][..area];
            let sum = region.rows(bin).flat_map(|row| &pixels[row]).fold(T::ZERO, |sum, &pixel| sum + pixel);
            let count = region.pixel_count(bin);
            *mean = if count == 0 { T::ZERO } else { sum / to_number(count) };
        }
    });
    Ok(())
}

#[op_impl(_ps_roi_pool_backward, CPU, dtypes(floating))]
fn ps_roi_pool_backward_cpu<T: Floating>(
    plan: &RegionSizes,
    out: &mut Tensor,
    grad: &Tensor,
    rois: &Tensor,
    channel_mapping: &Tensor,
    spatial_scale: f64,
) -> Result<()> {
    if is_empty(grad) {
        return fill_with_zeros::<T>(out);
    }
    let regions = PixelBins::for_regions::<T>(rois, plan, spatial_scale, GRADIENT_RULES)?;
    let bins_of_channels = BinsOfChannels::read(channel_mapping, plan.channels)?;
    let grad = contiguous(grad)?;
    let grads = grad.read::<T>()?;
    let bins = plan.pooled_height * plan.pooled_width;
    let mut pixels = out.write::<T>()?;
    parallel_chunks(&mut pixels, plan.height * plan.width, 1, |line, pixels| {
        let (image, channel) = (line / plan.channels, line % plan.channels);
        pixels.fill(T::ZERO);
        for &index in bins_of_channels.of_channel(channel) {
            let (region, bin) = (&regions[index / plan.channels], index % bins);
            if region.image == image {
                let of_pixel = grads[index] / to_number(region.pixel_count(bin));
                region.rows(bin).for_each(|row| pixels[row].iter_mut().for_each(|pixel| *pixel = *pixel + of_pixel));
            }
        }
    });
    Ok(())
}
