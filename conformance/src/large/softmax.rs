//! Large calls of softmax: the expected results are combined from softmaxes of parts, weighted by the parts' sums of exponentials.

use dispatch_checks::plumbing::{Array, CallError, to_complex};
use dispatch_runtime::{DType, Operator, Scalar};

use super::input::{ArrayLines, DTypeCategory, mostly_zero_number};
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, call_small_by_name, fixed_value};
use super::{LineLayouts, MAX_TRUSTED_ELEMENTS, TrialFamily};

pub(super) const SOFTMAX_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::_softmax",
        "aten::_log_softmax",
        "aten::_safe_softmax",
        "aten::softmax.int",
        "aten::log_softmax.int",
        "aten::_softmax_backward_data",
        "aten::_log_softmax_backward_data",
    ],
    kinds: &[DTypeCategory::Real],
    trials: create_trials,
};

fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    layouts: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    let is_log = name.base.contains("log");
    let mut trials = Vec::new();
    for lines in layouts {
        let array = lines.create_array(kind, mostly_zero_number);
        let of = array.contiguous();
        let dim = fixed_value(i64::try_from(lines.dim).unwrap_or(0));
        let logarithms = log_softmax(&of, lines.dim)?;
        let output = map_elements(&logarithms, |_, x| if is_log { x } else { x.exp() });
        if !name.base.contains("backward") {
            let mut given: NamedArguments = vec![("self", LargeArgument::CastTensor(array)), ("dim", dim)];
            if operator.schema().argument("half_to_float").is_some() {
                given.push(("half_to_float", fixed_value(false)));
            }
            trials.push(LargeTrial::new(lines.label(), given, vec![ExpectedResult::Elements(output)]));
            continue;
        }
        // The gradients are mostly zero, so that sums of them are exact in every dtype. The output is a constant power of two, as from a
        // softmax of two equal elements.
        let slopes = lines.create_array(kind, |i| mostly_zero_number(i + 11));
        let output = map_elements(&of, |at, _| if is_log { -1.0 - f64::from(u8::from(at % 3 == 0)) } else { 0.5 });
        let mut expected = output.clone();
        let grads = slopes.contiguous();
        let pair = |at: usize| (to_complex(grads.elements[at]).re, to_complex(output.elements[at]).re);
        for line in grads.line_indices(lines.dim) {
            let parts = line.iter().map(|&at| pair(at)).map(|(grad, out)| if is_log { grad } else { grad * out });
            let total: f64 = parts.sum();
            for at in line {
                let (grad, out) = pair(at);
                let slope = if is_log { grad - out.exp() * total } else { out * (grad - total) };
                expected.elements[at] = Scalar::Float(slope);
            }
        }
        let given: NamedArguments = vec![
            ("grad_output", LargeArgument::CastTensor(slopes)),
            ("output", LargeArgument::CastTensor(output)),
            ("dim", dim),
            ("input_dtype", LargeArgument::DTypeArgument),
        ];
        trials.push(LargeTrial::new(lines.label(), given, vec![ExpectedResult::Elements(expected)]));
    }
    Ok(trials)
}

fn map_elements(array: &Array, f: impl Fn(usize, f64) -> f64) -> Array {
    let elements = array.elements.iter().enumerate().map(|(at, &x)| Scalar::Float(f(at, to_complex(x).re))).collect();
    Array::new(array.dtype, &array.sizes, elements)
}

/// Returns the log-softmax along a dimension.
fn log_softmax(array: &Array, dim: usize) -> Result<Array, CallError> {
    let mut result = array.clone();
    for line in array.line_indices(dim) {
        let mut sums = Vec::new();
        for part in line.chunks(MAX_TRUSTED_ELEMENTS) {
            let elements: Vec<Scalar> = part.iter().map(|&at| array.elements[at]).collect();
            let first = to_complex(elements[0]).re;
            let own = Array::new(DType::F64, &[i64::try_from(part.len()).unwrap_or(0)], elements);
            let given: NamedArguments =
                vec![("self", own.into()), ("dim", fixed_value(0_i64)), ("half_to_float", fixed_value(false))];
            let own = call_small_by_name("aten::_log_softmax", &given)?;
            // Log-softmax subtracts the logarithm of the part's sum of exponentials.
            let sum = first - to_complex(own.elements[0]).re;
            for (&at, &x) in part.iter().zip(&own.elements) {
                result.elements[at] = x;
            }
            sums.push(sum);
        }
        let highest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = highest + sums.iter().map(|sum| (sum - highest).exp()).sum::<f64>().ln();
        for (part, sum) in line.chunks(MAX_TRUSTED_ELEMENTS).zip(sums) {
            for &at in part {
                result.elements[at] = Scalar::Float(to_complex(result.elements[at]).re + sum - total);
            }
        }
    }
    Ok(result)
}
