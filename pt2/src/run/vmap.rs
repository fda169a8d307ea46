//! Regions of vmap.

use std::cell::RefCell;

use dispatch_runtime::{Device, Error, Result, Tensor, Value};
use dispatch_vmap::Vmap;

use super::{run_graph, values};
use crate::error::Pt2Problem;
use crate::prepare::VmapRegion;

/// Runs the graph of one sample on the batch, and returns the tensors and then the numbers that the region computes.
pub(super) fn run(
    region: &VmapRegion,
    slots: &[Value],
    device: Device,
    refuse: &impl Fn(Error) -> Pt2Problem,
) -> Result<Vec<Value>, Pt2Problem> {
    let (mapped, dims) = mapped_inputs(region, slots).map_err(refuse)?;
    let captured = values(&region.captured, slots).map_err(refuse)?;
    let vmap = Vmap::new().in_dims(dims).out_dims(region.result_dims.clone()).randomness(region.randomness);
    // A mapped function returns tensors or an error of an operator. All else leaves it through these.
    let (numbers, failure) = (RefCell::new(Vec::new()), RefCell::new(None));
    let sample = |inputs: &Vec<Tensor>| -> Result<Vec<Tensor>> {
        let inputs = inputs.iter().map(Value::from).chain(captured.iter().cloned());
        let mut results = run_graph(&region.body, inputs, device).map_err(|problem| {
            *failure.borrow_mut() = Some(problem);
            Error::kernel("a node of the region failed")
        })?;
        *numbers.borrow_mut() = results.split_off(region.result_dims.len().min(results.len()));
        let tensor = |value: Value| match value {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::kernel("a mapped result is no tensor")),
        };
        results.into_iter().map(tensor).collect()
    };
    let results = vmap.call(sample, mapped.iter().collect::<Vec<_>>());
    let results = results.map_err(|error| failure.take().unwrap_or_else(|| refuse(error)))?;
    Ok(results.into_iter().map(Value::from).chain(numbers.take()).collect())
}

fn mapped_inputs(region: &VmapRegion, slots: &[Value]) -> Result<(Vec<Tensor>, Vec<Option<i64>>)> {
    let Some(Value::Int(size)) = region.size.value(slots) else {
        return Err(Error::kernel("the number of samples has no value"));
    };
    let (mut tensors, mut dims) = (Vec::new(), Vec::new());
    for (source, dim) in &region.mapped {
        let Some(Value::Tensor(tensor)) = source.value(slots) else {
            return Err(Error::kernel("a mapped input is no tensor"));
        };
        let found = usize::try_from(*dim).ok().and_then(|dim| tensor.sizes().get(dim).copied());
        if found != Some(size) {
            return Err(Error::kernel(format!(
                "the region has {size} samples, and dimension {dim} of a mapped input of sizes {:?} is another number",
                tensor.sizes()
            )));
        }
        tensors.push(tensor);
        dims.push(Some(*dim));
    }
    Ok((tensors, dims))
}
