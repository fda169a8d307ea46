//! Grid sampling in `bf16` and `f16`, which round after each operation.
//!
//! The order of operations shows in the result, so it is PyTorch's. The elements of a row are summed before the rows, the weights along the
//! last dimension come first, and gradients of two-dimensional grids are computed from differences of neighbours.

use aten::{GridSamplePlan, Interpolation};
use dispatch_runtime::Dims;
use dispatch_runtime::prelude::*;

use super::GRAIN_SIZE;
use super::axis_taps::{AxisTaps, GridSampler};
use super::coordinate::Coordinate;
use engine::allocation::to_usize;
use engine::contiguous::{contiguous_elements, element_count, write_contiguous};
use engine::thread_pool::DisjointLines;

/// The number of neighbouring positions in one of PyTorch's vectors of narrow numbers. PyTorch adds the first tap of each of these
/// positions to the gradient of an image, then the second of each. In three dimensions it adds position by position.
const PYTORCH_VECTOR_LENGTH: usize = 16;

/// An element of an image, its weight within its row, and the weight of the row. Outside of the image, `index` is `usize::MAX`.
#[derive(Clone, Copy)]
struct Tap<T> {
    index: usize,
    weight: T,
    row_weight: T,
}

/// Returns the taps of a position along columns, rows and planes, one list for each coordinate.
fn position_taps<T: Coordinate>(sampler: &GridSampler<'_>, coordinates: &[T]) -> [AxisTaps<T>; 3] {
    let mut axes_taps = [AxisTaps::for_missing_dim(); 3];
    for (along, (&coordinate, &size)) in axes_taps.iter_mut().zip(coordinates.iter().zip(sampler.sizes.iter().rev())) {
        *along = sampler.axis_taps(coordinate, size);
    }
    axes_taps
}

/// Iterates over the taps of a sample, each as its numbers along columns, rows and planes. Columns change fastest.
fn tap_number_triples<T>(axes_taps: &[AxisTaps<T>; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [columns, rows, planes] = axes_taps.each_ref().map(|along| along.count);
    (0..planes).flat_map(move |k| (0..rows).flat_map(move |j| (0..columns).map(move |i| [i, j, k])))
}

/// Returns the index in the image of an element of a sample, or `None` outside of the image.
fn tap_image_index<T>(sampler: &GridSampler<'_>, axes_taps: &[AxisTaps<T>; 3], corner: [usize; 3]) -> Option<usize> {
    let mut dims = sampler.sizes.iter().enumerate().map(|(dim, &size)| (sampler.sizes.len() - 1 - dim, size));
    dims.try_fold(0, |at, (along, size)| Some(at * size + axes_taps[along].indices[corner[along]]?))
}

/// Computes the taps of all positions of a grid.
fn grid_taps<T: Coordinate>(sampler: &GridSampler<'_>, grid: &[T]) -> Vec<Tap<T>> {
    let outside = Tap { index: usize::MAX, weight: T::from_f64(0.0), row_weight: T::from_f64(0.0) };
    let rank = sampler.sizes.len();
    let mut taps = vec![outside; grid.len() / rank * sampler.taps_per_sample];
    DisjointLines::new(&mut taps, sampler.taps_per_sample).for_each(
        GRAIN_SIZE.div_ceil(sampler.taps_per_sample),
        |number, taps| {
            let axes_taps = position_taps(sampler, &grid[number * rank..][..rank]);
            for (tap, corner) in taps.iter_mut().zip(tap_number_triples(&axes_taps)) {
                let [x, y, z] = [0, 1, 2].map(|along| axes_taps[along].weights[corner[along]]);
                let (weight, row_weight) = match sampler.sampling.interpolation {
                    Interpolation::Cubic => (x, y),
                    Interpolation::Linear | Interpolation::Nearest => (x * y * z, T::from_f64(1.0)),
                };
                *tap = Tap {
                    index: tap_image_index(sampler, &axes_taps, corner).unwrap_or(usize::MAX),
                    weight,
                    row_weight,
                };
            }
        },
    );
    taps
}

/// Converts elements of the loop type to the narrow type.
fn from_loop_elements<T: Coordinate>(elements: &[T::LoopType]) -> Vec<T> {
    elements.iter().map(|&element| T::from_loop_type(element)).collect()
}

pub(super) fn write_samples<T: Coordinate>(
    sampling: &GridSamplePlan,
    out: &mut Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let (image, grid) =
        (contiguous_elements::<T::LoopType>(input)?, from_loop_elements::<T>(&contiguous_elements(grid)?));
    let sampler = GridSampler::new(sampling, input);
    let (channels, area) = (to_usize(input.sizes()[1]), sampler.image_area());
    // The taps of a row are summed before the rows.
    let row = if sampling.interpolation == Interpolation::Cubic { 4 } else { sampler.taps_per_sample };
    let sizes = Dims::from_slice(out.sizes());
    write_contiguous(out, |out: &mut [T::LoopType]| {
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
                        let zero = T::from_f64(0.0);
                        let along = |row: &[Tap<T>]| {
                            let seen = row
                                .iter()
                                .filter_map(|tap| Some(T::from_loop_type(*image.get(tap.index)?) * tap.weight));
                            seen.fold(zero, |sum, part| sum + part)
                        };
                        let sum = taps.chunks_exact(row).fold(zero, |sum, row| sum + along(row) * row[0].row_weight);
                        *to = sum.to_loop_type();
                    }
                },
            );
        }
        Ok(())
    })
}

pub(super) fn write_sample_gradients<T: Coordinate>(
    sampling: &GridSamplePlan,
    [input_grad, grid_grad]: [&mut Tensor; 2],
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let grads = from_loop_elements::<T>(&contiguous_elements(grad_output)?);
    let coordinates = from_loop_elements::<T>(&contiguous_elements(grid)?);
    let sampler = GridSampler::new(sampling, input);
    let (channels, area, rank) = (to_usize(input.sizes()[1]), sampler.image_area(), sampler.sizes.len());
    let positions = element_count(&grad_output.sizes()[2..]);
    write_contiguous(input_grad, |out: &mut [T::LoopType]| {
        out.fill(T::from_f64(0.0).to_loop_type());
        for (batch, out) in out.chunks_mut((channels * area).max(1)).enumerate() {
            let taps = grid_taps(&sampler, &coordinates[batch * positions * rank..][..positions * rank]);
            DisjointLines::new(out, area).for_each(
                GRAIN_SIZE.div_ceil((positions * sampler.taps_per_sample).max(1)),
                |channel, image| {
                    add_image_gradient(
                        &sampler,
                        &grads[(batch * channels + channel) * positions..][..positions],
                        &taps,
                        image,
                    );
                },
            );
        }
        Ok(())
    })?;
    let image = contiguous_elements::<T::LoopType>(input)?;
    write_contiguous(grid_grad, |out: &mut [T::LoopType]| {
        DisjointLines::new(out, rank).for_each(
            GRAIN_SIZE.div_ceil(channels.max(1) * sampler.taps_per_sample),
            |number, out| {
                let (batch, position) = (number / positions, number % positions);
                let axes_taps = position_taps(&sampler, &coordinates[number * rank..][..rank]);
                let mut sums = [T::from_f64(0.0); 3];
                for plane in batch * channels..(batch + 1) * channels {
                    let values = |corner| {
                        tap_image_index(&sampler, &axes_taps, corner)
                            .map(|at| T::from_loop_type(image[plane * area + at]))
                    };
                    add_grid_gradient(&sampler, &axes_taps, values, grads[plane * positions + position], &mut sums);
                }
                for (to, (sum, along)) in out.iter_mut().zip(sums.into_iter().zip(axes_taps)) {
                    *to = (sum * along.scale).to_loop_type();
                }
            },
        );
        Ok(())
    })
}

/// Adds the gradients of one plane of the result to the gradient of the image.
fn add_image_gradient<T: Coordinate>(
    sampler: &GridSampler<'_>,
    grads: &[T],
    taps: &[Tap<T>],
    image: &mut [T::LoopType],
) {
    let together = if sampler.sizes.len() == 2 { PYTORCH_VECTOR_LENGTH } else { 1 };
    for (grads, taps) in grads.chunks(together).zip(taps.chunks(together * sampler.taps_per_sample)) {
        for number in 0..sampler.taps_per_sample {
            // Cubic taps are added column by column.
            let number = if sampler.sampling.interpolation == Interpolation::Cubic {
                number % 4 * 4 + number / 4
            } else {
                number
            };
            for (&grad, taps) in grads.iter().zip(taps.chunks_exact(sampler.taps_per_sample)) {
                let tap = taps[number];
                if let Some(to) = image.get_mut(tap.index) {
                    *to = (T::from_loop_type(*to) + grad * tap.weight * tap.row_weight).to_loop_type();
                }
            }
        }
    }
}

/// Adds the derivatives of one sample by its position along each dimension.
fn add_grid_gradient<T: Coordinate>(
    sampler: &GridSampler<'_>,
    axes_taps: &[AxisTaps<T>; 3],
    value: impl Fn([usize; 3]) -> Option<T>,
    grad: T,
    sums: &mut [T; 3],
) {
    match sampler.sampling.interpolation {
        Interpolation::Nearest => {}
        Interpolation::Cubic => {
            for column in 0..4 {
                for row in 0..4 {
                    let Some(value) = value([column, row, 0]) else { continue };
                    let [x, y, _] = axes_taps;
                    sums[0] = sums[0] + value * grad * x.derivatives[column] * y.weights[row];
                    sums[1] = sums[1] + value * grad * y.derivatives[row] * x.weights[column];
                }
            }
        }
        Interpolation::Linear if sampler.sizes.len() == 2 => {
            let value = |column, row| value([column, row, 0]).unwrap_or_else(|| T::from_f64(0.0));
            let ([x, y, _], step) = (axes_taps, |to: T, from: T| to - from);
            let (above, below) = (step(value(1, 0), value(0, 0)), step(value(1, 1), value(0, 1)));
            sums[0] = sums[0] + (above * y.weights[0] + below * y.weights[1]) * grad;
            let (left, right) = (step(value(0, 1), value(0, 0)), step(value(1, 1), value(1, 0)));
            sums[1] = sums[1] + (left * x.weights[0] + right * x.weights[1]) * grad;
        }
        Interpolation::Linear => {
            for corner in tap_number_triples(axes_taps) {
                let Some(value) = value(corner) else { continue };
                for (dim, sum) in sums.iter_mut().enumerate() {
                    let others = (0..3).filter(|&other| other != dim);
                    let part = others.fold(value, |part, other| part * axes_taps[other].weights[corner[other]]) * grad;
                    *sum = *sum + part * axes_taps[dim].derivatives[corner[dim]];
                }
            }
        }
    }
}
