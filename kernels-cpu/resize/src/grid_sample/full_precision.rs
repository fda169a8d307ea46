//! Grid sampling in `f32` and `f64`.
//!
//! A sample is a weighted sum of a few elements of the image, its taps. Along each dimension a tap has a weight, and the derivative of that
//! weight by the coordinate. The weight of the tap is the product over all dimensions. The gradients of image and grid use the same taps.

use aten::GridSamplePlan;
use dispatch_runtime::Dims;
use dispatch_runtime::prelude::*;

use super::GRAIN_SIZE;
use super::axis_taps::GridSampler;
use super::coordinate::Coordinate;
use engine::allocation::to_usize;
use engine::compute::ComputeType;
use engine::contiguous::{contiguous_elements, element_count, write_contiguous};
use engine::thread_pool::DisjointLines;

/// An element of an image, its weight, and the derivatives of the weight by each coordinate. Outside of the image, `index` is `usize::MAX`.
#[derive(Clone, Copy)]
struct Tap<T> {
    index: usize,
    weight: T,
    derivatives: [T; 3],
}

/// Computes the taps of all positions of a grid.
fn grid_taps<T: Coordinate>(sampler: &GridSampler<'_>, grid: &[T]) -> Vec<Tap<T>> {
    let (zero, one, rank) = (T::from_f64(0.0), T::from_f64(1.0), sampler.sizes.len());
    let outside = Tap { index: usize::MAX, weight: zero, derivatives: [zero; 3] };
    let mut taps = vec![outside; grid.len() / rank * sampler.taps_per_sample];
    DisjointLines::new(&mut taps, sampler.taps_per_sample).for_each(
        GRAIN_SIZE.div_ceil(sampler.taps_per_sample),
        |position, taps| {
            taps[0] = Tap { index: 0, weight: one, ..outside };
            let mut count = 1;
            for (dim, &size) in sampler.sizes.iter().enumerate() {
                // The first coordinate of a grid is that of the last dimension.
                let coordinate = rank - 1 - dim;
                let along = sampler.axis_taps(grid[position * rank + coordinate], size);
                // In reverse order, as the new taps overwrite the old ones.
                for old in (0..count).rev() {
                    let tap = taps[old];
                    for new in (0..along.count).rev() {
                        let weight = along.weights[new];
                        let mut derivatives = tap.derivatives.map(|other| other * weight);
                        derivatives[coordinate] = tap.weight * (along.derivatives[new] * along.scale);
                        let at = along.indices[new].filter(|_| tap.index != usize::MAX).map(|at| tap.index * size + at);
                        taps[old * along.count + new] =
                            Tap { index: at.unwrap_or(usize::MAX), weight: tap.weight * weight, derivatives };
                    }
                }
                count *= along.count;
            }
        },
    );
    taps
}

pub(super) fn write_samples<T: Coordinate + ComputeType>(
    sampling: &GridSamplePlan,
    out: &mut Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let (image, grid, sampler) =
        (contiguous_elements::<T>(input)?, contiguous_elements::<T>(grid)?, GridSampler::new(sampling, input));
    let (channels, area) = (to_usize(input.sizes()[1]), sampler.image_area());
    let sizes = Dims::from_slice(out.sizes());
    write_contiguous(out, |out: &mut [T]| {
        let width = to_usize(sizes.last().copied().unwrap_or(0));
        let positions = element_count(&sizes[2..]);
        let batches = out.chunks_mut(channels * positions).zip(image.chunks(channels * area));
        for ((out, image), grid) in batches.zip(grid.chunks(positions * sampler.sizes.len())) {
            let taps = grid_taps(&sampler, grid);
            DisjointLines::new(out, width).for_each(
                GRAIN_SIZE.div_ceil(width * sampler.taps_per_sample),
                |line, out| {
                    let (channel, first) = (line * width / positions, line * width % positions);
                    let image = &image[channel * area..][..area];
                    for (to, taps) in out
                        .iter_mut()
                        .zip(taps[first * sampler.taps_per_sample..].chunks_exact(sampler.taps_per_sample))
                    {
                        let seen = taps.iter().filter_map(|tap| Some(tap.weight * *image.get(tap.index)?));
                        *to = seen.fold(T::from_f64(0.0), |sum, part| sum + part);
                    }
                },
            );
        }
        Ok(())
    })
}

pub(super) fn write_sample_gradients<T: Coordinate + ComputeType>(
    sampling: &GridSamplePlan,
    [input_grad, grid_grad]: [&mut Tensor; 2],
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let (grads, image, coordinates) =
        (contiguous_elements::<T>(grad_output)?, contiguous_elements::<T>(input)?, contiguous_elements::<T>(grid)?);
    let sampler = GridSampler::new(sampling, input);
    let (channels, area, rank) = (to_usize(input.sizes()[1]), sampler.image_area(), sampler.sizes.len());
    let positions = element_count(&grad_output.sizes()[2..]);
    let taps = |batch: usize| grid_taps(&sampler, &coordinates[batch * positions * rank..][..positions * rank]);
    let zero = T::from_f64(0.0);
    write_contiguous(input_grad, |out: &mut [T]| {
        out.fill(zero);
        for (batch, out) in out.chunks_mut((channels * area).max(1)).enumerate() {
            let taps = taps(batch);
            DisjointLines::new(out, area).for_each(
                GRAIN_SIZE.div_ceil((positions * sampler.taps_per_sample).max(1)),
                |channel, image| {
                    let grads = &grads[(batch * channels + channel) * positions..][..positions];
                    for (&upstream, taps) in grads.iter().zip(taps.chunks_exact(sampler.taps_per_sample)) {
                        for tap in taps {
                            if let Some(to) = image.get_mut(tap.index) {
                                *to = *to + upstream * tap.weight;
                            }
                        }
                    }
                },
            );
        }
        Ok(())
    })?;
    write_contiguous(grid_grad, |out: &mut [T]| {
        for (batch, out) in out.chunks_mut((positions * rank).max(1)).enumerate() {
            let taps = taps(batch);
            DisjointLines::new(out, rank).for_each(
                GRAIN_SIZE.div_ceil(channels.max(1) * sampler.taps_per_sample),
                |position, out| {
                    out.fill(zero);
                    for channel in 0..channels {
                        let plane = batch * channels + channel;
                        let (upstream, image) = (grads[plane * positions + position], &image[plane * area..][..area]);
                        for tap in &taps[position * sampler.taps_per_sample..][..sampler.taps_per_sample] {
                            let Some(&x) = image.get(tap.index) else { continue };
                            out.iter_mut()
                                .zip(tap.derivatives)
                                .for_each(|(to, derivative)| *to = *to + upstream * x * derivative);
                        }
                    }
                },
            );
        }
        Ok(())
    })
}
