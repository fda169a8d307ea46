//! Normalisation: batch, group, instance, layer and RMS norms, and softmax.

mod batch;
mod batch_variants;
mod group;
mod instance;
mod layer;
mod rms;
mod softmax;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

use crate::image_spec_like;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{batch::*, batch_variants::*, group::*, instance::*, layer::*, rms::*, softmax::*};
}

fn check_floating(input: &Tensor) -> Result<(), BadArgument> {
    if input.dtype().is_floating() { Ok(()) } else { Err(BadArgument::dtype("input", input.dtype(), DTypes::Floating)) }
}

fn check_sizes_and_floating_dtype(
    name: &'static str,
    tensor: Option<&Tensor>,
    sizes: &[i64],
) -> Result<(), BadArgument> {
    match tensor {
        Some(tensor) if tensor.sizes() != sizes => Err(BadArgument::sizes(name, tensor.sizes(), sizes)),
        Some(tensor) if !tensor.dtype().is_floating() => {
            Err(BadArgument::dtype(name, tensor.dtype(), DTypes::Floating))
        }
        _ => Ok(()),
    }
}

/// Checks that the parameters have the sizes `normalized_shape`, which must be the last sizes of the input.
fn check_normalized_shape<const N: usize>(
    input: &Tensor,
    normalized_shape: &[i64],
    parameters: [(&'static str, Option<&Tensor>); N],
) -> Result<(), BadArgument> {
    for (name, parameter) in parameters {
        if let Some(parameter) = parameter.filter(|parameter| parameter.sizes() != normalized_shape) {
            let expected = format!("{normalized_shape:?}, as `normalized_shape` says");
            return Err(BadArgument::sizes(name, parameter.sizes(), expected));
        }
    }
    layer::check_layer_norm(input, normalized_shape, None, None).map(drop)
}

/// Checks that each parameter has one element for each channel of the input.
fn check_channel_parameters<const N: usize>(
    input: &Tensor,
    parameters: [(&'static str, Option<&Tensor>); N],
) -> Result<(), BadArgument> {
    let sizes = input.sizes();
    let Some(&channels) = sizes.get(1) else { return Err(BadArgument::rank("input", sizes.len(), 2..)) };
    for (name, parameter) in parameters {
        if let Some(parameter) = parameter.filter(|parameter| parameter.sizes() != [channels]) {
            let expected = format!("[{channels}], one for each channel of `input`, which has sizes {sizes:?}");
            return Err(BadArgument::sizes(name, parameter.sizes(), expected));
        }
    }
    check_floating(input)
}

/// Checks that each tensor of statistics has `count` elements.
fn check_statistics_count(all: [(&'static str, &Tensor); 2], count: i64) -> Result<(), BadArgument> {
    for (name, tensor) in all {
        if tensor.geometry().count() != count {
            return Err(BadArgument::element_count(name, tensor.sizes(), count));
        }
    }
    Ok(())
}

/// Returns the specs of the gradients of a normalisation. A gradient that `output_mask` does not request has no elements.
///
/// # Errors
///
/// Returns an error if the sizes of `grad_out` differ from the input's, or if the mask does not have three entries.
fn gradient_specs(
    grad_out: &Tensor,
    input: &Tensor,
    parameters: &[i64],
    weight: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<[Spec; 3], BadArgument> {
    check_sizes_and_floating_dtype("grad_out", Some(grad_out), input.sizes())?;
    let &[of_input, of_weight, of_bias] = output_mask else {
        return Err(BadArgument::length("output_mask", output_mask.len(), 3));
    };
    let dtype = weight.map_or_else(|| input.dtype(), Tensor::dtype);
    let of = |wanted: bool| Spec::contiguous(dtype, if wanted { parameters } else { &[0] });
    let of_input = if of_input { image_spec_like(input, input.sizes()) } else { Spec::contiguous(input.dtype(), &[0]) };
    Ok([of_input, of(of_weight), of(of_bias)])
}
