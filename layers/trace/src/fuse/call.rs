//! The elementwise calls of which a node is composed, and chains of them for the fuser.

use std::collections::HashMap;

use dispatch_runtime::{Device, Fuser, FusionGroup, FusionStep, Operator, Spec, StepArgument, Tensor, Value};

use super::Kernel;
use crate::argument::{Argument, Id};
use crate::graph::{Graph, Node, ValueInfo};
use crate::record::trace_parts;
use crate::run::arguments;

/// An elementwise call on Meta tensors. Tensors are told apart by their identity.
pub(super) struct Call {
    operator: &'static Operator,
    arguments: Vec<Value>,
    result: Tensor,
}

/// Returns a Meta tensor for each value of a graph.
pub(super) fn shapes(graph: &Graph) -> Option<Vec<Tensor>> {
    graph.values().iter().map(shape).collect()
}

fn shape(shown: &ValueInfo) -> Option<Tensor> {
    Spec::contiguous(shown.dtype, shown.geometry.sizes()).on(Device::META).ok()
}

/// Returns the one result of a node, or `None` if the node has effects, other results, or returns a view.
pub(super) fn result(graph: &Graph, node: &Node) -> Option<Id> {
    let [Argument::Tensor(id)] = &node.outputs[..] else { return None };
    let gives_new = graph.value(*id).shares.is_none() && !node.uses().any(|used| used == *id);
    (gives_new && !node.is_effect()).then_some(*id)
}

/// Returns the calls of which a node is composed. Returns `None` unless all are elementwise, have the sizes of the node's result, and are
/// known to the fuser.
pub(super) fn calls(graph: &Graph, at: usize, shapes: &[Tensor], fuser: &dyn Fuser) -> Option<Vec<Call>> {
    let node = &graph.nodes[at];
    let result = result(graph, node)?;
    Kernel::of(node.operator)?;
    let mut used: Vec<Id> = node.uses().collect();
    used.sort_unstable();
    used.dedup();
    let given: Vec<Tensor> = used.iter().map(|id| shapes[id.0].clone()).collect();
    let parts = trace_parts(
        |given| {
            let values = arguments(at, node, &mut |id| used.binary_search(&id).ok().map(|at| given[at].clone()))?;
            let results = node.operator.call(values)?;
            Ok(results
                .into_iter()
                .filter_map(|value| if let Value::Tensor(tensor) = value { Some(tensor) } else { None }))
        },
        &given,
    )
    .ok()?;
    let calls = of_parts(&parts, given, &shapes[result.0])?;
    fuser.fuse(&chain(&calls, std::slice::from_ref(&shapes[result.0])).0)?;
    Some(calls)
}

/// Returns the nodes of a graph as calls. The last one returns `result`.
fn of_parts(parts: &Graph, given: Vec<Tensor>, result: &Tensor) -> Option<Vec<Call>> {
    if !parts.constants().is_empty() {
        return None;
    }
    let mut tensors: HashMap<Id, Tensor> = parts.inputs().zip(given).collect();
    let mut calls = Vec::new();
    for (at, node) in parts.nodes().iter().enumerate() {
        let id = self::result(parts, node)?;
        Kernel::of(node.operator)?;
        let shown = parts.value(id);
        if shown.geometry.sizes() != result.sizes() {
            return None;
        }
        let arguments = arguments(at, node, &mut |id| tensors.get(&id).cloned()).ok()?;
        let is_last = parts.outputs() == [id];
        if is_last && shown.dtype != result.dtype() {
            return None;
        }
        let result = if is_last { result.clone() } else { shape(shown)? };
        tensors.insert(id, result.clone());
        calls.push(Call { operator: node.operator, arguments, result });
    }
    calls.last().is_some_and(|last| last.result.same(result)).then_some(calls)
}

/// Returns the kernels of nodes and of the calls of which they are composed.
pub(super) fn kernels<'a>(nodes: impl Iterator<Item = &'a Node>, calls: &[Call]) -> Vec<Kernel> {
    let operators = nodes.map(|node| node.operator).chain(calls.iter().map(|call| call.operator));
    let mut kernels: Vec<Kernel> = Vec::new();
    for operator in operators {
        if !kernels.iter().any(|known| known.operator.name() == operator.name()) {
            kernels.extend(Kernel::of(operator));
        }
    }
    kernels
}

/// Builds the chain of calls that computes `results`, and returns it with its inputs.
pub(super) fn chain(calls: &[Call], results: &[Tensor]) -> (FusionGroup, Vec<Tensor>) {
    let made: HashMap<usize, usize> = calls.iter().enumerate().map(|(at, call)| (call.result.identity(), at)).collect();
    let mut inputs: Vec<Tensor> = Vec::new();
    let tensors = calls.iter().flat_map(|call| &call.arguments).filter_map(Value::as_tensor);
    for tensor in tensors.filter(|tensor| !tensor.is_number() && !made.contains_key(&tensor.identity())) {
        if !inputs.iter().any(|known| known.same(tensor)) {
            inputs.push(tensor.clone());
        }
    }
    let number = |tensor: &Tensor| match made.get(&tensor.identity()) {
        Some(step) => Some(inputs.len() + step),
        None => inputs.iter().position(|known| known.same(tensor)),
    };
    let given = |value: &Value| match value.as_tensor().and_then(number) {
        Some(number) => StepArgument::Value(number),
        None => StepArgument::Constant(value.clone()),
    };
    let steps = calls.iter().map(|call| FusionStep {
        operator: call.operator,
        arguments: call.arguments.iter().map(given).collect(),
        result: call.result.clone(),
    });
    let steps = steps.collect();
    let results = results.iter().filter_map(number).collect();
    (FusionGroup { inputs: inputs.clone(), steps, results }, inputs)
}
