//! Kernels of image resizing.
//!
//! Every element of the result is a weighted sum of a few elements of the image, its taps. Each dimension has its own taps. Nearest, linear
//! and cubic interpolation differ only in the taps. A gradient uses the same taps in the other direction.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

mod taps;
mod uint8;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{DType, Dims, OutOfMemory};

use engine::compute::ComputeType;
use engine::contiguous::{contiguous_elements, with_compute_type, write_contiguous};
use engine::thread_pool::{self, DisjointLines};
pub(crate) use taps::cubic_weights;
use taps::{UpsampleMode, UpsampleTaps};

/// The minimum number of elements for each thread.
const GRAIN_SIZE: usize = 1 << 13;

macro_rules! define_upsamples {
    ($($rank:literal $mode:ident [$($align:ident)?] [$($scale:ident)+] $types:tt $([or $bytes:ident])? $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            _plan: &(),
            out: &mut Tensor,
            this: &Tensor,
            $($align: bool,)?
            $($scale: Option<f64>),+
        ) -> Result<()> {
            let mode = (UpsampleMode::$mode, false $(|| $align)?);
            let scales = [$($scale),+];
            $(define_upsamples! { @bytes $bytes this, out, mode, &scales })?
            define_upsamples! { @computed $types $name "self", this.dtype(), T => write_upsampled::<T>(this, out, mode, &scales) }
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(
            _plan: &(),
            out: &mut Tensor,
            grad_output: &Tensor,
            $($align: bool,)?
            $($scale: Option<f64>),+
        ) -> Result<()> {
            let mode = (UpsampleMode::$mode, false $(|| $align)?);
            with_compute_type!($backward "grad_output", grad_output.dtype(); T in [f32 f64] => {
                write_upsample_gradient::<T>(grad_output, out, mode, &[$($scale),+])
            })
        }
    )*};
    (@bytes bytes $this:expr, $out:expr, $mode:expr, $scales:expr) => {
        if $this.dtype() == DType::U8 {
            return uint8::write_upsampled($this, $out, $mode, $scales);
        }
    };
    (@computed [$($ty:ident)+] $name:ident $argument:literal, $dtype:expr, $T:ident => $body:expr) => {
        with_compute_type!($name $argument, $dtype; $T in [$($ty)+] => $body)
    };
}

define_upsamples! {
    1 Nearest [] [scales] [f32 f64 i64] upsample_nearest1d upsample_nearest1d_backward;
    2 Nearest [] [scales_h scales_w] [f32 f64 i64] upsample_nearest2d upsample_nearest2d_backward;
    3 Nearest [] [scales_d scales_h scales_w] [f32 f64 i64] upsample_nearest3d upsample_nearest3d_backward;
    1 NearestExact [] [scales] [f32 f64 i64] _upsample_nearest_exact1d _upsample_nearest_exact1d_backward;
    2 NearestExact [] [scales_h scales_w] [f32 f64 i64] _upsample_nearest_exact2d _upsample_nearest_exact2d_backward;
    3 NearestExact [] [scales_d scales_h scales_w] [f32 f64 i64] _upsample_nearest_exact3d _upsample_nearest_exact3d_backward;
    1 Linear [align_corners] [scales] [f32 f64] upsample_linear1d upsample_linear1d_backward;
    2 Linear [align_corners] [scales_h scales_w] [f32 f64] [or bytes] upsample_bilinear2d upsample_bilinear2d_backward;
    3 Linear [align_corners] [scales_d scales_h scales_w] [f32 f64] upsample_trilinear3d upsample_trilinear3d_backward;
    2 Cubic [align_corners] [scales_h scales_w] [f32 f64] [or bytes] upsample_bicubic2d upsample_bicubic2d_backward;
    2 AntialiasedLinear [align_corners] [scales_h scales_w] [f32 f64] _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward;
    2 AntialiasedCubic [align_corners] [scales_h scales_w] [f32 f64] _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward;
    2 AntialiasedLanczos [align_corners] [scales_h scales_w] [f32 f64] _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward;
}

/// Computes the taps of three dimensions, of which the first may have size 1. Both lists of sizes begin with batch and channels.
fn taps_of_dims<T: ComputeType>(
    input: &[i64],
    output: &[i64],
    (mode, align_corners): (UpsampleMode, bool),
    scales: &[Option<f64>],
) -> Result<[UpsampleTaps<T>; 3], OutOfMemory> {
    let skipped = 3 - scales.len();
    let along = |dim: usize| match dim.checked_sub(skipped) {
        Some(at) => {
            let single = T::DTYPE != DType::F64;
            UpsampleTaps::new(mode, align_corners, single, input[at + 2], output[at + 2], scales[at])
        }
        None => UpsampleTaps::new(UpsampleMode::Nearest, false, true, 1, 1, None),
    };
    Ok([along(0)?, along(1)?, along(2)?])
}

fn write_upsampled<T: ComputeType>(
    this: &Tensor,
    out: &mut Tensor,
    mode: (UpsampleMode, bool),
    scales: &[Option<f64>],
) -> Result<()> {
    let (elements, sizes) = (contiguous_elements::<T>(this)?, Dims::from_slice(out.sizes()));
    write_contiguous(out, |out: &mut [T]| {
        // As in PyTorch, antialiasing does not change a dimension that keeps its size, whatever the scale is. The gradient uses the scale.
        let keeps_size = |dim: usize| mode.0.is_antialiased() && this.sizes()[dim] == sizes[dim];
        let scales = scales.iter().zip(2..).map(|(scale, dim)| scale.filter(|_| !keeps_size(dim)));
        let scales: Vec<Option<f64>> = scales.collect();
        let [deep, down, across] = taps_of_dims::<T>(this.sizes(), &sizes, mode, &scales)?;
        let (area, width) = (deep.input_size * down.input_size * across.input_size, across.input_size);
        let rows = deep.output_size * down.output_size;
        let lines = DisjointLines::new(out, across.output_size);
        thread_pool::parallel_for(0..lines.len(), GRAIN_SIZE.div_ceil(across.output_size), |range| {
            let mut blend = vec![T::ZERO; width];
            for line in range {
                let image = &elements[line / rows * area..][..area];
                blend.fill(T::ZERO);
                for &(plane, depth) in deep.taps_of_result(line % rows / down.output_size) {
                    for &(row, height) in down.taps_of_result(line % down.output_size) {
                        let weight = depth.times(height);
                        let row = &image[(plane * down.input_size + row) * width..][..width];
                        blend.iter_mut().zip(row).for_each(|(sum, &x)| *sum = sum.plus(weight.times(x)));
                    }
                }
                // SAFETY: each row is in one piece.
                let out = unsafe { lines.get(line) };
                for (column, out) in out.iter_mut().enumerate() {
                    let parts = across.taps_of_result(column).iter().map(|&(at, weight)| weight.times(blend[at]));
                    *out = parts.fold(T::ZERO, T::plus);
                }
            }
        });
        Ok(())
    })
}

fn write_upsample_gradient<T: ComputeType>(
    grad_output: &Tensor,
    out: &mut Tensor,
    mode: (UpsampleMode, bool),
    scales: &[Option<f64>],
) -> Result<()> {
    let (grad, sizes) = (contiguous_elements::<T>(grad_output)?, Dims::from_slice(out.sizes()));
    write_contiguous(out, |out: &mut [T]| {
        out.fill(T::ZERO);
        // A gradient without elements may have sizes that are too large for taps.
        if grad.is_empty() {
            return Ok(());
        }
        let [deep, down, across] = taps_of_dims::<T>(&sizes, grad_output.sizes(), mode, scales)?;
        let (area, width) = (deep.input_size * down.input_size * across.input_size, across.input_size);
        let rows = deep.output_size * down.output_size;
        let images = DisjointLines::new(out, area);
        thread_pool::parallel_for(0..images.len(), GRAIN_SIZE.div_ceil(area), |range| {
            let mut blend = vec![T::ZERO; width];
            for index in range {
                // SAFETY: each image is in one piece.
                let image = unsafe { images.get(index) };
                for line in 0..rows {
                    blend.fill(T::ZERO);
                    let grad = &grad[(index * rows + line) * across.output_size..][..across.output_size];
                    for (column, &grad) in grad.iter().enumerate() {
                        for &(at, weight) in across.taps_of_result(column) {
                            blend[at] = blend[at].plus(weight.times(grad));
                        }
                    }
                    for &(plane, depth) in deep.taps_of_result(line / down.output_size) {
                        for &(row, height) in down.taps_of_result(line % down.output_size) {
                            let weight = depth.times(height);
                            let row = &mut image[(plane * down.input_size + row) * width..][..width];
                            row.iter_mut().zip(&blend).for_each(|(to, &x)| *to = to.plus(weight.times(x)));
                        }
                    }
                }
            }
        });
        Ok(())
    })
}
