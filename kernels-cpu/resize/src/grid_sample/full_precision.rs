//! Grid sampling in `f32` and `f64`.
//!
//! A sample is a weighted sum of a few elements of the image, its taps. Along each dimension a tap has a weight, and the derivative of that
//! weight by the coordinate. The weight of the tap is the product over all dimensions. The gradients of image and grid use the same taps.

use aten::GridSamplePlan;
use dispatch_runtime::Dims;
use dispatch_runtime::prelude::*;

use super::GRAIN;
use super::axis::Sampler;
use super::coordinate::Coordinate;
use engine::allocation::usized;
use engine::compute::Compute;
use engine::contiguous::{count, fill, packed};
use engine::thread_pool::Lines;

/// An element of an image, its weight, and the derivatives of the weight by each coordinate. Outside of the image, `at` is `usize::MAX`.
#[derive(Clone, Copy)]
struct Tap<T> {
    at: usize,
    weight: T,
    slopes: [T; 3],
}

/// Computes the taps of all positions of a grid.
fn taps<T: Coordinate>(sampler: &Sampler<'_>, grid: &[T]) -> Vec<Tap<T>> {
    let (zero, one, rank) = (T::near(0.0), T::near(1.0), sampler.sizes.len());
    let nowhere = Tap { at: usize::MAX, weight: zero, slopes: [zero; 3] };
    let mut taps = vec![nowhere; grid.len() / rank * sampler.each];
    Lines::new(&mut taps, sampler.each).each(GRAIN.div_ceil(sampler.each), |place, taps| {
        taps[0] = Tap { at: 0, weight: one, ..nowhere };
        let mut count = 1;
        for (dim, &size) in sampler.sizes.iter().enumerate() {
            // The first coordinate of a grid is that of the last dimension.
            let coordinate = rank - 1 - dim;
            let along = sampler.along(grid[place * rank + coordinate], size);
            // In reverse order, as the new taps overwrite the old ones.
            for old in (0..count).rev() {
                let tap = taps[old];
                for new in (0..along.count).rev() {
                    let weight = along.weight[new];
                    let mut slopes = tap.slopes.map(|other| other * weight);
                    slopes[coordinate] = tap.weight * (along.slope[new] * along.scale);
                    let at = along.at[new].filter(|_| tap.at != usize::MAX).map(|at| tap.at * size + at);
                    taps[old * along.count + new] =
                        Tap { at: at.unwrap_or(usize::MAX), weight: tap.weight * weight, slopes };
                }
            }
            count *= along.count;
        }
    });
    taps
}

pub(super) fn sampled<T: Coordinate + Compute>(
    sampling: &GridSamplePlan,
    out: &mut Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let (image, grid, sampler) = (packed::<T>(input)?, packed::<T>(grid)?, Sampler::new(sampling, input));
    let (channels, area) = (usized(input.sizes()[1]), sampler.area());
    let sizes = Dims::from_slice(out.sizes());
    fill(out, |out: &mut [T]| {
        let width = usized(sizes.last().copied().unwrap_or(0));
        let places = count(&sizes[2..]);
        let batches = out.chunks_mut(channels * places).zip(image.chunks(channels * area));
        for ((out, image), grid) in batches.zip(grid.chunks(places * sampler.sizes.len())) {
            let taps = taps(&sampler, grid);
            Lines::new(out, width).each(GRAIN.div_ceil(width * sampler.each), |line, out| {
                let (channel, first) = (line * width / places, line * width % places);
                let image = &image[channel * area..][..area];
                for (to, taps) in out.iter_mut().zip(taps[first * sampler.each..].chunks_exact(sampler.each)) {
                    let seen = taps.iter().filter_map(|tap| Some(tap.weight * *image.get(tap.at)?));
                    *to = seen.fold(T::near(0.0), |sum, part| sum + part);
                }
            });
        }
        Ok(())
    })
}

pub(super) fn gradients<T: Coordinate + Compute>(
    sampling: &GridSamplePlan,
    [of_input, of_grid]: [&mut Tensor; 2],
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let (slopes, image, coordinates) = (packed::<T>(grad_output)?, packed::<T>(input)?, packed::<T>(grid)?);
    let sampler = Sampler::new(sampling, input);
    let (channels, area, rank) = (usized(input.sizes()[1]), sampler.area(), sampler.sizes.len());
    let places = count(&grad_output.sizes()[2..]);
    let taps = |batch: usize| taps(&sampler, &coordinates[batch * places * rank..][..places * rank]);
    let zero = T::near(0.0);
    fill(of_input, |out: &mut [T]| {
        out.fill(zero);
        for (batch, out) in out.chunks_mut((channels * area).max(1)).enumerate() {
            let taps = taps(batch);
            Lines::new(out, area).each(GRAIN.div_ceil((places * sampler.each).max(1)), |channel, image| {
                let slopes = &slopes[(batch * channels + channel) * places..][..places];
                for (&slope, taps) in slopes.iter().zip(taps.chunks_exact(sampler.each)) {
                    for tap in taps {
                        if let Some(to) = image.get_mut(tap.at) {
                            *to = *to + slope * tap.weight;
                        }
                    }
                }
            });
        }
        Ok(())
    })?;
    fill(of_grid, |out: &mut [T]| {
        for (batch, out) in out.chunks_mut((places * rank).max(1)).enumerate() {
            let taps = taps(batch);
            Lines::new(out, rank).each(GRAIN.div_ceil(channels.max(1) * sampler.each), |place, out| {
                out.fill(zero);
                for channel in 0..channels {
                    let plane = batch * channels + channel;
                    let (above, image) = (slopes[plane * places + place], &image[plane * area..][..area]);
                    for tap in &taps[place * sampler.each..][..sampler.each] {
                        let Some(&x) = image.get(tap.at) else { continue };
                        out.iter_mut().zip(tap.slopes).for_each(|(to, slope)| *to = *to + above * x * slope);
                    }
                }
            });
        }
        Ok(())
    })
}
