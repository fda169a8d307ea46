//! Creates written arguments that share memory with read arguments.

use dispatch_runtime::{Tensor, Value};

use crate::array::Array;
use crate::datum::Datum;
use crate::error::Result;
use crate::reference_call::ReferenceCall;
use crate::tensors::{strided_view, to_tensor};

/// Returns the positions of the arguments that have the dtype and sizes of `array`.
pub(crate) fn same_shape_arguments(case: &ReferenceCall, array: &Array) -> Vec<usize> {
    let is_alike = |datum: &Datum| {
        datum.as_array().is_some_and(|other| (other.dtype, &other.sizes) == (array.dtype, &array.sizes))
    };
    (0..case.arguments.len()).filter(|&i| is_alike(&case.arguments[i])).collect()
}

/// Creates two tensors of this shape in one storage, the second one element after the first. Returns `None` if they would not overlap.
pub(crate) fn overlapping_tensors(case: &ReferenceCall, array: &Array) -> Result<Option<(Tensor, Tensor)>> {
    let Ok(count) = i64::try_from(array.elements.len()) else { return Ok(None) };
    if count < 2 {
        return Ok(None);
    }
    let mut elements = array.elements.clone();
    elements.extend(array.elements.first());
    let both = to_tensor(&Array::new(array.dtype, &[count + 1], elements), case.device)?;
    let strides = array.contiguous().strides;
    let part = |offset| strided_view(&both, &array.sizes, &strides, offset);
    Ok(Some((part(0)?, part(1)?)))
}

/// Returns the values with the tensors at these positions replaced.
pub(crate) fn with_tensors_at(mut values: Vec<Value>, tensors: &[(usize, &Tensor)]) -> Vec<Value> {
    for &(position, tensor) in tensors {
        values[position] = tensor.clone().into();
    }
    values
}
