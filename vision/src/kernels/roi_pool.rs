//! The CPU kernels of `roi_pool` and its gradient.

use std::ops::Range;

use dispatch_runtime::{BadArgument, Problem, prelude::*};
use kernels_cpu::engine::parallel_chunks;

use super::elements::{GRAIN_SIZE, contiguous, fill_with_zeros, is_empty};
use super::pixel_bins::{BinRules, PixelBins};
use super::regions::read_regions;
use crate::{_roi_pool_backward, RegionSizes, roi_pool};

const RULES: BinRules = BinRules { includes_last_pixel: true, ends_before_last_pixel: false };

#[op_impl(roi_pool, CPU, dtypes(floating), by = input)]
fn roi_pool_cpu<T: Floating>(
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
    let [maxima, indices] = out;
    let input = contiguous(input)?;
    let pixels = input.read::<T>()?;
    let (area, bins) = (plan.height * plan.width, plan.pooled_height * plan.pooled_width);
    let channel_pixels = |line: usize| {
        let image = regions[line / plan.channels].image;
        &pixels[(image * plan.channels + line % plan.channels) * area..][..area]
    };
    let grain = (GRAIN_SIZE / bins.max(1)).max(1);
    parallel_chunks(&mut indices.write::<i32>()?, bins, grain, |line, indices| {
        let (region, pixels) = (&regions[line / plan.channels], channel_pixels(line));
        for (bin, index) in indices.iter_mut().enumerate() {
            *index = index_of_max(region.rows(bin), pixels);
        }
    });
    let (indices, mut maxima) = (indices.read::<i32>()?, maxima.write::<T>()?);
    parallel_chunks(&mut maxima, bins, grain, |line, maxima| {
        let (region, pixels) = (&regions[line / plan.channels], channel_pixels(line));
        for (bin, (max, index)) in maxima.iter_mut().zip(&indices[line * bins..]).enumerate() {
            let without_max = || if region.pixel_count(bin) == 0 { T::ZERO } else { lowest() };
            *max = usize::try_from(*index).map_or_else(|_| without_max(), |index| pixels[index]);
        }
    });
    Ok(())
}

/// The number above which a pixel must be to be the maximum, in every dtype.
fn lowest<T: Floating>() -> T {
    T::from_f64(f32::MIN.into())
}

/// Returns the index of the first largest pixel of some rows, or -1 if no pixel is above [`lowest`].
fn index_of_max<T: Floating>(rows: impl Iterator<Item = Range<usize>>, pixels: &[T]) -> i32 {
    let (mut max, mut index_of_max) = (lowest::<T>(), None);
    for row in rows {
        let start = row.start;
        for (column, &pixel) in pixels[row].iter().enumerate() {
            if pixel > max {
                (max, index_of_max) = (pixel, Some(start + column));
            }
        }
    }
    index_of_max.and_then(|index| i32::try_from(index).ok()).unwrap_or(-1)
}

#[op_impl(_roi_pool_backward, CPU, dtypes(floating))]
fn roi_pool_backward_cpu<T: Floating>(
    plan: &RegionSizes,
    out: &mut Tensor,
    grad: &Tensor,
    rois: &Tensor,
    argmax: &Tensor,
) -> Result<()> {
    if is_empty(grad) {
        return fill_with_zeros::<T>(out);
    }
    let regions = read_regions::<T>(rois, plan.images)?;
    let (area, bins) = (plan.height * plan.width, plan.pooled_height * plan.pooled_width);
    let indices = argmax.to_vec::<i32>()?;
    let is_wrong = |index: &i32| *index < -1 || usize::try_from(*index).is_ok_and(|index| index >= area);
    if let Some(&index) = indices.iter().find(|index| is_wrong(index)) {
        let size = i64::try_from(area).unwrap_or(i64::MAX);
        return Err(BadArgument::new("argmax", Problem::Index { index: index.into(), size, dim: None }).into());
    }
    let grad = contiguous(grad)?;
    let grads = grad.read::<T>()?;
    let mut pixels = out.write::<T>()?;
    parallel_chunks(&mut pixels, area, 1, |line, pixels| {
        let (image, channel) = (line / plan.channels, line % plan.channels);
        pixels.fill(T::ZERO);
        for (number, _) in regions.iter().enumerate().filter(|(_, region)| region.image == image) {
            let start = (number * plan.channels + channel) * bins;
            for (&grad, &index) in grads[start..start + bins].iter().zip(&indices[start..start + bins]) {
                if let Ok(index) = usize::try_from(index) {
                    pixels[index] = pixels[index] + grad;
                }
            }
        }
    });
    Ok(())
}
