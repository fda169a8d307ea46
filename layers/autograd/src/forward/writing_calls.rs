//! Recorded calls that write to arguments, whether they return them or not.

use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, Value};
use smallvec::smallvec;

use crate::derivative::{Derivative, Source};
use crate::forward::in_place::{Writes, check_allowed, rebase_history, run_below};
use crate::forward::record::{Recording, computing, fresh};
use crate::graph::function::Function;
use crate::graph::history;
use crate::graph::node::{Edge, Node};
use crate::graph::outline;

/// Records a call that writes to its argument `at` and returns it. The derivative is that of the operator or of its functional form.
pub(crate) fn in_place_call(
    operator: &Operator,
    rule: &'static Derivative,
    at: usize,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let arguments = stack.top(operator.argument_count()).unwrap_or_default();
    let mut writes = check_allowed(operator, arguments, true)?;
    let has_gradient = writes.tensors.iter().all(|written| outline::is_differentiable(written.tensor.dtype()));
    let recording = if has_gradient { start(rule, arguments, &writes)? } else { None };
    run_below(operator, keys, stack, &mut writes)?;
    let written = writes.tensors.first_mut().map(|written| &mut written.tensor);
    match (written, recording, stack.top_mut(operator.schema().returns.len())) {
        (Some(written), Some(recording), _) => {
            let node = recording.into_node(&mut [(&mut *written, true)])?;
            rebase_history(written, node, rule.inputs.iter().position(|&input| input == at))
        }
        (Some(written), None, _) if history::requires_grad(written)? => {
            // No differentiable input requires gradients: the written tensor has no gradient any more.
            let function = Function::Overwriting(operator.name().to_string());
            let node = Node::of_one(written, function, smallvec![history::edge(written)?]);
            rebase_history(written, node, Some(0))
        }
        (None, Some(recording), Some([Value::Tensor(view)])) => recording.finish(&mut [(view, true)]),
        _ => Ok(()),
    }
}

/// Records a call that returns new tensors and also writes to arguments, such as running statistics.
pub(crate) fn call_that_writes_beside(
    operator: &Operator,
    rule: &'static Derivative,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let arguments = stack.top(operator.argument_count()).unwrap_or_default();
    let mut writes = check_allowed(operator, arguments, true)?;
    let recording = start(rule, arguments, &writes)?;
    run_below(operator, keys, stack, &mut writes)?;
    let Some(recording) = recording else { return Ok(()) };
    let results = stack.top_mut(operator.schema().returns.len()).unwrap_or_default().iter_mut();
    let results = results.filter_map(|result| if let Value::Tensor(tensor) = result { Some(tensor) } else { None });
    let mut results: Vec<_> = results.zip(rule.results.iter().copied()).collect();
    results.iter_mut().try_for_each(|(tensor, _)| fresh(tensor))?;
    recording.finish(&mut results)
}

/// Finds the edges of the inputs and saves the arguments before the call. Returns `None` if no gradient goes anywhere.
fn start(rule: &'static Derivative, arguments: &[Value], writes: &Writes) -> Result<Option<Recording>> {
    let mut recording = Recording::start(rule);
    for &input in rule.inputs {
        match &arguments[input] {
            Value::Tensor(tensor) => recording.input(&tensor)?,
            Value::Tensors(tensors) => recording.input(&&tensors[..])?,
            Value::OptionalTensors(tensors) => recording.input(&&tensors[..])?,
            _ => recording.input(&None::<&Tensor>)?,
        }
    }
    if !recording.is_concerned() {
        return Ok(None);
    }
    for source in rule.saved {
        match *source {
            Source::Argument(i, inputs) => recording.save_value_for(inputs, |edges| {
                // A list is always the last input, so the index of an input is the index of its edge.
                let edge = rule.inputs.iter().position(|&input| input == i).and_then(|at| edges.get(at));
                as_before(&arguments[i], writes, edge.and_then(Option::as_ref))
            })?,
            Source::OutlineOf(i) => match &arguments[i] {
                Value::Tensor(tensor) => recording.save_outline(tensor),
                Value::Tensors(tensors) => recording.save_outlines(tensors),
                _ => {}
            },
            Source::Result(_) | Source::OutlineOfResult(_) => {}
        }
    }
    Ok(Some(recording))
}

/// Returns an argument as it is before the call, with its history. It is copied if it shares storage with a written tensor.
fn as_before(value: &Value, writes: &Writes, edge: Option<&Edge>) -> Result<Value> {
    let shares = |tensor: &Tensor| writes.tensors.iter().any(|written| written.tensor.storage().same(tensor.storage()));
    let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
    if !shares(tensor) {
        return Ok(value.clone());
    }
    let mut copy = {
        let _unseen = computing();
        aten::clone(tensor, None)?
    };
    // Only nodes: a recorded call does not write to a leaf.
    if let Some(Edge::Node(node, result)) = edge {
        history::set(&mut copy, node.clone(), *result);
    }
    Ok(Value::Tensor(copy))
}
