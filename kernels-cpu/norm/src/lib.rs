//! CPU kernels of normalisation and softmax.
//!
//! Layer, group and batch normalisation differ in the elements of a row, and in the weight of each element. A row is fetched from memory
//! once: two sums and then the results are computed while it is in the cache.

mod batch;
mod group;
mod layer;
mod row_gradients;
mod softmax;

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, operands};

use engine::allocation::{filled_vec, to_usize};
use engine::compute::{RealFloat, sum_lanes};
use engine::contiguous::ContiguousElements;
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::math::vectorised;
use engine::reduce::{for_each_line, keepdim_sizes, with_compute_type};

/// The number of elements that are added in parallel. After `ELEMENTS_PER_LANE` elements in each lane, the sum continues in double
/// precision.
const LANE_COUNT: usize = 64;
const ELEMENTS_PER_LANE: usize = 64;

/// The parameters of a row. Each weight and bias is shared by a run of consecutive elements.
#[derive(Clone, Copy)]
struct AffineParameters<'a, T> {
    weight: &'a [T],
    bias: &'a [T],
}

/// Sums the results of `f` over the elements of several slices.
#[inline(always)]
fn sum_over_slices<T: RealFloat + Into<f64>, const K: usize, const N: usize>(
    slices: [&[T]; K],
    f: impl Fn([T; K]) -> [T; N],
) -> [f64; N] {
    let length = slices[0].len();
    let mut sums = [0.0; N];
    for start in (0..length).step_by(LANE_COUNT * ELEMENTS_PER_LANE) {
        let end = length.min(start + LANE_COUNT * ELEMENTS_PER_LANE);
        let parts = slices.map(|slice| slice[start..end].as_chunks::<LANE_COUNT>());
        let mut lanes = [[T::ZERO; LANE_COUNT]; N];
        for n in 0..parts[0].0.len() {
            let cut = parts.map(|part| &part.0[n]);
            for i in 0..LANE_COUNT {
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
            *sum += sum_lanes(lanes).into();
        }
    }
    sums
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn to_f64(count: usize) -> f64 {
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
    fn merge(self, other: Self) -> Self {
        let (count, difference) = (self.count + other.count, other.mean - self.mean);
        Self {
            count,
            mean: self.mean + difference * other.count / count,
            squares: self.squares + other.squares + difference * difference * self.count * other.count / count,
        }
    }

    /// Computes the moments of at most `LANE_COUNT` elements.
    #[inline(always)]
    fn from_slice<T: RealFloat + Into<f64>>(values: &[T]) -> Self {
        let count = to_f64(values.len());
        let [sum] = sum_over_slices([values], |[x]| [x]);
        let mean = sum / count;
        let rounded_mean = T::from_f64(mean);
        // The squares are corrected, as the deviations are from a rounded mean.
        let rounding_error = mean - rounded_mean.into();
        let [squares] = sum_over_slices([values], |[x]| [(x - rounded_mean) * (x - rounded_mean)]);
        Self { count, mean, squares: squares - rounding_error * rounding_error * count }
    }

    /// Computes the moments of at most `ELEMENTS_PER_LANE` elements in each lane, in one pass. A lane's deviations are from its first
    /// element. As that is one of the elements, the error is at most one rounding per element of a lane, even if it is far from the others.
    #[inline(always)]
    fn from_lanes<T: RealFloat + Into<f64>>(first: &[T; LANE_COUNT], others: &[[T; LANE_COUNT]]) -> Self {
        let (mut sums, mut squares) = ([T::ZERO; LANE_COUNT], [T::ZERO; LANE_COUNT]);
        for values in others {
            for i in 0..LANE_COUNT {
                let difference = values[i] - first[i];
                sums[i] = sums[i] + difference;
                squares[i] = squares[i] + difference * difference;
            }
        }
        let depth = to_f64(others.len() + 1);
        let (each, part) = (T::from_f64(depth), T::from_f64(depth.recip()));
        let mut means = [T::ZERO; LANE_COUNT];
        for i in 0..LANE_COUNT {
            let mean = sums[i] * part;
            squares[i] = squares[i] - mean * sums[i];
            means[i] = (first[i] - first[0]) + mean;
        }
        let mean = sum_lanes(means) * T::from_f64(to_f64(LANE_COUNT).recip());
        for i in 0..LANE_COUNT {
            let difference = means[i] - mean;
            squares[i] = squares[i] + difference * difference * each;
        }
        let origin: f64 = first[0].into();
        Self { count: depth * to_f64(LANE_COUNT), mean: origin + mean.into(), squares: sum_lanes(squares).into() }
    }
}

/// Computes the mean of a row, and its variance without correction.
fn mean_and_variance<T: RealFloat + Into<f64>>(line: &[T]) -> (f64, f64) {
    vectorised!({
        let mut all = Moments::default();
        for block in line.chunks(LANE_COUNT * ELEMENTS_PER_LANE) {
            let (wide, rest) = block.as_chunks();
            if let [first, others @ ..] = wide {
                all = all.merge(Moments::from_lanes(first, others));
            }
            if !rest.is_empty() {
                all = all.merge(Moments::from_slice(rest));
            }
        }
        let var = all.squares / all.count;
        (if line.is_empty() { f64::NAN } else { all.mean }, if var < 0.0 { 0.0 } else { var })
    })
}

/// Returns the reciprocal of the standard deviation.
fn reciprocal_standard_deviation(var: f64, eps: f64) -> f64 {
    (var + eps).sqrt().recip()
}

/// Computes `(line - mean) * rstd * weight + bias`.
fn normalize_row<T: RealFloat>(line: &[T], out: &mut [T], (mean, rstd): (f64, f64), shared: AffineParameters<'_, T>) {
    let (mean, rstd) = (T::from_f64(mean), T::from_f64(rstd));
    let AffineParameters { weight, bias } = shared;
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
fn normalize_rows<O: Operation>(
    input: &Tensor,
    dims: &[bool],
    [out, mean, rstd]: [&mut Tensor; 3],
    eps: f64,
    parameters: [Option<&Tensor>; 2],
    shared: impl Fn(usize) -> std::ops::Range<usize> + Sync,
    count: i64,
) -> Result<()> {
    let [mut means, mut rstds] = new_row_statistics(input, dims)?;
    with_compute_type!(O, input.dtype(), T: [f32, f64] => {
        let (weight, bias) = (parameter_or_default::<T>(parameters[0], count, 1.0)?, parameter_or_default::<T>(parameters[1], count, 0.0)?);
        let operands = operands!(write out, means, rstds; read input)?;
        for_each_line(dims, &operands, |number, [line]: [&[T]; 1], [out]: [&mut [T]; 1], [mean, rstd]: [&mut [f64]; 2]| {
            let (center, var) = mean_and_variance(line);
            (mean[0], rstd[0]) = (center, reciprocal_standard_deviation(var, eps));
            let of = shared(number);
            normalize_row(line, out, (mean[0], rstd[0]), AffineParameters { weight: &weight[of.clone()], bias: &bias[of] });
        });
        Ok(())
    })?;
    write_f64_values(mean, &means.to_vec()?)?;
    write_f64_values(rstd, &rstds.to_vec()?)
}

/// Creates two float64 tensors, with an element for each row along `dims`.
fn new_row_statistics(input: &Tensor, dims: &[bool]) -> Result<[Tensor; 2]> {
    let first = Spec::contiguous(DType::F64, &keepdim_sizes(input.sizes(), dims)).on(input.device())?;
    let second = first.allocate_like(DType::F64)?;
    Ok([first, second])
}

/// Returns the elements of a parameter, or `count` times `otherwise` if it is absent. Elements are borrowed if possible.
fn parameter_or_default<T: RealFloat>(
    tensor: Option<&Tensor>,
    count: i64,
    otherwise: f64,
) -> Result<ContiguousElements<'_, T>> {
    let Some(tensor) = tensor else {
        return Ok(ContiguousElements::Owned(filled_vec(T::from_f64(otherwise), to_usize(count))?));
    };
    tensor.read().map(ContiguousElements::Borrowed).or_else(|_| convert_to_vec(tensor).map(ContiguousElements::Owned))
}

/// Converts values to the type that the kernel computes in.
fn round_to_compute_type<T: RealFloat>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}
