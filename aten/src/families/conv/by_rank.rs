//! Convolutions of images with a fixed number of dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, MemoryFormat};

use crate::{Window, convolution};

/// Convolves an image that may have come without a batch.
fn with_batch(input: &Tensor, weight: &Tensor, convolve: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if input.sizes().len() + 1 != weight.sizes().len() {
        return convolve(input);
    }
    crate::squeeze_dim(&convolve(&crate::unsqueeze(input, 0)?)?, 0)
}

macro_rules! convolutions {
    ($($rank:literal $name:ident $schema:literal $padded:ident $padded_schema:literal;)*) => {$(
        /// [`convolution`], not transposed, of images with a fixed number of dimensions; one of them may come alone.
        #[op_def($schema)]
        pub fn $name(_: ...) -> Result<Tensor> {
            check_rank($rank, weight)?;
            with_batch(input, weight, |input| {
                convolution(input, weight, bias, stride, padding, dilation, false, &[0], groups)
            })
        }

        /// The same with the padding that is called `valid`, which is none, or `same`, which keeps the sizes.
        #[op_def($padded_schema)]
        pub fn $padded(_: ...) -> Result<Tensor> {
            check_rank($rank, weight)?;
            with_batch(input, weight, |input| {
                padded_by_name(input, weight, bias, stride, padding, dilation, groups)
            })
        }
    )*};
}

convolutions! {
    1 conv1d "conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"
    conv1d_padding "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor";
    2 conv2d "conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"
    conv2d_padding "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor";
    3 conv3d "conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor"
    conv3d_padding "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor";
}

fn check_rank(rank: usize, weight: &Tensor) -> Result<(), BadArgument> {
    match weight.sizes().len() {
        found if found == rank + 2 => Ok(()),
        found => Err(BadArgument::rank("weight", found, rank + 2)),
    }
}

fn padded_by_name(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &str,
    dilation: &[i64],
    groups: i64,
) -> Result<Tensor> {
    let plain = |padding: &[i64]| convolution(input, weight, bias, stride, padding, dilation, false, &[0], groups);
    if padding == "valid" {
        return plain(&[0]);
    }
    if padding != "same" {
        return Err(BadArgument::word("padding", padding, &["valid", "same"]).into());
    }
    let rank = weight.sizes().len() - 2;
    let window = Window::new(rank, ("weight", &weight.sizes()[2..]), stride, &[0], dilation)?;
    if let Some(&stride) = window.stride.iter().find(|&&stride| stride != 1) {
        return Err(BadArgument::number("stride", stride, 1).because("`padding` is \"same\"").into());
    }
    let reach = |dim: usize| window.dilation[dim].saturating_mul(window.kernel[dim] - 1);
    let after: Dims = (0..rank).map(|dim| reach(dim) / 2 + reach(dim) % 2).collect();
    let mut result = plain(&after)?;
    let is_odd = |dim: &usize| reach(*dim) % 2 == 1;
    for dim in (0..rank).filter(is_odd) {
        // There is one element less before the image than after it, and so no first place of the window.
        let dim = i64::try_from(dim + 2).unwrap_or(i64::MAX);
        result = crate::slice(&result, dim, Some(1), None, 1)?;
    }
    crate::contiguous(&result, MemoryFormat::Contiguous)
}

macro_rules! transposed_convolutions {
    ($($rank:literal $name:ident $schema:literal;)*) => {$(
        /// [`convolution`], transposed, of images with a fixed number of dimensions; one of them may come alone.
        #[op_def($schema)]
        pub fn $name(_: ...) -> Result<Tensor> {
            check_rank($rank, weight)?;
            with_batch(input, weight, |input| {
                convolution(input, weight, bias, stride, padding, dilation, true, output_padding, groups)
            })
        }
    )*};
}

transposed_convolutions! {
    1 conv_transpose1d "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor";
    2 conv_transpose2d_input "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor";
    3 conv_transpose3d_input "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor";
}
