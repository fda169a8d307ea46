//! Recorded values as Meta tensors and numbers, and their comparison with computed ones.

use dispatch_runtime::{DType, Error, Geometry, Result, Spec, Tensor, Value};

use super::META;
use crate::constraints::{Agreement, Symbols};
use crate::expression::{Expression, Quantity};
use crate::recorded::RecordedValue;

/// Makes a tensor without memory. It is contiguous if the strides cannot be used.
pub(super) fn meta_tensor(dtype: DType, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
    if sizes.iter().any(|size| *size < 0) {
        return Err(Error::kernel("a size is negative"));
    }
    let as_recorded = Geometry::strided(sizes, strides, 0).filter(|_| strides.iter().all(|stride| *stride >= 0));
    let geometry = as_recorded.unwrap_or_else(|| Geometry::contiguous(sizes));
    Spec { dtype, geometry }.on(META)
}

/// Makes the tensor or the number that a description describes. Returns `None` if there is no description, or an invalid one.
pub(super) fn recorded_value(recorded: &RecordedValue, symbols: &Symbols) -> Option<Value> {
    let number = |expression: &Expression| symbols.evaluate(expression);
    match recorded {
        RecordedValue::Absent => None,
        RecordedValue::Number(expression) => number(expression).and_then(into_value),
        RecordedValue::Tensor { dtype, sizes, strides } => {
            let ints = |expressions: &[Expression]| -> Option<Vec<i64>> {
                expressions.iter().map(|expression| number(expression)?.as_int()).collect()
            };
            meta_tensor((*dtype)?, &ints(sizes)?, &ints(strides).unwrap_or_default()).ok().map(Value::from)
        }
    }
}

fn into_value(number: Quantity) -> Option<Value> {
    Some(match number {
        Quantity::Float(value) => value.into(),
        Quantity::Bool(value) => value.into(),
        Quantity::Exact(_) => number.as_int()?.into(),
    })
}

/// Returns whether a computed value has the recorded dtype and sizes. A symbol without a value gets the one that makes them equal.
pub(super) fn agrees(recorded: &RecordedValue, computed: &Value, symbols: &mut Symbols) -> bool {
    let mut number = |expression: &Expression, value: Quantity| symbols.unify(expression, value) == Agreement::Agrees;
    match (recorded, computed) {
        (RecordedValue::Absent, _) => true,
        (RecordedValue::Tensor { dtype, sizes, .. }, Value::Tensor(tensor)) => {
            let known = dtype.is_some_and(|dtype| dtype == tensor.dtype()) && sizes.len() == tensor.sizes().len();
            known && sizes.iter().zip(tensor.sizes()).all(|(size, found)| number(size, Quantity::integer(*found)))
        }
        (RecordedValue::Number(expression), Value::Int(value)) => number(expression, Quantity::integer(*value)),
        (RecordedValue::Number(expression), Value::Float(value)) => number(expression, Quantity::Float(*value)),
        (RecordedValue::Number(expression), Value::Bool(value)) => number(expression, Quantity::Bool(*value)),
        _ => false,
    }
}

/// Returns whether a tensor has the recorded sizes and any floating-point dtype in place of the recorded one.
pub(super) fn agrees_in_size(recorded: &RecordedValue, computed: &Value, symbols: &mut Symbols) -> bool {
    match (recorded, computed) {
        (RecordedValue::Tensor { dtype: Some(dtype), sizes, strides }, Value::Tensor(tensor))
            if dtype.is_floating() && tensor.dtype().is_floating() =>
        {
            let (sizes, strides) = (sizes.clone(), strides.clone());
            agrees(&RecordedValue::Tensor { dtype: Some(tensor.dtype()), sizes, strides }, computed, symbols)
        }
        _ => false,
    }
}

/// Returns the text of a description with numbers in place of symbols, such as `float32[2, 8]`.
pub(super) fn recorded_text(recorded: &RecordedValue, symbols: &Symbols) -> String {
    let known =
        |expression: &Expression| symbols.evaluate(expression).map_or_else(|| expression.clone(), Expression::number);
    match recorded {
        RecordedValue::Tensor { dtype, sizes, .. } => {
            let sizes = sizes.iter().map(known).collect();
            RecordedValue::Tensor { dtype: *dtype, sizes, strides: Vec::new() }.to_string()
        }
        RecordedValue::Number(expression) => known(expression).to_string(),
        RecordedValue::Absent => recorded.to_string(),
    }
}

/// Returns the text of a computed value, in the same notation.
pub(super) fn computed_text(value: &Value) -> String {
    let recorded = match value {
        Value::Tensor(tensor) => RecordedValue::Tensor {
            dtype: Some(tensor.dtype()),
            sizes: tensor.sizes().iter().map(|size| Expression::number(Quantity::integer(*size))).collect(),
            strides: Vec::new(),
        },
        Value::Int(value) => RecordedValue::Number(Expression::number(Quantity::integer(*value))),
        Value::Float(value) => RecordedValue::Number(Expression::number(Quantity::Float(*value))),
        Value::Bool(value) => RecordedValue::Number(Expression::number(Quantity::Bool(*value))),
        Value::None => return "None".to_owned(),
        _ => return "a value of another kind".to_owned(),
    };
    recorded.to_string()
}
