//! Argument checks that several families share: devices, gradients, lower limits of numbers, and output masks.

use dispatch_runtime::{BadArgument, Expected, Problem, Tensor};

/// Checks that tensors are on one device. Tensors without dimensions may be on any device.
pub(crate) fn check_same_device<const N: usize>(tensors: [(&'static str, &Tensor); N]) -> Result<(), BadArgument> {
    let mut common_device = None;
    for (name, tensor) in tensors.into_iter().filter(|(_, tensor)| tensor.geometry().rank() > 0) {
        let (found, expected) = (tensor.device(), *common_device.get_or_insert_with(|| tensor.device()));
        if found != expected {
            return Err(BadArgument::new(name, Problem::Device { found, expected }));
        }
    }
    Ok(())
}

/// Returns the error of an operator that only backends of other crates implement. `tensor` is on a device without a kernel of it.
pub(crate) fn missing_kernel_error(name: &'static str, tensor: &Tensor) -> BadArgument {
    let expected = "a tensor on a device whose backend has a kernel of this operator";
    BadArgument::value(name, format!("a tensor on {}", tensor.device()), expected)
}

/// Checks that `grad_output` has the sizes of the operator's result, and the device and the dtype of the input `this`. Errors
/// call the input by `name`.
pub(crate) fn check_grad_output(
    grad_output: &Tensor,
    (name, this): (&'static str, &Tensor),
    sizes: &[i64],
) -> Result<(), BadArgument> {
    check_same_device([("grad_output", grad_output), (name, this)])?;
    if grad_output.sizes() != sizes {
        return Err(BadArgument::sizes("grad_output", grad_output.sizes(), sizes).because("the result has"));
    }
    if grad_output.dtype() != this.dtype() {
        return Err(BadArgument::dtype("grad_output", grad_output.dtype(), this.dtype()).like(name));
    }
    Ok(())
}

/// Refuses a `value` below `min`, or NaN.
pub(crate) fn check_number_at_least(argument: &'static str, value: f64, min: f64) -> Result<(), BadArgument> {
    if value >= min {
        return Ok(());
    }
    let expected = if min > 0.0 { Expected::Above(0.into()) } else { (0..).into() };
    Err(BadArgument::number(argument, value, expected))
}

/// Converts the `output_mask` of an operator with two gradients to an array.
pub(crate) fn output_mask_pair(output_mask: &[bool]) -> Result<[bool; 2], BadArgument> {
    let wrong = |_| BadArgument::length("output_mask", output_mask.len(), 2);
    output_mask.try_into().map_err(wrong)
}
