//! Operators that may return any index of equal elements, such as `sort`.
//!
//! If an element occurs twice, either index is correct. But the selected values must equal the expected ones.

use std::collections::HashSet;

use dispatch_runtime::schema::Schema;
use dispatch_runtime::{Name, Scalar, Value};

use crate::array::{Array, storage_indices};
use crate::compare::Tolerance;
use crate::datum::Datum;
use crate::known_operators::known_base;

/// Returns the index of the result whose indices are not unique, if the call has one.
pub(crate) fn ambiguous_index_result(name: Name<'_>, schema: &Schema, arguments: &[Datum]) -> Option<usize> {
    let stable = schema.argument("stable").and_then(|(i, _)| arguments.get(i));
    if matches!(stable, Some(Datum::NonTensor(Value::Bool(true)))) {
        return None;
    }
    match (known_base(name), name.overload) {
        ("argsort", _) => Some(0),
        ("topk" | "sort" | "mode" | "kthvalue", _) => Some(1),
        ("median" | "nanmedian" | "max" | "min", overload) if overload.starts_with("dim") => Some(1),
        _ => None,
    }
}

/// Whether two index tensors select the same values. For sorting operators, each element must also be selected only once.
pub(crate) fn indices_select_equal_values(
    name: Name<'_>,
    schema: &Schema,
    arguments: &[Datum],
    actual: &Array,
    recorded: &Array,
) -> bool {
    let Some(source) = arguments.first().and_then(Datum::as_array) else { return false };
    let dim = match schema.argument("dim").and_then(|(i, _)| arguments.get(i)) {
        Some(Datum::NonTensor(Value::Int(dim))) => *dim,
        _ => -1,
    };
    if actual.dtype != recorded.dtype || actual.sizes != recorded.sizes || actual.strides != recorded.strides {
        return false;
    }
    let (Some(ours), Some(theirs)) =
        (selected_element_indices(source, dim, actual), selected_element_indices(source, dim, recorded))
    else {
        return false;
    };
    let exact = Tolerance { relative: 0.0, absolute: 0.0 };
    let value = |place: &usize| source.elements.get(*place).copied();
    let equal = ours.iter().zip(&theirs).all(|(ours, theirs)| match (value(ours), value(theirs)) {
        (Some(ours), Some(theirs)) => exact.allows(ours, theirs),
        _ => false,
    });
    let ordered = matches!(known_base(name), "sort" | "argsort" | "topk");
    equal && (!ordered || ours.iter().collect::<HashSet<_>>().len() == ours.len())
}

/// Returns the logical index in `source` of the element that each index selects along `dim`. Returns `None` if an index is out of range.
fn selected_element_indices(source: &Array, dim: i64, indices: &Array) -> Option<Vec<usize>> {
    let rank = source.sizes.len();
    let logical = Array::new(source.dtype, &source.sizes, Vec::new()).strides;
    if rank == 0 {
        return indices.elements.iter().map(|&index| (index == Scalar::Int(0)).then_some(0)).collect();
    }
    let dim = usize::try_from(if dim < 0 { dim + i64::try_from(rank).ok()? } else { dim }).ok()?;
    let (size, step) = (*source.sizes.get(dim)?, *logical.get(dim)?);
    let mut sizes = indices.sizes.clone();
    if sizes.len() + 1 == rank {
        sizes.insert(dim, 1);
    }
    let mut strides = logical;
    strides[dim] = 0;
    let starts = storage_indices(&sizes, &strides, 0);
    let along = starts.into_iter().zip(&indices.elements).map(|(start, &index)| {
        let Scalar::Int(index) = index else { return None };
        let within = usize::try_from(index.checked_mul(step)?).ok()?;
        (0..size).contains(&index).then_some(start + within)
    });
    along.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::DType;

    fn i64_array(sizes: &[i64], elements: &[i64]) -> Array {
        Array::new(DType::I64, sizes, elements.iter().map(|&x| Scalar::Int(x)).collect())
    }

    fn are_equal_selections(name: &str, actual: &[i64], recorded: &[i64]) -> bool {
        let name = Name::parse(name).unwrap();
        let schema = Schema::parse("f(Tensor self, int dim=-1) -> (Tensor, Tensor)").unwrap();
        let arguments = [Datum::Array(i64_array(&[3], &[4, 4, 7])), Datum::NonTensor(Value::Int(0))];
        let sizes = [i64::try_from(actual.len()).unwrap()];
        indices_select_equal_values(name, &schema, &arguments, &i64_array(&sizes, actual), &i64_array(&sizes, recorded))
    }

    #[test]
    fn any_index_of_an_equal_value_is_accepted() {
        assert!(are_equal_selections("aten::mode", &[1], &[0]));
        assert!(!are_equal_selections("aten::mode", &[2], &[0]));
        assert!(!are_equal_selections("aten::mode", &[3], &[0]));
        assert!(!are_equal_selections("aten::mode", &[-1], &[2]));
    }

    #[test]
    fn a_sort_selects_each_element_once() {
        assert!(are_equal_selections("aten::sort", &[1, 0, 2], &[0, 1, 2]));
        assert!(!are_equal_selections("aten::sort", &[1, 1, 2], &[0, 1, 2]));
    }

    #[test]
    fn indices_along_an_inner_dimension_use_its_stride() {
        let source = i64_array(&[2, 3], &[0, 1, 2, 3, 4, 5]);
        assert_eq!(selected_element_indices(&source, 1, &i64_array(&[2], &[2, 0])), Some(vec![2, 3]));
        assert_eq!(selected_element_indices(&source, 0, &i64_array(&[1, 3], &[1, 0, 1])), Some(vec![3, 1, 5]));
    }
}
