//! Large calls of scans: the expected results are scans of parts, with the last result carried into the next part.

use dispatch_checks::plumbing::{Array, CallError, to_complex};
use dispatch_runtime::{Operator, Scalar};

use super::input::{ArrayLines, DTypeCategory, mostly_zero_number, varied_number};
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, call_small, fixed_value};
use super::{LineLayouts, MAX_TRUSTED_ELEMENTS, TrialFamily};

pub(super) const SCAN_FAMILY: TrialFamily = TrialFamily {
    names: &["aten::cumsum", "aten::cumprod", "aten::cummax", "aten::cummin", "aten::logcumsumexp"],
    kinds: &DTypeCategory::ALL,
    trials: create_trials,
};

fn element_function(base: &str) -> fn(i64) -> i64 {
    match base {
        "cumprod" => |i| if i % 23_417 % 3001 == 7 { 2 } else { 1 - 2 * i64::from(i % 3 == 1) },
        "cummax" | "cummin" => |i| varied_number(i) / 2 + (i % 23_417) / 1000,
        _ => mostly_zero_number,
    }
}

/// Combines an element of a part's scan with the carry of the parts before it.
fn combine_carry(base: &str, carry: Scalar, own: Scalar) -> Scalar {
    let ordered = |is_first: bool| if is_first { carry } else { own };
    match (base, carry, own) {
        ("cumsum", Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a + b),
        ("cumprod", Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a * b),
        ("cumsum", Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
        ("cumprod", Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a * b),
        ("cumsum", ..) => Scalar::Complex(to_complex(carry) + to_complex(own)),
        ("cumprod", ..) => Scalar::Complex(to_complex(carry) * to_complex(own)),
        ("cummax", ..) => ordered(to_complex(carry).re > to_complex(own).re),
        ("cummin", ..) => ordered(to_complex(carry).re < to_complex(own).re),
        _ => {
            let (a, b) = (to_complex(carry).re, to_complex(own).re);
            Scalar::Float(a.max(b) + (-(a - b).abs()).exp().ln_1p())
        }
    }
}

fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    layouts: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    // Complex numbers have no order, and a complex logarithm has branches.
    let is_unfit = kind == DTypeCategory::Complex && !matches!(name.base, "cumsum" | "cumprod");
    if is_unfit {
        return Ok(Vec::new());
    }
    let mut trials = Vec::new();
    for lines in layouts {
        let array = lines.create_array(kind, element_function(name.base));
        let of = array.contiguous();
        let values = scan_in_parts(operator, &of, lines.dim)?;
        let dim = fixed_value(i64::try_from(lines.dim).unwrap_or(0));
        let mut expected = vec![ExpectedResult::Elements(values.clone())];
        if operator.schema().returns.len() == 2 {
            expected.push(ExpectedResult::NotCompared);
        }
        trials.push(LargeTrial::new(
            lines.label(),
            vec![("self", LargeArgument::CastTensor(array)), ("dim", dim)],
            expected,
        ));
    }
    Ok(trials)
}

fn scan_in_parts(operator: &'static Operator, array: &Array, dim: usize) -> Result<Array, CallError> {
    let mut result = array.clone();
    for line in array.line_indices(dim) {
        let mut carry = None;
        for part in line.chunks(MAX_TRUSTED_ELEMENTS) {
            let elements = part.iter().map(|&at| array.elements[at]).collect();
            let own = Array::new(array.dtype, &[i64::try_from(part.len()).unwrap_or(0)], elements);
            let own = call_small(operator, &vec![("self", own.into()), ("dim", fixed_value(0_i64))])?.swap_remove(0);
            for (&at, &own) in part.iter().zip(&own.elements) {
                result.elements[at] = carry.map_or(own, |carry| combine_carry(operator.name().base, carry, own));
            }
            carry = part.last().map(|&at| result.elements[at]);
        }
    }
    Ok(result)
}
