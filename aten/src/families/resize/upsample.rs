//! Resizing of images: nearest, linear, cubic and Lanczos interpolation, with or without antialiasing.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use crate::{expand_list_to_rank, image_spec_like};

macro_rules! define_upsamples {
    ($($rank:literal [$($align:ident)?] [$($scale:ident)+]
        $name:ident $schema:literal
        $vec:ident $vec_schema:literal $($vec_out:literal)?
        $backward:ident $backward_schema:literal;)*) => {$(
        /// Resizes images to `output_size`.
        #[op_def($schema, plan, out = "out")]
        pub fn $name(_: ...) -> Result<Tensor>;

        /// Resizes images to `output_size`, or by `scale_factors`.
        #[op_def($vec_schema $(, out = $vec_out)?)]
        pub fn $vec(
            input: &Tensor,
            output_size: Option<&[i64]>,
            $($align: bool,)?
            scale_factors: Option<&[f64]>,
        ) -> Result<Tensor> {
            let (size, scales) = output_size_and_scales($rank, input, output_size, scale_factors)?;
            let mut scales = scales.iter().copied();
            $(let $scale = scales.next();)+
            $name(input, &size, $($align,)? $($scale),+)
        }

        /// Computes the gradient of resizing for the input.
        #[op_def($backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $backward(_: ...) -> Result<Tensor>;

        const _: () = {
            #[op_plan($name)]
            fn plan(this: &Tensor, output_size: &[i64]) -> Result<Plan<()>, BadArgument> {
                Ok(Plan::new((), [upsample_spec($rank, this, output_size)?]))
            }

            #[op_plan($backward)]
            fn backward_plan(_: ...) -> Result<Plan<()>, BadArgument> {
                Ok(Plan::new((), [upsample_backward_spec($rank, grad_output, output_size, input_size)?]))
            }
        };
    )*};
}

define_upsamples! {
    1 [] [scales]
    upsample_nearest1d
    "upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor"
    upsample_nearest1d_vec
    "upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"
    upsample_nearest1d_backward
    "upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None) -> Tensor";
    2 [] [scales_h scales_w]
    upsample_nearest2d
    "upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor"
    upsample_nearest2d_vec
    "upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor" "vec_out"
    upsample_nearest2d_backward
    "upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor";
    3 [] [scales_d scales_h scales_w]
    upsample_nearest3d
    "upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
    upsample_nearest3d_vec
    "upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"
    upsample_nearest3d_backward
    "upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor";
    1 [] [scales]
    _upsample_nearest_exact1d
    "_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor"
    _upsample_nearest_exact1d_vec
    "_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"
    _upsample_nearest_exact1d_backward
    "_upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None) -> Tensor";
    2 [] [scales_h scales_w]
    _upsample_nearest_exact2d
    "_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor"
    _upsample_nearest_exact2d_vec
    "_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"
    _upsample_nearest_exact2d_backward
    "_upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor";
    3 [] [scales_d scales_h scales_w]
    _upsample_nearest_exact3d
    "_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
    _upsample_nearest_exact3d_vec
    "_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"
    _upsample_nearest_exact3d_backward
    "_upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor";
    1 [align_corners] [scales]
    upsample_linear1d
    "upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor"
    upsample_linear1d_vec
    "upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
    upsample_linear1d_backward
    "upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, bool align_corners, float? scales=None) -> Tensor";
    2 [align_corners] [scales_h scales_w]
    upsample_bilinear2d
    "upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
    upsample_bilinear2d_vec
    "upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor" "vec_out"
    upsample_bilinear2d_backward
    "upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor";
    3 [align_corners] [scales_d scales_h scales_w]
    upsample_trilinear3d
    "upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
    upsample_trilinear3d_vec
    "upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
    upsample_trilinear3d_backward
    "upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor";
    2 [align_corners] [scales_h scales_w]
    upsample_bicubic2d
    "upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
    upsample_bicubic2d_vec
    "upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
    upsample_bicubic2d_backward
    "upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor";
    2 [align_corners] [scales_h scales_w]
    _upsample_bilinear2d_aa
    "_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
    _upsample_bilinear2d_aa_vec
    "_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
    _upsample_bilinear2d_aa_backward
    "_upsample_bilinear2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor";
    2 [align_corners] [scales_h scales_w]
    _upsample_bicubic2d_aa
    "_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
    _upsample_bicubic2d_aa_vec
    "_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
    _upsample_bicubic2d_aa_backward
    "_upsample_bicubic2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor";
    2 [align_corners] [scales_h scales_w]
    _upsample_lanczos2d_aa
    "_upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
    _upsample_lanczos2d_aa_vec
    "_upsample_lanczos2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
    _upsample_lanczos2d_aa_backward
    "_upsample_lanczos2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor";
}

fn upsample_spec(rank: usize, this: &Tensor, output_size: &[i64]) -> Result<Spec, BadArgument> {
    let sizes = this.sizes();
    if sizes.len() != rank + 2 {
        return Err(BadArgument::rank("self", sizes.len(), rank + 2));
    }
    if sizes[1..].contains(&0) {
        return Err(BadArgument::sizes("self", sizes, "no channel or image dimension of size 0"));
    }
    let output_size = expand_list_to_rank("output_size", output_size, rank, 1)?;
    let mut result = Dims::from_slice(&sizes[..2]);
    result.extend(output_size);
    Ok(image_spec_like(this, &result))
}

fn upsample_backward_spec(
    rank: usize,
    grad_output: &Tensor,
    output_size: &[i64],
    input_size: &[i64],
) -> Result<Spec, BadArgument> {
    let output_size = expand_list_to_rank("output_size", output_size, rank, 1)?;
    if input_size.len() != rank + 2 || input_size[2..].iter().any(|&size| size < 1) {
        let expected = format!("a list of {} sizes, with no image dimension of size 0", rank + 2);
        return Err(BadArgument::value("input_size", format!("{input_size:?}"), expected));
    }
    let mut sizes = Dims::from_slice(&input_size[..2]);
    sizes.extend(output_size);
    if grad_output.sizes() == &sizes[..] {
        return Ok(image_spec_like(grad_output, input_size));
    }
    Err(BadArgument::sizes("grad_output", grad_output.sizes(), &sizes[..]).because("the result has"))
}

/// Returns the output sizes and the scales. They come from `output_size` or from `scale_factors`: exactly one must be given.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "PyTorch computes sizes in this way")]
fn output_size_and_scales<'a>(
    rank: usize,
    input: &Tensor,
    output_size: Option<&[i64]>,
    scale_factors: Option<&'a [f64]>,
) -> Result<(Dims, &'a [f64]), BadArgument> {
    match (output_size, scale_factors) {
        (Some(size), None) => Ok((Dims::from_slice(size), &[])),
        (None, Some(factors)) => {
            if input.sizes().len() != rank + 2 {
                return Err(BadArgument::rank("input", input.sizes().len(), rank + 2));
            }
            if factors.len() != rank {
                return Err(BadArgument::length("scale_factors", factors.len(), rank));
            }
            let sizes = input.sizes()[2..].iter().zip(factors).map(|(&size, &factor)| (size as f64 * factor) as i64);
            Ok((sizes.collect(), factors))
        }
        _ => Err(BadArgument::value(
            "output_size",
            format!("{output_size:?}"),
            "given if and only if `scale_factors` is left out",
        )),
    }
}
