//! Large calls of variances: the expected results are combined from parts by the algorithm of Chan, Golub and `LeVeque`.

use dispatch_checks::Failure;
use dispatch_checks::plumbing::{Array, CallError, to_complex};
use dispatch_runtime::{Complex64, Operator, Scalar};

use super::input::{ArrayLines, DTypeCategory, mostly_zero_number};
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, call_small, fixed_value};
use super::{LineLayouts, MAX_TRUSTED_ELEMENTS, TrialFamily};

pub(super) const VARIANCE_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::var",
        "aten::var.dim",
        "aten::var.correction",
        "aten::var_mean",
        "aten::var_mean.dim",
        "aten::var_mean.correction",
        "aten::std",
        "aten::std.dim",
        "aten::std.correction",
        "aten::std_mean",
        "aten::std_mean.dim",
        "aten::std_mean.correction",
    ],
    kinds: &[DTypeCategory::Real, DTypeCategory::Complex],
    trials: create_trials,
};

/// The count and mean of some numbers, and the sum of their squared deviations.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    count: f64,
    pub(super) mean: Complex64,
    squares: f64,
}

impl Moments {
    fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        let delta = other.mean - self.mean;
        let mean = self.mean + delta * (other.count / count);
        let squares = self.squares + other.squares + delta.norm_sqr() * self.count * other.count / count;
        Self { count, mean, squares }
    }

    pub(super) fn variance(self, correction: f64) -> f64 {
        self.squares / (self.count - correction)
    }
}

/// Computes the moments of each line from `var_mean` of parts.
pub(super) fn line_moments(array: &Array, dim: usize) -> Result<Vec<Moments>, CallError> {
    let operator = Operator::find("aten::var_mean.correction");
    let operator = operator.map_err(|error| CallError::NotImplemented(error.to_string()))?;
    let mut all = Vec::new();
    for line in array.line_indices(dim) {
        let parts = line.chunks(MAX_TRUSTED_ELEMENTS).map(|part| {
            let elements: Vec<Scalar> = part.iter().map(|&at| array.elements[at]).collect();
            let part = Array::new(array.dtype, &[0], elements).flattened();
            #[expect(clippy::cast_precision_loss, reason = "a part has at most 100 elements")]
            let count = part.elements.len() as f64;
            let given: NamedArguments = vec![("self", part.into()), ("correction", fixed_value(Scalar::Float(0.0)))];
            match &call_small(operator, &given)?[..] {
                [var, mean] => Ok(Moments {
                    count,
                    mean: to_complex(mean.elements[0]),
                    squares: to_complex(var.elements[0]).re * count,
                }),
                other => Err(CallError::Failed(Failure::WrongResultCount { actual: other.len(), expected: 2 })),
            }
        });
        let parts = parts.collect::<Result<Vec<_>, CallError>>()?;
        let Some(joined) = parts.into_iter().reduce(Moments::merge) else { continue };
        all.push(joined);
    }
    Ok(all)
}

fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    layouts: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    let takes_dim = operator.schema().argument("dim").is_some();
    let corrections: Vec<(f64, LargeArgument)> = match name.overload {
        "correction" => [0.0, 1.0, 2.5].map(|correction| (correction, fixed_value(Scalar::Float(correction)))).to_vec(),
        _ => [(0.0, fixed_value(false)), (1.0, fixed_value(true))].to_vec(),
    };
    let correction_name = if name.overload == "correction" { "correction" } else { "unbiased" };
    let mut trials = Vec::new();
    for lines in layouts {
        let array = lines.create_array(kind, mostly_zero_number);
        let whole = array.flattened();
        let moments = if takes_dim { line_moments(&array.contiguous(), lines.dim)? } else { line_moments(&whole, 0)? };
        let mut sizes = if takes_dim { array.sizes.clone() } else { Vec::new() };
        if let Some(size) = sizes.get_mut(lines.dim) {
            *size = 1;
        }
        for (correction, given) in &corrections {
            let spread = moments.iter().map(|moments| {
                let variance = moments.variance(*correction);
                Scalar::Float(if name.base.starts_with("std") { variance.sqrt() } else { variance })
            });
            let means = moments.iter().map(|moments| {
                if kind == DTypeCategory::Complex {
                    Scalar::Complex(moments.mean)
                } else {
                    Scalar::Float(moments.mean.re)
                }
            });
            let mut expected =
                vec![ExpectedResult::Elements(Array::new(kind.reference_dtype(), &sizes, spread.collect()))];
            if name.base.ends_with("mean") {
                expected.push(ExpectedResult::Elements(Array::new(kind.reference_dtype(), &sizes, means.collect())));
            }
            let mut named: NamedArguments =
                vec![("self", LargeArgument::CastTensor(array.clone())), (correction_name, given.clone())];
            if takes_dim {
                let dim = i64::try_from(lines.dim).unwrap_or(0);
                named.extend([("dim", fixed_value(vec![dim])), ("keepdim", fixed_value(true))]);
            }
            trials.push(LargeTrial::new(format!("{} with {correction}", lines.label()), named, expected));
        }
    }
    Ok(trials)
}
