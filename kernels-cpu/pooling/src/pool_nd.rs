//! Kernels of max, average and adaptive pooling, and of their gradients.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use std::hint::select_unpredictable;

use aten::{FractionalPoolPlan, Window};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem};

use crate::windows::PoolWindows;
use crate::{GRAIN_SIZE, PoolElement};
use engine::contiguous::{contiguous_elements, element_count, with_compute_type, write_contiguous};
use engine::thread_pool::{self, DisjointLines};

/// A plan that defines windows in the last `rank` dimensions.
trait WindowPlan {
    fn windows(&self, rank: usize, image: &[i64], results: &[i64]) -> PoolWindows;
}

impl WindowPlan for Window {
    fn windows(&self, _: usize, image: &[i64], results: &[i64]) -> PoolWindows {
        PoolWindows::sliding(self, image, results)
    }
}

/// The plan of adaptive pooling.
impl WindowPlan for () {
    fn windows(&self, rank: usize, image: &[i64], results: &[i64]) -> PoolWindows {
        PoolWindows::adaptive(rank, image, results)
    }
}

macro_rules! define_max_pools {
    ($($rank:literal $plan:ty, $types:tt $name:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(plan: &$plan, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            let windows = |results: &[i64]| plan.windows($rank, this.sizes(), results);
            with_compute_type!($name "self", this.dtype(); T in $types => { max_pool::<T>(windows, this, out) })
        }
    )*};
}

define_max_pools! {
    2 Window, [f32 f64 i64] max_pool2d_with_indices;
    3 Window, [f32 f64 i64] max_pool3d_with_indices;
    2 (), [f32 f64] adaptive_max_pool2d;
    3 (), [f32 f64] adaptive_max_pool3d;
}

macro_rules! define_max_pool_gradients {
    ($($rank:literal $plan:ty, $types:tt $name:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(_plan: &$plan, out: &mut Tensor, _: ...) -> Result<()> {
            with_compute_type!($name "grad_output", this.dtype(); T in $types => {
                max_pool_backward::<T>($rank, grad_output, out, indices)
            })
        }
    )*};
}

define_max_pool_gradients! {
    2 Window, [f32 f64 i64] max_pool2d_with_indices_backward;
    3 Window, [f32 f64 i64] max_pool3d_with_indices_backward;
    2 (), [f32 f64] adaptive_max_pool2d_backward;
    3 (), [f32 f64] adaptive_max_pool3d_backward;
    2 FractionalPoolPlan, [f32 f64] fractional_max_pool2d_backward;
    3 FractionalPoolPlan, [f32 f64] fractional_max_pool3d_backward;
}

macro_rules! define_average_pools {
    ($($rank:literal $plan:ty, $types:tt [$($padding:ident $divisor:ident)?] $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            plan: &$plan,
            out: &mut Tensor,
            this: &Tensor,
            $($padding: bool, $divisor: Option<i64>,)?
        ) -> Result<()> {
            let windows = |results: &[i64]| plan.windows($rank, this.sizes(), results)$(.with_divisor($padding, $divisor))?;
            with_compute_type!($name "self", this.dtype(); T in $types => { average_pool::<T>(windows, this, out) })
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(
            plan: &$plan,
            out: &mut Tensor,
            grad_output: &Tensor,
            this: &Tensor,
            $($padding: bool, $divisor: Option<i64>,)?
        ) -> Result<()> {
            let windows = |results: &[i64]| plan.windows($rank, this.sizes(), results)$(.with_divisor($padding, $divisor))?;
            with_compute_type!($backward "grad_output", this.dtype(); T in $types => {
                average_pool_backward::<T>(windows, grad_output, out)
            })
        }
    )*};
}

define_average_pools! {
    2 Window, [f32 f64 i64] [count_include_pad divisor_override] avg_pool2d avg_pool2d_backward;
    3 Window, [f32 f64 i64] [count_include_pad divisor_override] avg_pool3d avg_pool3d_backward;
    2 (), [f32 f64] [] _adaptive_avg_pool2d _adaptive_avg_pool2d_backward;
    3 (), [f32 f64] [] _adaptive_avg_pool3d _adaptive_avg_pool3d_backward;
}

fn max_pool<T: PoolElement>(
    windows: impl FnOnce(&[i64]) -> PoolWindows,
    this: &Tensor,
    [out, indices]: [&mut Tensor; 2],
) -> Result<()> {
    let elements = contiguous_elements::<T>(this)?;
    let results = Dims::from_slice(out.sizes());
    write_contiguous(out, |out: &mut [T]| {
        write_contiguous(indices, |found: &mut [i64]| {
            let windows = windows(&results);
            let (area, window_count) = (windows.image_area(), windows.window_count());
            let (out, found) = (DisjointLines::new(out, window_count), DisjointLines::new(found, window_count));
            thread_pool::parallel_for(0..out.len(), GRAIN_SIZE.div_ceil(area.max(1)), |range| {
                for plane in range {
                    let image = &elements[plane * area..][..area];
                    // SAFETY: each plane is in one piece.
                    let (out, found) = unsafe { (out.get(plane), found.get(plane)) };
                    write_window_maxima(&windows, image, out, found);
                }
            });
            Ok(())
        })
    })
}

/// Writes the largest element of each window of an image, and its index.
pub(super) fn write_window_maxima<T: PoolElement>(
    windows: &PoolWindows,
    image: &[T],
    out: &mut [T],
    found: &mut [i64],
) {
    windows.for_each(|window_index, window| {
        let mut best = window.first_index().min(image.len() - 1);
        let mut largest = if window.is_empty() { T::MIN_VALUE } else { image[best] };
        window.for_each(|at| {
            let x = image[at];
            // NaN is larger than any number.
            #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
            let wins = (x > largest) | (x != x);
            largest = select_unpredictable(wins, x, largest);
            best = select_unpredictable(wins, at, best);
        });
        out[window_index] = largest;
        found[window_index] = i64::try_from(best).unwrap_or(i64::MAX);
    });
}

fn max_pool_backward<T: PoolElement>(
    rank: usize,
    grad_output: &Tensor,
    out: &mut Tensor,
    indices: &Tensor,
) -> Result<()> {
    let (grad, indices) = (contiguous_elements::<T>(grad_output)?, contiguous_elements::<i64>(indices)?);
    let length = |sizes: &[i64]| element_count(&sizes[sizes.len() - rank..]);
    let (area, window_count) = (length(out.sizes()), length(grad_output.sizes()));
    let outside = indices.iter().find(|&&at| usize::try_from(at).is_ok_and(|at| at >= area) || at < 0);
    if let Some(&index) = outside {
        let size = i64::try_from(area).unwrap_or(i64::MAX);
        return Err(BadArgument::new("indices", Problem::Index { index, size, dim: None }).into());
    }
    write_contiguous(out, |out: &mut [T]| {
        out.fill(T::ZERO);
        if window_count == 0 {
            return Ok(());
        }
        let pairs = grad.chunks_exact(window_count).zip(indices.chunks_exact(window_count));
        for (image, (grad, indices)) in out.chunks_exact_mut(area.max(1)).zip(pairs) {
            for (&grad, &at) in grad.iter().zip(indices) {
                let to = &mut image[usize::try_from(at).unwrap_or(0)];
                *to = to.plus(grad);
            }
        }
        Ok(())
    })
}

fn average_pool<T: PoolElement>(
    windows: impl FnOnce(&[i64]) -> PoolWindows,
    this: &Tensor,
    out: &mut Tensor,
) -> Result<()> {
    let elements = contiguous_elements::<T>(this)?;
    let results = Dims::from_slice(out.sizes());
    write_contiguous(out, |out: &mut [T]| {
        let windows = windows(&results);
        let (area, window_count) = (windows.image_area(), windows.window_count());
        DisjointLines::new(out, window_count).for_each(GRAIN_SIZE.div_ceil(area.max(1)), |plane, out| {
            let image = &elements[plane * area..][..area];
            windows.for_each(|window_index, window| {
                let mut sum = T::ZERO;
                window.for_each(|at| sum = sum.plus(image[at]));
                out[window_index] = if window.is_empty() { sum } else { sum.divided_by(window.divisor) };
            });
        });
        Ok(())
    })
}

fn average_pool_backward<T: PoolElement>(
    windows: impl FnOnce(&[i64]) -> PoolWindows,
    grad_output: &Tensor,
    out: &mut Tensor,
) -> Result<()> {
    let grad = contiguous_elements::<T>(grad_output)?;
    write_contiguous(out, |out: &mut [T]| {
        out.fill(T::ZERO);
        // A gradient without elements may have sizes that are too large for windows.
        if grad.is_empty() {
            return Ok(());
        }
        let windows = windows(grad_output.sizes());
        let (area, window_count) = (windows.image_area(), windows.window_count());
        DisjointLines::new(out, area).for_each(GRAIN_SIZE.div_ceil(area.max(1)), |plane, image| {
            let grad = &grad[plane * window_count..][..window_count];
            windows.for_each(|window_index, window| {
                if !window.is_empty() {
                    let share = grad[window_index].divided_by(window.divisor);
                    window.for_each(|at| image[at] = image[at].plus(share));
                }
            });
        });
        Ok(())
    })
}
