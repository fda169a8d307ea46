//! Differences between values and recordings, and their tolerances.

use dispatch_runtime::{DType, Value};

use super::recording::Noise;
use crate::difference::{Difference, default_tolerance, outline};

/// The smallest tolerance of results of 32-bit computations.
const SMALLEST_TOLERANCE: f64 = 1e-5;

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
