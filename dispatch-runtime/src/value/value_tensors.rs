//! The tensors of a value, at any depth.

use std::slice;

use super::Value;
use crate::tensor::Tensor;

impl Value {
    /// Iterates over the value's tensors: the value itself, the tensors of a list, and those of all nested values.
    ///
    /// ```
    /// use dispatch_runtime::{Tensor, Value};
    /// let tensor = Tensor::from_slice(&[1.0]);
    /// let value = Value::Tuple(vec![tensor.clone().into(), 2_i64.into(), vec![tensor].into()].into());
    /// assert_eq!(value.tensors().count(), 2);
    /// ```
    pub fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        let (list, optional): (&[Tensor], &[Option<Tensor>]) = self.direct_tensors();
        list.iter().chain(optional.iter().flatten()).chain(self.nested_tensors())
    }

    /// Iterates over the value's tensors, for replacing them.
    ///
    /// ```
    /// use dispatch_runtime::{Tensor, Value};
    /// let (one, other) = (Tensor::from_slice(&[1.0]), Tensor::from_slice(&[2.0]));
    /// let mut value = Value::from(vec![one.clone(), one]);
    /// value.tensors_mut().for_each(|tensor| *tensor = other.clone());
    /// assert!(value.tensors().all(|tensor| tensor.same(&other)));
    /// ```
    pub fn tensors_mut(&mut self) -> impl Iterator<Item = &mut Tensor> {
        let (list, optional, nested): (&mut [Tensor], &mut [Option<Tensor>], _) = match self {
            Self::Tensor(tensor) => (slice::from_mut(tensor), &mut [], Vec::new()),
            Self::Tensors(tensors) => (tensors, &mut [], Vec::new()),
            Self::OptionalTensors(tensors) => (&mut [], tensors, Vec::new()),
            others => (&mut [], &mut [], others.nested_tensors_mut()),
        };
        list.iter_mut().chain(optional.iter_mut().flatten()).chain(nested)
    }

    /// Returns the tensors of the value that are not in nested values.
    fn direct_tensors(&self) -> (&[Tensor], &[Option<Tensor>]) {
        match self {
            Self::Tensor(tensor) => (slice::from_ref(tensor), &[]),
            Self::Tensors(tensors) => (tensors, &[]),
            Self::OptionalTensors(tensors) => (&[], tensors),
            _ => (&[], &[]),
        }
    }

    /// Returns the tensors in nested values, without recursion.
    fn nested_tensors(&self) -> Vec<&Tensor> {
        let (mut found, mut pending) = (Vec::new(), Vec::new());
        let mut next = Some(self);
        while let Some(value) = next {
            if let Self::List(values) | Self::Tuple(values) | Self::Dict(values) = value {
                pending.extend(values.iter().rev());
            } else if !std::ptr::eq(value, self) {
                let (list, optional) = value.direct_tensors();
                found.extend(list.iter().chain(optional.iter().flatten()));
            }
            next = pending.pop();
        }
        found
    }

    fn nested_tensors_mut(&mut self) -> Vec<&mut Tensor> {
        let (mut found, mut pending) = (Vec::new(), vec![self]);
        while let Some(value) = pending.pop() {
            match value {
                Self::List(values) | Self::Tuple(values) | Self::Dict(values) => {
                    pending.extend(values.values_mut().iter_mut().rev());
                }
                Self::Tensor(tensor) => found.push(tensor),
                Self::Tensors(tensors) => found.extend(tensors.iter_mut()),
                Self::OptionalTensors(tensors) => found.extend(tensors.iter_mut().flatten()),
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_found_and_replaced_in_every_kind_of_value() {
        let tensor = |number: f32| Tensor::from_slice(&[number]);
        let first = |tensor: &Tensor| tensor.to_vec::<f32>().unwrap()[0];
        let list: Value = vec![tensor(1.0), tensor(2.0)].into();
        let optional = Value::OptionalTensors(Box::new(vec![None, Some(tensor(3.0))]));
        let pairs = Value::Dict(vec![tensor(4.0).into(), Value::List(vec![tensor(5.0).into()].into())].into());
        let mut value = Value::Tuple(vec![tensor(0.0).into(), list, Value::None, optional, pairs].into());
        assert_eq!(value.tensors().map(first).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        value.tensors_mut().for_each(|old| *old = tensor(first(old) + 10.0));
        assert_eq!(value.tensors().map(first).collect::<Vec<_>>(), [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
    }
}
