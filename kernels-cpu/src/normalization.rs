//! Normalisation of lines: the last dimensions, groups of channels, or all of a channel.
//!
//! The three differ in what a line is and in which weight an element of it has. A line is fetched from memory once, and what is done
//! with it - two sums, then a row of results - is done while it is in the cache.

mod batch;
mod group;
mod layer;

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, operands};

use crate::compute::Fraction;
use crate::math::vectorised;
use crate::numbers::{elements, usized, write};
use crate::reduce::{computed, kept_sizes, lines};

type Three = (Tensor, Tensor, Tensor);

/// How many elements are added side by side, and how many to each before the sum goes on in double precision.
const LANES: usize = 64;
const DEPTH: usize = 64;

/// What one of so many parameters is shared by: elements of a line that lie side by side.
#[derive(Clone, Copy)]
struct Shared<'a, T> {
    weight: &'a [T],
    bias: &'a [T],
}

/// The sum of what `f` makes of the elements of several slices.
#[inline(always)]
fn total<T: Fraction + Into<f64>, const K: usize>(slices: [&[T]; K], f: impl Fn([T; K]) -> T) -> f64 {
    let length = slices[0].len();
    let mut sum = 0.0;
    for start in (0..length).step_by(LANES * DEPTH) {
        let end = length.min(start + LANES * DEPTH);
        let parts = slices.map(|slice| slice[start..end].as_chunks::<LANES>());
        let mut lanes = [T::ZERO; LANES];
        for n in 0..parts[0].0.len() {
            let cut = parts.map(|part| &part.0[n]);
            for (i, lane) in lanes.iter_mut().enumerate() {
                *lane = *lane + f(std::array::from_fn(|k| cut[k][i]));
            }
        }
        for (i, lane) in lanes.iter_mut().enumerate().take(parts[0].1.len()) {
            *lane = *lane + f(std::array::from_fn(|k| parts[k].1[i]));
        }
        let mut width = LANES / 2;
        while width > 0 {
            let (low, high) = lanes.split_at_mut(width);
            for (a, b) in low.iter_mut().zip(high) {
                *a = *a + *b;
            }
            width /= 2;
        }
        sum += lanes[0].into();
    }
    sum
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn float(count: usize) -> f64 {
    count as f64
}

/// The mean of a line, and the mean of the squared distances from it. Blocks that stay in the nearest cache are read twice, and what is
/// known of them is put together.
fn moments<T: Fraction + Into<f64>>(line: &[T]) -> (f64, f64) {
    vectorised(
        #[inline(always)]
        || {
            let (mut seen, mut mean, mut squares) = (0.0, 0.0, 0.0);
            for block in line.chunks(LANES * DEPTH) {
                let count = float(block.len());
                let center = total([block], |[x]| x) / count;
                let near = T::near(center);
                // The distances are taken from a mean that was rounded.
                let off = center - near.into();
                let own = total([block], |[x]| (x - near) * (x - near)) - off * off * count;
                let (all, apart) = (seen + count, center - mean);
                mean += apart * count / all;
                squares += own + apart * apart * seen * count / all;
                seen = all;
            }
            let var = squares / seen;
            (if line.is_empty() { f64::NAN } else { mean }, if var < 0.0 { 0.0 } else { var })
        },
    )
}

/// The reciprocal of the standard deviation.
fn reciprocal_deviation(var: f64, eps: f64) -> f64 {
    (var + eps).sqrt().recip()
}

/// `(line - mean) * rstd * weight + bias`
fn normalize<T: Fraction>(line: &[T], out: &mut [T], (mean, rstd): (f64, f64), shared: Shared<'_, T>) {
    let (mean, rstd) = (T::near(mean), T::near(rstd));
    let Shared { weight, bias } = shared;
    vectorised(
        #[inline(always)]
        || {
            if weight.len() == line.len() {
                for (((out, &x), &weight), &bias) in out.iter_mut().zip(line).zip(weight).zip(bias) {
                    *out = (x - mean) * rstd * weight + bias;
                }
            } else {
                let run = (line.len() / weight.len().max(1)).max(1);
                let runs = out.chunks_mut(run).zip(line.chunks(run));
                for (((out, line), &weight), &bias) in runs.zip(weight).zip(bias) {
                    let scale = rstd * weight;
                    for (out, &x) in out.iter_mut().zip(line) {
                        *out = (x - mean) * scale + bias;
                    }
                }
            }
        },
    );
}

/// The gradient of a line that was normalised by statistics of its own.
fn gradient<T: Fraction + Into<f64>>(grad: &[T], line: &[T], out: &mut [T], (mean, rstd): (f64, f64), weight: &[T]) {
    let near = T::near(mean);
    vectorised(
        #[inline(always)]
        || {
            if weight.len() == line.len() {
                for ((out, &grad), &weight) in out.iter_mut().zip(grad).zip(weight) {
                    *out = grad * weight;
                }
            } else {
                let run = (line.len() / weight.len().max(1)).max(1);
                for ((out, grad), &weight) in out.chunks_mut(run).zip(grad.chunks(run)).zip(weight) {
                    for (out, &grad) in out.iter_mut().zip(grad) {
                        *out = grad * weight;
                    }
                }
            }
            let count = float(line.len());
            let sum = total([&*out], |[grad]| grad) / count;
            let slope = total([&*out, line], |[grad, x]| grad * (x - near)) * rstd * rstd / count;
            let (sum, slope, scale) = (T::near(sum), T::near(slope), T::near(rstd));
            for (out, &x) in out.iter_mut().zip(line) {
                *out = (*out - sum - (x - near) * slope) * scale;
            }
        },
    );
}

/// The statistics of the lines along a parameter: one for each run of elements.
#[derive(Clone, Copy)]
struct Known<'a, T> {
    mean: &'a [T],
    rstd: &'a [T],
}

/// The gradients of a weight and a bias: the sums of gradients times what was normalised, and of gradients.
fn parameter_gradients<T: Fraction + Into<f64>>(grad: &[T], line: &[T], known: Known<'_, T>) -> (f64, f64) {
    let Known { mean, rstd } = known;
    vectorised(
        #[inline(always)]
        || {
            let of_bias = total([grad], |[grad]| grad);
            if mean.len() == line.len() {
                return (total([grad, line, mean, rstd], |[grad, x, mean, rstd]| grad * (x - mean) * rstd), of_bias);
            }
            let run = (line.len() / mean.len().max(1)).max(1);
            let mut of_weight = 0.0;
            for (((grad, line), &mean), &rstd) in grad.chunks(run).zip(line.chunks(run)).zip(mean).zip(rstd) {
                of_weight += total([grad, line], |[grad, x]| grad * (x - mean)) * rstd.into();
            }
            (of_weight, of_bias)
        },
    )
}

/// Normalises every line along `dims` by its own statistics, which are given: means and variances. `shared` says which parameters a
/// line has.
fn forward<O: Operation>(
    input: &Tensor,
    dims: &[bool],
    out: &mut Tensor,
    eps: f64,
    parameters: [Option<&Tensor>; 2],
    shared: impl Fn(usize) -> std::ops::Range<usize> + Sync,
    count: i64,
) -> Result<[Vec<f64>; 2]> {
    let sizes = kept_sizes(input.sizes(), dims, true);
    let mut means = Spec::contiguous(DType::F64, &sizes).on(input.device())?;
    let mut vars = means.fresh_like(DType::F64)?;
    computed!(O, input.dtype(), T: [f32, f64] => {
        let (weight, bias) = (parameter::<T>(parameters[0], count, 1.0)?, parameter::<T>(parameters[1], count, 0.0)?);
        let taken = operands!(write out, means, vars; read input)?;
        let ([to, first, second], [from]) = (taken.written(), taken.read());
        lines(dims, [from], [to], [first, second], |number, [line]: [&[T]; 1], [out]: [&mut [T]; 1], [mean, var]: [&mut [f64]; 2]| {
            (mean[0], var[0]) = moments(line);
            let of = shared(number);
            let statistics = (mean[0], reciprocal_deviation(var[0], eps));
            normalize(line, out, statistics, Shared { weight: &weight[of.clone()], bias: &bias[of] });
        });
        Ok(())
    })?;
    Ok([means.to_vec()?, vars.to_vec()?])
}

/// The gradient of the input, a line at a time.
fn backward<T: Fraction + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    out: &mut Tensor,
    dims: &[bool],
    statistics: [&[f64]; 2],
    weight: &[T],
    shared: impl Fn(usize) -> std::ops::Range<usize> + Sync,
) -> Result<()> {
    let taken = operands!(write out; read grad_out, input)?;
    let ([to], [grad, from]) = (taken.written(), taken.read());
    lines(dims, [grad, from], [to], [], |number, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        let statistics = (statistics[0][number], statistics[1][number]);
        gradient(grad, line, out, statistics, &weight[shared(number)]);
    });
    Ok(())
}

/// The gradients of weight and bias as far as they are wanted, a parameter at a time: `dims` are those that it is repeated along.
fn parameters_backward<T: Fraction + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    out: [&mut Tensor; 2],
    dims: &[bool],
    statistics: [&[T]; 2],
    shared: impl Fn(usize) -> std::ops::Range<usize> + Sync,
) -> Result<()> {
    let wanted = |tensor: &Tensor| tensor.geometry().count() > 0;
    if !wanted(out[0]) && !wanted(out[1]) {
        return Ok(());
    }
    let sizes = kept_sizes(input.sizes(), dims, true);
    let mut of_weight = Spec::contiguous(DType::F64, &sizes).on(input.device())?;
    let mut of_bias = of_weight.fresh_like(DType::F64)?;
    let taken = operands!(write of_weight, of_bias; read grad_out, input)?;
    let ([first, second], [grad, from]) = (taken.written(), taken.read());
    lines(
        dims,
        [grad, from],
        [first],
        [second],
        |number, [grad, line]: [&[T]; 2], [weight]: [&mut [f64]; 1], [bias]: [&mut [f64]; 1]| {
            let of = shared(number);
            let known = Known { mean: &statistics[0][of.clone()], rstd: &statistics[1][of] };
            (weight[0], bias[0]) = parameter_gradients(grad, line, known);
        },
    );
    drop(taken);
    for (out, sums) in out.into_iter().zip([of_weight, of_bias]) {
        if wanted(out) {
            write(out, &sums.to_vec()?)?;
        }
    }
    Ok(())
}

/// The elements of a parameter, or as many times what stands for it.
fn parameter<T: Fraction>(tensor: Option<&Tensor>, count: i64, otherwise: f64) -> Result<Vec<T>> {
    tensor.map_or_else(|| Ok(vec![T::near(otherwise); usized(count)]), elements)
}

/// The numbers rounded to the type that is computed in.
fn rounded<T: Fraction>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::near(value)).collect()
}
