//! The recorded call on tensors without memory.
//!
//! What comes out must look exactly like the recorded result: whoever plans memory by Meta is wrong by every stride that is not.

use dispatch_runtime::{DType, Device, Name, Operator, Value};

use crate::case::Case;
use crate::compare::{Extent, compare_all};
use crate::datum::{Datum, to_values};
use crate::tensors::outline;
use crate::verdict::{Failure, Stop, Verdict, invoke};

/// What comes out of these, or how large it is, stands in the elements, though their definitions do not say so: most are composed of others.
const DATA_DEPENDENT: [&str; 12] = [
    "argwhere",
    "combinations",
    "nonzero_numpy",
    "_pack_padded_sequence",
    "_pad_packed_sequence",
    "_unique",
    "repeat_interleave",
    "item",
    "is_nonzero",
    "linalg_lstsq",
    "_linalg_check_errors",
    "_histogramdd_bin_edges",
];

/// The overloads of others that take from a tensor's elements where to cut.
const CUT_BY_DATA: [(&str, &str); 2] = [("narrow", "Tensor"), ("tensor_split", "tensor_indices_or_sections")];

/// Whether nobody can say without memory what the call gives.
pub(crate) fn depends_on_data(operator: &Operator, arguments: &[Datum]) -> bool {
    let Name { base, overload, .. } = operator.name();
    let lengths_in_tensors = matches!((base, overload), (_, "data") | ("ctc_loss" | "_ctc_loss", "Tensor"));
    if operator.is_data_dependent() || lengths_in_tensors || CUT_BY_DATA.contains(&(base, overload)) {
        return true;
    }
    let is_mask = |datum: &Datum| datum.arrays().iter().any(|array| matches!(array.dtype, DType::Bool | DType::U8));
    DATA_DEPENDENT.contains(&base) || base == "index" && arguments.get(1).is_some_and(is_mask)
}

pub(crate) fn check(case: &Case) -> Verdict {
    let made = call(case.operator, &case.arguments);
    if depends_on_data(case.operator, &case.arguments) {
        return match made {
            Err(stop @ Stop::Failed(Failure::Panicked { .. })) => stop.into(),
            _ => Verdict::LeftOut("its result depends on data"),
        };
    }
    made.and_then(|results| Ok(compare_all(Extent::Geometry, &results, &case.expected)?)).into()
}

/// What a call gives on Meta, as far as there is anything.
pub(crate) fn call(operator: &Operator, arguments: &[Datum]) -> Result<Vec<Datum>, Stop> {
    let results = invoke(operator, to_values(arguments, Device::META)?)?;
    Ok(results.iter().map(outlined).collect())
}

/// A result without its elements.
pub(crate) fn outlined(value: &Value) -> Datum {
    match value {
        Value::Tensor(tensor) => Datum::Array(outline(tensor)),
        Value::Tensors(tensors) => Datum::Arrays(tensors.iter().map(outline).collect()),
        other => Datum::Plain(other.clone()),
    }
}
