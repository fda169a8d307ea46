//! Recorded calls that write to arguments, whether they return them or not.

use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, Value};
use smallvec::smallvec;

use crate::derivative::{Derivative, SavedSource};
use crate::forward::in_place::{WrittenTensors, check_writes, rebase_history, redispatch_below_autograd};
use crate::forward::record::{CallRecording, below_autograd_guard, copy_result_if_shared};
use crate::graph::function::BackwardFunction;
use crate::graph::history;
use crate::graph::node::{Edge, Node};
use crate::graph::outline;

/// Records a call that writes to its argument `at` and returns it. The derivative is that of the operator or of its functional form.
pub(crate) fn record_in_place_call(
    operator: &Operator,
    rule: &'static Derivative,
    at: usize,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let arguments = stack.top(operator.argument_count()).unwrap_or_default();
    let mut writes = check_writes(operator, arguments, true)?;
    let has_gradient = writes.tensors.iter().all(|written| outline::is_differentiable(written.tensor.dtype()));
    let recording = if has_gradient { start_recording(rule, arguments, &writes)? } else { None };
    redispatch_below_autograd(operator, keys, stack, &mut writes)?;
    let written = writes.tensors.first_mut().map(|written| &mut written.tensor);
    match (written, recording, stack.top_mut(operator.schema().returns.len())) {
        (Some(written), Some(recording), _) => {
            let node = recording.into_node(&mut [(&mut *written, true)])?;
            rebase_history(written, node, rule.inputs.iter().position(|&input| input == at))
        }
        (Some(written), None, _) if history::requires_grad(written)? => {
            // No differentiable input requires gradients: the written tensor has no gradient any more.
            let function = BackwardFunction::Overwrite(operator.name().to_string());
            let node = Node::with_one_result(written, function, smallvec![history::gradient_edge(written)?]);
            rebase_history(written, node, Some(0))
        }
        (None, Some(recording), Some([Value::Tensor(view)])) => recording.finish_results(&mut [(view, true)]),
        _ => Ok(()),
    }
}

/// Records a call that returns new tensors and also writes to arguments, such as running statistics.
pub(crate) fn record_call_with_side_writes(
    operator: &Operator,
    rule: &'static Derivative,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let arguments = stack.top(operator.argument_count()).unwrap_or_default();
    let mut writes = check_writes(operator, arguments, true)?;
    let recording = start_recording(rule, arguments, &writes)?;
    redispatch_below_autograd(operator, keys, stack, &mut writes)?;
    let Some(recording) = recording else { return Ok(()) };
    let results = stack.top_mut(operator.schema().returns.len()).unwrap_or_default().iter_mut();
    let results = results.filter_map(|result| if let Value::Tensor(tensor) = result { Some(tensor) } else { None });
    let mut results: Vec<_> = results.zip(rule.differentiable_results.iter().copied()).collect();
    results.iter_mut().try_for_each(|(tensor, _)| copy_result_if_shared(tensor))?;
    recording.finish_results(&mut results)
}

/// Finds the edges of the inputs and saves the arguments before the call. Returns `None` if no gradient goes anywhere.
fn start_recording(
    rule: &'static Derivative,
    arguments: &[Value],
    writes: &WrittenTensors,
) -> Result<Option<CallRecording>> {
    let mut recording = CallRecording::start(rule);
    for &input in rule.inputs {
        match &arguments[input] {
            Value::Tensor(tensor) => recording.link_input(&tensor)?,
            Value::Tensors(tensors) => recording.link_input(&&tensors[..])?,
            Value::OptionalTensors(tensors) => recording.link_input(&&tensors[..])?,
            _ => recording.link_input(&None::<&Tensor>)?,
        }
    }
    if !recording.must_record() {
        return Ok(None);
    }
    for source in rule.saved {
        match *source {
            SavedSource::Argument(i, inputs) => recording.save_value_if_needed(inputs, |edges| {
                // A list is always the last input, so the index of an input is the index of its edge.
                let edge = rule.inputs.iter().position(|&input| input == i).and_then(|at| edges.get(at));
                argument_before_call(&arguments[i], writes, edge.and_then(Option::as_ref))
            })?,
            SavedSource::ArgumentOutline(i) => match &arguments[i] {
                Value::Tensor(tensor) => recording.save_outline(tensor),
                Value::Tensors(tensors) => recording.save_outlines(tensors),
                _ => {}
            },
            SavedSource::Result(_) | SavedSource::ResultOutline(_) => {}
        }
    }
    Ok(Some(recording))
}

/// Returns an argument as it is before the call, with its history. It is copied if it shares storage with a written tensor.
fn argument_before_call(value: &Value, writes: &WrittenTensors, edge: Option<&Edge>) -> Result<Value> {
    let is_written =
        |tensor: &Tensor| writes.tensors.iter().any(|written| written.tensor.storage().same(tensor.storage()));
    let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
    if !is_written(tensor) {
        return Ok(value.clone());
    }
    let mut copy = {
        let _guard = below_autograd_guard();
        aten::clone(tensor, None)?
    };
    // The edge cannot lead to a leaf, because a recorded call does not write to a leaf.
    if let Some(Edge::Node(node, result)) = edge {
        history::set_node(&mut copy, node.clone(), *result);
    }
    Ok(Value::Tensor(copy))
}
