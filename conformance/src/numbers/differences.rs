//! Intended differences from PyTorch in what becomes of numbers; docs/differences.md tells users of them.

use dispatch_runtime::{DType, Scalar};

/// Calls of these operators in a dtype, with a number for an argument.
struct Difference {
    /// Names without overloads, and without the `_` of a form in place.
    bases: &'static [&'static str],
    arguments: &'static [&'static str],
    is_one: fn(DType, Scalar) -> bool,
}

const DIFFERENCES: [Difference; 16] = [
    // A factor of booleans counts as it is: true + -1 * true is 0, which is false.
    Difference { bases: &["add"], arguments: &["alpha"], is_one: |dtype, _| dtype == DType::Bool },
    // PyTorch adds the negated number, and the least integer has no opposite.
    Difference {
        bases: &["sub", "subtract", "rsub"],
        arguments: &["alpha"],
        is_one: |dtype, number| is_least(dtype, number),
    },
    // Numbers are compared as they are, and not wrapped to the dtype of the others first.
    Difference {
        bases: &["bucketize", "searchsorted"],
        arguments: &["self"],
        is_one: |dtype, number| dtype == DType::Bool || wraps(dtype, number),
    },
    Difference { bases: &["isin"], arguments: &["element", "test_element"], is_one: wraps },
    Difference {
        bases: &["threshold", "threshold_backward"],
        arguments: &["threshold"],
        is_one: |dtype, number| dtype == DType::U8 && wraps(dtype, number),
    },
    Difference {
        bases: &["linspace", "logspace"],
        arguments: &["start", "end"],
        is_one: |dtype, number| dtype == DType::U8 && wraps(dtype, number),
    },
    // Floats that an integer does not hold become the nearest that it does.
    Difference { bases: &["fill"], arguments: &["value"], is_one: |_, number| !number.fits(DType::I32) },
    Difference {
        bases: &["linspace"],
        arguments: &["start", "end"],
        is_one: |_, number| number == Scalar::Int(i64::MAX),
    },
    Difference {
        bases: &["logspace"],
        arguments: &["start", "end"],
        is_one: |dtype, number| !dtype.is_floating() && !(-100.0..100.0).contains(&real(number)),
    },
    // A complex number makes a complex sequence, and fills no boolean tensor.
    Difference {
        bases: &["linspace", "logspace"],
        arguments: &["start", "end"],
        is_one: |_, number| matches!(number, Scalar::Complex(_)),
    },
    Difference { bases: &["masked_fill"], arguments: &["value"], is_one: |dtype, _| dtype == DType::Bool },
    // Computed in double precision, where PyTorch's single precision is infinite or NaN.
    Difference {
        bases: &["norm", "linalg_vector_norm", "dist", "renorm"],
        arguments: &["p", "ord"],
        is_one: |_, number| real(number).abs() > 1e38,
    },
    Difference {
        bases: &["pow", "float_power"],
        arguments: &["self", "exponent"],
        is_one: |dtype, number| dtype.is_complex() && real(number).abs() > 100.0,
    },
    Difference {
        bases: &["var", "std", "var_mean", "std_mean"],
        arguments: &["correction"],
        is_one: |dtype, number| dtype.is_complex() && !(..3.0).contains(&real(number)),
    },
    Difference { bases: &["special_zeta"], arguments: &["self"], is_one: |_, number| real(number) > 1e15 },
    // Refused or taken as other operators do.
    Difference {
        bases: &["multi_margin_loss", "multi_margin_loss_backward"],
        arguments: &["p"],
        is_one: |_, number| number == Scalar::Float(1.5),
    },
];

/// Whether what becomes of this number is meant to differ.
pub(super) fn is_intended(operator: &str, argument: &str, dtype: DType, number: Scalar) -> bool {
    let base = base_of(operator);
    // Recurrences overflow earlier or later.
    let is_polynomial = base.contains("_polynomial_") && real(number).abs() > 1e38;
    is_polynomial
        || DIFFERENCES.iter().any(|difference| {
            difference.bases.contains(&base)
                && difference.arguments.contains(&argument)
                && (difference.is_one)(dtype, number)
        })
        || matches!((base, argument, number), ("histc", "max", Scalar::Float(1e-300)))
        || operator == "aten::pow.Scalar_out" && dtype == DType::Bool
        || base.starts_with("rrelu_with_noise") && matches!(number, Scalar::Complex(_))
}

/// What PyTorch's devices do otherwise than its CPU, or the host cannot know without waiting for the device.
pub(super) fn is_of_devices(operator: &str, dtype: DType, number: Scalar) -> bool {
    match base_of(operator) {
        // A number beside halves is not rounded to one.
        "add" | "sub" | "subtract" | "rsub" => dtype == DType::F16 && !number.fits(dtype),
        // An order is taken in the precision of the elements.
        "norm" | "linalg_vector_norm" | "dist" | "renorm" => real(number).abs() < 1e-38,
        // A tensor on the device is cast.
        base => base == "masked_fill" && operator.contains("Tensor"),
    }
}

/// The name of an operator without namespace, overload and the mark of a form that writes.
fn base_of(operator: &str) -> &str {
    operator.trim_start_matches("aten::").split('.').next().unwrap_or_default().trim_end_matches('_')
}

/// Whether an integer is another once it is cast to the dtype.
fn wraps(dtype: DType, number: Scalar) -> bool {
    let Scalar::Int(number) = number else { return false };
    dtype.integers().is_some_and(|(least, most)| !(least..=most).contains(&number))
}

/// Whether the number has no opposite in the dtype, or is the opposite of such a number.
fn is_least(dtype: DType, number: Scalar) -> bool {
    let least = dtype.integers().map_or(i64::MIN, |(least, _)| least);
    number == Scalar::Int(least) || number == Scalar::Int(least.wrapping_neg())
}

/// NaN for what is not real.
fn real(number: Scalar) -> f64 {
    number.to_f64().unwrap_or(f64::NAN)
}
