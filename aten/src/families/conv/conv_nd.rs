//! `conv1d`, `conv2d`, `conv3d` and their transposed forms: convolutions over a fixed number of dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, MemoryFormat, Problem};

use super::convolution::window_and_output_sizes;
use crate::{Window, convolution};

/// Calls `convolve`, with a batch dimension of size 1 inserted and removed again if the input has none.
pub(super) fn convolve_with_batch_dim(
    input: &Tensor,
    weight: &Tensor,
    convolve: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    if input.sizes().len() + 1 != weight.sizes().len() {
        return convolve(input);
    }
    crate::squeeze_dim(&convolve(&crate::unsqueeze(input, 0)?)?, 0)
}

macro_rules! define_convolutions {
    ($($rank:literal $name:ident $schema:literal $padded:ident $padded_schema:literal;)*) => {$(
        /// A [`convolution`] over the number of dimensions in the operator's name. The batch dimension is optional.
        #[op_def(
            $schema,
            check = check_channels_and_window(input, weight, bias, [stride, padding, dilation, &[0]], groups, false)
        )]
        pub fn $name(_: ...) -> Result<Tensor> {
            check_weight_rank($rank, weight)?;
            convolve_with_batch_dim(input, weight, |input| {
                convolution(input, weight, bias, stride, padding, dilation, false, &[0], groups)
            })
        }

        /// A [`convolution`] over the number of dimensions in the operator's name, with the padding `valid` (none) or `same`.
        /// `same` keeps the sizes of the image. The batch dimension is optional.
        #[op_def($padded_schema, check = check_convolution_with_named_padding(input, weight, bias, stride, padding, dilation, groups))]
        pub fn $padded(_: ...) -> Result<Tensor> {
            check_weight_rank($rank, weight)?;
            convolve_with_batch_dim(input, weight, |input| {
                convolution_with_named_padding(input, weight, bias, stride, padding, dilation, groups)
            })
        }
    )*};
}

define_convolutions! {
    1 conv1d "conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"
    conv1d_padding "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor";
    2 conv2d "conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"
    conv2d_padding "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor";
    3 conv3d "conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor"
    conv3d_padding "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor";
}

fn check_weight_rank(rank: usize, weight: &Tensor) -> Result<(), BadArgument> {
    match weight.sizes().len() {
        found if found == rank + 2 => Ok(()),
        found => Err(BadArgument::rank("weight", found, rank + 2)),
    }
}

/// Checks the channel counts of input, weight and bias, their dtypes and their devices.
fn check_channels_and_dtypes(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    groups: i64,
    transposed: bool,
) -> Result<(), BadArgument> {
    let (sizes, kernel) = (input.sizes(), weight.sizes());
    let &[first, second, _, ..] = kernel else {
        return Err(BadArgument::rank("weight", kernel.len(), 3..=5));
    };
    let Some(dim) = (sizes.len() + 1).checked_sub(kernel.len()).filter(|&dim| dim < 2) else {
        let expected = kernel.len() - 1..=kernel.len();
        return Err(BadArgument::rank("input", sizes.len(), expected).because(format!("`weight` has {}", kernel.len())));
    };
    if groups < 1 {
        return Err(BadArgument::value("groups", groups, "1 or more"));
    }
    let of_groups = if groups == 1 { String::new() } else { format!(" and `groups` is {groups}") };
    let [from, into] =
        if transposed { [first, second.saturating_mul(groups)] } else { [second.saturating_mul(groups), first] };
    if sizes[dim] != from {
        let expected = format!("{from} channels in dimension {dim}, as `weight` has sizes {kernel:?}{of_groups}");
        return Err(BadArgument::sizes("input", sizes, expected));
    }
    if first % groups != 0 {
        return Err(BadArgument::sizes(
            "weight",
            kernel,
            format!("a first size that is a multiple of the {groups} groups"),
        ));
    }
    if let Some(bias) = bias.filter(|bias| bias.sizes() != [into]) {
        let expected = format!("[{into}], one for each channel, as `weight` has sizes {kernel:?}{of_groups}");
        return Err(BadArgument::sizes("bias", bias.sizes(), expected));
    }
    crate::check_same_dtype([("input", Some(input)), ("weight", Some(weight)), ("bias", bias)])?;
    crate::check_same_device([("input", input), ("weight", weight), ("bias", bias.unwrap_or(weight))])
}

/// Checks the same as [`check_channels_and_dtypes`], and that the window fits into the padded image.
fn check_channels_and_window(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    [stride, padding, dilation, output_padding]: [&[i64]; 4],
    groups: i64,
    transposed: bool,
) -> Result<()> {
    check_channels_and_dtypes(input, weight, bias, groups, transposed)?;
    let mut batch = input.clone();
    if input.sizes().len() < weight.sizes().len() {
        let geometry = input.geometry();
        let (sizes, strides) = ([&[1], input.sizes()].concat(), [&[0], geometry.strides()].concat());
        batch = crate::strided_view(input, &sizes, &strides, geometry.offset())?;
    }
    let fits =
        window_and_output_sizes(&batch, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
    fits.map(drop).map_err(|mut error| {
        if let Problem::Sizes { found, .. } = &mut *error.problem
            && error.argument == "input"
        {
            *found = input.sizes().to_vec();
            error = error.because(format!("`weight` has sizes {:?}", weight.sizes()));
        }
        error.into()
    })
}

/// Checks the arguments of a convolution with named padding. With the padding `same`, any window fits.
fn check_convolution_with_named_padding(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &str,
    dilation: &[i64],
    groups: i64,
) -> Result<()> {
    if padding == "valid" {
        return check_channels_and_window(input, weight, bias, [stride, &[0], dilation, &[0]], groups, false);
    }
    Ok(check_channels_and_dtypes(input, weight, bias, groups, false)?)
}

pub(super) fn convolution_with_named_padding(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &str,
    dilation: &[i64],
    groups: i64,
) -> Result<Tensor> {
    let convolve = |padding: &[i64]| convolution(input, weight, bias, stride, padding, dilation, false, &[0], groups);
    if padding == "valid" {
        return convolve(&[0]);
    }
    if padding != "same" {
        return Err(BadArgument::keyword("padding", padding, &["valid", "same"]).into());
    }
    let Some(rank @ 1..) = weight.sizes().len().checked_sub(2) else {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 3..).into());
    };
    let window = Window::new(rank, ("weight", &weight.sizes()[2..]), stride, &[0], dilation)?;
    if let Some(&stride) = window.stride.iter().find(|&&stride| stride != 1) {
        return Err(BadArgument::number("stride", stride, 1).because("`padding` is \"same\"").into());
    }
    let reach = |dim: usize| window.dilation[dim].saturating_mul(window.kernel[dim] - 1);
    let after: Dims = (0..rank).map(|dim| reach(dim) / 2 + reach(dim) % 2).collect();
    let mut result = convolve(&after)?;
    let is_odd = |dim: &usize| reach(*dim) % 2 == 1;
    for dim in (0..rank).filter(is_odd) {
        // `same` pads one element less before the image than after it. `convolve` padded both sides equally, so its first element is dropped.
        let dim = i64::try_from(dim + 2).unwrap_or(i64::MAX);
        result = crate::slice(&result, dim, Some(1), None, 1)?;
    }
    crate::contiguous(&result, MemoryFormat::Contiguous)
}

macro_rules! define_transposed_convolutions {
    ($($rank:literal $name:ident $schema:literal;)*) => {$(
        /// A transposed [`convolution`] over the number of dimensions in the operator's name. The batch dimension is optional.
        #[op_def(
            $schema,
            check = check_channels_and_window(input, weight, bias, [stride, padding, dilation, output_padding], groups, true)
        )]
        pub fn $name(_: ...) -> Result<Tensor> {
            check_weight_rank($rank, weight)?;
            convolve_with_batch_dim(input, weight, |input| {
                convolution(input, weight, bias, stride, padding, dilation, true, output_padding, groups)
            })
        }
    )*};
}

define_transposed_convolutions! {
    1 conv_transpose1d "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor";
    2 conv_transpose2d_input "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor";
    3 conv_transpose3d_input "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor";
}
