//! Higher-order operators.

use aten::prelude::*;
use dispatch_runtime::{DType, Device, Error, Result, Stack, Tensor, Value, guard};

use super::slices::{Mapped, empty_results, stack_results};
use super::zero_gradients::add_zero_gradients;
use super::{run_call, run_graph, values, vmap};
use crate::error::Pt2Problem;
use crate::prepare::{HigherOrder, PreparedGraph, Source};

/// Runs a higher-order operator, and returns its results. `refuse` makes the error of an operator that fails outside of the graphs.
pub(super) fn run(
    operation: &HigherOrder,
    slots: &mut [Value],
    device: Device,
    refuse: &impl Fn(Error) -> Pt2Problem,
) -> Result<Vec<Value>, Pt2Problem> {
    let values = |sources: &[Source]| values(sources, slots).map_err(refuse);
    match operation {
        HigherOrder::Cond { predicate, then, otherwise, operands } => {
            let predicate = predicate.value(slots).unwrap_or_default();
            let chosen = if truth(&predicate).map_err(refuse)? { then } else { otherwise };
            let operands = values(operands)?;
            let results = run_graph(chosen, operands.iter().cloned(), device)?;
            add_zero_gradients(results, &operands).map_err(refuse)
        }
        HigherOrder::WhileLoop { condition, body, carried, additional } => {
            let (mut carried, additional) = (values(carried)?, values(additional)?);
            let mut runs = false;
            loop {
                let inputs = || carried.iter().chain(&additional).cloned();
                let go_on = run_graph(condition, inputs(), device)?;
                if !truth(go_on.first().unwrap_or(&Value::None)).map_err(refuse)? {
                    // The results do not alias the operands.
                    return if runs {
                        Ok(carried)
                    } else {
                        carried.iter().map(copied).collect::<Result<_>>().map_err(refuse)
                    };
                }
                carried = run_graph(body, inputs(), device)?;
                runs = true;
            }
        }
        HigherOrder::Map { body, mapped, others } => {
            let mapped = Mapped::new(values(mapped)?).map_err(refuse)?;
            if mapped.count == 0 {
                return Err(refuse(Error::kernel("dimension 0 of the mapped values has size 0; a map needs a slice")));
            }
            let others = values(others)?;
            let run = |at| {
                let slice = mapped.slice(at).map_err(refuse)?;
                run_graph(body, slice.into_iter().chain(others.iter().cloned()), device)
            };
            stack_results(&(0..mapped.count).map(run).collect::<Result<Vec<_>, _>>()?).map_err(refuse)
        }
        HigherOrder::Scan { body, carried, mapped, additional } => {
            let (carried, additional) = (values(carried)?, values(additional)?);
            let mapped = Mapped::new(values(mapped)?).map_err(refuse)?;
            scan(body, carried, &mapped, &additional, device, refuse)
        }
        HigherOrder::AssociativeScan { combine, mapped, additional } => {
            let (mapped, additional) = (Mapped::new(values(mapped)?).map_err(refuse)?, values(additional)?);
            let combine = |left: Vec<Tensor>, right: Vec<Tensor>| {
                let inputs = left.into_iter().chain(right).map(Value::from).chain(additional.iter().cloned());
                tensors(run_graph(combine, inputs, device)?).map_err(refuse)
            };
            let results = associative_scan(mapped.into_tensors(), &combine, refuse)?;
            Ok(results.into_iter().map(Value::from).collect())
        }
        HigherOrder::Vmap(region) => vmap::run(region, slots, device, refuse),
        HigherOrder::WithEffects(call) => {
            let mut stack = Stack::new();
            run_call(call, slots, &mut stack).map_err(refuse)?;
            // The first result is the token, which has no value.
            Ok(std::iter::once(Value::None).chain(stack.into_values()).collect())
        }
        HigherOrder::SetGradEnabled { enabled, body, operands } => {
            let _mode = if *enabled { guard::enable_grad() } else { guard::no_grad() };
            run_graph(body, values(operands)?, device)
        }
        HigherOrder::Autocast { device: region, dtype, enabled, body, operands } => {
            let Some(Value::Device(region)) = region.value(slots) else {
                return Err(refuse(Error::kernel("the region of autocast has no device")));
            };
            let default = if region == Device::CPU { DType::BF16 } else { DType::F16 };
            let _region = guard::autocast(region, enabled.then(|| dtype.unwrap_or(default)));
            run_graph(body, values(operands)?, device)
        }
    }
}

/// Returns whether a condition holds.
fn truth(value: &Value) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Int(value) => Ok(*value != 0),
        Value::Tensor(tensor) => Ok(tensor.item::<bool>()?),
        _ => Err(Error::kernel("the condition is neither a boolean nor a tensor")),
    }
}

fn copied(value: &Value) -> Result<Value> {
    match value {
        Value::Tensor(tensor) => Ok(aten::clone(tensor, None)?.into()),
        other => Ok(other.clone()),
    }
}

fn tensors(values: Vec<Value>) -> Result<Vec<Tensor>> {
    let tensor = |value| match value {
        Value::Tensor(tensor) => Ok(tensor),
        _ => Err(Error::kernel("a result of the graph is no tensor")),
    };
    values.into_iter().map(tensor).collect()
}

fn scan(
    body: &PreparedGraph,
    mut carried: Vec<Value>,
    mapped: &Mapped,
    additional: &[Value],
    device: Device,
    refuse: &impl Fn(Error) -> Pt2Problem,
) -> Result<Vec<Value>, Pt2Problem> {
    let run = |carried: &[Value], slice: Vec<Value>| -> Result<_, Pt2Problem> {
        let inputs = carried.iter().cloned().chain(slice).chain(additional.iter().cloned());
        let mut results = run_graph(body, inputs, device)?;
        let stacked = results.split_off(carried.len().min(results.len()));
        Ok((results, stacked))
    };
    if mapped.count == 0 {
        // Only a run tells the sizes of the results, so there is one on zeros, as in PyTorch.
        let (_, results) = run(&carried, mapped.zero_slice().map_err(refuse)?)?;
        carried.extend(empty_results(&results).map_err(refuse)?);
        return Ok(carried);
    }
    let mut runs = Vec::new();
    for at in 0..mapped.count {
        let (next, results) = run(&carried, mapped.slice(at).map_err(refuse)?)?;
        carried = next;
        runs.push(results);
    }
    carried.extend(stack_results(&runs).map_err(refuse)?);
    Ok(carried)
}

/// Combines neighbours, scans the combined ones, and completes the scan from them: the number of runs is a logarithm of the number of
/// slices. The grouping is PyTorch's, so that results agree to the last bit.
fn associative_scan(
    values: Vec<Tensor>,
    combine: &impl Fn(Vec<Tensor>, Vec<Tensor>) -> Result<Vec<Tensor>, Pt2Problem>,
    refuse: &impl Fn(Error) -> Pt2Problem,
) -> Result<Vec<Tensor>, Pt2Problem> {
    let count = values.first().and_then(|tensor| tensor.sizes().first().copied()).unwrap_or(0);
    if count < 2 {
        return Ok(values);
    }
    let every_second = |from: i64, to: i64| {
        let slices = values.iter().map(|tensor| aten::slice(tensor, 0, Some(from), Some(to), 2));
        slices.collect::<Result<Vec<_>>>().map_err(refuse)
    };
    let pairs = combine(every_second(0, count - 1)?, every_second(1, count)?)?;
    let odd = associative_scan(pairs, combine, refuse)?;
    let left = odd.iter().map(|tensor| aten::narrow(tensor, 0, 0, (count - 1) / 2));
    let left = left.collect::<Result<Vec<_>>>().map_err(refuse)?;
    let even = combine(left, every_second(2, count)?)?;
    let results = values.iter().zip(even).zip(odd).map(|((first, even), odd)| interleave(first, even, odd, count));
    results.collect::<Result<Vec<_>>>().map_err(refuse)
}

/// Returns the slices of `first` at 0, `odd` at 1, 3 and so on, and `even` at 2, 4 and so on.
fn interleave(first: &Tensor, even: Tensor, odd: Tensor, count: i64) -> Result<Tensor> {
    let even = aten::cat(&[aten::narrow(first, 0, 0, 1)?, even], 0)?;
    let pairs = count / 2;
    let both = aten::stack(&[aten::narrow(&even, 0, 0, pairs)?, odd], 1)?;
    let both = aten::flatten_using_ints(&both, 0, 1)?;
    if count % 2 == 0 { Ok(both) } else { aten::cat(&[both, aten::narrow(&even, 0, pairs, 1)?], 0) }
}
