//! Large calls of operators that return indices of extremes. Any index of an extreme element is correct.

use dispatch_runtime::Operator;

use super::input::{Kind, varied};
use super::reduction::merged_by;
use super::trial::{Expected, Given, Named, Trial, fixed};
use super::{Family, Layouts};
use crate::verdict::Stop;

pub(super) const FAMILY: Family =
    Family { names: &["aten::argmax", "aten::argmin", "aten::max.dim", "aten::min.dim"], kinds: Kind::ORDERED, trials };

fn trials(operator: &'static Operator, kind: Kind, layouts: Layouts) -> Result<Vec<Trial>, Stop> {
    let name = operator.name();
    let extreme = if name.base.ends_with("max") { "aten::amax" } else { "aten::amin" };
    let mut trials = Vec::new();
    for lines in layouts {
        let array = lines.array(kind, |i| varied(i) / 2 + if i == 23_390 { 60 } else { 0 });
        let of = array.contiguous();
        let values = merged_by(extreme, &of, lines.dim)?;
        let positions = Expected::Positions { of: of.clone(), dim: Some(lines.dim), values: values.clone() };
        let dim = fixed(i64::try_from(lines.dim).unwrap_or(0));
        let given: Named = vec![("self", Given::Data(array.clone())), ("dim", dim), ("keepdim", fixed(true))];
        let is_pair = operator.schema().returns.len() == 2;
        let expected = if is_pair { vec![Expected::Numbers(values), positions] } else { vec![positions] };
        trials.push(Trial::new(lines.label(), given, expected));
        if !is_pair {
            let row = of.row();
            let values = merged_by(extreme, &row, 0)?.sized(&[]);
            let positions = Expected::Positions { of: row, dim: None, values };
            trials.push(Trial::new("of all", vec![("self", Given::Data(array))], vec![positions]));
        }
    }
    Ok(trials)
}
