//! Grid sampling in `bf16` and `f16`, which round after each operation.
//!
//! The order of operations shows in the result, so it is PyTorch's. The elements of a row are summed before the rows, the weights along the
//! last dimension come first, and gradients of two-dimensional grids are computed from differences of neighbours.

use aten::{GridSamplePlan, Interpolation};
use dispatch_runtime::Dims;
use dispatch_runtime::prelude::*;

use super::GRAIN;
use super::axis::{Along, Sampler};
use super::coordinate::Coordinate;
use engine::allocation::usized;
use engine::contiguous::{count, fill, packed};
use engine::thread_pool::Lines;

/// The number of neighbouring positions in one of PyTorch's vectors of narrow numbers. PyTorch adds the first tap of each of these
/// positions to the gradient of an image, then the second of each. In three dimensions it adds position by position.
const TOGETHER: usize = 16;

/// An element of an image, its weight within its row, and the weight of the row. Outside of the image, `at` is `usize::MAX`.
#[derive(Clone, Copy)]
struct Tap<T> {
    at: usize,
    weight: T,
    row: T,
}

/// Returns the elements at each coordinate of a position: along columns, rows and planes.
fn place<T: Coordinate>(sampler: &Sampler<'_>, coordinates: &[T]) -> [Along<T>; 3] {
    let mut place = [Along::none(); 3];
    for (along, (&coordinate, &size)) in place.iter_mut().zip(coordinates.iter().zip(sampler.sizes.iter().rev())) {
        *along = sampler.along(coordinate, size);
    }
    place
}

/// Iterates over the elements of a sample, as numbers along columns, rows and planes. Columns change fastest.
fn corners<T>(place: &[Along<T>; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [columns, rows, planes] = place.each_ref().map(|along| along.count);
    (0..planes).flat_map(move |k| (0..rows).flat_map(move |j| (0..columns).map(move |i| [i, j, k])))
}

/// Returns the index in the image of an element of a sample, or `None` outside of the image.
fn position<T>(sampler: &Sampler<'_>, place: &[Along<T>; 3], corner: [usize; 3]) -> Option<usize> {
    let mut dims = sampler.sizes.iter().enumerate().map(|(dim, &size)| (sampler.sizes.len() - 1 - dim, size));
    dims.try_fold(0, |at, (along, size)| Some(at * size + place[along].at[corner[along]]?))
}

/// Computes the taps of all positions of a grid.
fn taps<T: Coordinate>(sampler: &Sampler<'_>, grid: &[T]) -> Vec<Tap<T>> {
    let nowhere = Tap { at: usize::MAX, weight: T::near(0.0), row: T::near(0.0) };
    let rank = sampler.sizes.len();
    let mut taps = vec![nowhere; grid.len() / rank * sampler.each];
    Lines::new(&mut taps, sampler.each).each(GRAIN.div_ceil(sampler.each), |number, taps| {
        let place = place(sampler, &grid[number * rank..][..rank]);
        for (tap, corner) in taps.iter_mut().zip(corners(&place)) {
            let [x, y, z] = [0, 1, 2].map(|along| place[along].weight[corner[along]]);
            let (weight, row) = match sampler.sampling.interpolation {
                Interpolation::Cubic => (x, y),
                Interpolation::Linear | Interpolation::Nearest => (x * y * z, T::near(1.0)),
            };
            *tap = Tap { at: position(sampler, &place, corner).unwrap_or(usize::MAX), weight, row };
        }
    });
    taps
}

/// Converts packed elements to the narrow type.
fn narrowed<T: Coordinate>(elements: &[T::Packed]) -> Vec<T> {
    elements.iter().map(|&element| T::of(element)).collect()
}

pub(super) fn sampled<T: Coordinate>(
    sampling: &GridSamplePlan,
    out: &mut Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let (image, grid) = (packed::<T::Packed>(input)?, narrowed::<T>(&packed(grid)?));
    let sampler = Sampler::new(sampling, input);
    let (channels, area) = (usized(input.sizes()[1]), sampler.area());
    // The taps of a row are summed before the rows.
    let row = if sampling.interpolation == Interpolation::Cubic { 4 } else { sampler.each };
    let sizes = Dims::from_slice(out.sizes());
    fill(out, |out: &mut [T::Packed]| {
        let width = usized(sizes.last().copied().unwrap_or(0));
        let places = count(&sizes[2..]);
        let batches = out.chunks_mut(channels * places).zip(image.chunks(channels * area));
        for ((out, image), grid) in batches.zip(grid.chunks(places * sampler.sizes.len())) {
            let taps = taps(&sampler, grid);
            Lines::new(out, width).each(GRAIN.div_ceil(width * sampler.each), |line, out| {
                let (channel, first) = (line * width / places, line * width % places);
                let image = &image[channel * area..][..area];
                for (to, taps) in out.iter_mut().zip(taps[first * sampler.each..].chunks_exact(sampler.each)) {
                    let zero = T::near(0.0);
                    let along = |row: &[Tap<T>]| {
                        let seen = row.iter().filter_map(|tap| Some(T::of(*image.get(tap.at)?) * tap.weight));
                        seen.fold(zero, |sum, part| sum + part)
                    };
                    let sum = taps.chunks_exact(row).fold(zero, |sum, row| sum + along(row) * row[0].row);
                    *to = sum.packed();
                }
            });
        }
        Ok(())
    })
}

pub(super) fn gradients<T: Coordinate>(
    sampling: &GridSamplePlan,
    [of_input, of_grid]: [&mut Tensor; 2],
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
) -> Result<()> {
    let grads = narrowed::<T>(&packed(grad_output)?);
    let coordinates = narrowed::<T>(&packed(grid)?);
    let sampler = Sampler::new(sampling, input);
    let (channels, area, rank) = (usized(input.sizes()[1]), sampler.area(), sampler.sizes.len());
    let places = count(&grad_output.sizes()[2..]);
    fill(of_input, |out: &mut [T::Packed]| {
        out.fill(T::near(0.0).packed());
        for (batch, out) in out.chunks_mut((channels * area).max(1)).enumerate() {
            let taps = taps(&sampler, &coordinates[batch * places * rank..][..places * rank]);
            Lines::new(out, area).each(GRAIN.div_ceil((places * sampler.each).max(1)), |channel, image| {
                to_image(&sampler, &grads[(batch * channels + channel) * places..][..places], &taps, image);
            });
        }
        Ok(())
    })?;
    let image = packed::<T::Packed>(input)?;
    fill(of_grid, |out: &mut [T::Packed]| {
        Lines::new(out, rank).each(GRAIN.div_ceil(channels.max(1) * sampler.each), |number, out| {
            let (batch, spot) = (number / places, number % places);
            let place = place(&sampler, &coordinates[number * rank..][..rank]);
            let mut sums = [T::near(0.0); 3];
            for plane in batch * channels..(batch + 1) * channels {
                let values = |corner| position(&sampler, &place, corner).map(|at| T::of(image[plane * area + at]));
                add_slopes(&sampler, &place, values, grads[plane * places + spot], &mut sums);
            }
            for (to, (sum, along)) in out.iter_mut().zip(sums.into_iter().zip(place)) {
                *to = (sum * along.scale).packed();
            }
        });
        Ok(())
    })
}

/// Adds the gradients of one plane of the result to the gradient of the image.
fn to_image<T: Coordinate>(sampler: &Sampler<'_>, grads: &[T], taps: &[Tap<T>], image: &mut [T::Packed]) {
    let together = if sampler.sizes.len() == 2 { TOGETHER } else { 1 };
    for (grads, taps) in grads.chunks(together).zip(taps.chunks(together * sampler.each)) {
        for number in 0..sampler.each {
            // Cubic taps are added column by column.
            let number = if sampler.sampling.interpolation == Interpolation::Cubic {
                number % 4 * 4 + number / 4
            } else {
                number
            };
            for (&grad, taps) in grads.iter().zip(taps.chunks_exact(sampler.each)) {
                let tap = taps[number];
                if let Some(to) = image.get_mut(tap.at) {
                    *to = (T::of(*to) + grad * tap.weight * tap.row).packed();
                }
            }
        }
    }
}

/// Adds the derivatives of one sample by its position along each dimension.
fn add_slopes<T: Coordinate>(
    sampler: &Sampler<'_>,
    place: &[Along<T>; 3],
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
                    let [x, y, _] = place;
                    sums[0] = sums[0] + value * grad * x.slope[column] * y.weight[row];
                    sums[1] = sums[1] + value * grad * y.slope[row] * x.weight[column];
                }
            }
        }
        Interpolation::Linear if sampler.sizes.len() == 2 => {
            let value = |column, row| value([column, row, 0]).unwrap_or_else(|| T::near(0.0));
            let ([x, y, _], step) = (place, |to: T, from: T| to - from);
            let (above, below) = (step(value(1, 0), value(0, 0)), step(value(1, 1), value(0, 1)));
            sums[0] = sums[0] + (above * y.weight[0] + below * y.weight[1]) * grad;
            let (left, right) = (step(value(0, 1), value(0, 0)), step(value(1, 1), value(1, 0)));
            sums[1] = sums[1] + (left * x.weight[0] + right * x.weight[1]) * grad;
        }
        Interpolation::Linear => {
            for corner in corners(place) {
                let Some(value) = value(corner) else { continue };
                for (dim, sum) in sums.iter_mut().enumerate() {
                    let others = (0..3).filter(|&other| other != dim);
                    let part = others.fold(value, |part, other| part * place[other].weight[corner[other]]) * grad;
                    *sum = *sum + part * place[dim].slope[corner[dim]];
                }
            }
        }
    }
}
