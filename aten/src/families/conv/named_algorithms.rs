//! PyTorch's operators for one algorithm of a convolution. They compute a [`convolution`] with the arguments that their algorithm has.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, MemoryFormat};

use super::conv_nd::{convolution_with_named_padding, convolve_with_batch_dim};
use super::convolution::window_and_output_sizes;
use crate::{convolution, missing_kernel_error};

/// A [`convolution`]. The options of cuDNN have no effect.
#[op_def(
    "_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
    out = "out",
    calls = convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
)]
pub fn _convolution(_: ...) -> Result<Tensor>;

/// An earlier signature of [`_convolution`].
#[op_def(
    "_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
    calls = convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
)]
pub fn _convolution_deprecated(_: ...) -> Result<Tensor>;

/// A [`convolution`] with the padding `valid` (none) or `same`, which keeps the sizes of the image.
#[op_def(
    "_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, SymInt[] dilation, SymInt groups) -> Tensor"
)]
pub fn _convolution_mode(_: ...) -> Result<Tensor> {
    convolution_with_named_padding(input, weight, bias, stride, padding, dilation, groups)
}

/// Checks that a convolution over `rank` dimensions has the kernel sizes of its weight, and an element for each dimension in its options.
fn check_kernel_size<const N: usize>(
    rank: usize,
    weight: &Tensor,
    kernel_size: &[i64],
    options: [(&'static str, &[i64]); N],
) -> Result<(), BadArgument> {
    if let Some((name, option)) = options.into_iter().find(|(_, option)| option.len() != rank) {
        return Err(BadArgument::length(name, option.len(), rank).because("the image has this number of dimensions"));
    }
    if weight.sizes().len() != rank + 2 {
        return Err(BadArgument::rank("weight", weight.sizes().len(), rank + 2));
    }
    if *kernel_size != weight.sizes()[2..] {
        return Err(BadArgument::sizes("kernel_size", kernel_size, &weight.sizes()[2..]).because("`weight` has"));
    }
    Ok(())
}

/// Removes the border of an image where its padding is negative. Returns the image and the padding that remains.
fn crop_by_negative_padding(input: &Tensor, padding: &[i64]) -> Result<(Tensor, Vec<i64>)> {
    let remaining = padding.iter().map(|&padding| padding.max(0)).collect();
    if *padding == remaining {
        return Ok((input.clone(), remaining));
    }
    // Pads begin at the last dimension, with two for each.
    let cropped: Vec<i64> = padding.iter().rev().flat_map(|&padding| [padding.min(0); 2]).collect();
    Ok((crate::constant_pad_nd(input, &cropped, 0.into())?, remaining))
}

macro_rules! forward_convolutions {
    ($($rank:literal $name:ident $schema:literal $overload:literal $out:ident;)*) => {$(
        /// A [`convolution`] over the number of dimensions in the operator's name.
        #[op_def($schema, out = $overload($out))]
        pub fn $name(_: ...) -> Result<Tensor> {
            check_kernel_size($rank, weight, kernel_size, [("stride", stride), ("padding", padding)])?;
            let (input, padding) = crop_by_negative_padding(this, padding)?;
            convolution(&input, weight, bias, stride, &padding, &[1], false, &[0], 1)
        }
    )*};
}

forward_convolutions! {
    2 thnn_conv2d "thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0]) -> Tensor" "out" out;
    2 _slow_conv2d_forward "_slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride, SymInt[2] padding) -> Tensor" "output" output;
    3 slow_conv3d "slow_conv3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0]) -> Tensor" "out" out;
    3 slow_conv3d_forward "slow_conv3d_forward(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, SymInt[3] stride, SymInt[3] padding) -> Tensor" "output" output;
}

macro_rules! dilated_convolutions {
    ($($rank:literal $name:ident $schema:literal;)*) => {$(
        /// A [`convolution`] with a dilation, over the number of dimensions in the operator's name. The batch dimension is optional.
        #[op_def($schema, out = "out")]
        pub fn $name(_: ...) -> Result<Tensor> {
            let options = [("stride", stride), ("padding", padding), ("dilation", dilation)];
            check_kernel_size($rank, weight, kernel_size, options)?;
            let (input, padding) = crop_by_negative_padding(this, padding)?;
            convolve_with_batch_dim(&input, weight, |input| {
                convolution(input, weight, bias, stride, &padding, dilation, false, &[0], 1)
            })
        }
    )*};
}

dilated_convolutions! {
    2 slow_conv_dilated2d "slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1]) -> Tensor";
    3 slow_conv_dilated3d "slow_conv_dilated3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1]) -> Tensor";
}

/// A transposed [`convolution`] over two dimensions. The batch dimension of the input is optional; the result always has one.
#[op_def(
    "slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt[2] dilation=[1, 1]) -> Tensor",
    out = "out"
)]
pub fn slow_conv_transpose2d(_: ...) -> Result<Tensor> {
    let options =
        [("stride", stride), ("padding", padding), ("output_padding", output_padding), ("dilation", dilation)];
    check_kernel_size(2, weight, kernel_size, options)?;
    let input = if this.sizes().len() == 3 { crate::unsqueeze(this, 0)? } else { this.clone() };
    convolution(&input, weight, bias, stride, padding, dilation, true, output_padding, 1)
}

/// A transposed [`convolution`] over three dimensions. The batch dimension is optional.
#[op_def(
    "slow_conv_transpose3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1]) -> Tensor",
    out = "out"
)]
pub fn slow_conv_transpose3d(_: ...) -> Result<Tensor> {
    let options =
        [("stride", stride), ("padding", padding), ("output_padding", output_padding), ("dilation", dilation)];
    check_kernel_size(3, weight, kernel_size, options)?;
    convolve_with_batch_dim(this, weight, |input| {
        convolution(input, weight, bias, stride, padding, dilation, true, output_padding, 1)
    })
}

/// The gradients of [`_slow_conv2d_forward`] for its input, weight and bias. A gradient that `output_mask` does not request is empty.
#[op_def(
    "_slow_conv2d_backward.output_mask(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size, SymInt[2] stride, SymInt[2] padding, bool[3] output_mask) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)",
    out = "output_mask_out"(out0, out1, out2)
)]
pub fn _slow_conv2d_backward_output_mask(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    check_kernel_size(2, weight, kernel_size, [("stride", stride), ("padding", padding)])?;
    let bias_sizes = Some(&weight.sizes()[..1]);
    crate::convolution_backward(
        grad_output,
        this,
        weight,
        bias_sizes,
        stride,
        padding,
        &[1],
        false,
        &[0],
        1,
        output_mask,
    )
}

/// The convolution of sequences with sizes `[time, batch, channels]`, padded by `pad` zeros at both ends. The weight has the sizes
/// `[kernel, input channels, output channels]`.
#[op_def("conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", out = "out")]
pub fn conv_tbc(_: ...) -> Result<Tensor> {
    check_time_batch_channels(this, weight)?;
    let (input, weight) = (crate::permute(this, &[1, 2, 0])?, crate::permute(weight, &[2, 1, 0])?);
    let result = convolution(&input, &weight, Some(bias), &[1], &[pad], &[1], false, &[0], 1)?;
    crate::contiguous(&crate::permute(&result, &[2, 0, 1])?, MemoryFormat::Contiguous)
}

/// The gradients of [`conv_tbc`] for its input, weight and bias.
#[op_def(
    "conv_tbc_backward(Tensor self, Tensor input, Tensor weight, Tensor bias, int pad) -> (Tensor, Tensor, Tensor)"
)]
pub fn conv_tbc_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    check_time_batch_channels(input, weight)?;
    let (grad, input) = (crate::permute(this, &[1, 2, 0])?, crate::permute(input, &[1, 2, 0])?);
    let weight = crate::permute(weight, &[2, 1, 0])?;
    let (of_input, of_weight, of_bias) = crate::convolution_backward(
        &grad,
        &input,
        &weight,
        Some(bias.sizes()),
        &[1],
        &[pad],
        &[1],
        false,
        &[0],
        1,
        &[true; 3],
    )?;
    let of_input = crate::contiguous(&crate::permute(&of_input, &[2, 0, 1])?, MemoryFormat::Contiguous)?;
    let of_weight = crate::contiguous(&crate::permute(&of_weight, &[2, 1, 0])?, MemoryFormat::Contiguous)?;
    Ok((of_input, of_weight, of_bias))
}

fn check_time_batch_channels(input: &Tensor, weight: &Tensor) -> Result<(), BadArgument> {
    for (name, tensor) in [("self", input), ("weight", weight)] {
        if tensor.sizes().len() != 3 {
            return Err(BadArgument::rank(name, tensor.sizes().len(), 3));
        }
    }
    Ok(())
}

/// The gradients of [`_slow_conv2d_forward`] for its input, weight and bias, written to `grad_input`, `grad_weight` and `grad_bias`.
#[op_def(
    "_slow_conv2d_backward.grad_input(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size, SymInt[2] stride, SymInt[2] padding, *, Tensor(a!) grad_input, Tensor(b!) grad_weight, Tensor(c!) grad_bias) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    body = CompositeExplicitAutograd
)]
pub fn _slow_conv2d_backward_grad_input(_: ...) -> Result<()> {
    _slow_conv2d_backward_output_mask_out(
        grad_output,
        this,
        weight,
        kernel_size,
        stride,
        padding,
        &[true; 3],
        grad_input,
        grad_weight,
        grad_bias,
    )
}

/// A [`convolution`] for backends of other crates, which register a kernel of it. Without one, it is an error.
#[op_def(
    "convolution_overrideable(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
    out = "out"
)]
pub fn convolution_overrideable(_: ...) -> Result<Tensor> {
    window_and_output_sizes(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)?;
    Err(missing_kernel_error("input", input).into())
}

/// The gradients of [`convolution_overrideable`], for backends of other crates.
#[op_def(
    "convolution_backward_overrideable(Tensor grad_output, Tensor input, Tensor weight, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)",
    out = "out"(out0, out1, out2)
)]
pub fn convolution_backward_overrideable(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    window_and_output_sizes(input, weight, None, stride, padding, dilation, transposed, output_padding, groups)?;
    Err(missing_kernel_error("input", input).into())
}
