//! Gradient formulas of upsampling.

use dispatch_runtime::prelude::*;

use crate::TensorOutline;

macro_rules! upsample_derivatives {
    ($($upsample:ident $backward:ident [$($align:ident)?] [$($scale:ident)+];)*) => { derivatives! {$(
        $upsample(grad; this: &TensorOutline, output_size: &[i64], $($align: bool,)? $($scale: Option<f64>),+) =>
            aten::$backward(grad, output_size, this.sizes(), $($align,)? $($scale),+);
        $backward(grad; output_size: &[i64], $($align: bool,)? $($scale: Option<f64>),+) =>
            aten::$upsample(grad, output_size, $($align,)? $($scale),+);
    )*} };
}

upsample_derivatives! {
    upsample_nearest1d upsample_nearest1d_backward [] [scales];
    upsample_nearest2d upsample_nearest2d_backward [] [scales_h scales_w];
    upsample_nearest3d upsample_nearest3d_backward [] [scales_d scales_h scales_w];
    _upsample_nearest_exact1d _upsample_nearest_exact1d_backward [] [scales];
    _upsample_nearest_exact2d _upsample_nearest_exact2d_backward [] [scales_h scales_w];
    _upsample_nearest_exact3d _upsample_nearest_exact3d_backward [] [scales_d scales_h scales_w];
    upsample_linear1d upsample_linear1d_backward [align_corners] [scales];
    upsample_bilinear2d upsample_bilinear2d_backward [align_corners] [scales_h scales_w];
    upsample_trilinear3d upsample_trilinear3d_backward [align_corners] [scales_d scales_h scales_w];
    upsample_bicubic2d upsample_bicubic2d_backward [align_corners] [scales_h scales_w];
    _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward [align_corners] [scales_h scales_w];
    _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward [align_corners] [scales_h scales_w];
    _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward [align_corners] [scales_h scales_w];
}
