//! The gradients of channels: what a picture has of one lies side by side, and is gone through twice, for two sums and for the result.

use dispatch_runtime::{DType, Result, Spec, Tensor, operands};

use super::totals;
use crate::compute::Fraction;
use crate::math::vectorised;
use crate::reduce::{kept_sizes, lines};

/// The sums of every line's gradients, and of its gradients times the distances from its mean.
pub(super) fn sums<T: Fraction + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    dims: &[bool],
    mean: impl Fn(usize) -> T + Sync,
) -> Result<[Vec<f64>; 2]> {
    let sizes = kept_sizes(input.sizes(), dims, true);
    let mut sums = Spec::contiguous(DType::F64, &sizes).on(input.device())?;
    let mut slopes = sums.fresh_like(DType::F64)?;
    let taken = operands!(write sums, slopes; read grad_out, input)?;
    let ([first, second], [grad, from]) = (taken.written(), taken.read());
    lines(
        dims,
        [grad, from],
        [first],
        [second],
        |number, [grad, line]: [&[T]; 2], [sum]: [&mut [f64]; 1], [slope]: [&mut [f64]; 1]| {
            let mean = mean(number);
            [sum[0], slope[0]] = vectorised(
                #[inline(always)]
                || totals([grad, line], |[grad, x]| [grad, grad * (x - mean)]),
            );
        },
    );
    drop(taken);
    Ok([sums.to_vec()?, slopes.to_vec()?])
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
    let ([to], [grad, from]) = (taken.written(), taken.read());
    lines(dims, [grad, from], [to], [], |number, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        let Part { weight, mean, sum, slope, scale } = part(number);
        vectorised(
            #[inline(always)]
            || {
                for ((out, &grad), &x) in out.iter_mut().zip(grad).zip(line) {
                    *out = (grad * weight - sum - (x - mean) * slope) * scale;
                }
            },
        );
    });
    Ok(())
}
