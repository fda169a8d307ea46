//! CUDA kernels of `upsample` operators, which resize images.
//!
//! Each element of the result is a weighted sum of a few elements of the image, its taps. A thread keeps one position and loops over the
//! images. A backward thread computes the gradient of one element of an image, from the results that it may be a tap of.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::images::Images;
use crate::engine::scalars::integer_dtype_of_same_size;
use crate::prelude::*;

kernel! {
    // SAFETY: both sides come with their own sizes and strides, and taps outside of an image are clamped into it.
    static UPSAMPLE_KERNEL = unsafe { Kernel::new("upsample", include_str!("../../../kernels/resize/upsample.cu"), |instances| {
        instances.add_for_each_dtype("upsample_nearest", &[DType::U8, DType::I16, DType::I32, DType::I64]);
        instances.add_templates_for_each_dtype(&["upsample_linear", "upsample_cubic", "upsample_antialiased", "upsample_nearest_backward", "upsample_linear_backward", "upsample_cubic_backward", "upsample_antialiased_backward"], &FLOATING_DTYPES);
    }) };
}

/// The interpolation mode: the names of its kernels, and the kernels' number of it.
#[derive(Clone, Copy)]
struct InterpolationMode {
    forward: &'static str,
    backward: &'static str,
    number: u32,
}

const NEAREST: InterpolationMode =
    InterpolationMode { forward: "upsample_nearest", backward: "upsample_nearest_backward", number: 0 };
const NEAREST_EXACT: InterpolationMode = InterpolationMode { number: 1, ..NEAREST };
const LINEAR: InterpolationMode =
    InterpolationMode { forward: "upsample_linear", backward: "upsample_linear_backward", number: 2 };
const CUBIC: InterpolationMode =
    InterpolationMode { forward: "upsample_cubic", backward: "upsample_cubic_backward", number: 3 };
const ANTIALIASED_LINEAR: InterpolationMode =
    InterpolationMode { forward: "upsample_antialiased", backward: "upsample_antialiased_backward", number: 4 };
const ANTIALIASED_CUBIC: InterpolationMode = InterpolationMode { number: 5, ..ANTIALIASED_LINEAR };
const ANTIALIASED_LANCZOS: InterpolationMode = InterpolationMode { number: 6, ..ANTIALIASED_LINEAR };

define_parameters! {
    /// The kernels' `struct AxisResize`: the scale and sizes of one dimension.
    struct AxisResize {
        step: f64,
        from: i32,
        to: i32,
        align_corners: u32,
    }

    /// The kernels' `struct ResizeParameters`: the scales of all dimensions, and the mode.
    struct ResizeParameters {
        axes: [AxisResize; 3],
        mode: u32,
    }
}

impl ResizeParameters {
    /// Computes the scales from images of sizes `from` to images of sizes `to`. Both begin with batch and channels.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "positions in images")]
    fn new(
        mode: InterpolationMode,
        align_corners: bool,
        from: &[i64],
        to: &[i64],
        scales: &[Option<f64>],
        dtype: DType,
    ) -> Self {
        let single = dtype != DType::F64 || mode.number <= NEAREST_EXACT.number;
        let round = |x: f64| if single { f64::from(x as f32) } else { x };
        let mut axes = [AxisResize { step: 1.0, from: 1, to: 1, align_corners: 0 }; 3];
        for (dim, scale) in scales.iter().enumerate() {
            let (from, to) = (from[dim + 2], to[dim + 2]);
            let step = match scale.filter(|&scale| scale > 0.0) {
                _ if align_corners && to > 1 => (from - 1) as f64 / (to - 1) as f64,
                _ if align_corners => 0.0,
                Some(scale) => 1.0 / scale,
                None => from as f64 / to as f64,
            };
            let size = |size: i64| i32::try_from(size).unwrap_or(i32::MAX);
            axes[3 - scales.len() + dim] =
                AxisResize { step: round(step), from: size(from), to: size(to), align_corners: align_corners.into() };
        }
        Self { axes, mode: mode.number }
    }
}

macro_rules! define_upsamples {
    ($($rank:literal $mode:ident [$($align:ident)?] [$($scale:ident)+] $types:ident $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CUDA)]
        fn $name(
            _plan: &(),
            out: &mut Tensor,
            this: &Tensor,
            $($align: bool,)?
            $($scale: Option<f64>),+
        ) -> Result<()> {
            check_dtype(aten::$name::operator(), "self", this.dtype(), &$types)?;
            launch_upsample($rank, this, out, $mode, false $(|| $align)?, &[$($scale),+])
        }

        #[op_impl(aten::$backward, CUDA)]
        fn $backward(
            _plan: &(),
            out: &mut Tensor,
            grad_output: &Tensor,
            $($align: bool,)?
            $($scale: Option<f64>),+
        ) -> Result<()> {
            check_dtype(aten::$backward::operator(), "grad_output", grad_output.dtype(), &FLOATING_DTYPES)?;
            launch_upsample_backward($rank, grad_output, out, $mode, false $(|| $align)?, &[$($scale),+])
        }
    )*};
}

define_upsamples! {
    1 NEAREST [] [scales] NUMERIC_DTYPES upsample_nearest1d upsample_nearest1d_backward;
    2 NEAREST [] [scales_h scales_w] NUMERIC_DTYPES upsample_nearest2d upsample_nearest2d_backward;
    3 NEAREST [] [scales_d scales_h scales_w] NUMERIC_DTYPES upsample_nearest3d upsample_nearest3d_backward;
    1 NEAREST_EXACT [] [scales] NUMERIC_DTYPES _upsample_nearest_exact1d _upsample_nearest_exact1d_backward;
    2 NEAREST_EXACT [] [scales_h scales_w] NUMERIC_DTYPES _upsample_nearest_exact2d _upsample_nearest_exact2d_backward;
    3 NEAREST_EXACT [] [scales_d scales_h scales_w] NUMERIC_DTYPES _upsample_nearest_exact3d _upsample_nearest_exact3d_backward;
    1 LINEAR [align_corners] [scales] FLOATING_DTYPES upsample_linear1d upsample_linear1d_backward;
    2 LINEAR [align_corners] [scales_h scales_w] FLOATING_DTYPES upsample_bilinear2d upsample_bilinear2d_backward;
    3 LINEAR [align_corners] [scales_d scales_h scales_w] FLOATING_DTYPES upsample_trilinear3d upsample_trilinear3d_backward;
    2 CUBIC [align_corners] [scales_h scales_w] FLOATING_DTYPES upsample_bicubic2d upsample_bicubic2d_backward;
    2 ANTIALIASED_LINEAR [align_corners] [scales_h scales_w] FLOATING_DTYPES _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward;
    2 ANTIALIASED_CUBIC [align_corners] [scales_h scales_w] FLOATING_DTYPES _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward;
    2 ANTIALIASED_LANCZOS [align_corners] [scales_h scales_w] FLOATING_DTYPES _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward;
}

fn launch_upsample(
    rank: usize,
    this: &Tensor,
    out: &Tensor,
    mode: InterpolationMode,
    align_corners: bool,
    scales: &[Option<f64>],
) -> Result<()> {
    let count = out.geometry().count();
    if count == 0 {
        return Ok(());
    }
    let (launch, to) = (Launch::on_device_of(out)?, Images::from_tensor(out, rank));
    let planes: i64 = out.sizes()[..2].iter().product();
    let positions = count / planes;
    let (lanes, images) =
        if to.is_channels_last() { (positions * out.sizes()[1], out.sizes()[0]) } else { (positions, planes) };
    // There are enough threads to keep the device busy; each loops over the remaining images.
    let enough = i64::from(launch.multiprocessors()) * 2048 * 4;
    let rows = u32::try_from((enough / lanes + 1).min(images).clamp(1, 1 << 15)).unwrap_or(1);
    let lane_grid = Grid::for_elements(lanes);
    let grid = Grid { blocks: [lane_grid.blocks[0], rows, 1], ..lane_grid };
    let dtype =
        if mode.number <= NEAREST_EXACT.number { integer_dtype_of_same_size(this.dtype()) } else { this.dtype() };
    // As in PyTorch, antialiasing does not change a dimension that keeps its size, whatever the scale is. The gradient uses the scale.
    let keeps_size = |dim: usize| mode.number >= ANTIALIASED_LINEAR.number && this.sizes()[dim] == out.sizes()[dim];
    let scales = scales.iter().zip(2..).map(|(scale, dim)| scale.filter(|_| !keeps_size(dim)));
    let scales: Vec<Option<f64>> = scales.collect();
    let scales = ResizeParameters::new(mode, align_corners, this.sizes(), out.sizes(), &scales, this.dtype());
    let arguments = (planes, lanes, out, this, to, Images::from_tensor(this, rank), scales);
    Ok(launch.run(&UPSAMPLE_KERNEL, mode.forward, &[dtype], grid, arguments)?)
}

fn launch_upsample_backward(
    rank: usize,
    grad_output: &Tensor,
    out: &Tensor,
    mode: InterpolationMode,
    align_corners: bool,
    scales: &[Option<f64>],
) -> Result<()> {
    let (count, images) =
        (out.geometry().count(), (Images::from_tensor(out, rank), Images::from_tensor(grad_output, rank)));
    let scales = ResizeParameters::new(mode, align_corners, out.sizes(), grad_output.sizes(), scales, out.dtype());
    let arguments = (count, out, grad_output, images.0, images.1, scales);
    Launch::on_device_of(out)?.run_per_element(&UPSAMPLE_KERNEL, mode.backward, &[out.dtype()], count, arguments)
}
