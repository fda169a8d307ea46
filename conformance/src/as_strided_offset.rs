//! Infers the storage offset of recorded tensors.
//!
//! A recording has a tensor's elements and strides, but not its storage offset. Only `as_strided` counts from the start of the storage. If
//! it reads beyond the recorded elements, its result determines the offset.

use dispatch_checks::plumbing::{Array, Datum, storage_indices};
use dispatch_runtime::Value;

/// Sets the storage offset of the first argument of an `as_strided` call so that it explains the result.
pub(crate) fn infer_as_strided_offset(arguments: &mut [Datum], results: &[Datum]) {
    let [Datum::Array(given), _, _, Datum::NonTensor(offset), ..] = arguments else { return };
    let (&mut Value::Int(offset), Some(Datum::Array(result))) = (offset, results.first()) else { return };
    let asked = Array { offset, ..result.clone() };
    if asked.required_element_count() > given.required_element_count() {
        given.offset += (0..=offset).find(|&start| offset_explains_result(given, start, &asked)).unwrap_or(0);
    }
}

fn offset_explains_result(given: &Array, start: i64, asked: &Array) -> bool {
    let held = storage_indices(&given.sizes, &given.strides, given.offset + start);
    let element_at = |place| held.iter().position(|&at| at == place).map(|i| given.elements[i]);
    asked.storage_indices().into_iter().map(element_at).eq(asked.elements.iter().map(|&element| Some(element)))
}

#[cfg(test)]
mod tests {
    use dispatch_runtime::{DType, Scalar};

    use super::*;

    #[test]
    fn the_offset_is_inferred_from_a_result_beyond_the_elements() {
        let array = |values: &[i64]| {
            Array::new(
                DType::I64,
                &[i64::try_from(values.len()).unwrap()],
                values.iter().map(|&v| Scalar::Int(v)).collect(),
            )
        };
        let mut arguments = [
            Datum::Array(array(&[7, 8, 9])),
            Datum::NonTensor(Value::None),
            Datum::NonTensor(Value::None),
            Datum::NonTensor(Value::Int(3)),
        ];
        infer_as_strided_offset(&mut arguments, &[Datum::Array(array(&[8, 9]))]);
        assert_eq!(arguments[0].as_array().unwrap().offset, 2);
    }
}
