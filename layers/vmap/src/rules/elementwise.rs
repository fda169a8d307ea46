//! Batch rules of elementwise operators without a pointwise shape word.

use dispatch_runtime::{Operator, Promotion, Result, Value};

use crate::batch::Batch;
use crate::{call, shape_words};

fn batch_pointwise(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
    operands: &[usize],
) -> Result<Option<Vec<Value>>> {
    // A quotient without rounding is computed as a float.
    let promotion = if matches!(arguments.get(2), Some(Value::None)) { Promotion::Float } else { Promotion::Common };
    let results = shape_words::call_pointwise(batch, operator, operands, promotion, arguments)?;
    results.map(|results| call::wrap_call_results(batch, operator, arguments, results)).transpose()
}

value_rules! { |batch, operator, arguments| batch_pointwise(batch, operator, arguments, &[0, 1]) => div_tensor_mode pow_ floor_divide_ }

value_rules! { |batch, operator, arguments| batch_pointwise(batch, operator, arguments, &[0]) => log_sigmoid_forward frexp }
