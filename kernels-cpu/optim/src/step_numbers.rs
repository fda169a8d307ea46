//! Numbers that a step reads from tensors. The plans have checked that each is a single real number.

use dispatch_runtime::prelude::*;

/// Returns the number in a tensor.
pub(crate) fn number_of(tensor: &Tensor) -> Result<f64> {
    Ok(aten::item(tensor)?.to_f64().unwrap_or(f64::NAN))
}

/// Returns whether the gradients are not finite, so that the step changes nothing.
#[expect(clippy::float_cmp, reason = "the flag is exactly one")]
pub(crate) fn skips_step(found_inf: Option<&Tensor>) -> Result<bool> {
    Ok(match found_inf {
        Some(found_inf) => number_of(found_inf)? == 1.0,
        None => false,
    })
}
