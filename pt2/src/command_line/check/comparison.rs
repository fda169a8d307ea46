//! Differences between results and recordings, and their tolerances.

use aten::prelude::*;
use dispatch_autograd::Differentiable as _;
use dispatch_runtime::{DType, Tensor, Value};

use super::recording::Noise;

/// The smallest tolerance of results of 32-bit computations.
const SMALLEST_TOLERANCE: f64 = 1e-5;

/// The largest difference of two groups of tensors, and the largest expected element.
#[derive(Default)]
pub(super) struct Difference {
    largest: f64,
    scale: f64,
}

impl Difference {
    /// Compares a tensor with the expected one. Sizes, dtype, infinities and NaNs must be equal, and so must be integers.
    pub(super) fn add(&mut self, actual: &Tensor, expected: &Tensor) -> Result<(), String> {
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
    pub(super) fn relative(&self) -> f64 {
        if self.scale > 0.0 { self.largest / self.scale } else { self.largest }
    }
}

/// Compares a value with the expected one, and returns the relative difference.
pub(super) fn compare_values(actual: &Value, expected: &Value) -> Result<f64, String> {
    match (actual, expected) {
        (Value::Tensor(actual), Value::Tensor(expected)) => {
            let mut difference = Difference::default();
            difference.add(actual, expected)?;
            Ok(difference.relative())
        }
        (Value::Float(actual), Value::Float(expected)) => Ok((actual - expected).abs() / expected.abs().max(1.0)),
        _ if format!("{actual:?}") == format!("{expected:?}") => Ok(0.0),
        _ => Err(format!("{actual:?} in place of {expected:?}")),
    }
}

/// Compares the dtype and the sizes of a random output.
pub(super) fn compare_outlines(actual: &Value, expected: &Value) -> Result<(), String> {
    match (actual, expected) {
        (Value::Tensor(actual), Value::Tensor(expected)) if outline(actual) != outline(expected) => {
            Err(format!("{} in place of {}", outline(actual), outline(expected)))
        }
        (Value::Tensor(_), Value::Tensor(_)) => Ok(()),
        _ => compare_values(actual, expected).map(drop),
    }
}

/// The tolerance of relative differences of outputs, or of gradients.
#[derive(Clone, Copy)]
pub(super) struct Tolerances {
    pub(super) outputs: f64,
    pub(super) gradients: f64,
}

impl Tolerances {
    /// Returns the tolerances of a run with this noise, if the coarsest dtype of the computation is this one.
    pub(super) fn new(noise: Noise, coarsest: Option<DType>) -> Self {
        let default = coarsest.map_or(0.0, default_tolerance);
        let tolerance = |noise: Option<f64>| (10.0 * noise.unwrap_or(0.0)).max(default).max(SMALLEST_TOLERANCE);
        Self { outputs: tolerance(noise.out), gradients: tolerance(noise.grad) }
    }
}

/// Returns the relative tolerance of `torch.testing` for a dtype.
pub(super) const fn default_tolerance(dtype: DType) -> f64 {
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
pub(super) fn elements(tensor: &Tensor) -> Result<Vec<f64>, String> {
    let numbers = || -> dispatch_runtime::Result<Vec<f64>> {
        let tensor = tensor.detach()?;
        let real =
            if tensor.dtype().is_complex() { aten::view_as_real(&aten::resolve_conj(&tensor)?)? } else { tensor };
        real.to(DType::F64)?.to_vec::<f64>()
    };
    numbers().map_err(|error| error.to_string())
}

fn outline(tensor: &Tensor) -> String {
    format!("{}{:?}", tensor.dtype(), tensor.sizes())
}
