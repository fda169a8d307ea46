//! Gradients of normalised rows, in two passes over the data: one for two sums, and one for the result.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use dispatch_runtime::{Result, Tensor, operands};

use super::{new_row_statistics, sum_over_slices};
use engine::compute::RealFloat;
use engine::math::vectorised;
use engine::reduce::for_each_line;
use engine::thread_pool::{DisjointLines, region_thread_count};

/// The number of elements that fit into the second-level cache twice.
pub(super) const MAX_ELEMENTS_IN_L2: usize = 1 << 16;

/// The minimum number of elements for each thread.
const GRAIN_SIZE: usize = 1 << 15;

/// Sums for every row the gradients, and the gradients times the deviations from its mean.
pub(super) fn gradient_sums_of_all_rows<T: RealFloat + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    dims: &[bool],
    mean: impl Fn(usize) -> T + Sync,
) -> Result<[Vec<f64>; 2]> {
    let [mut sums, mut slopes] = new_row_statistics(input, dims)?;
    let operands = operands!(write sums, slopes; read grad_out, input)?;
    for_each_line(
        dims,
        &operands,
        |number, [grad, line]: [&[T]; 2], [sum]: [&mut [f64]; 1], [slope]: [&mut [f64]; 1]| {
            let mean = mean(number);
            [sum[0], slope[0]] = vectorised!(gradient_sums_of_row([grad, line], mean));
        },
    );
    drop(operands);
    Ok([sums.to_vec()?, slopes.to_vec()?])
}

/// Sums gradients, and gradients times the deviations from a mean.
#[inline(always)]
pub(super) fn gradient_sums_of_row<T: RealFloat + Into<f64>>(both: [&[T]; 2], mean: T) -> [f64; 2] {
    sum_over_slices(both, |[grad, x]| [grad, grad * (x - mean)])
}

/// The coefficients of the gradient of a row: `(grad * weight - sum - (x - mean) * slope) * scale`.
pub(super) struct GradientCoefficients<T> {
    pub(super) weight: T,
    pub(super) mean: T,
    /// The mean of the weighted gradients. `slope` is the mean of their products with the deviations, divided by the variance.
    pub(super) sum: T,
    pub(super) slope: T,
    pub(super) scale: T,
}

/// Computes the input's gradient if the statistics depend on the input, by the coefficients of each row.
pub(super) fn write_input_gradient<T: RealFloat>(
    [grad_out, input]: [&Tensor; 2],
    out: &mut Tensor,
    dims: &[bool],
    coefficients: impl Fn(usize) -> GradientCoefficients<T> + Sync,
) -> Result<()> {
    let operands = operands!(write out; read grad_out, input)?;
    for_each_line(dims, &operands, |number, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        let coefficients = coefficients(number);
        vectorised!(coefficients.write_row_gradient([grad, line], out));
    });
    Ok(())
}

impl<T: RealFloat> GradientCoefficients<T> {
    #[inline(always)]
    pub(super) fn write_row_gradient(&self, [grad, line]: [&[T]; 2], out: &mut [T]) {
        let &Self { weight, mean, sum, slope, scale } = self;
        for ((out, &grad), &x) in out.iter_mut().zip(grad).zip(line) {
            *out = (grad * weight - sum - (x - mean) * slope) * scale;
        }
    }
}

/// Computes the sums and the gradient of channels whose planes are contiguous, image by image. A block of channels is fetched from memory
/// once. Returns the sums.
pub(super) fn sum_and_write_channel_gradients<T: RealFloat + Into<f64>>(
    both: [&[T]; 2],
    out: &mut [T],
    [channels, area]: [usize; 2],
    mean: impl Fn(usize) -> T + Sync,
    coefficients: impl Fn(usize, [f64; 2]) -> GradientCoefficients<T> + Sync,
) -> Vec<[f64; 2]> {
    let each = out.len() / channels.max(1);
    let together = (MAX_ELEMENTS_IN_L2 / each.max(1)).clamp(1, channels.div_ceil(2 * region_thread_count()).max(1));
    let mut found = vec![[0.0; 2]; channels.next_multiple_of(together)];
    let planes = DisjointLines::new(out, area);
    let images = planes.len() / channels.max(1);
    DisjointLines::new(&mut found, together).for_each(GRAIN_SIZE.div_ceil(together * each + 1), |block, found| {
        let first = block * together;
        let found = &mut found[..together.min(channels - first)];
        let elements = |plane: usize| both.map(|elements| &elements[plane * area..][..area]);
        vectorised!({
            for plane in (0..images).map(|image| image * channels + first) {
                for (at, found) in found.iter_mut().enumerate() {
                    let [sum, slope] = gradient_sums_of_row(elements(plane + at), mean(first + at));
                    *found = [found[0] + sum, found[1] + slope];
                }
            }
        });
        let parts: Vec<_> = found.iter().zip(first..).map(|(&found, channel)| coefficients(channel, found)).collect();
        vectorised!({
            for plane in (0..images).map(|image| image * channels + first) {
                for (at, coefficients) in parts.iter().enumerate() {
                    // SAFETY: each channel is in one block, and each block in one piece.
                    let out = unsafe { planes.get(plane + at) };
                    coefficients.write_row_gradient(elements(plane + at), out);
                }
            }
        });
    });
    found.truncate(channels);
    found
}
