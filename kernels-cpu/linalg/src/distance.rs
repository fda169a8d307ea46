//! Kernels of distances between rows.

use aten::CdistPlan;
use dispatch_runtime::prelude::*;

use engine::allocation::usized;
use engine::compute::Fraction;
use engine::contiguous::{broadcast_contiguous, computed, fill, packed};
use engine::math::{Real, vectorised};
use engine::thread_pool::Lines;

/// The fewest elements that are worth a thread.
const GRAIN: usize = 1 << 14;

/// The norm that turns differences into a distance.
#[derive(Clone, Copy)]
enum Norm<T> {
    Count,
    Sum,
    Root,
    Power(T),
    Most,
}

impl<T: Fraction> Norm<T> {
    fn of(p: f64) -> Self {
        match p {
            0.0 => Self::Count,
            1.0 => Self::Sum,
            2.0 => Self::Root,
            f64::INFINITY => Self::Most,
            _ => Self::Power(T::near(p)),
        }
    }

    fn distance(self, a: &[T], b: &[T]) -> T {
        let (zero, one) = (T::near(0.0), T::near(1.0));
        match self {
            Self::Count => folded(a, b, |sum, x| sum + if x == zero { zero } else { one }, |a, b| a + b),
            Self::Sum => folded(a, b, |sum, x| sum + Real::abs(x), |a, b| a + b),
            Self::Root => Real::sqrt(folded(a, b, |sum, x| sum + x * x, |a, b| a + b)),
            Self::Power(p) => {
                let sum = folded(a, b, |sum, x| sum + Real::pow(Real::abs(x), p), |a, b| a + b);
                Real::pow(sum, one / p)
            }
            Self::Most => folded(a, b, |most, x| most.at_least(Real::abs(x)), Fraction::at_least),
        }
    }

    /// Returns the derivative of the distance by one difference.
    #[inline(always)]
    fn slope(self, apart: T, distance: T) -> T {
        let (zero, sign) = (T::near(0.0), Real::copysign(T::near(1.0), apart));
        if apart == zero || distance == zero {
            return zero;
        }
        match self {
            Self::Sum => sign,
            Self::Root => apart / distance,
            Self::Power(p) => sign * Real::pow(Real::abs(apart) / distance, p - T::near(1.0)),
            Self::Most if Real::abs(apart) == distance => sign,
            Self::Count | Self::Most => zero,
        }
    }

    /// Adds the gradient of one end of a distance to `to`.
    fn add_gradient(self, to: &mut [T], [here, there]: [&[T]; 2], grad: T, distance: T) {
        for ((to, &a), &b) in to.iter_mut().zip(here).zip(there) {
            *to = *to + grad * self.slope(a - b, distance);
        }
    }
}

/// Reduces all differences of two rows to one value, in lanes.
fn folded<T: Fraction>(a: &[T], b: &[T], add: impl Fn(T, T) -> T, join: impl Fn(T, T) -> T) -> T {
    const LANES: usize = 16;
    vectorised!({
        let ((many, rest), (others, other)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        let mut lanes = [T::near(0.0); LANES];
        for (a, b) in many.iter().zip(others) {
            for i in 0..LANES {
                lanes[i] = add(lanes[i], a[i] - b[i]);
            }
        }
        for (lane, (&a, &b)) in lanes.iter_mut().zip(rest.iter().zip(other)) {
            *lane = add(*lane, a - b);
        }
        lanes.into_iter().fold(T::near(0.0), join)
    })
}

/// Two batches of matrices, both broadcast to the batch dimensions of the result.
struct Pair<T> {
    rows: Vec<T>,
    columns: Vec<T>,
    height: usize,
    breadth: usize,
    width: usize,
}

impl<T: Fraction> Pair<T> {
    fn of(x1: &Tensor, x2: &Tensor, result: &[i64]) -> Result<Self> {
        let outer = &result[..result.len() - 2];
        let wide = |x: &Tensor| [outer, &x.sizes()[x.sizes().len() - 2..]].concat();
        let [height, breadth] = [2, 1].map(|last| usized(result[result.len() - last]));
        let (rows, columns) = (broadcast_contiguous::<T>(x1, &wide(x1))?, broadcast_contiguous::<T>(x2, &wide(x2))?);
        Ok(Self { rows, columns, height, breadth, width: usized(x1.sizes()[x1.sizes().len() - 1]) })
    }

    /// Returns a row of the first matrix, and all rows of the second matrix that it is compared with.
    fn row(&self, at: usize) -> (&[T], impl Iterator<Item = &[T]>) {
        let first = at / self.height * self.breadth;
        let columns = (first..first + self.breadth).map(|column| &self.columns[column * self.width..][..self.width]);
        (&self.rows[at * self.width..][..self.width], columns)
    }

    fn grain(&self) -> usize {
        GRAIN.div_ceil((self.breadth * self.width).max(1))
    }
}

#[op_impl(aten::_cdist_forward, CPU)]
fn _cdist_forward(plan: &CdistPlan, out: &mut Tensor, x1: &Tensor, x2: &Tensor, p: f64) -> Result<()> {
    if plan.use_matmul {
        return aten::_euclidean_dist_out(x1, x2, out);
    }
    computed!(_cdist_forward "x1", x1.dtype(); T in [f32 f64] => {
        let pair = Pair::<T>::of(x1, x2, out.sizes())?;
        let norm = Norm::of(p);
        fill(out, |out: &mut [T]| {
            Lines::new(out, pair.breadth).each(pair.grain(), |at, line| {
                let (row, columns) = pair.row(at);
                line.iter_mut().zip(columns).for_each(|(to, column)| *to = norm.distance(row, column));
            });
            Ok(())
        })
    })
}

#[op_impl(aten::_cdist_backward, CPU)]
fn _cdist_backward(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    computed!(_cdist_backward "x1", x1.dtype(); T in [f32 f64] => {
        let pair = Pair::<T>::of(x1, x2, cdist.sizes())?;
        let (grad, distances, norm) = (packed::<T>(grad)?, packed::<T>(cdist)?, Norm::of(p));
        fill(out, |out: &mut [T]| {
            Lines::new(out, pair.width).each(pair.grain(), |at, line| {
                line.fill(T::default());
                let (row, columns) = pair.row(at);
                for (column, pair) in (at * pair.breadth..).zip(columns) {
                    norm.add_gradient(line, [row, pair], grad[column], distances[column]);
                }
            });
            Ok(())
        })
    })
}

/// Returns the index of the first pair whose first row is `row`.
fn first(row: usize, rows: usize) -> usize {
    row * (2 * rows - row - 1) / 2
}

#[op_impl(aten::_pdist_forward, CPU)]
fn _pdist_forward(_plan: &(), out: &mut Tensor, this: &Tensor, p: f64) -> Result<()> {
    let [rows, width] = [0, 1].map(|dim| usized(this.sizes()[dim]));
    computed!(_pdist_forward "self", this.dtype(); T in [f32 f64] => {
        let (elements, norm) = (packed::<T>(this)?, Norm::of(p));
        let row = |at: usize| &elements[at * width..][..width];
        fill(out, |out: &mut [T]| {
            let starts: Vec<usize> = (0..rows).map(|row| first(row, rows)).collect();
            Lines::new(out, 1).each(GRAIN.div_ceil(width.max(1)), |pair, to| {
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
    let [rows, width] = [0, 1].map(|dim| usized(this.sizes()[dim]));
    computed!(_pdist_backward "self", this.dtype(); T in [f32 f64] => {
        let (elements, grad, distances, norm) = (packed::<T>(this)?, packed::<T>(grad)?, packed::<T>(pdist)?, Norm::of(p));
        let row = |at: usize| &elements[at * width..][..width];
        fill(out, |out: &mut [T]| {
            Lines::new(out, width).each(GRAIN.div_ceil((rows * width).max(1)), |here, line| {
                line.fill(T::default());
                for there in (0..rows).filter(|&there| there != here) {
                    let (low, high) = (here.min(there), here.max(there));
                    let pair = first(low, rows) + high - low - 1;
                    norm.add_gradient(line, [row(here), row(there)], grad[pair], distances[pair]);
                }
            });
            Ok(())
        })
    })
}
