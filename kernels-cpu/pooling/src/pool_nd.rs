//! Kernels of max, average and adaptive pooling, and of their gradients.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use std::hint::select_unpredictable;

use aten::{FractionalPoolPlan, Window};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem};

use crate::windows::PoolWindows;
use crate::{GRAIN, Part};
use engine::contiguous::{computed, count, fill, packed};
use engine::thread_pool::{self, Lines};

/// A plan that defines windows in the last `rank` dimensions.
trait Parts {
    fn windows(&self, rank: usize, image: &[i64], results: &[i64]) -> PoolWindows;
}

impl Parts for Window {
    fn windows(&self, _: usize, image: &[i64], results: &[i64]) -> PoolWindows {
        PoolWindows::of_window(self, image, results)
    }
}

/// The plan of adaptive pooling.
impl Parts for () {
    fn windows(&self, rank: usize, image: &[i64], results: &[i64]) -> PoolWindows {
        PoolWindows::adaptive(rank, image, results)
    }
}

macro_rules! maxima {
    ($($rank:literal $plan:ty, $types:tt $name:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(plan: &$plan, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            let windows = |results: &[i64]| plan.windows($rank, this.sizes(), results);
            computed!($name "self", this.dtype(); T in $types => { largest::<T>(windows, this, out) })
        }
    )*};
}

maxima! {
    2 Window, [f32 f64 i64] max_pool2d_with_indices;
    3 Window, [f32 f64 i64] max_pool3d_with_indices;
    2 (), [f32 f64] adaptive_max_pool2d;
    3 (), [f32 f64] adaptive_max_pool3d;
}

macro_rules! gradients_of_maxima {
    ($($rank:literal $plan:ty, $types:tt $name:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(_plan: &$plan, out: &mut Tensor, _: ...) -> Result<()> {
            computed!($name "grad_output", this.dtype(); T in $types => {
                max_backward::<T>($rank, grad_output, out, indices)
            })
        }
    )*};
}

gradients_of_maxima! {
    2 Window, [f32 f64 i64] max_pool2d_with_indices_backward;
    3 Window, [f32 f64 i64] max_pool3d_with_indices_backward;
    2 (), [f32 f64] adaptive_max_pool2d_backward;
    3 (), [f32 f64] adaptive_max_pool3d_backward;
    2 FractionalPoolPlan, [f32 f64] fractional_max_pool2d_backward;
    3 FractionalPoolPlan, [f32 f64] fractional_max_pool3d_backward;
}

macro_rules! averages {
    ($($rank:literal $plan:ty, $types:tt [$($padding:ident $divisor:ident)?] $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            plan: &$plan,
            out: &mut Tensor,
            this: &Tensor,
            $($padding: bool, $divisor: Option<i64>,)?
        ) -> Result<()> {
            let windows = |results: &[i64]| plan.windows($rank, this.sizes(), results)$(.counting($padding, $divisor))?;
            computed!($name "self", this.dtype(); T in $types => { average::<T>(windows, this, out) })
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(
            plan: &$plan,
            out: &mut Tensor,
            grad_output: &Tensor,
            this: &Tensor,
            $($padding: bool, $divisor: Option<i64>,)?
        ) -> Result<()> {
            let windows = |results: &[i64]| plan.windows($rank, this.sizes(), results)$(.counting($padding, $divisor))?;
            computed!($backward "grad_output", this.dtype(); T in $types => {
                average_backward::<T>(windows, grad_output, out)
            })
        }
    )*};
}

averages! {
    2 Window, [f32 f64 i64] [count_include_pad divisor_override] avg_pool2d avg_pool2d_backward;
    3 Window, [f32 f64 i64] [count_include_pad divisor_override] avg_pool3d avg_pool3d_backward;
    2 (), [f32 f64] [] _adaptive_avg_pool2d _adaptive_avg_pool2d_backward;
    3 (), [f32 f64] [] _adaptive_avg_pool3d _adaptive_avg_pool3d_backward;
}

fn largest<T: Part>(
    windows: impl FnOnce(&[i64]) -> PoolWindows,
    this: &Tensor,
    [out, indices]: [&mut Tensor; 2],
) -> Result<()> {
    let elements = packed::<T>(this)?;
    let results = Dims::from_slice(out.sizes());
    fill(out, |out: &mut [T]| {
        fill(indices, |found: &mut [i64]| {
            let windows = windows(&results);
            let (area, places) = (windows.area(), windows.places());
            let (out, found) = (Lines::new(out, places), Lines::new(found, places));
            thread_pool::parallel_for(0..out.len(), GRAIN.div_ceil(area.max(1)), |range| {
                for plane in range {
                    let image = &elements[plane * area..][..area];
                    // SAFETY: each plane is in one piece.
                    let (out, found) = unsafe { (out.get(plane), found.get(plane)) };
                    largest_of(&windows, image, out, found);
                }
            });
            Ok(())
        })
    })
}

/// Writes the largest element of each window of an image, and its index.
pub(super) fn largest_of<T: Part>(windows: &PoolWindows, image: &[T], out: &mut [T], found: &mut [i64]) {
    windows.each(|place, part| {
        let mut best = part.first().min(image.len() - 1);
        let mut largest = if part.is_empty() { T::LOWEST } else { image[best] };
        part.each(|at| {
            let x = image[at];
            // NaN is larger than any number.
            #[expect(clippy::eq_op, reason = "this is how it is told")]
            let wins = (x > largest) | (x != x);
            largest = select_unpredictable(wins, x, largest);
            best = select_unpredictable(wins, at, best);
        });
        out[place] = largest;
        found[place] = i64::try_from(best).unwrap_or(i64::MAX);
    });
}

fn max_backward<T: Part>(rank: usize, grad_output: &Tensor, out: &mut Tensor, indices: &Tensor) -> Result<()> {
    let (grad, indices) = (packed::<T>(grad_output)?, packed::<i64>(indices)?);
    let length = |sizes: &[i64]| count(&sizes[sizes.len() - rank..]);
    let (area, places) = (length(out.sizes()), length(grad_output.sizes()));
    let outside = indices.iter().find(|&&at| usize::try_from(at).is_ok_and(|at| at >= area) || at < 0);
    if let Some(&index) = outside {
        let size = i64::try_from(area).unwrap_or(i64::MAX);
        return Err(BadArgument::new("indices", Problem::Index { index, size }).into());
    }
    fill(out, |out: &mut [T]| {
        out.fill(T::ZERO);
        if places == 0 {
            return Ok(());
        }
        let pairs = grad.chunks_exact(places).zip(indices.chunks_exact(places));
        for (image, (grad, indices)) in out.chunks_exact_mut(area.max(1)).zip(pairs) {
            for (&grad, &at) in grad.iter().zip(indices) {
                let to = &mut image[usize::try_from(at).unwrap_or(0)];
                *to = to.plus(grad);
            }
        }
        Ok(())
    })
}

fn average<T: Part>(windows: impl FnOnce(&[i64]) -> PoolWindows, this: &Tensor, out: &mut Tensor) -> Result<()> {
    let elements = packed::<T>(this)?;
    let results = Dims::from_slice(out.sizes());
    fill(out, |out: &mut [T]| {
        let windows = windows(&results);
        let (area, places) = (windows.area(), windows.places());
        Lines::new(out, places).each(GRAIN.div_ceil(area.max(1)), |plane, out| {
            let image = &elements[plane * area..][..area];
            windows.each(|place, part| {
                let mut sum = T::ZERO;
                part.each(|at| sum = sum.plus(image[at]));
                out[place] = if part.is_empty() { sum } else { sum.over(part.counts) };
            });
        });
        Ok(())
    })
}

fn average_backward<T: Part>(
    windows: impl FnOnce(&[i64]) -> PoolWindows,
    grad_output: &Tensor,
    out: &mut Tensor,
) -> Result<()> {
    let grad = packed::<T>(grad_output)?;
    fill(out, |out: &mut [T]| {
        out.fill(T::ZERO);
        // A gradient without elements may have sizes that are too large for windows.
        if grad.is_empty() {
            return Ok(());
        }
        let windows = windows(grad_output.sizes());
        let (area, places) = (windows.area(), windows.places());
        Lines::new(out, area).each(GRAIN.div_ceil(area.max(1)), |plane, image| {
            let grad = &grad[plane * places..][..places];
            windows.each(|place, part| {
                if !part.is_empty() {
                    let share = grad[place].over(part.counts);
                    part.each(|at| image[at] = image[at].plus(share));
                }
            });
        });
        Ok(())
    })
}
