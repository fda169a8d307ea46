//! Large calls of operators that return indices of extremes. Any index of an extreme element is correct.

use dispatch_runtime::Operator;

use super::input::{Kind, varied_number};
use super::reduction::reduce_with;
use super::trial::{Expected, LargeArgument, NamedArguments, Trial, fixed_value};
use super::{Family, Layouts};
use crate::verdict::CallError;

pub(super) const FAMILY: Family =
    Family { names: &["aten::argmax", "aten::argmin", "aten::max.dim", "aten::min.dim"], kinds: Kind::ORDERED, trials };

fn trials(operator: &'static Operator, kind: Kind, layouts: Layouts) -> Result<Vec<Trial>, CallError> {
    let name = operator.name();
    let extreme = if name.base.ends_with("max") { "aten::amax" } else { "aten::amin" };
    let mut trials = Vec::new();
    for lines in layouts {
        let array = lines.array(kind, |i| varied_number(i) / 2 + if i == 23_390 { 60 } else { 0 });
        let of = array.contiguous();
        let values = reduce_with(extreme, &of, lines.dim)?;
        let positions = Expected::Indices { of: of.clone(), dim: Some(lines.dim), values: values.clone() };
        let dim = fixed_value(i64::try_from(lines.dim).unwrap_or(0));
        let given: NamedArguments =
            vec![("self", LargeArgument::Data(array.clone())), ("dim", dim), ("keepdim", fixed_value(true))];
        let is_pair = operator.schema().returns.len() == 2;
        let expected = if is_pair { vec![Expected::Elements(values), positions] } else { vec![positions] };
        trials.push(Trial::new(lines.label(), given, expected));
        if !is_pair {
            let row = of.flattened();
            let values = reduce_with(extreme, &row, 0)?.reshaped(&[]);
            let positions = Expected::Indices { of: row, dim: None, values };
            trials.push(Trial::new("of all", vec![("self", LargeArgument::Data(array))], vec![positions]));
        }
    }
    Ok(trials)
}
