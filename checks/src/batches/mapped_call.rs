//! Calls an operator within nested `vmap`s.

use std::cell::RefCell;
use std::error::Error as _;

use dispatch_runtime::{Error, Operator, Result, Tensor, Value};
use dispatch_vmap::{Randomness, Vmap};

use crate::verdict::{CallError, catch_panics};

/// Calls an operator within one `vmap` per level, and returns the results with their batch dimensions first. `levels` has, for each level,
/// the batch dimension of each tensor. Values of `given` after the operator's arguments are mapped over but not used.
pub fn call_mapped(
    operator: &Operator,
    given: &[Value],
    levels: &[Vec<Option<usize>>],
    randomness: Randomness,
) -> std::result::Result<Vec<Value>, CallError> {
    let outline = RefCell::new(Vec::new());
    let call = |inputs: &[Tensor]| {
        let mut arguments = replace_tensors(given, inputs);
        arguments.truncate(operator.argument_count());
        let results = operator.call(arguments)?;
        let outputs = results.iter().flat_map(Value::tensors).cloned().collect();
        *outline.borrow_mut() = results;
        Ok(outputs)
    };
    let inputs: Vec<Tensor> = given.iter().flat_map(Value::tensors).cloned().collect();
    let outputs = catch_panics(|| call_in_nested_vmaps(&call, &inputs, levels, randomness))?;
    Ok(replace_tensors(&outline.into_inner(), &outputs))
}

fn call_in_nested_vmaps(
    call: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[Tensor],
    levels: &[Vec<Option<usize>>],
    randomness: Randomness,
) -> Result<Vec<Tensor>> {
    let Some((dims, inner)) = levels.split_first() else { return call(inputs) };
    let dims: Vec<Option<i64>> = dims.iter().map(|dim| dim.and_then(|dim| i64::try_from(dim).ok())).collect();
    Vmap::new()
        .in_dims(dims)
        .randomness(randomness)
        .call(|inputs| call_in_nested_vmaps(call, inputs, inner, randomness), inputs)
}

/// Returns the values with their tensors replaced by `tensors`, in order.
pub fn replace_tensors(values: &[Value], tensors: &[Tensor]) -> Vec<Value> {
    let mut values = values.to_vec();
    let places = values.iter_mut().flat_map(Value::tensors_mut);
    places.zip(tensors).for_each(|(place, tensor)| *place = tensor.clone());
    values
}

/// Returns the first error of type `T` in the chain of sources of `error`.
pub(super) fn find_source_of_type<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        source = error.source();
    }
    None
}
