//! Checks reference calls with other memory layouts of their arguments.
//!
//! The values of a result must not depend on the arguments' strides, except for operators about strides. The strides of a result may depend
//! on them, and Meta must predict them.

use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{DType, Tensor};

use crate::aliasing::has_undeclared_write;
use crate::array::Array;
use crate::compare::{ComparedProperties, Difference, compare_results};
use crate::datum::Datum;
use crate::known_operators::known_base;
use crate::meta;
use crate::reconstruction::unique_values;
use crate::reference_call::{Outcome, ReferenceCall};
use crate::verdict::{Failure, Verdict};

/// Operators whose results depend on the strides of their arguments.
pub(crate) const LAYOUT_SENSITIVE_OPERATORS: [&str; 19] = [
    "_reshape_alias_copy",
    "_new_zeros_with_same_feature_meta",
    "slice_inverse",
    "view",
    "view_copy",
    "_unsafe_view",
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "_reshape_alias",
    "view_as_real",
    "view_as_complex",
    "view_as_complex_copy",
    "stride",
    "sym_stride",
    "sym_storage_offset",
    "is_contiguous",
    "_debug_has_internal_overlap",
];

pub(crate) fn check(case: &ReferenceCall) -> Vec<Verdict> {
    if LAYOUT_SENSITIVE_OPERATORS.contains(&known_base(case.operator.name())) {
        return vec![Verdict::NotApplicable("its result depends on strides")];
    }
    let mut verdicts = Vec::new();
    for (variant, change) in [
        ("with contiguous arguments", Array::contiguous as fn(&Array) -> Array),
        ("with arguments in column-major order", in_column_major_order),
        ("with gaps between the elements of arguments", with_element_gaps),
        ("with an offset of one element", with_storage_offset),
    ] {
        let arguments: Vec<Datum> = case.arguments.iter().map(|argument| argument.map_arrays(change)).collect();
        if have_same_layout(&arguments, &case.arguments) {
            continue;
        }
        let changed = case.with_equal_arguments(arguments);
        let verdict = changed.check(ComparedProperties::AllButStrides);
        if matches!(verdict, Verdict::Passed) {
            verdicts.extend(compare_strides_with_meta(&changed, case).map(|verdict| verdict.with_context(variant)));
        }
        verdicts.push(verdict.with_context(variant));
    }
    verdicts.extend(check_broadcast_arguments(case));
    verdicts.extend(check_lazy_arguments(case));
    verdicts
}

fn have_same_layout(a: &[Datum], b: &[Datum]) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| a.arrays().iter().zip(b.arrays()).all(|(a, b)| (&a.strides, a.offset) == (&b.strides, b.offset)))
}

/// Returns the array in column-major order: the first dimension is innermost.
fn in_column_major_order(array: &Array) -> Array {
    let mut strides = vec![1; array.sizes.len()];
    for dim in 1..strides.len() {
        strides[dim] = strides[dim - 1] * array.sizes[dim - 1].max(1);
    }
    Array { strides, offset: 0, ..array.clone() }
}

/// Returns the array with an offset of two elements and gaps between elements.
fn with_element_gaps(array: &Array) -> Array {
    if array.elements.is_empty() {
        return array.clone();
    }
    Array { strides: array.contiguous().strides.iter().map(|stride| stride * 3).collect(), offset: 2, ..array.clone() }
}

/// Returns the array with an offset of one element, so that vector loads are not aligned.
fn with_storage_offset(array: &Array) -> Array {
    if array.elements.is_empty() {
        return array.clone();
    }
    Array { offset: 1, ..array.contiguous() }
}

/// Operators whose results tell whether an argument is lazy, or that refuse lazy arguments.
const LAZINESS_SENSITIVE_OPERATORS: [&str; 6] =
    ["is_conj", "is_neg", "view_as_real", "view_as_real_copy", "view_copy", "view"];

/// Makes the call with lazy arguments: conjugates of the conjugated complex ones, and negatives of the negated real ones.
fn check_lazy_arguments(case: &ReferenceCall) -> Option<Verdict> {
    let has_numbers = case.arguments.iter().flat_map(Datum::arrays).any(|array| array.dtype != DType::Bool);
    if !has_numbers || LAZINESS_SENSITIVE_OPERATORS.contains(&known_base(case.operator.name())) {
        return None;
    }
    Some(match case.check_with_values(to_lazy, ComparedProperties::AllButStrides) {
        Verdict::NotImplemented(_) => Verdict::NotApplicable("the backend has no kernel that negates or conjugates"),
        verdict => verdict.with_context("with lazy arguments"),
    })
}

/// Returns a lazy view with the elements of `tensor`, or the tensor itself if it is a number, or if its dtype has no negative.
fn to_lazy(tensor: &Tensor) -> dispatch_runtime::Result<Tensor> {
    if tensor.is_number() || tensor.dtype() == DType::Bool || tensor.dtype().is_float8() {
        Ok(tensor.clone())
    } else if tensor.dtype().is_complex() {
        aten::_conj(&aten::conj_physical(tensor)?)
    } else {
        aten::_neg_view(&aten::neg(tensor)?)
    }
}

/// Compares calls with a broadcast argument (stride 0) with calls with a contiguous copy of it. The backend is its own reference.
fn check_broadcast_arguments(case: &ReferenceCall) -> Vec<Verdict> {
    let is_written =
        |i: usize| case.operator.schema().arguments[i].is_written() || has_undeclared_write(case.operator, i);
    // A broadcast index makes several elements write the same output element: the order on a device is not fixed.
    let writes_meet = matches!(known_base(case.operator.name()), "max_unpool2d" | "max_unpool3d");
    if writes_meet || case.operator.schema().kind() != SchemaKind::Functional {
        return Vec::new();
    }
    let mut verdicts = Vec::new();
    for (i, datum) in case.arguments.iter().enumerate() {
        let Some(array) = datum.as_array().filter(|array| array.dtype.is_floating()) else { continue };
        let outermost = array.sizes.iter().position(|&size| size > 1);
        let innermost = array.sizes.iter().rposition(|&size| size > 1);
        for dim in [outermost, innermost.filter(|_| innermost != outermost)].into_iter().flatten() {
            if !is_written(i) && !array.elements.is_empty() {
                verdicts.extend(check_broadcast_dim(case, i, array, dim));
            }
        }
    }
    verdicts
}

fn check_broadcast_dim(case: &ReferenceCall, position: usize, array: &Array, dim: usize) -> Option<Verdict> {
    let repeated = repeat_first_slice(array, dim);
    let written_out = replace_array_argument(&case.arguments, position, repeated.contiguous());
    let repeated = replace_array_argument(&case.arguments, position, repeated);
    // If the operator refuses these elements, it may refuse both calls.
    let reference = case.call(&written_out).ok()?;
    let variant = format!("with `{}` broadcast", case.operator.schema().arguments[position].name);
    let compared =
        case.call(&repeated).and_then(|outcome| Ok(compare_outcomes(case, &written_out, &outcome, &reference)?));
    Some(Verdict::from(compared).with_context(variant))
}

fn compare_outcomes(
    case: &ReferenceCall,
    arguments: &[Datum],
    actual: &Outcome,
    expected: &Outcome,
) -> Result<(), Failure> {
    let properties = actual.comparable_properties(ComparedProperties::AllButStrides);
    let read = |outcome: &Outcome| outcome.results.iter().map(Datum::from_value).collect::<Result<Vec<_>, _>>();
    let (actual, expected) = (read(actual)?, read(expected)?);
    compare_results(properties, &actual, &expected).or_else(|failure| {
        let unique = |results: &[Datum]| unique_values(case.operator.name(), arguments, results);
        let (Some(actual), Some(expected)) = (unique(&actual), unique(&expected)) else { return Err(failure) };
        compare_results(properties, &actual, &expected)
    })
}

fn replace_array_argument(arguments: &[Datum], position: usize, array: Array) -> Vec<Datum> {
    let mut arguments = arguments.to_vec();
    arguments[position] = Datum::Array(array);
    arguments
}

/// Returns the array with the first slice along `dim` repeated, by a stride of 0.
fn repeat_first_slice(array: &Array, dim: usize) -> Array {
    let logical = array.contiguous();
    let mut strides = logical.strides.clone();
    strides[dim] = 0;
    let repeated = Array { strides, ..logical };
    let elements =
        repeated.storage_indices().into_iter().filter_map(|place| array.elements.get(place).copied()).collect();
    Array { elements, ..repeated }
}

/// Compares the strides of the backend's results with those of Meta. `reference` is the call in its own layout.
fn compare_strides_with_meta(case: &ReferenceCall, reference: &ReferenceCall) -> Option<Verdict> {
    let outcome = case.call(&case.arguments).ok()?;
    // The Meta check reports a failing Meta kernel.
    let planned = meta::call_on_meta(case.operator, &case.arguments).ok()?;
    let results: Vec<Datum> = outcome.results.iter().map(meta::to_datum_without_elements).collect();
    let compared = compare_results(ComparedProperties::AllButElements, &planned, &results);
    let is_of_strides = matches!(&compared, Err(Failure::WrongResult { difference: Difference::Strides { .. }, .. }));
    // A dtype or sizes that Meta gets wrong in every layout are one failure, that of the Meta check.
    if compared.is_err() && !is_of_strides && matches!(meta::check(reference), Verdict::Failed(_)) {
        return None;
    }
    Some(Verdict::from(compared).with_context("on Meta"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::Scalar;

    #[test]
    fn changed_layouts_have_the_same_elements() {
        let array = Array::new(DType::I64, &[2, 3], (0..6).map(Scalar::from).collect());
        assert_eq!(in_column_major_order(&array).strides, [1, 2]);
        assert_eq!((with_element_gaps(&array).strides, with_element_gaps(&array).offset), (vec![9, 3], 2));
        assert_eq!(repeat_first_slice(&array, 0).elements, [0, 1, 2, 0, 1, 2].map(Scalar::from));
        assert_eq!(repeat_first_slice(&array, 1).elements, [0, 0, 0, 3, 3, 3].map(Scalar::from));
    }
}
