//! Regions of vmap.

use std::cell::RefCell;

use aten::prelude::*;
use dispatch_runtime::{Device, Error, Result, Tensor, Value};
use dispatch_vmap::Vmap;

use super::{run_graph, values};
use crate::error::Pt2Problem;
use crate::prepare::{Source, VmapRegion};

/// Runs the graph of one sample on the batch, and returns the tensors and then the numbers that the region computes.
pub(super) fn run(
    region: &VmapRegion,
    slots: &[Value],
    device: Device,
    refuse: &impl Fn(Error) -> Pt2Problem,
) -> Result<Vec<Value>, Pt2Problem> {
    let (size, mapped) = mapped_inputs(region, slots).map_err(refuse)?;
    let dims = region.mapped.iter().map(|(_, dim)| Some(*dim)).collect::<Vec<_>>();
    let captured = values(&region.captured, slots).map_err(refuse)?;
    let vmap = Vmap::new().in_dims(dims).out_dims(region.result_dims.clone()).randomness(region.randomness);
    // A mapped function can only return tensors or an error of an operator. Numbers and other errors are passed through these cells.
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
    let result = |(tensor, dim): (Tensor, &Option<i64>)| match dim {
        // Without the sample that `mapped_inputs` has added.
        Some(dim) if size == 0 => Ok(aten::narrow(&tensor, *dim, 0, 0)?.into()),
        _ => Ok(tensor.into()),
    };
    let results = results.into_iter().zip(&region.result_dims).map(result);
    let results = results.collect::<Result<Vec<Value>>>().map_err(refuse)?;
    Ok(results.into_iter().chain(numbers.take()).collect())
}

/// Returns the number of samples and the mapped inputs. An empty batch has no sample to run, so it gets one of zeros, as only a run tells
/// the sizes of the results.
fn mapped_inputs(region: &VmapRegion, slots: &[Value]) -> Result<(i64, Vec<Tensor>)> {
    let Some(Value::Int(size)) = region.size.value(slots) else {
        return Err(Error::kernel("the number of samples has no value"));
    };
    let input = |(source, dim): &(Source, i64)| {
        let Some(Value::Tensor(tensor)) = source.value(slots) else {
            return Err(Error::kernel("a mapped input is no tensor"));
        };
        let at = usize::try_from(*dim).ok();
        if at.and_then(|at| tensor.sizes().get(at)) != Some(&size) {
            return Err(Error::kernel(format!(
                "the region has {size} samples, but dimension {dim} of a mapped input of sizes {:?} has another size",
                tensor.sizes()
            )));
        }
        if size > 0 {
            return Ok(tensor);
        }
        let sizes = tensor.sizes().iter().enumerate().map(|(place, size)| if Some(place) == at { 1 } else { *size });
        let zeros = Tensor::zeros(sizes.collect::<Vec<_>>(), &tensor)?;
        aten::cat(&[tensor, zeros], *dim)
    };
    Ok((size, region.mapped.iter().map(input).collect::<Result<_>>()?))
}
