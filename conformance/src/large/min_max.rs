//! Large calls of operators that return indices of extremes. Any index of an extreme element is correct.

use dispatch_checks::plumbing::CallError;
use dispatch_runtime::Operator;

use super::input::{ArrayLines, DTypeCategory, varied_number};
use super::reduction::reduce_by_name;
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, fixed_value};
use super::{LineLayouts, TrialFamily};

pub(super) const MIN_MAX_FAMILY: TrialFamily = TrialFamily {
    names: &["aten::argmax", "aten::argmin", "aten::max.dim", "aten::min.dim"],
    kinds: DTypeCategory::ORDERED,
    trials: create_trials,
};

fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    layouts: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    let extreme = if name.base.ends_with("max") { "aten::amax" } else { "aten::amin" };
    let mut trials = Vec::new();
    for lines in layouts {
        let array = lines.create_array(kind, |i| varied_number(i) / 2 + if i == 23_390 { 60 } else { 0 });
        let of = array.contiguous();
        let values = reduce_by_name(extreme, &of, lines.dim)?;
        let positions = ExpectedResult::Indices { of: of.clone(), dim: Some(lines.dim), values: values.clone() };
        let dim = fixed_value(i64::try_from(lines.dim).unwrap_or(0));
        let given: NamedArguments =
            vec![("self", LargeArgument::CastTensor(array.clone())), ("dim", dim), ("keepdim", fixed_value(true))];
        let is_pair = operator.schema().returns.len() == 2;
        let expected = if is_pair { vec![ExpectedResult::Elements(values), positions] } else { vec![positions] };
        trials.push(LargeTrial::new(lines.label(), given, expected));
        if !is_pair {
            let row = of.flattened();
            let values = reduce_by_name(extreme, &row, 0)?.reshaped(&[]);
            let positions = ExpectedResult::Indices { of: row, dim: None, values };
            trials.push(LargeTrial::new("of all", vec![("self", LargeArgument::CastTensor(array))], vec![positions]));
        }
    }
    Ok(trials)
}
