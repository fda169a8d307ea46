//! Maxima and averages of parts of images.
//!
//! A part is a box: a span in each of three dimensions. Windows that move and parts that adapt differ in their spans only.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

mod boxes;

use std::hint::select_unpredictable;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DType, Problem, Spec};

use crate::compute::Compute;
use crate::numbers::{times, usized};
use crate::packed::{computed, filled, packed, repeated};
use crate::pool::{self, Lines};
use boxes::Boxes;

/// What averages and maxima are computed in.
trait Part: Compute + PartialOrd {
    /// What nothing is less than.
    const LEAST: Self;

    /// `self / count`
    fn over(self, count: i64) -> Self;
}

#[expect(clippy::cast_precision_loss, reason = "counts of elements are small")]
impl Part for f32 {
    const LEAST: Self = Self::NEG_INFINITY;

    #[inline(always)]
    fn over(self, count: i64) -> Self {
        self / count as Self
    }
}

#[expect(clippy::cast_precision_loss, reason = "as above")]
impl Part for f64 {
    const LEAST: Self = Self::NEG_INFINITY;

    #[inline(always)]
    fn over(self, count: i64) -> Self {
        self / count as Self
    }
}

impl Part for i64 {
    const LEAST: Self = Self::MIN;

    #[inline(always)]
    fn over(self, count: i64) -> Self {
        self.wrapping_div(count)
    }
}

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 14;

macro_rules! pools {
    ($($rank:literal $max:ident $max_backward:ident $avg:ident $avg_backward:ident
       $adaptive:ident $adaptive_backward:ident $adaptive_max:ident $adaptive_max_backward:ident;)*) => {$(
        #[op_impl(aten::$max, CPU)]
        fn $max(
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<(Tensor, Tensor)> {
            let pooling = aten::Pooling::new($rank, this, kernel_size, stride, padding, dilation, ceil_mode)?;
            let boxes = || Boxes::of_window(&pooling, this.sizes());
            computed!($max "self", this.dtype(); T in [f32 f64 i64] => { largest::<T>(boxes, this, &aten::windowed_like($rank, this, &pooling.sizes)) })
        }

        #[op_impl(aten::$max_backward, CPU)]
        #[expect(clippy::too_many_arguments, reason = "the operator has them")]
        fn $max_backward(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
            indices: &Tensor,
        ) -> Result<Tensor> {
            let pooling = aten::Pooling::new($rank, this, kernel_size, stride, padding, dilation, ceil_mode)?;
            aten::check_gradient(grad_output, this, &pooling.sizes)?;
            aten::check_indices(this, indices, &pooling.sizes)?;
            computed!($max_backward "grad_output", this.dtype(); T in [f32 f64 i64] => {
                back_to_largest::<T>($rank, grad_output, &aten::windowed_like($rank, this, this.sizes()), indices)
            })
        }

        #[op_impl(aten::$avg, CPU)]
        fn $avg(
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<Tensor> {
            aten::check_divisor(divisor_override)?;
            let pooling = aten::Pooling::new($rank, this, kernel_size, stride, padding, &[1], ceil_mode)?;
            let boxes = || Boxes::of_window(&pooling, this.sizes()).counting(count_include_pad, divisor_override);
            computed!($avg "self", this.dtype(); T in [f32 f64 i64] => { average::<T>(boxes, this, &aten::pooled_like($rank, this, &pooling.sizes)) })
        }

        #[op_impl(aten::$avg_backward, CPU)]
        #[expect(clippy::too_many_arguments, reason = "the operator has them")]
        fn $avg_backward(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<Tensor> {
            aten::check_divisor(divisor_override)?;
            let pooling = aten::Pooling::new($rank, this, kernel_size, stride, padding, &[1], ceil_mode)?;
            aten::check_gradient(grad_output, this, &pooling.sizes)?;
            let boxes = || Boxes::of_window(&pooling, this.sizes()).counting(count_include_pad, divisor_override);
            computed!($avg_backward "grad_output", this.dtype(); T in [f32 f64 i64] => {
                back_to_all::<T>(boxes, grad_output, &aten::pooled_like($rank, this, this.sizes()))
            })
        }

        #[op_impl(aten::$adaptive, CPU)]
        fn $adaptive(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
            let sizes = aten::adaptive_sizes($rank, this, output_size)?;
            let boxes = || Boxes::adaptive($rank, this.sizes(), &sizes);
            computed!($adaptive "self", this.dtype(); T in [f32 f64] => { average::<T>(boxes, this, &aten::pooled_like($rank, this, &sizes)) })
        }

        #[op_impl(aten::$adaptive_backward, CPU)]
        fn $adaptive_backward(grad_output: &Tensor, this: &Tensor) -> Result<Tensor> {
            aten::check_adaptive_gradient($rank, grad_output, this)?;
            let boxes = || Boxes::adaptive($rank, this.sizes(), grad_output.sizes());
            computed!($adaptive_backward "grad_output", this.dtype(); T in [f32 f64] => {
                back_to_all::<T>(boxes, grad_output, &aten::pooled_like($rank, this, this.sizes()))
            })
        }

        #[op_impl(aten::$adaptive_max, CPU)]
        fn $adaptive_max(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
            let sizes = aten::adaptive_sizes($rank, this, output_size)?;
            let boxes = || Boxes::adaptive($rank, this.sizes(), &sizes);
            computed!($adaptive_max "self", this.dtype(); T in [f32 f64] => { largest::<T>(boxes, this, &aten::pooled_like($rank, this, &sizes)) })
        }

        #[op_impl(aten::$adaptive_max_backward, CPU)]
        fn $adaptive_max_backward(grad_output: &Tensor, this: &Tensor, indices: &Tensor) -> Result<Tensor> {
            aten::check_adaptive_gradient($rank, grad_output, this)?;
            aten::check_indices(this, indices, grad_output.sizes())?;
            computed!($adaptive_max_backward "grad_output", this.dtype(); T in [f32 f64] => {
                back_to_largest::<T>($rank, grad_output, &aten::pooled_like($rank, this, this.sizes()), indices)
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

fn largest<T: Part>(boxes: impl FnOnce() -> Boxes, this: &Tensor, spec: &Spec) -> Result<(Tensor, Tensor)> {
    let elements = packed::<T>(this)?;
    let laid_out = Spec { dtype: DType::I64, ..spec.clone() };
    let mut indices = Spec::contiguous(DType::I64, spec.geometry.sizes()).on(this.device())?;
    let mut found = indices.write::<i64>()?;
    let out = filled(spec, |out: &mut [T]| {
        if out.is_empty() {
            return Ok(());
        }
        let boxes = boxes();
        let (area, places) = (boxes.area(), boxes.places());
        let (out, found) = (Lines::new(out, places), Lines::new(&mut found, places));
        pool::over(0..out.len(), GRAIN.div_ceil(area.max(1)), |range| {
            for plane in range {
                let image = &elements[plane * area..][..area];
                // SAFETY: every plane is in one piece.
                let (out, found) = unsafe { (out.get(plane), found.get(plane)) };
                largest_of(&boxes, image, out, found);
            }
        });
        Ok(())
    })?;
    drop(found);
    Ok((out, if laid_out.geometry.is_contiguous() { indices } else { repeated(&indices, laid_out)? }))
}

/// The largest element of each part of an image, and where it is.
fn largest_of<T: Part>(boxes: &Boxes, image: &[T], out: &mut [T], found: &mut [i64]) {
    boxes.each(|place, part| {
        let mut best = part.first().min(image.len() - 1);
        let mut largest = if part.is_empty() { T::LEAST } else { image[best] };
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
    starts: impl FnOnce() -> Vec<Vec<i64>>,
    kernel: &[i64],
    this: &Tensor,
    sizes: &[i64],
) -> Result<(Tensor, Tensor)> {
    let (elements, rank) = (packed::<T>(this)?, kernel.len());
    let image = &this.sizes()[sizes.len() - rank..];
    let mut found = Vec::new();
    let out = filled(&Spec::contiguous(this.dtype(), sizes), |out: &mut [T]| {
        found = times(0_i64, out.len())?;
        // No more than there are elements.
        let starts = starts();
        let (area, images) = (usized(aten::element_count(image)), starts.len() / rank);
        let places = out.len().checked_div(images).unwrap_or(0).max(1);
        let lines = out.chunks_exact_mut(places).zip(found.chunks_exact_mut(places));
        for ((plane, starts), (out, found)) in elements.chunks_exact(area).zip(starts.chunks_exact(rank)).zip(lines) {
            largest_of(&Boxes::starting(starts, kernel, image), plane, out, found);
        }
        Ok(())
    })?;
    Ok((out, Tensor::from_vec(found, sizes)?))
}

macro_rules! fractional_pools {
    ($($rank:literal $pool:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$pool, CPU)]
        fn $pool(
            this: &Tensor,
            kernel_size: &[i64],
            output_size: &[i64],
            random_samples: &Tensor,
        ) -> Result<(Tensor, Tensor)> {
            let pooling = aten::Fractional::new($rank, this, kernel_size, output_size)?;
            pooling.check_samples(this, random_samples)?;
            let samples = crate::numbers::elements::<f64>(random_samples)?;
            let starts = || pooling.starts(&samples, this.dtype() != DType::F64);
            computed!($pool "self", this.dtype(); T in [f32 f64] => {
                largest_from::<T>(starts, &pooling.kernel, this, &pooling.sizes)
            })
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            output_size: &[i64],
            indices: &Tensor,
        ) -> Result<Tensor> {
            let pooling = aten::Fractional::new($rank, this, kernel_size, output_size)?;
            aten::check_gradient(grad_output, this, &pooling.sizes)?;
            aten::check_indices(this, indices, &pooling.sizes)?;
            computed!($backward "grad_output", this.dtype(); T in [f32 f64] => {
                back_to_largest::<T>($rank, grad_output, &Spec::contiguous(this.dtype(), this.sizes()), indices)
            })
        }
    )*};
}

fractional_pools! {
    2 fractional_max_pool2d fractional_max_pool2d_backward;
    3 fractional_max_pool3d fractional_max_pool3d_backward;
}

fn back_to_largest<T: Part>(rank: usize, grad_output: &Tensor, spec: &Spec, indices: &Tensor) -> Result<Tensor> {
    let (grad, indices) = (packed::<T>(grad_output)?, packed::<i64>(indices)?);
    let length = |sizes: &[i64]| usized(aten::element_count(&sizes[sizes.len() - rank..]));
    let (area, places) = (length(spec.geometry.sizes()), length(grad_output.sizes()));
    let outside = indices.iter().find(|&&at| usize::try_from(at).is_ok_and(|at| at >= area) || at < 0);
    if let Some(&index) = outside {
        let size = i64::try_from(area).unwrap_or(i64::MAX);
        return Err(BadArgument::new("indices", Problem::Index { index, size }).into());
    }
    filled(spec, |out: &mut [T]| {
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

fn average<T: Part>(boxes: impl FnOnce() -> Boxes, this: &Tensor, spec: &Spec) -> Result<Tensor> {
    let elements = packed::<T>(this)?;
    filled(spec, |out: &mut [T]| {
        if out.is_empty() {
            return Ok(());
        }
        let boxes = boxes();
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

fn back_to_all<T: Part>(boxes: impl FnOnce() -> Boxes, grad_output: &Tensor, spec: &Spec) -> Result<Tensor> {
    let grad = packed::<T>(grad_output)?;
    filled(spec, |out: &mut [T]| {
        out.fill(T::ZERO);
        // Without elements it may have any number of rows.
        if grad.is_empty() {
            return Ok(());
        }
        let boxes = boxes();
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
