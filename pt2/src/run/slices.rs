//! Slices of mapped values over dimension 0, and results stacked over it.

use aten::prelude::*;
use dispatch_runtime::{Error, Result, Tensor, Value};

/// The values of a map or a scan.
pub(super) struct Mapped {
    tensors: Vec<Tensor>,
    /// The number of slices.
    pub(super) count: i64,
}

impl Mapped {
    pub(super) fn new(values: Vec<Value>) -> Result<Self> {
        let tensors = values.into_iter().map(|value| match value {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::kernel("a mapped value is no tensor")),
        });
        let tensors = tensors.collect::<Result<Vec<_>>>()?;
        let count = tensors.first().and_then(|tensor| tensor.sizes().first().copied());
        let Some(count) = count else { return Err(Error::kernel("the first mapped value has no dimension")) };
        match tensors.iter().find(|tensor| tensor.sizes().first() != Some(&count)) {
            None => Ok(Self { tensors, count }),
            Some(other) => Err(Error::kernel(format!(
                "the mapped values have different numbers of slices: dimension 0 of the first one has size {count}, and another has the sizes {:?}",
                other.sizes()
            ))),
        }
    }

    /// Returns a slice of each tensor.
    pub(super) fn slice(&self, at: i64) -> Result<Vec<Value>> {
        self.tensors.iter().map(|tensor| Ok(tensor.select(0, at)?.into())).collect()
    }

    /// Returns zeros of the sizes of a slice.
    pub(super) fn zero_slice(&self) -> Result<Vec<Value>> {
        let zeros = |tensor: &Tensor| {
            let sizes = tensor.sizes().get(1..).unwrap_or_default();
            Ok(Tensor::zeros(sizes, (tensor.dtype(), tensor.device()))?.into())
        };
        self.tensors.iter().map(zeros).collect()
    }

    pub(super) fn into_tensors(self) -> Vec<Tensor> {
        self.tensors
    }
}

/// Stacks each result over the runs. A result that is not a tensor stays as it was in the first run.
pub(super) fn stack_results(runs: &[Vec<Value>]) -> Result<Vec<Value>> {
    let Some((first, others)) = runs.split_first() else { return Ok(Vec::new()) };
    let stack = |(at, value): (usize, &Value)| {
        let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
        let others = others.iter().map(|run| run.get(at).and_then(Value::as_tensor));
        let column = std::iter::once(Some(tensor)).chain(others).map(Option::<&Tensor>::cloned);
        let column = column.collect::<Option<Vec<Tensor>>>();
        let column = column.ok_or_else(|| Error::kernel("a result of the graph is a tensor for some slices only"))?;
        Ok(aten::stack(&column, 0)?.into())
    };
    first.iter().enumerate().map(stack).collect()
}

/// Returns results of no slices, with the sizes of these results of one slice.
pub(super) fn empty_results(results: &[Value]) -> Result<Vec<Value>> {
    let empty = |value: &Value| {
        let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
        let sizes: Vec<i64> = std::iter::once(0).chain(tensor.sizes().iter().copied()).collect();
        Ok(Tensor::zeros(&sizes, (tensor.dtype(), tensor.device()))?.into())
    };
    results.iter().map(empty).collect()
}
