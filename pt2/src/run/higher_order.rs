//! Higher-order operators.

use aten::prelude::*;
use dispatch_runtime::{Error, Result, Tensor, Value, guard};

use super::{run_call, run_graph, values};
use crate::error::Pt2Problem;
use crate::prepare::{HigherOrder, Source};

/// Runs a higher-order operator, and returns its results. `refuse` makes the error of an operator that fails outside of the graphs.
pub(super) fn run(
    operation: &HigherOrder,
    slots: &[Value],
    refuse: &impl Fn(Error) -> Pt2Problem,
) -> Result<Vec<Value>, Pt2Problem> {
    let values = |sources: &[Source]| values(sources, slots).map_err(refuse);
    match operation {
        HigherOrder::Cond { predicate, then, otherwise, operands } => {
            let predicate = predicate.value(slots).unwrap_or(Value::None);
            let chosen = if truth(&predicate).map_err(refuse)? { then } else { otherwise };
            run_graph(chosen, values(operands)?)
        }
        HigherOrder::WhileLoop { condition, body, carried, additional } => {
            let (mut carried, additional) = (values(carried)?, values(additional)?);
            loop {
                let inputs = || carried.iter().chain(&additional).cloned();
                let go_on = run_graph(condition, inputs())?;
                if !truth(go_on.first().unwrap_or(&Value::None)).map_err(refuse)? {
                    return Ok(carried);
                }
                carried = run_graph(body, inputs())?;
            }
        }
        HigherOrder::Map { body, mapped, others } => {
            let (mapped, others) = (values(mapped)?, values(others)?);
            let slices = slices(&mapped).map_err(refuse)?;
            let runs = slices.into_iter().map(|slice| run_graph(body, slice.into_iter().chain(others.iter().cloned())));
            stack_results(&runs.collect::<Result<Vec<_>, _>>()?, body.outputs.len()).map_err(refuse)
        }
        HigherOrder::Scan { body, carried, mapped, additional } => {
            let (mut carried, mapped, additional) = (values(carried)?, values(mapped)?, values(additional)?);
            let mut runs = Vec::new();
            for slice in slices(&mapped).map_err(refuse)? {
                let inputs = carried.iter().cloned().chain(slice).chain(additional.iter().cloned());
                let mut results = run_graph(body, inputs.collect::<Vec<_>>())?;
                runs.push(results.split_off(carried.len()));
                carried = results;
            }
            let stacked = stack_results(&runs, body.outputs.len() - carried.len()).map_err(refuse)?;
            carried.extend(stacked);
            Ok(carried)
        }
        HigherOrder::WithEffects(call) => {
            let results = run_call(call, slots).map_err(refuse)?;
            // The first result is the token, which has no value.
            Ok(std::iter::once(Value::None).chain(results.into_values()).collect())
        }
        HigherOrder::SetGradEnabled { enabled, body, operands } => {
            let _mode = if *enabled { guard::enable_grad() } else { guard::no_grad() };
            run_graph(body, values(operands)?)
        }
        HigherOrder::Autocast { device, dtype, enabled, body, operands } => {
            let dtype = if *enabled { Some(dtype.unwrap_or(dispatch_runtime::DType::BF16)) } else { None };
            let _region = guard::autocast(*device, dtype);
            run_graph(body, values(operands)?)
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

/// Returns the slices of tensors over dimension 0: for each index, the slice of each tensor.
fn slices(mapped: &[Value]) -> Result<Vec<Vec<Value>>> {
    let tensors =
        mapped.iter().map(|value| value.as_tensor().ok_or_else(|| Error::kernel("a mapped value is no tensor")));
    let tensors = tensors.collect::<Result<Vec<&Tensor>>>()?;
    let count = tensors.first().and_then(|tensor| tensor.sizes().first().copied());
    let Some(count) = count else { return Err(Error::kernel("the first mapped value has no dimension")) };
    if tensors.iter().any(|tensor| tensor.sizes().first() != Some(&count)) {
        return Err(Error::kernel("the mapped values differ in the size of dimension 0"));
    }
    (0..count).map(|at| tensors.iter().map(|tensor| Ok(aten::select_int(tensor, 0, at)?.into())).collect()).collect()
}

/// Stacks each result over the runs.
fn stack_results(runs: &[Vec<Value>], count: usize) -> Result<Vec<Value>> {
    let column = |at: usize| {
        let items = runs.iter().map(|run| run.get(at).and_then(Value::as_tensor).cloned());
        let items = items
            .collect::<Option<Vec<Tensor>>>()
            .ok_or_else(|| Error::kernel("a result of the graph is no tensor"))?;
        Ok(aten::stack(&items, 0)?.into())
    };
    (0..count).map(column).collect()
}
