//! Gradient formulas of convolutions, and of `im2col` and `col2im`.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{TensorOutline, op_grad};

#[op_grad(aten::convolution)]
fn convolution(grad: &Tensor, needs: &[bool], _: ...) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
    let (of_input, of_weight, of_bias) = aten::convolution_backward(
        grad,
        input,
        weight,
        Some(&grad.sizes()[1..2]),
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        needs,
    )?;
    Ok((needs[0].then_some(of_input), needs[1].then_some(of_weight), needs[2].then_some(of_bias)))
}

/// Second derivatives of a convolution. It is linear in input and weight, so its gradients are convolutions of the same kind.
#[op_grad(aten::convolution_backward)]
fn convolution_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    needs: &[bool],
    _: ...
) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
    // A result that the mask does not request is empty, and so is its gradient.
    let (grad0, grad1, grad2) =
        (grad0.filter(|_| output_mask[0]), grad1.filter(|_| output_mask[1]), grad2.filter(|_| output_mask[2]));
    let forward = |input: &Tensor, weight: &Tensor, bias: Option<&Tensor>| {
        aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    };
    let backward = |input: &Tensor, weight: &Tensor, mask: [bool; 3]| {
        aten::convolution_backward(
            grad_output,
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
    let of_output = || match (grad0, grad1, grad2) {
        (Some(image), Some(kernel), bias) => Ok(Some((forward(image, weight, bias)? + forward(input, kernel, None)?)?)),
        (Some(image), None, bias) => forward(image, weight, bias).map(Some),
        (None, Some(kernel), bias) => forward(input, kernel, bias).map(Some),
        (None, None, Some(bias)) => {
            let mut sizes = vec![1; grad_output.sizes().len()];
            sizes[1] = -1;
            bias.reshape(&sizes)?.expand(grad_output.sizes()).map(Some)
        }
        (None, None, None) => Ok(None),
    };
    let of_input = |kernel: &Tensor| -> Result<Tensor> { Ok(backward(input, kernel, [true, false, false])?.0) };
    let of_weight = |image: &Tensor| -> Result<Tensor> { Ok(backward(image, weight, [false, true, false])?.1) };
    Ok((
        if needs[0] { of_output()? } else { None },
        grad1.filter(|_| needs[1]).map(of_input).transpose()?,
        grad0.filter(|_| needs[2]).map(of_weight).transpose()?,
    ))
}

derivatives! {
    im2col(grad; this: &TensorOutline, kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) =>
        aten::col2im(grad, &this.sizes()[this.rank() - 2..], kernel_size, dilation, padding, stride);
    col2im(grad; kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) =>
        aten::im2col(grad, kernel_size, dilation, padding, stride);
}
