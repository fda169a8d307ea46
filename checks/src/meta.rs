//! Checks reference calls on Meta, with tensors that have no memory.
//!
//! Dtype, sizes and strides must be exactly those of the expected result: memory plans rely on them.

use dispatch_runtime::{DType, Device, Operator, Value};

use crate::compare::{ComparedProperties, compare_results};
use crate::datum::{Datum, create_values};
use crate::known_operators::known_base;
use crate::reference_call::ReferenceCall;
use crate::tensors::geometry_as_array;
use crate::verdict::{CallError, Failure, Verdict, call_catching_panics};

/// Operators whose results, or their sizes, depend on elements although their definitions do not say so. Most of them are composites.
const DATA_DEPENDENT_OPERATORS: [&str; 14] = [
    "argwhere",
    "combinations",
    "nonzero_numpy",
    "_pack_padded_sequence",
    "_pad_packed_sequence",
    "_reshape_from_tensor",
    "_rowwise_prune",
    "_unique",
    "repeat_interleave",
    "item",
    "is_nonzero",
    "linalg_lstsq",
    "_linalg_check_errors",
    "_histogramdd_bin_edges",
];

/// Overloads that read a start index or split positions from a tensor's elements.
const DATA_DEPENDENT_OVERLOADS: [(&str, &str); 2] =
    [("narrow", "Tensor"), ("tensor_split", "tensor_indices_or_sections")];

/// Whether the results of a call depend on elements, so that Meta cannot compute their sizes.
pub(crate) fn depends_on_data(operator: &Operator, arguments: &[Datum]) -> bool {
    let (base, overload) = (known_base(operator.name()), operator.name().overload);
    let lengths_in_tensors = matches!((base, overload), (_, "data") | ("ctc_loss" | "_ctc_loss", "Tensor"));
    if operator.is_data_dependent() || lengths_in_tensors || DATA_DEPENDENT_OVERLOADS.contains(&(base, overload)) {
        return true;
    }
    let is_mask = |datum: &Datum| datum.arrays().iter().any(|array| matches!(array.dtype, DType::Bool | DType::U8));
    DATA_DEPENDENT_OPERATORS.contains(&base) || base == "index" && arguments.get(1).is_some_and(is_mask)
}

pub(crate) fn check(case: &ReferenceCall) -> Verdict {
    let made = call_on_meta(case.operator, &case.arguments);
    if depends_on_data(case.operator, &case.arguments) {
        return match made {
            Err(error @ CallError::Failed(Failure::Panicked { .. })) => error.into(),
            _ => Verdict::NotApplicable("its result depends on data"),
        };
    }
    made.and_then(|results| Ok(compare_results(ComparedProperties::AllButElements, &results, &case.expected)?)).into()
}

/// Calls an operator on Meta, and returns its results without elements.
pub(crate) fn call_on_meta(operator: &Operator, arguments: &[Datum]) -> Result<Vec<Datum>, CallError> {
    let results = call_catching_panics(operator, create_values(arguments, Device::META)?)?;
    Ok(results.iter().map(to_datum_without_elements).collect())
}

/// Converts a result to a datum without elements.
pub(crate) fn to_datum_without_elements(value: &Value) -> Datum {
    match value {
        Value::Tensor(tensor) => Datum::Array(geometry_as_array(tensor)),
        Value::Tensors(tensors) => Datum::Arrays(tensors.iter().map(geometry_as_array).collect()),
        other => Datum::NonTensor(other.clone()),
    }
}
