//! Differences between tensors.

use aten::prelude::*;
use dispatch_runtime::{DType, Result as RuntimeResult, Tensor};

/// The largest difference of two groups of tensors, and the largest expected element.
#[derive(Default)]
pub(crate) struct Difference {
    largest: f64,
    scale: f64,
}

impl Difference {
    /// Compares a tensor with the expected one. Sizes, dtype, infinities and NaNs must be equal, and so must be integers.
    pub(crate) fn add(&mut self, actual: &Tensor, expected: &Tensor) -> Result<(), String> {
        let actual = &as_recorded(actual, expected)?;
        if (actual.sizes(), actual.dtype()) != (expected.sizes(), expected.dtype()) {
            return Err(format!("{} in place of {}", outline(actual), outline(expected)));
        }
        let is_exact = !(expected.dtype().is_floating() || expected.dtype().is_complex());
        for (at, (actual, expected)) in elements(actual)?.into_iter().zip(elements(expected)?).enumerate() {
            let is_equal = actual.to_bits() == expected.to_bits() || (actual.is_nan() && expected.is_nan());
            if !is_equal && (is_exact || !actual.is_finite() || !expected.is_finite()) {
                return Err(format!("element {at} is {actual} in place of {expected}"));
            }
            if expected.is_finite() {
                self.largest = self.largest.max((actual - expected).abs());
                self.scale = self.scale.max(expected.abs());
            }
        }
        Ok(())
    }

    /// Returns the largest difference, relative to the largest expected element. If all expected elements are zero, it is absolute.
    pub(crate) fn relative(&self) -> f64 {
        if self.scale > 0.0 { self.largest / self.scale } else { self.largest }
    }
}

/// Returns the relative tolerance of `torch.testing` for a dtype.
pub(crate) const fn default_tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::BF16 => 1.6e-2,
        DType::F16 => 1e-3,
        DType::F32 | DType::C64 => 1.3e-6,
        DType::F64 | DType::C128 => 1e-7,
        _ => 0.0,
    }
}

/// Returns a complex tensor as pairs of real numbers if the recording has it so.
fn as_recorded(actual: &Tensor, expected: &Tensor) -> Result<Tensor, String> {
    let actual = actual.detach().map_err(|error| error.to_string())?;
    if actual.dtype().is_complex() && !expected.dtype().is_complex() {
        let pairs = aten::resolve_conj(&actual).and_then(|actual| aten::view_as_real(&actual));
        return pairs.map_err(|error| error.to_string());
    }
    Ok(actual)
}

/// Returns the elements of a tensor; a complex one has two numbers for each.
pub(crate) fn elements(tensor: &Tensor) -> Result<Vec<f64>, String> {
    let numbers = || -> RuntimeResult<Vec<f64>> {
        let tensor = tensor.detach()?;
        let real =
            if tensor.dtype().is_complex() { aten::view_as_real(&aten::resolve_conj(&tensor)?)? } else { tensor };
        real.to(DType::F64)?.to_vec::<f64>()
    };
    numbers().map_err(|error| error.to_string())
}

/// Describes a tensor by its dtype and sizes.
pub(crate) fn outline(tensor: &Tensor) -> String {
    format!("{}{:?}", tensor.dtype(), tensor.sizes())
}
