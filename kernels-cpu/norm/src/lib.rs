//! CPU kernels of normalisation and softmax.
//!
//! Layer, group and batch normalisation differ in the elements of a row, and in the weight of each element. A row is fetched from memory
//! once: two sums and then the results are computed while it is in the cache.

mod batch;
mod channel_gradients;
mod group;
mod layer;
mod softmax;

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, operands};

use engine::allocation::{times, usized};
use engine::compute::{Fraction, joined};
use engine::contiguous::Contiguous;
use engine::contiguous::{elements, write};
use engine::math::vectorised;
use engine::reduce::{computed, kept_sizes, lines};

/// The number of elements that are added in parallel. After `DEPTH` elements in each lane, the sum continues in double precision.
const LANES: usize = 64;
const DEPTH: usize = 64;

/// The parameters of a row. Each weight and bias is shared by a run of consecutive elements.
#[derive(Clone, Copy)]
struct Shared<'a, T> {
    weight: &'a [T],
    bias: &'a [T],
}

/// Sums the results of `f` over the elements of several slices.
#[inline(always)]
fn totals<T: Fraction + Into<f64>, const K: usize, const N: usize>(
    slices: [&[T]; K],
    f: impl Fn([T; K]) -> [T; N],
) -> [f64; N] {
    let length = slices[0].len();
    let mut sums = [0.0; N];
    for start in (0..length).step_by(LANES * DEPTH) {
        let end = length.min(start + LANES * DEPTH);
        let parts = slices.map(|slice| slice[start..end].as_chunks::<LANES>());
        let mut lanes = [[T::ZERO; LANES]; N];
        for n in 0..parts[0].0.len() {
            let cut = parts.map(|part| &part.0[n]);
            for i in 0..LANES {
                let values = f(std::array::from_fn(|k| cut[k][i]));
                for (lane, value) in lanes.iter_mut().zip(values) {
                    lane[i] = lane[i] + value;
                }
            }
        }
        for i in 0..parts[0].1.len() {
            let values = f(std::array::from_fn(|k| parts[k].1[i]));
            for (lane, value) in lanes.iter_mut().zip(values) {
                lane[i] = lane[i] + value;
            }
        }
        for (sum, lanes) in sums.iter_mut().zip(lanes) {
            *sum += joined(lanes).into();
        }
    }
    sums
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn float(count: usize) -> f64 {
    count as f64
}

/// The number of elements, their mean, and the sum of the squared deviations.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Merges the moments of two sets of elements.
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        let (count, apart) = (self.count + other.count, other.mean - self.mean);
        Self {
            count,
            mean: self.mean + apart * other.count / count,
            squares: self.squares + other.squares + apart * apart * self.count * other.count / count,
        }
    }

    /// Computes the moments of at most `LANES` elements.
    #[inline(always)]
    fn of_few<T: Fraction + Into<f64>>(values: &[T]) -> Self {
        let count = float(values.len());
        let [sum] = totals([values], |[x]| [x]);
        let mean = sum / count;
        let near = T::near(mean);
        // The squares are corrected, as the deviations are from a rounded mean.
        let off = mean - near.into();
        let [squares] = totals([values], |[x]| [(x - near) * (x - near)]);
        Self { count, mean, squares: squares - off * off * count }
    }

    /// Computes the moments of at most `DEPTH` elements in each lane, in one pass. A lane's deviations are from its first element. As that
    /// is one of the elements, the error is at most one rounding per element of a lane, even if it is far from the others.
    #[inline(always)]
    fn of_lanes<T: Fraction + Into<f64>>(first: &[T; LANES], others: &[[T; LANES]]) -> Self {
        let (mut sums, mut squares) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for values in others {
            for i in 0..LANES {
                let apart = values[i] - first[i];
                sums[i] = sums[i] + apart;
                squares[i] = squares[i] + apart * apart;
            }
        }
        let depth = float(others.len() + 1);
        let (each, part) = (T::near(depth), T::near(depth.recip()));
        let mut means = [T::ZERO; LANES];
        for i in 0..LANES {
            let mean = sums[i] * part;
            squares[i] = squares[i] - mean * sums[i];
            means[i] = (first[i] - first[0]) + mean;
        }
        let mean = joined(means) * T::near(float(LANES).recip());
        for i in 0..LANES {
            let apart = means[i] - mean;
            squares[i] = squares[i] + apart * apart * each;
        }
        let origin: f64 = first[0].into();
        Self { count: depth * float(LANES), mean: origin + mean.into(), squares: joined(squares).into() }
    }
}

/// Computes the mean of a row, and its variance without correction.
fn moments<T: Fraction + Into<f64>>(line: &[T]) -> (f64, f64) {
    vectorised!({
        let mut all = Moments::default();
        for block in line.chunks(LANES * DEPTH) {
            let (wide, rest) = block.as_chunks();
            if let [first, others @ ..] = wide {
                all = all.and(Moments::of_lanes(first, others));
            }
            if !rest.is_empty() {
                all = all.and(Moments::of_few(rest));
            }
        }
        let var = all.squares / all.count;
        (if line.is_empty() { f64::NAN } else { all.mean }, if var < 0.0 { 0.0 } else { var })
    })
}

/// Returns the reciprocal of the standard deviation.
fn reciprocal_deviation(var: f64, eps: f64) -> f64 {
    (var + eps).sqrt().recip()
}

/// Computes `(line - mean) * rstd * weight + bias`.
fn normalize<T: Fraction>(line: &[T], out: &mut [T], (mean, rstd): (f64, f64), shared: Shared<'_, T>) {
    let (mean, rstd) = (T::near(mean), T::near(rstd));
    let Shared { weight, bias } = shared;
    vectorised!({
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
    });
}

/// Normalises every row along `dims` by its own statistics. Also writes the means and the reciprocals of the standard deviations. `shared`
/// returns the range of the parameters of a row.
fn forward<O: Operation>(
    input: &Tensor,
    dims: &[bool],
    [out, mean, rstd]: [&mut Tensor; 3],
    eps: f64,
    parameters: [Option<&Tensor>; 2],
    shared: impl Fn(usize) -> std::ops::Range<usize> + Sync,
    count: i64,
) -> Result<()> {
    let [mut means, mut rstds] = pair(input, dims)?;
    computed!(O, input.dtype(), T: [f32, f64] => {
        let (weight, bias) = (parameter::<T>(parameters[0], count, 1.0)?, parameter::<T>(parameters[1], count, 0.0)?);
        let taken = operands!(write out, means, rstds; read input)?;
        lines(dims, &taken, |number, [line]: [&[T]; 1], [out]: [&mut [T]; 1], [mean, rstd]: [&mut [f64]; 2]| {
            let (center, var) = moments(line);
            (mean[0], rstd[0]) = (center, reciprocal_deviation(var, eps));
            let of = shared(number);
            normalize(line, out, (mean[0], rstd[0]), Shared { weight: &weight[of.clone()], bias: &bias[of] });
        });
        Ok(())
    })?;
    write(mean, &means.to_vec()?)?;
    write(rstd, &rstds.to_vec()?)
}

/// Creates two float64 tensors, with an element for each row along `dims`.
fn pair(input: &Tensor, dims: &[bool]) -> Result<[Tensor; 2]> {
    let first = Spec::contiguous(DType::F64, &kept_sizes(input.sizes(), dims)).on(input.device())?;
    let second = first.fresh_like(DType::F64)?;
    Ok([first, second])
}

/// Returns the elements of a parameter, or `count` times `otherwise` if it is absent. Elements are borrowed if possible.
fn parameter<T: Fraction>(tensor: Option<&Tensor>, count: i64, otherwise: f64) -> Result<Contiguous<'_, T>> {
    let Some(tensor) = tensor else { return Ok(Contiguous::Own(times(T::near(otherwise), usized(count))?)) };
    tensor.read().map(Contiguous::Lent).or_else(|_| elements(tensor).map(Contiguous::Own))
}

/// Rounds the values to the type of the computation.
fn rounded<T: Fraction>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::near(value)).collect()
}
