//! Checks that wrong calls are refused: invalid dimensions, indices, shapes, dtypes and devices.

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{DType, Device, Scalar, Value};

use super::refusal::check_call_is_refused;
use crate::array::Array;
use crate::datum::{Datum, create_values};
use crate::error::Result;
use crate::known_operators::known_base;
use crate::reference_call::ReferenceCall;
use crate::verdict::Verdict;

/// Arguments with indices, which must be integers.
const INDEX_ARGUMENTS: [&str; 2] = ["index", "indices"];

/// Arguments that are broadcast against `self`, or multiplied with it.
const BROADCAST_ARGUMENTS: [&str; 10] =
    ["other", "end", "tensor1", "tensor2", "mat1", "mat2", "vec", "batch1", "batch2", "exponent"];

/// Operators with an argument of [`BROADCAST_ARGUMENTS`] that accept any shape.
const ANY_SHAPE_OPERATORS: [&str; 3] = ["_new_zeros_with_same_feature_meta", "equal", "kron"];

/// Operators that accept only integers.
const INTEGRAL_OPERATORS: [&str; 9] = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_not",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "gcd",
    "lcm",
    "bincount",
];

/// Operators whose arguments are not promoted to a common dtype.
const ONE_DTYPE_OPERATORS: [&str; 10] =
    ["mm", "bmm", "addmm", "addbmm", "baddbmm", "mv", "addmv", "dot", "vdot", "convolution"];

pub(crate) fn check(case: &ReferenceCall) -> Vec<Verdict> {
    let verdicts = [
        check_out_of_range_dims(case),
        check_float_indices(case),
        check_wrong_shapes(case),
        check_wrong_dtypes(case),
        check_mixed_devices(case),
    ];
    let verdicts = verdicts.into_iter().collect::<Result<Vec<_>>>();
    verdicts.map_or_else(|error| vec![error.into()], |verdicts| verdicts.into_iter().flatten().collect())
}

/// Checks that the call with one argument replaced is refused, by an error that names this argument.
fn check_wrong_argument(case: &ReferenceCall, position: usize, datum: Datum, mistake: &str) -> Result<Verdict> {
    let name = case.operator.schema().arguments[position].name.as_str();
    check_replaced_argument(case, position, datum, mistake, &[name])
}

/// Checks that the call is refused if one tensor does not fit the others. The error may name any tensor argument.
fn check_mismatched_tensor(case: &ReferenceCall, position: usize, array: Array, mistake: &str) -> Result<Verdict> {
    check_replaced_argument(case, position, Datum::Array(array), mistake, &tensor_argument_names(case))
}

/// Returns the names of the arguments that have tensors.
fn tensor_argument_names(case: &ReferenceCall) -> Vec<&str> {
    let arguments = case.operator.schema().arguments.iter().filter(|argument| argument.ty.is_tensor_like());
    arguments.map(|argument| argument.name.as_str()).collect()
}

fn check_replaced_argument(
    case: &ReferenceCall,
    position: usize,
    datum: Datum,
    mistake: &str,
    arguments_to_name: &[&str],
) -> Result<Verdict> {
    let mut arguments = case.arguments.clone();
    arguments[position] = datum;
    Ok(check_call_is_refused(case.operator, create_values(&arguments, case.device)?, mistake, arguments_to_name))
}

fn check_out_of_range_dims(case: &ReferenceCall) -> Result<Vec<Verdict>> {
    let Some(rank) = case.arguments.iter().find_map(|datum| datum.arrays().first().map(|array| array.sizes.len()))
    else {
        return Ok(Vec::new());
    };
    let rank = i64::try_from(rank).unwrap_or(0);
    let mut verdicts = Vec::new();
    for (i, argument) in case.operator.schema().arguments.iter().enumerate() {
        if !matches!(argument.name.as_str(), "dim" | "dims" | "dim0" | "dim1") {
            continue;
        }
        for dim in [rank + 5, -rank - 6] {
            let wrong: Value = match (&argument.ty.without_optional().kind, &case.arguments[i]) {
                (TypeKind::Int, _) => dim.into(),
                (TypeKind::List(element, _), Datum::NonTensor(Value::Ints(dims)))
                    if element.kind == TypeKind::Int && !dims.is_empty() =>
                {
                    let mut dims = dims.clone();
                    dims[0] = dim;
                    Value::Ints(dims)
                }
                _ => continue,
            };
            verdicts.push(check_wrong_argument(case, i, Datum::NonTensor(wrong), "a dimension that does not exist")?);
        }
    }
    Ok(verdicts)
}

fn check_float_indices(case: &ReferenceCall) -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    for (i, argument) in case.operator.schema().arguments.iter().enumerate() {
        if let Some(array) = case.arguments[i].as_array()
            && INDEX_ARGUMENTS.contains(&argument.name.as_str())
            && array.dtype.is_integral()
            && !array.elements.is_empty()
        {
            let wrong = Datum::Array(array.with_dtype(DType::F32));
            verdicts.push(check_wrong_argument(case, i, wrong, "indices that are not whole numbers")?);
        }
    }
    Ok(verdicts)
}

fn check_wrong_shapes(case: &ReferenceCall) -> Result<Vec<Verdict>> {
    let Some(this) = case.arguments.first().and_then(Datum::as_array) else { return Ok(Vec::new()) };
    let mut verdicts = Vec::new();
    for (i, argument) in case.operator.schema().arguments.iter().enumerate().skip(1) {
        let Some(array) = case.arguments[i].as_array() else { continue };
        if !BROADCAST_ARGUMENTS.contains(&argument.name.as_str())
            || ANY_SHAPE_OPERATORS.contains(&known_base(case.operator.name()))
            || !must_fit_each_other(case, this, array)
        {
            continue;
        }
        // Sizes that are all different, and none of them 1, can be neither broadcast nor multiplied.
        if this.sizes.iter().any(|&size| size < 2) || this.sizes.is_empty() || array.sizes.is_empty() {
            continue;
        }
        let largest = this.sizes.iter().chain(&array.sizes).copied().max().unwrap_or(1);
        let sizes: Vec<i64> = array.sizes.iter().map(|_| largest + 1).collect();
        let Ok(count) = usize::try_from(sizes.iter().product::<i64>()) else { continue };
        if count < 10_000 {
            let wrong = Array::new(array.dtype, &sizes, vec![Scalar::Int(1); count]);
            verdicts.push(check_mismatched_tensor(case, i, wrong, "shapes that do not fit each other")?);
        }
    }
    Ok(verdicts)
}

/// Whether two arguments must have sizes that fit each other. PyTorch's arguments of these names must. Those of another operator must if
/// its result has their broadcast sizes.
fn must_fit_each_other(case: &ReferenceCall, this: &Array, other: &Array) -> bool {
    let rank = this.sizes.len().max(other.sizes.len());
    let size =
        |array: &Array, dim: usize| (dim + array.sizes.len()).checked_sub(rank).map_or(1, |dim| array.sizes[dim]);
    let broadcast = (0..rank).map(|dim| size(this, dim).max(size(other, dim)));
    let is_broadcast = |result: &Array| result.sizes.iter().copied().eq(broadcast.clone());
    case.operator.name().namespace == "aten"
        || case.expected.first().and_then(Datum::as_array).is_some_and(is_broadcast)
}

fn check_wrong_dtypes(case: &ReferenceCall) -> Result<Vec<Verdict>> {
    let base = known_base(case.operator.name());
    let Some(array) = case.arguments.first().and_then(Datum::as_array) else { return Ok(Vec::new()) };
    let wrong = if INTEGRAL_OPERATORS.contains(&base.trim_end_matches('_')) {
        DType::F32
    } else if ONE_DTYPE_OPERATORS.contains(&base) && array.dtype != DType::I64 {
        DType::I64
    } else {
        return Ok(Vec::new());
    };
    Ok(vec![check_mismatched_tensor(case, 0, array.with_dtype(wrong), "a dtype that the operator does not support")?])
}

fn check_mixed_devices(case: &ReferenceCall) -> Result<Vec<Verdict>> {
    if case.device == Device::META {
        return Ok(Vec::new());
    }
    let mut tensors = (0..case.arguments.len()).filter(|&i| {
        // A tensor without dimensions may be on the host while others are not.
        case.arguments[i].as_array().is_some_and(|array| !array.sizes.is_empty() && !array.elements.is_empty())
    });
    let (Some(_), Some(second)) = (tensors.next(), tensors.next()) else { return Ok(Vec::new()) };
    let mut values = create_values(&case.arguments, case.device)?;
    values[second] = case.arguments[second].to_value(Device::META)?;
    Ok(vec![check_call_is_refused(case.operator, values, "arguments on several devices", &tensor_argument_names(case))])
}
