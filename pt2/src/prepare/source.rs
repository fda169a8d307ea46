//! The sources of arguments: constants and slots.

use dispatch_runtime::schema::{Type, TypeKind};
use dispatch_runtime::{Scalar, Stack, Tensor, Value};

use super::Slot;

/// The source of an argument, an operand or a result.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Constant(Value),
    /// A value as it is.
    Slot(Slot),
    /// A value as it is, that nothing else uses after the call: a run takes it out of its slot.
    LastUse(Slot),
    /// A number for an argument of this type.
    Number(Slot, &'static Type),
    Tensors(Vec<Slot>),
    OptionalTensors(Vec<Option<Slot>>),
    Ints(Vec<SymSource<i64>>),
    Floats(Vec<SymSource<f64>>),
    Bools(Vec<SymSource<bool>>),
}

/// An element of a list of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SymSource<T> {
    Constant(T),
    Slot(Slot),
}

impl<T> SymSource<T> {
    const fn slot(&self) -> Option<Slot> {
        if let Self::Slot(slot) = self { Some(*slot) } else { None }
    }
}

impl Source {
    /// Calls `f` with each slot that the source reads.
    pub(crate) fn for_each_slot(&self, mut f: impl FnMut(Slot)) {
        match self {
            Self::Constant(_) => {}
            Self::Slot(slot) | Self::LastUse(slot) | Self::Number(slot, _) => f(*slot),
            Self::Tensors(slots) => slots.iter().copied().for_each(f),
            Self::OptionalTensors(slots) => slots.iter().flatten().copied().for_each(f),
            Self::Ints(items) => items.iter().filter_map(SymSource::slot).for_each(f),
            Self::Floats(items) => items.iter().filter_map(SymSource::slot).for_each(f),
            Self::Bools(items) => items.iter().filter_map(SymSource::slot).for_each(f),
        }
    }

    /// Pushes the value of an argument during a run. Returns false if a slot has no value of the right kind. The usual kinds come first.
    #[inline]
    pub(crate) fn push(&self, slots: &mut [Value], stack: &mut Stack) -> bool {
        match self {
            Self::LastUse(slot) => match slots.get_mut(*slot) {
                Some(value) => stack.push(std::mem::take(value)),
                None => return false,
            },
            Self::Slot(slot) => match slots.get(*slot) {
                Some(Value::Tensor(tensor)) => stack.push(tensor.clone()),
                Some(value) => stack.push(value.clone()),
                None => return false,
            },
            Self::Constant(Value::None) => stack.push(Value::None),
            Self::Constant(Value::Int(value)) => stack.push(*value),
            Self::Constant(Value::Bool(value)) => stack.push(*value),
            Self::Constant(Value::Float(value)) => stack.push(*value),
            Self::Constant(value) => stack.push(value.clone()),
            _ => match self.value(slots) {
                Some(value) => stack.push(value),
                None => return false,
            },
        }
        true
    }

    /// Returns the value during a run, or `None` if a slot has no value of the right kind.
    pub(crate) fn value(&self, slots: &[Value]) -> Option<Value> {
        let tensor = |slot: Slot| slots.get(slot)?.as_tensor().cloned();
        Some(match self {
            Self::Constant(value) => value.clone(),
            Self::Slot(slot) | Self::LastUse(slot) => slots.get(*slot)?.clone(),
            Self::Number(slot, ty) => convert_number(slots.get(*slot)?, ty)?,
            Self::Tensors(items) => items.iter().map(|slot| tensor(*slot)).collect::<Option<Vec<_>>>()?.into(),
            Self::OptionalTensors(items) => items
                .iter()
                .map(|slot| slot.map_or(Some(None), |slot| optional_tensor(slots.get(slot)?)))
                .collect::<Option<Vec<_>>>()?
                .into(),
            Self::Ints(items) => collect(items, slots, |value| match value {
                Value::Int(value) => Some(*value),
                Value::Bool(value) => Some(i64::from(*value)),
                _ => None,
            })?
            .into(),
            Self::Floats(items) => collect(items, slots, as_float)?.into(),
            Self::Bools(items) => {
                collect(items, slots, |value| if let Value::Bool(value) = value { Some(*value) } else { None })?.into()
            }
        })
    }
}

fn collect<T: Copy>(items: &[SymSource<T>], slots: &[Value], convert: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let item = |item: &SymSource<T>| match item {
        SymSource::Constant(value) => Some(*value),
        SymSource::Slot(slot) => convert(slots.get(*slot)?),
    };
    items.iter().map(item).collect()
}

/// An undefined tensor is `None`.
#[expect(clippy::option_option, reason = "the inner one is the tensor, the outer one says that the value is none")]
fn optional_tensor(value: &Value) -> Option<Option<Tensor>> {
    match value {
        Value::Tensor(tensor) => Some(Some(tensor.clone())),
        Value::None => Some(None),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "Python converts an int to a float in the same way")]
fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Int(value) => Some(*value as f64),
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    }
}

/// Converts a number to a value of a schema's type, as Python's calls of operators do. Other values stay as they are, if they have the type.
#[expect(clippy::cast_precision_loss, reason = "Python converts an int to a float in the same way")]
#[expect(clippy::match_same_arms, reason = "each arm is a type of the schema")]
pub(crate) fn convert_number(value: &Value, ty: &Type) -> Option<Value> {
    let ty = ty.without_optional();
    Some(match (value, &ty.kind) {
        (Value::Tensor(_) | Value::None, _) => value.clone(),
        (Value::Int(number), TypeKind::Tensor) => Tensor::number(Scalar::Int(*number)).into(),
        (Value::Float(number), TypeKind::Tensor) => Tensor::number(Scalar::Float(*number)).into(),
        (Value::Bool(number), TypeKind::Tensor) => Tensor::number(Scalar::Bool(*number)).into(),
        (Value::Complex(number), TypeKind::Tensor) => Tensor::number(Scalar::Complex(**number)).into(),
        (Value::Int(_) | Value::Bool(_), TypeKind::Float) => as_float(value)?.into(),
        (Value::Int(number), TypeKind::Complex) => num_complex(*number as f64),
        (Value::Float(number), TypeKind::Complex) => num_complex(*number),
        (Value::Bool(number), TypeKind::Int | TypeKind::SymInt) => i64::from(*number).into(),
        (Value::Int(number), TypeKind::List(element, _)) => match element.without_optional().kind {
            TypeKind::Int | TypeKind::SymInt => vec![*number].into(),
            TypeKind::Float => vec![*number as f64].into(),
            _ => return None,
        },
        (Value::Float(number), TypeKind::List(element, _)) if element.without_optional().kind == TypeKind::Float => {
            vec![*number].into()
        }
        (Value::Bool(flag), TypeKind::List(element, _)) if element.without_optional().kind == TypeKind::Bool => {
            vec![*flag].into()
        }
        (Value::Ints(numbers), TypeKind::List(element, _)) => match element.without_optional().kind {
            TypeKind::Float => numbers.iter().map(|number| *number as f64).collect::<Vec<_>>().into(),
            TypeKind::Scalar => numbers.iter().map(|number| Scalar::Int(*number)).collect::<Vec<_>>().into(),
            _ => value.clone(),
        },
        (Value::Floats(numbers), TypeKind::List(element, _)) if element.without_optional().kind == TypeKind::Scalar => {
            numbers.iter().map(|number| Scalar::Float(*number)).collect::<Vec<_>>().into()
        }
        _ => value.clone(),
    })
}

fn num_complex(real: f64) -> Value {
    dispatch_runtime::Complex64::new(real, 0.0).into()
}
