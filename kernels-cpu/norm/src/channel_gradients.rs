//! The gradients of channels: what a picture has of one lies side by side, and is gone through twice, for two sums and for the result.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use dispatch_runtime::{Result, Tensor, operands};

use super::{pair, totals};
use engine::compute::Fraction;
use engine::math::vectorised;
use engine::reduce::lines;
use engine::thread_pool::{Lines, threads_here};

/// Elements that stay in the second cache beside as many others.
pub(super) const NEAR: usize = 1 << 16;

/// How many elements are worth a thread.
const GRAIN: usize = 1 << 15;

/// The sums of every line's gradients, and of its gradients times the distances from its mean.
pub(super) fn sums<T: Fraction + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    dims: &[bool],
    mean: impl Fn(usize) -> T + Sync,
) -> Result<[Vec<f64>; 2]> {
    let [mut sums, mut slopes] = pair(input, dims)?;
    let taken = operands!(write sums, slopes; read grad_out, input)?;
    lines(dims, &taken, |number, [grad, line]: [&[T]; 2], [sum]: [&mut [f64]; 1], [slope]: [&mut [f64]; 1]| {
        let mean = mean(number);
        [sum[0], slope[0]] = vectorised!(add_up([grad, line], mean));
    });
    drop(taken);
    Ok([sums.to_vec()?, slopes.to_vec()?])
}

/// The sum of gradients, and of them times the distances from a mean.
#[inline(always)]
pub(super) fn add_up<T: Fraction + Into<f64>>(both: [&[T]; 2], mean: T) -> [f64; 2] {
    totals(both, |[grad, x]| [grad, grad * (x - mean)])
}

/// What the gradient of a line is made of.
pub(super) struct Part<T> {
    pub(super) weight: T,
    pub(super) mean: T,
    /// Of the gradients, weighed, and of their slope along what was normalised, for one element.
    pub(super) sum: T,
    pub(super) slope: T,
    pub(super) scale: T,
}

/// The gradient by statistics that depend on the input: less its mean and its slope along what was normalised.
pub(super) fn centered<T: Fraction>(
    [grad_out, input]: [&Tensor; 2],
    out: &mut Tensor,
    dims: &[bool],
    part: impl Fn(usize) -> Part<T> + Sync,
) -> Result<()> {
    let taken = operands!(write out; read grad_out, input)?;
    lines(dims, &taken, |number, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        let part = part(number);
        vectorised!(part.write([grad, line], out));
    });
    Ok(())
}

impl<T: Fraction> Part<T> {
    #[inline(always)]
    pub(super) fn write(&self, [grad, line]: [&[T]; 2], out: &mut [T]) {
        let &Self { weight, mean, sum, slope, scale } = self;
        for ((out, &grad), &x) in out.iter_mut().zip(grad).zip(line) {
            *out = (grad * weight - sum - (x - mean) * slope) * scale;
        }
    }
}

/// Both for channels whose planes lie one after the other, image by image: what some channels have is fetched once. Returns the sums.
pub(super) fn sums_and_gradient<T: Fraction + Into<f64>>(
    both: [&[T]; 2],
    out: &mut [T],
    [channels, area]: [usize; 2],
    mean: impl Fn(usize) -> T + Sync,
    part: impl Fn(usize, [f64; 2]) -> Part<T> + Sync,
) -> Vec<[f64; 2]> {
    let each = out.len() / channels.max(1);
    let together = (NEAR / each.max(1)).clamp(1, channels.div_ceil(2 * threads_here()).max(1));
    let mut found = vec![[0.0; 2]; channels.next_multiple_of(together)];
    let planes = Lines::new(out, area);
    let images = planes.len() / channels.max(1);
    Lines::new(&mut found, together).each(GRAIN.div_ceil(together * each + 1), |block, found| {
        let first = block * together;
        let found = &mut found[..together.min(channels - first)];
        let elements = |plane: usize| both.map(|elements| &elements[plane * area..][..area]);
        vectorised!({
            for plane in (0..images).map(|image| image * channels + first) {
                for (at, found) in found.iter_mut().enumerate() {
                    let [sum, slope] = add_up(elements(plane + at), mean(first + at));
                    *found = [found[0] + sum, found[1] + slope];
                }
            }
        });
        let parts: Vec<_> = found.iter().zip(first..).map(|(&found, channel)| part(channel, found)).collect();
        vectorised!({
            for plane in (0..images).map(|image| image * channels + first) {
                for (at, part) in parts.iter().enumerate() {
                    // SAFETY: a channel is in one block, and a block in one piece.
                    let out = unsafe { planes.get(plane + at) };
                    part.write(elements(plane + at), out);
                }
            }
        });
    });
    found.truncate(channels);
    found
}
