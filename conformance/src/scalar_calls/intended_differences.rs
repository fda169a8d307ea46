//! Intended differences from PyTorch in the results for extreme scalar arguments. docs/differences.md describes them to users.

use dispatch_runtime::{DType, Scalar};

/// A set of calls with a scalar argument: by operators, arguments, and a condition on dtype and scalar.
struct IntendedDifference {
    /// Operator names without overload, and without the `_` of an in-place form.
    bases: &'static [&'static str],
    arguments: &'static [&'static str],
    applies: fn(DType, Scalar) -> bool,
}

const INTENDED_DIFFERENCES: [IntendedDifference; 16] = [
    // `alpha` of booleans is not converted to bool: true + -1 * true is 0, which is false.
    IntendedDifference { bases: &["add"], arguments: &["alpha"], applies: |dtype, _| dtype == DType::Bool },
    // PyTorch adds the negated scalar, and the negation of the least integer overflows.
    IntendedDifference {
        bases: &["sub", "subtract", "rsub"],
        arguments: &["alpha"],
        applies: |dtype, number| is_minimum_or_its_negation(dtype, number),
    },
    // Scalars are compared without wrapping them to the dtype of the tensor first.
    IntendedDifference {
        bases: &["bucketize", "searchsorted"],
        arguments: &["self"],
        applies: |dtype, number| dtype == DType::Bool || is_out_of_range(dtype, number),
    },
    IntendedDifference { bases: &["isin"], arguments: &["element", "test_element"], applies: is_out_of_range },
    IntendedDifference {
        bases: &["threshold", "threshold_backward"],
        arguments: &["threshold"],
        applies: |dtype, number| dtype == DType::U8 && is_out_of_range(dtype, number),
    },
    IntendedDifference {
        bases: &["linspace", "logspace"],
        arguments: &["start", "end"],
        applies: |dtype, number| dtype == DType::U8 && is_out_of_range(dtype, number),
    },
    // Floats out of an integer dtype's range become the nearest integer of the dtype.
    IntendedDifference { bases: &["fill"], arguments: &["value"], applies: |_, number| !number.fits(DType::I32) },
    IntendedDifference {
        bases: &["linspace"],
        arguments: &["start", "end"],
        applies: |_, number| number == Scalar::Int(i64::MAX),
    },
    IntendedDifference {
        bases: &["logspace"],
        arguments: &["start", "end"],
        applies: |dtype, number| !dtype.is_floating() && !(-100.0..100.0).contains(&to_real_or_nan(number)),
    },
    // A complex scalar makes a complex sequence, and cannot fill a boolean tensor.
    IntendedDifference {
        bases: &["linspace", "logspace"],
        arguments: &["start", "end"],
        applies: |_, number| matches!(number, Scalar::Complex(_)),
    },
    IntendedDifference { bases: &["masked_fill"], arguments: &["value"], applies: |dtype, _| dtype == DType::Bool },
    // Computed in double precision: in PyTorch's single precision, the result is infinite or NaN.
    IntendedDifference {
        bases: &["norm", "linalg_vector_norm", "dist", "renorm"],
        arguments: &["p", "ord"],
        applies: |_, number| to_real_or_nan(number).abs() > 1e38,
    },
    IntendedDifference {
        bases: &["pow", "float_power"],
        arguments: &["self", "exponent"],
        applies: |dtype, number| dtype.is_complex() && to_real_or_nan(number).abs() > 100.0,
    },
    IntendedDifference {
        bases: &["var", "std", "var_mean", "std_mean"],
        arguments: &["correction"],
        applies: |dtype, number| dtype.is_complex() && !(..3.0).contains(&to_real_or_nan(number)),
    },
    IntendedDifference {
        bases: &["special_zeta"],
        arguments: &["self"],
        applies: |_, number| to_real_or_nan(number) > 1e15,
    },
    // This scalar is refused or accepted by the same rule as for similar operators.
    IntendedDifference {
        bases: &["multi_margin_loss", "multi_margin_loss_backward"],
        arguments: &["p"],
        applies: |_, number| number == Scalar::Float(1.5),
    },
];

/// Whether the result for a scalar argument intentionally differs from PyTorch's.
pub(super) fn is_intended_difference(operator: &str, argument: &str, dtype: DType, number: Scalar) -> bool {
    let base = base_name(operator);
    // Recurrences may overflow at another step.
    let is_polynomial = base.contains("_polynomial_") && to_real_or_nan(number).abs() > 1e38;
    is_polynomial
        || INTENDED_DIFFERENCES.iter().any(|difference| {
            difference.bases.contains(&base)
                && difference.arguments.contains(&argument)
                && (difference.applies)(dtype, number)
        })
        || matches!((base, argument, number), ("histc", "max", Scalar::Float(1e-300)))
        || operator == "aten::pow.Scalar_out" && dtype == DType::Bool
        || base.starts_with("rrelu_with_noise") && matches!(number, Scalar::Complex(_))
}

/// Whether the result for a scalar argument differs between PyTorch's devices and its CPU, or cannot be known on the host without
/// synchronization.
pub(super) fn differs_on_devices(operator: &str, dtype: DType, number: Scalar) -> bool {
    match base_name(operator) {
        // Devices do not round a scalar argument of an `F16` call to `F16`.
        "add" | "sub" | "subtract" | "rsub" => dtype == DType::F16 && !number.fits(dtype),
        // Devices round the order of a norm to the elements' dtype, so a tiny order becomes zero.
        "norm" | "linalg_vector_norm" | "dist" | "renorm" => to_real_or_nan(number).abs() < 1e-38,
        // A value that is a tensor on the device is cast without a check.
        base => base == "masked_fill" && operator.contains("Tensor"),
    }
}

/// Returns the name of an operator without namespace, overload, and the trailing `_` of an in-place form.
fn base_name(operator: &str) -> &str {
    operator.trim_start_matches("aten::").split('.').next().unwrap_or_default().trim_end_matches('_')
}

/// Whether an integer is out of the dtype's range, so that a cast changes it.
fn is_out_of_range(dtype: DType, number: Scalar) -> bool {
    let Scalar::Int(number) = number else { return false };
    dtype.integer_range().is_some_and(|(least, most)| !(least..=most).contains(&number))
}

/// Whether the scalar is the least integer of the dtype, or its negation.
fn is_minimum_or_its_negation(dtype: DType, number: Scalar) -> bool {
    let least = dtype.integer_range().map_or(i64::MIN, |(least, _)| least);
    number == Scalar::Int(least) || number == Scalar::Int(least.wrapping_neg())
}

/// Returns the scalar as a float, or NaN if it is not real.
fn to_real_or_nan(number: Scalar) -> f64 {
    number.to_f64().unwrap_or(f64::NAN)
}
