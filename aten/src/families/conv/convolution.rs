//! Convolutions over one, two or three dimensions, and their gradients.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Expected, MemoryFormat, Spec};

use crate::prelude::*;
use crate::{Window, check_grad_output, check_same_device, expand_list_to_rank, image_spec_like};

/// The convolution of `input` with `weight`. With `transposed`, the transposed convolution: the gradient of a convolution for its input.
#[op_def(
    "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
    plan,
    out = "out"
)]
pub fn convolution(_: ...) -> Result<Tensor>;

/// The gradients of [`convolution`] for its input, weight and bias. A gradient that `output_mask` does not request is empty.
#[op_def(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn convolution_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

/// Checks the arguments of a convolution. Returns its window, which moves over the input (or over the output, if transposed), and the sizes
/// of the result.
#[expect(clippy::too_many_arguments, reason = "the operator has these arguments")]
pub(super) fn window_and_output_sizes(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
) -> Result<(Window, Dims), BadArgument> {
    let (rank, own, kernel) = (weight.sizes().len(), input.sizes(), weight.sizes());
    if !(3..=5).contains(&rank) {
        return Err(BadArgument::rank("weight", rank, 3..=5));
    }
    if own.len() != rank {
        return Err(BadArgument::rank("input", own.len(), rank).like("weight"));
    }
    if weight.dtype() != input.dtype() {
        return Err(BadArgument::dtype("weight", weight.dtype(), input.dtype()).like("input"));
    }
    check_same_device([("input", input), ("weight", weight), ("bias", bias.unwrap_or(weight))])?;
    if groups < 1 {
        return Err(BadArgument::number("groups", groups, 1..));
    }
    let window = Window::new(rank - 2, ("weight", &kernel[2..]), stride, padding, dilation)?;
    let output_padding_list = expand_list_to_rank("output_padding", output_padding, rank - 2, 0)?;
    let (from, into) = if transposed {
        (kernel[0], kernel[1].checked_mul(groups))
    } else {
        (kernel[1].saturating_mul(groups), Some(kernel[0]))
    };
    let Some(into) = into.filter(|_| kernel[0] % groups == 0) else {
        return Err(BadArgument::size("weight", kernel, 0, Expected::MultipleOf(groups))
            .because("the number of groups must divide it"));
    };
    if own[1] != from {
        return Err(BadArgument::size("input", own, 1, from).because("`weight` has this number of channels"));
    }
    if let Some(bias) = bias {
        if bias.sizes() != [into] {
            return Err(BadArgument::sizes("bias", bias.sizes(), &[into][..]).because("each channel has one element"));
        }
        if bias.dtype() != input.dtype() {
            return Err(BadArgument::dtype("bias", bias.dtype(), input.dtype()).like("input"));
        }
    }
    let mut sizes = Dims::from_slice(&[own[0], into]);
    for dim in 0..rank - 2 {
        let size = own[dim + 2];
        let found = if transposed {
            let most = window.stride[dim].max(window.dilation[dim]);
            if output_padding_list[dim] >= most {
                let bad = BadArgument::number("output_padding", output_padding_list[dim], Expected::Below(most.into()));
                return Err(bad.because("the larger of stride and dilation has this value"));
            }
            window.transposed_output_size(dim, size, output_padding_list[dim]).filter(|&size| size > 0)
        } else {
            window.position_count(dim, size)
        };
        sizes.push(found.ok_or_else(|| BadArgument::sizes("input", own, "large enough sizes for the kernel"))?);
    }
    Ok((window, sizes))
}

/// Returns the spec of a result or a gradient of a convolution. It is channels-last if an operand is.
fn convolution_spec(input: &Tensor, weight: &Tensor, sizes: &[i64]) -> Spec {
    image_spec_like(
        if weight.geometry().suggested_format() == MemoryFormat::Contiguous { input } else { weight },
        sizes,
    )
}

#[op_plan(convolution)]
fn convolution_plan(_: ...) -> Result<Plan<Window>, BadArgument> {
    let (window, sizes) =
        window_and_output_sizes(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)?;
    Ok(Plan::new(window, [convolution_spec(input, weight, &sizes)]))
}

#[op_plan(convolution_backward)]
fn convolution_backward_plan(_: ...) -> Result<Plan<Window, 3>, BadArgument> {
    let (window, sizes) =
        window_and_output_sizes(input, weight, None, stride, padding, dilation, transposed, output_padding, groups)?;
    check_grad_output(grad_output, ("input", input), &sizes)?;
    let Ok([of_input, of_weight, of_bias]) = <[bool; 3]>::try_from(output_mask) else {
        return Err(BadArgument::length("output_mask", output_mask.len(), 3));
    };
    let gradient = |wanted: bool, sizes: &[i64]| {
        if wanted { convolution_spec(input, weight, sizes) } else { Spec::contiguous(input.dtype(), &[0]) }
    };
    let of_bias = gradient(of_bias, &sizes[1..2]);
    Ok(Plan::new(window, [gradient(of_input, input.sizes()), gradient(of_weight, weight.sizes()), of_bias]))
}

/// The gradients of [`convolution_backward`] for `gO`, `self` and `weight`, given those of its results: `ggI`, `ggW` and `ggb`.
///
/// A convolution is linear in its input and its weight, so its second derivatives are convolutions of the same kind. A result that is zero,
/// because the gradients that it depends on are left out, has no elements. As in PyTorch, `output_mask` has no effect.
#[op_def(
    "_convolution_double_backward(Tensor? ggI, Tensor? ggW, Tensor? ggb, Tensor gO, Tensor weight, Tensor self, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
)]
#[expect(non_snake_case, reason = "the arguments have the names of the schema")]
pub fn _convolution_double_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    let (_, sizes) =
        window_and_output_sizes(this, weight, None, stride, padding, dilation, transposed, output_padding, groups)?;
    if gO.sizes() != &sizes[..] {
        return Err(BadArgument::sizes("gO", gO.sizes(), &sizes[..]).because("the result has").into());
    }
    for (name, gradient) in [("weight", Some(weight)), ("gO", Some(gO)), ("ggI", ggI), ("ggW", ggW), ("ggb", ggb)] {
        check_same_device([("self", this), (name, gradient.unwrap_or(this))])?;
    }
    if output_mask.len() != 3 {
        return Err(BadArgument::length("output_mask", output_mask.len(), 3).into());
    }
    let forward = |input: &Tensor, weight: &Tensor, bias: Option<&Tensor>| {
        convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    };
    let backward = |input: &Tensor, weight: &Tensor, mask: [bool; 3]| {
        convolution_backward(
            gO,
            input,
            weight,
            None,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            &mask,
        )
    };
    let empty = || Tensor::empty(0, gO);
    let of_output = match (ggI, ggW, ggb) {
        (Some(image), Some(kernel), bias) => (forward(image, weight, bias)? + forward(this, kernel, None)?)?,
        (Some(image), None, bias) => forward(image, weight, bias)?,
        (None, Some(kernel), bias) => forward(this, kernel, bias)?,
        (None, None, Some(bias)) => {
            let mut of_channels = vec![1; sizes.len()];
            of_channels[1] = -1;
            bias.reshape(&of_channels)?.expand(&sizes)?
        }
        (None, None, None) => empty()?,
    };
    let of_input = match ggW {
        Some(kernel) => backward(this, kernel, [true, false, false])?.0,
        None => empty()?,
    };
    let of_weight = match ggI {
        Some(image) => backward(image, weight, [false, true, false])?.1,
        None => empty()?,
    };
    let of_weight = match ggI {
        Some(_) => {
            let (from, window) =
                if transposed { (&sizes[2..], this.sizes()) } else { (&this.sizes()[2..], &sizes[..]) };
            crop_transposed(&of_weight, from, &window[2..], stride, padding, dilation)?
        }
        None => of_weight,
    };
    Ok((of_output, of_input, of_weight))
}

/// Gives the gradient of a weight the strides that it has in PyTorch, where it is the transposed result of a convolution, cropped to the
/// sizes of the weight. That convolution moves a window of the sizes `window` over images of the sizes `from`.
fn crop_transposed(
    gradient: &Tensor,
    from: &[i64],
    window: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
) -> Result<Tensor> {
    let rank = from.len();
    let [stride, padding, dilation] = [
        expand_list_to_rank("stride", stride, rank, 1)?,
        expand_list_to_rank("padding", padding, rank, 0)?,
        expand_list_to_rank("dilation", dilation, rank, 1)?,
    ];
    let kept = &gradient.sizes()[2..];
    let cropped = (0..rank).rev().flat_map(|at| {
        let padded = from[at].saturating_add(padding[at].saturating_mul(2));
        let whole = (padded - stride[at].saturating_mul(window[at] - 1) - 1) / dilation[at] + 1;
        [0, (whole - kept[at]).max(0)]
    });
    let whole = crate::constant_pad_nd(
        &crate::clone(&crate::transpose_int(gradient, 0, 1)?, Some(MemoryFormat::Contiguous))?,
        &cropped.collect::<Vec<_>>(),
        0.into(),
    )?;
    let dims = (2..).zip(kept);
    let result = dims.into_iter().try_fold(whole, |whole, (dim, &size)| crate::narrow(&whole, dim, 0, size))?;
    crate::transpose_int(&result, 0, 1)
}
