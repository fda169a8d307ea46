//! Kernels of fractional max pooling: maxima of windows at random positions.

use aten::FractionalPoolPlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{DType, Dims};

use crate::PoolElement;
use crate::pool_nd::write_window_maxima;
use crate::windows::PoolWindows;
use engine::contiguous::{contiguous_elements, element_count, with_compute_type, write_contiguous};

/// Computes maxima of windows. `starts` returns a list of their first indices for each dimension of each image.
fn fractional_max_pool<T: PoolElement>(
    starts: impl FnOnce(&[i64]) -> Vec<Vec<i64>>,
    kernel: &[i64],
    this: &Tensor,
    [out, indices]: [&mut Tensor; 2],
) -> Result<()> {
    let (elements, rank) = (contiguous_elements::<T>(this)?, kernel.len());
    let (image, results) = (&this.sizes()[this.sizes().len() - rank..], Dims::from_slice(out.sizes()));
    write_contiguous(out, |out: &mut [T]| {
        write_contiguous(indices, |found: &mut [i64]| {
            // There are at most as many starts as elements of the result.
            let starts = starts(&results[results.len() - rank..]);
            let (area, images) = (element_count(image), starts.len() / rank);
            let window_count = out.len().checked_div(images).unwrap_or(0).max(1);
            let lines = out.chunks_exact_mut(window_count).zip(found.chunks_exact_mut(window_count));
            for ((plane, starts), (out, found)) in elements.chunks_exact(area).zip(starts.chunks_exact(rank)).zip(lines)
            {
                write_window_maxima(&PoolWindows::at_starts(starts, kernel, image), plane, out, found);
            }
            Ok(())
        })
    })
}

/// Returns the first indices of windows: a list for each dimension of each image. The random numbers of an image are those of width and
/// height, those of a volume are in the order of the dimensions.
fn window_starts(samples: &[f64], single: bool, [kernel, image, results]: [&[i64]; 3]) -> Vec<Vec<i64>> {
    let rank = kernel.len();
    let list = |(at, _): (usize, &f64)| {
        let (first, dim) = (at / rank * rank, at % rank);
        let sample = samples[first + if rank == 2 { 1 - dim } else { dim }];
        starts_from_sample(sample, image[dim] - kernel[dim], results[dim], single)
    };
    samples.iter().enumerate().map(list).collect()
}

/// Returns first indices at about equal distances, the last at the end. A sample may be any number: the windows stay inside.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "positions in images, rounded as PyTorch does"
)]
fn starts_from_sample(sample: f64, last: i64, count: i64, single: bool) -> Vec<i64> {
    let round = |x: f64| if single { f64::from(x as f32) } else { x };
    let spacing = round(last as f64 / (count - 1).max(1) as f64);
    let at = |i: i64| (round(round(i as f64 + sample) * spacing) as i64).saturating_sub(round(sample * spacing) as i64);
    (0..count).map(|i| if i + 1 == count { last } else { at(i).clamp(0, last) }).collect()
}

macro_rules! define_fractional_pools {
    ($($rank:literal $pool:ident;)*) => {$(
        #[op_impl(aten::$pool, CPU)]
        fn $pool(plan: &FractionalPoolPlan, out: [&mut Tensor; 2], _: ...) -> Result<()> {
            let samples = engine::contiguous::convert_to_vec::<f64>(random_samples)?;
            let image = &this.sizes()[this.sizes().len() - $rank..];
            let starts = |results: &[i64]| window_starts(&samples, this.dtype() != DType::F64, [&plan.kernel, image, results]);
            with_compute_type!($pool "self", this.dtype(); T in [f32 f64] => {
                fractional_max_pool::<T>(starts, &plan.kernel, this, out)
            })
        }
    )*};
}

define_fractional_pools! {
    2 fractional_max_pool2d;
    3 fractional_max_pool3d;
}
