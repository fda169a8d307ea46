//! Kernels of distances between rows.

use aten::CdistPlan;
use dispatch_runtime::prelude::*;

use engine::allocation::to_usize;
use engine::compute::RealFloat;
use engine::contiguous::{broadcast_to_vec, contiguous_elements, with_compute_type, write_contiguous};
use engine::math::{Real, vectorised};
use engine::thread_pool::DisjointLines;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 1 << 14;

/// The norm that turns differences into a distance.
#[derive(Clone, Copy)]
enum Norm<T> {
    /// The number of differences that are not zero.
    L0,
    L1,
    L2,
    Lp(T),
    /// The largest difference.
    LInfinity,
}

impl<T: RealFloat> Norm<T> {
    fn from_order(p: f64) -> Self {
        match p {
            0.0 => Self::L0,
            1.0 => Self::L1,
            2.0 => Self::L2,
            f64::INFINITY => Self::LInfinity,
            _ => Self::Lp(T::from_f64(p)),
        }
    }

    fn distance(self, a: &[T], b: &[T]) -> T {
        let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
        match self {
            Self::L0 => fold_differences(a, b, |sum, x| sum + if x == zero { zero } else { one }, |a, b| a + b),
            Self::L1 => fold_differences(a, b, |sum, x| sum + Real::abs(x), |a, b| a + b),
            Self::L2 => Real::sqrt(fold_differences(a, b, |sum, x| sum + x * x, |a, b| a + b)),
            Self::Lp(p) => {
                let sum = fold_differences(a, b, |sum, x| sum + Real::pow(Real::abs(x), p), |a, b| a + b);
                Real::pow(sum, one / p)
            }
            Self::LInfinity => fold_differences(a, b, |most, x| most.at_least(Real::abs(x)), RealFloat::at_least),
        }
    }

    /// Returns the derivative of the distance by one difference.
    #[inline(always)]
    fn distance_derivative(self, difference: T, distance: T) -> T {
        let (zero, sign) = (T::from_f64(0.0), Real::copysign(T::from_f64(1.0), difference));
        if difference == zero || distance == zero {
            return zero;
        }
        match self {
            Self::L1 => sign,
            Self::L2 => difference / distance,
            Self::Lp(p) => sign * Real::pow(Real::abs(difference) / distance, p - T::from_f64(1.0)),
            Self::LInfinity if Real::abs(difference) == distance => sign,
            Self::L0 | Self::LInfinity => zero,
        }
    }

    /// Adds to `to` the gradient of a distance with respect to the row `here`.
    fn add_row_gradient(self, to: &mut [T], [here, there]: [&[T]; 2], grad: T, distance: T) {
        for ((to, &a), &b) in to.iter_mut().zip(here).zip(there) {
            *to = *to + grad * self.distance_derivative(a - b, distance);
        }
    }
}

/// Reduces all differences of two rows to one value, in lanes.
fn fold_differences<T: RealFloat>(a: &[T], b: &[T], add: impl Fn(T, T) -> T, join: impl Fn(T, T) -> T) -> T {
    const LANE_COUNT: usize = 16;
    vectorised!({
        let ((many, rest), (others, other)) = (a.as_chunks::<LANE_COUNT>(), b.as_chunks::<LANE_COUNT>());
        let mut lanes = [T::from_f64(0.0); LANE_COUNT];
        for (a, b) in many.iter().zip(others) {
            for i in 0..LANE_COUNT {
                lanes[i] = add(lanes[i], a[i] - b[i]);
            }
        }
        for (lane, (&a, &b)) in lanes.iter_mut().zip(rest.iter().zip(other)) {
            *lane = add(*lane, a - b);
        }
        lanes.into_iter().fold(T::from_f64(0.0), join)
    })
}

/// Two batches of matrices, both broadcast to the batch dimensions of the result.
struct RowPairs<T> {
    first_rows: Vec<T>,
    second_rows: Vec<T>,
    first_count: usize,
    second_count: usize,
    width: usize,
}

impl<T: RealFloat> RowPairs<T> {
    fn new(x1: &Tensor, x2: &Tensor, result: &[i64]) -> Result<Self> {
        let outer = &result[..result.len() - 2];
        let wide = |x: &Tensor| [outer, &x.sizes()[x.sizes().len() - 2..]].concat();
        let [first_count, second_count] = [2, 1].map(|last| to_usize(result[result.len() - last]));
        let (first_rows, second_rows) = (broadcast_to_vec::<T>(x1, &wide(x1))?, broadcast_to_vec::<T>(x2, &wide(x2))?);
        Ok(Self {
            first_rows,
            second_rows,
            first_count,
            second_count,
            width: to_usize(x1.sizes()[x1.sizes().len() - 1]),
        })
    }

    /// Returns a row of the first matrix, and all rows of the second matrix that it is compared with.
    fn row_and_partners(&self, at: usize) -> (&[T], impl Iterator<Item = &[T]>) {
        let first = at / self.first_count * self.second_count;
        let columns =
            (first..first + self.second_count).map(|column| &self.second_rows[column * self.width..][..self.width]);
        (&self.first_rows[at * self.width..][..self.width], columns)
    }

    fn min_rows_per_thread(&self) -> usize {
        GRAIN_SIZE.div_ceil((self.second_count * self.width).max(1))
    }
}

#[op_impl(aten::_cdist_forward, CPU)]
fn _cdist_forward(plan: &CdistPlan, out: &mut Tensor, x1: &Tensor, x2: &Tensor, p: f64) -> Result<()> {
    if plan.use_matmul {
        return aten::_euclidean_dist_out(x1, x2, out);
    }
    with_compute_type!(_cdist_forward "x1", x1.dtype(); T in [f32 f64] => {
        let pair = RowPairs::<T>::new(x1, x2, out.sizes())?;
        let norm = Norm::from_order(p);
        write_contiguous(out, |out: &mut [T]| {
            DisjointLines::new(out, pair.second_count).for_each(pair.min_rows_per_thread(), |at, line| {
                let (row, columns) = pair.row_and_partners(at);
                line.iter_mut().zip(columns).for_each(|(to, column)| *to = norm.distance(row, column));
            });
            Ok(())
        })
    })
}

#[op_impl(aten::_cdist_backward, CPU)]
fn _cdist_backward(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    with_compute_type!(_cdist_backward "x1", x1.dtype(); T in [f32 f64] => {
        let pair = RowPairs::<T>::new(x1, x2, cdist.sizes())?;
        let (grad, distances, norm) = (contiguous_elements::<T>(grad)?, contiguous_elements::<T>(cdist)?, Norm::from_order(p));
        write_contiguous(out, |out: &mut [T]| {
            DisjointLines::new(out, pair.width).for_each(pair.min_rows_per_thread(), |at, line| {
                line.fill(T::default());
                let (row, columns) = pair.row_and_partners(at);
                for (column, pair) in (at * pair.second_count..).zip(columns) {
                    norm.add_row_gradient(line, [row, pair], grad[column], distances[column]);
                }
            });
            Ok(())
        })
    })
}

/// Returns the index of the first pair whose first row is `row`.
fn first_pair_of_row(row: usize, rows: usize) -> usize {
    row * (2 * rows - row - 1) / 2
}

#[op_impl(aten::_pdist_forward, CPU)]
fn _pdist_forward(_plan: &(), out: &mut Tensor, this: &Tensor, p: f64) -> Result<()> {
    let [rows, width] = [0, 1].map(|dim| to_usize(this.sizes()[dim]));
    with_compute_type!(_pdist_forward "self", this.dtype(); T in [f32 f64] => {
        let (elements, norm) = (contiguous_elements::<T>(this)?, Norm::from_order(p));
        let row = |at: usize| &elements[at * width..][..width];
        write_contiguous(out, |out: &mut [T]| {
            let starts: Vec<usize> = (0..rows).map(|row| first_pair_of_row(row, rows)).collect();
            DisjointLines::new(out, 1).for_each(GRAIN_SIZE.div_ceil(width.max(1)), |pair, to| {
                let here = starts.partition_point(|&start| start <= pair) - 1;
                let there = here + 1 + pair - starts[here];
                to.fill(norm.distance(row(here), row(there)));
            });
            Ok(())
        })
    })
}

#[op_impl(aten::_pdist_backward, CPU)]
fn _pdist_backward(_plan: &(), out: &mut Tensor, grad: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<()> {
    let [rows, width] = [0, 1].map(|dim| to_usize(this.sizes()[dim]));
    with_compute_type!(_pdist_backward "self", this.dtype(); T in [f32 f64] => {
        let (elements, grad, distances, norm) = (contiguous_elements::<T>(this)?, contiguous_elements::<T>(grad)?, contiguous_elements::<T>(pdist)?, Norm::from_order(p));
        let row = |at: usize| &elements[at * width..][..width];
        write_contiguous(out, |out: &mut [T]| {
            DisjointLines::new(out, width).for_each(GRAIN_SIZE.div_ceil((rows * width).max(1)), |here, line| {
                line.fill(T::default());
                for there in (0..rows).filter(|&there| there != here) {
                    let (low, high) = (here.min(there), here.max(there));
                    let pair = first_pair_of_row(low, rows) + high - low - 1;
                    norm.add_row_gradient(line, [row(here), row(there)], grad[pair], distances[pair]);
                }
            });
            Ok(())
        })
    })
}
