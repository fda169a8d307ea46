//! Batch rules of factories that take a tensor as a model. A batched model gives a batched result, so that each slice can be written.

use dispatch_runtime::{Geometry, MemoryFormat, Operator, Result, Value};

use crate::batch::Batch;
use crate::call;

/// Batches the `*_like` operators. A channels-last format of a slice is dropped, as it does not apply to the batch.
fn batch_like_factory(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let Some(tensor) = arguments[0].as_tensor() else { return Ok(None) };
    let mut values = arguments.to_vec();
    values[0] = batch.unwrap_tensor(tensor).batch_first()?.into();
    for value in &mut values {
        if let Value::MemoryFormat(MemoryFormat::ChannelsLast | MemoryFormat::ChannelsLast3d) = value {
            *value = Value::None;
        }
    }
    call::wrap_call_results(batch, operator, arguments, operator.call(values)?).map(Some)
}

value_rules! { batch_like_factory => _to_copy empty_like full_like ones_like zeros_like }

/// Batches the `new_*` operators. The given sizes and strides are those of a slice.
fn batch_new_factory(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let Some(tensor) = arguments[0].as_tensor() else { return Ok(None) };
    let mut values = arguments.to_vec();
    values[0] = batch.unwrap_tensor(tensor).batch_first()?.into();
    let (Value::Ints(sizes), strides) = (&arguments[1], operator.schema().argument("stride")) else { return Ok(None) };
    if let Some((at, _)) = strides {
        let Value::Ints(strides) = &mut values[at] else { return Ok(None) };
        let extent = Geometry::strided(sizes, strides, 0).and_then(|slice| slice.end());
        strides.insert(0, extent.unwrap_or(0));
    }
    values[1] = [&[batch.size()], &sizes[..]].concat().into();
    call::wrap_call_results(batch, operator, arguments, operator.call(values)?).map(Some)
}

value_rules! { batch_new_factory => new_empty new_empty_strided new_full new_ones new_zeros }
