//! Maxima and averages of parts of images.
//!
//! A part is a box: a span in each of three dimensions. Windows that move and parts that adapt differ in their spans only.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

mod boxes;

use std::hint::select_unpredictable;

use aten::{RandomWindows, Window};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DType, Dims, Problem};

use crate::compute::Compute;
use crate::inlined::inlined;
use crate::packed::{computed, count, fill, packed};
use crate::pool::{self, Lines};
use crate::reduction::extremes::Ordered;
use boxes::Boxes;

/// What averages and maxima are computed in.
trait Part: Compute + Ordered {
    /// `self / count`
    fn over(self, count: i64) -> Self;
}

inlined! {
    impl Part for f32, f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of elements are small")]
        fn over(self, count: i64) -> Self = self / count as Self;
    }

    impl Part for i64 {
        fn over(self, count: i64) -> Self = self.wrapping_div(count);
    }
}

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 14;

macro_rules! pools {
    ($($rank:literal $max:ident $max_backward:ident $avg:ident $avg_backward:ident
       $adaptive:ident $adaptive_backward:ident $adaptive_max:ident $adaptive_max_backward:ident;)*) => {$(
        #[op_impl(aten::$max, CPU)]
        fn $max(plan: &Window, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            let boxes = |results: &[i64]| Boxes::of_window(plan, this.sizes(), results);
            computed!($max "self", this.dtype(); T in [f32 f64 i64] => { largest::<T>(boxes, this, out) })
        }

        #[op_impl(aten::$max_backward, CPU)]
        fn $max_backward(
            _plan: &Window,
            out: &mut Tensor,
            grad_output: &Tensor,
            this: &Tensor,
            indices: &Tensor,
        ) -> Result<()> {
            computed!($max_backward "grad_output", this.dtype(); T in [f32 f64 i64] => {
                back_to_largest::<T>($rank, grad_output, out, indices)
            })
        }

        #[op_impl(aten::$avg, CPU)]
        fn $avg(
            plan: &Window,
            out: &mut Tensor,
            this: &Tensor,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<()> {
            let boxes = |results: &[i64]| {
                Boxes::of_window(plan, this.sizes(), results).counting(count_include_pad, divisor_override)
            };
            computed!($avg "self", this.dtype(); T in [f32 f64 i64] => { average::<T>(boxes, this, out) })
        }

        #[op_impl(aten::$avg_backward, CPU)]
        fn $avg_backward(
            plan: &Window,
            out: &mut Tensor,
            grad_output: &Tensor,
            this: &Tensor,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<()> {
            let boxes = |results: &[i64]| {
                Boxes::of_window(plan, this.sizes(), results).counting(count_include_pad, divisor_override)
            };
            computed!($avg_backward "grad_output", this.dtype(); T in [f32 f64 i64] => {
                back_to_all::<T>(boxes, grad_output, out)
            })
        }

        #[op_impl(aten::$adaptive, CPU)]
        fn $adaptive(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
            let boxes = |results: &[i64]| Boxes::adaptive($rank, this.sizes(), results);
            computed!($adaptive "self", this.dtype(); T in [f32 f64] => { average::<T>(boxes, this, out) })
        }

        #[op_impl(aten::$adaptive_backward, CPU)]
        fn $adaptive_backward(_plan: &(), out: &mut Tensor, grad_output: &Tensor, this: &Tensor) -> Result<()> {
            let boxes = |results: &[i64]| Boxes::adaptive($rank, this.sizes(), results);
            computed!($adaptive_backward "grad_output", this.dtype(); T in [f32 f64] => {
                back_to_all::<T>(boxes, grad_output, out)
            })
        }

        #[op_impl(aten::$adaptive_max, CPU)]
        fn $adaptive_max(_plan: &(), out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            let boxes = |results: &[i64]| Boxes::adaptive($rank, this.sizes(), results);
            computed!($adaptive_max "self", this.dtype(); T in [f32 f64] => { largest::<T>(boxes, this, out) })
        }

        #[op_impl(aten::$adaptive_max_backward, CPU)]
        fn $adaptive_max_backward(
            _plan: &(),
            out: &mut Tensor,
            grad_output: &Tensor,
            this: &Tensor,
            indices: &Tensor,
        ) -> Result<()> {
            computed!($adaptive_max_backward "grad_output", this.dtype(); T in [f32 f64] => {
                back_to_largest::<T>($rank, grad_output, out, indices)
            })
        }
    )*};
}

pools! {
    2 max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward;
    3 max_pool3d_with_indices max_pool3d_with_indices_backward avg_pool3d avg_pool3d_backward
    _adaptive_avg_pool3d _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward;
}

fn largest<T: Part>(
    boxes: impl FnOnce(&[i64]) -> Boxes,
    this: &Tensor,
    [out, indices]: [&mut Tensor; 2],
) -> Result<()> {
    let elements = packed::<T>(this)?;
    let results = Dims::from_slice(out.sizes());
    fill(out, |out: &mut [T]| {
        fill(indices, |found: &mut [i64]| {
            let boxes = boxes(&results);
            let (area, places) = (boxes.area(), boxes.places());
            let (out, found) = (Lines::new(out, places), Lines::new(found, places));
            pool::over(0..out.len(), GRAIN.div_ceil(area.max(1)), |range| {
                for plane in range {
                    let image = &elements[plane * area..][..area];
                    // SAFETY: every plane is in one piece.
                    let (out, found) = unsafe { (out.get(plane), found.get(plane)) };
                    largest_of(&boxes, image, out, found);
                }
            });
            Ok(())
        })
    })
}

/// The largest element of each part of an image, and where it is.
fn largest_of<T: Part>(boxes: &Boxes, image: &[T], out: &mut [T], found: &mut [i64]) {
    boxes.each(|place, part| {
        let mut best = part.first().min(image.len() - 1);
        let mut largest = if part.is_empty() { T::LOWEST } else { image[best] };
        part.each(|at| {
            let x = image[at];
            // What is not a number is larger than everything.
            #[expect(clippy::eq_op, reason = "this is how it is told")]
            let wins = (x > largest) | (x != x);
            largest = select_unpredictable(wins, x, largest);
            best = select_unpredictable(wins, at, best);
        });
        out[place] = largest;
        found[place] = i64::try_from(best).unwrap_or(i64::MAX);
    });
}

/// The largest elements of parts that begin elsewhere in each image: `starts` has a list for each dimension of each.
fn largest_from<T: Part>(
    starts: impl FnOnce(&[i64]) -> Vec<Vec<i64>>,
    kernel: &[i64],
    this: &Tensor,
    [out, indices]: [&mut Tensor; 2],
) -> Result<()> {
    let (elements, rank) = (packed::<T>(this)?, kernel.len());
    let (image, results) = (&this.sizes()[this.sizes().len() - rank..], Dims::from_slice(out.sizes()));
    fill(out, |out: &mut [T]| {
        fill(indices, |found: &mut [i64]| {
            // No more than there are elements.
            let starts = starts(&results[results.len() - rank..]);
            let (area, images) = (count(image), starts.len() / rank);
            let places = out.len().checked_div(images).unwrap_or(0).max(1);
            let lines = out.chunks_exact_mut(places).zip(found.chunks_exact_mut(places));
            for ((plane, starts), (out, found)) in elements.chunks_exact(area).zip(starts.chunks_exact(rank)).zip(lines)
            {
                largest_of(&Boxes::starting(starts, kernel, image), plane, out, found);
            }
            Ok(())
        })
    })
}

/// Where windows begin: a list for each dimension of each image. Images have the random number of their last dimension first, and
/// volumes that of their first.
fn starts(samples: &[f64], single: bool, [kernel, image, results]: [&[i64]; 3]) -> Vec<Vec<i64>> {
    let rank = kernel.len();
    let list = |(at, _): (usize, &f64)| {
        let (first, dim) = (at / rank * rank, at % rank);
        let sample = samples[first + if rank == 2 { 1 - dim } else { dim }];
        places(sample, image[dim] - kernel[dim], results[dim], single)
    };
    samples.iter().enumerate().map(list).collect()
}

/// About equally far apart, the last at the end. A sample may be any number, and parts stay inside.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "positions in images, rounded as PyTorch does"
)]
fn places(sample: f64, last: i64, count: i64, single: bool) -> Vec<i64> {
    let round = |x: f64| if single { f64::from(x as f32) } else { x };
    let apart = round(last as f64 / (count - 1).max(1) as f64);
    let at = |i: i64| (round(round(i as f64 + sample) * apart) as i64).saturating_sub(round(sample * apart) as i64);
    (0..count).map(|i| if i + 1 == count { last } else { at(i).clamp(0, last) }).collect()
}

macro_rules! fractional_pools {
    ($($rank:literal $pool:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$pool, CPU)]
        fn $pool(
            plan: &RandomWindows,
            out: [&mut Tensor; 2],
            this: &Tensor,
            random_samples: &Tensor,
        ) -> Result<()> {
            let samples = crate::numbers::elements::<f64>(random_samples)?;
            let image = &this.sizes()[this.sizes().len() - $rank..];
            let starts = |results: &[i64]| starts(&samples, this.dtype() != DType::F64, [&plan.kernel, image, results]);
            computed!($pool "self", this.dtype(); T in [f32 f64] => {
                largest_from::<T>(starts, &plan.kernel, this, out)
            })
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(
            _plan: &RandomWindows,
            out: &mut Tensor,
            grad_output: &Tensor,
            this: &Tensor,
            indices: &Tensor,
        ) -> Result<()> {
            computed!($backward "grad_output", this.dtype(); T in [f32 f64] => {
                back_to_largest::<T>($rank, grad_output, out, indices)
            })
        }
    )*};
}

fractional_pools! {
    2 fractional_max_pool2d fractional_max_pool2d_backward;
    3 fractional_max_pool3d fractional_max_pool3d_backward;
}

fn back_to_largest<T: Part>(rank: usize, grad_output: &Tensor, out: &mut Tensor, indices: &Tensor) -> Result<()> {
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

fn average<T: Part>(boxes: impl FnOnce(&[i64]) -> Boxes, this: &Tensor, out: &mut Tensor) -> Result<()> {
    let elements = packed::<T>(this)?;
    let results = Dims::from_slice(out.sizes());
    fill(out, |out: &mut [T]| {
        let boxes = boxes(&results);
        let (area, places) = (boxes.area(), boxes.places());
        let out = Lines::new(out, places);
        pool::over(0..out.len(), GRAIN.div_ceil(area.max(1)), |range| {
            for plane in range {
                let image = &elements[plane * area..][..area];
                // SAFETY: every plane is in one piece.
                let out = unsafe { out.get(plane) };
                boxes.each(|place, part| {
                    let mut sum = T::ZERO;
                    part.each(|at| sum = sum.plus(image[at]));
                    out[place] = if part.is_empty() { sum } else { sum.over(part.counts) };
                });
            }
        });
        Ok(())
    })
}

fn back_to_all<T: Part>(boxes: impl FnOnce(&[i64]) -> Boxes, grad_output: &Tensor, out: &mut Tensor) -> Result<()> {
    let grad = packed::<T>(grad_output)?;
    fill(out, |out: &mut [T]| {
        out.fill(T::ZERO);
        // Without elements it may have any number of rows.
        if grad.is_empty() {
            return Ok(());
        }
        let boxes = boxes(grad_output.sizes());
        let (area, places) = (boxes.area(), boxes.places());
        let out = Lines::new(out, area);
        pool::over(0..out.len(), GRAIN.div_ceil(area.max(1)), |range| {
            for plane in range {
                let grad = &grad[plane * places..][..places];
                // SAFETY: every plane is in one piece.
                let image = unsafe { out.get(plane) };
                boxes.each(|place, part| {
                    if !part.is_empty() {
                        let share = grad[place].over(part.counts);
                        part.each(|at| image[at] = image[at].plus(share));
                    }
                });
            }
        });
        Ok(())
    })
}
