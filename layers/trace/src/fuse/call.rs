//! The elementwise calls of which a node is composed, and chains of them for the fuser.

use std::collections::HashMap;

use dispatch_runtime::{Device, Fuser, FusionGroup, FusionStep, Operator, Spec, StepArgument, Tensor, Value};

use super::OperatorKernels;
use crate::argument::{Argument, ValueId};
use crate::graph::{Graph, Node, ValueInfo};
use crate::record::trace_decomposed;
use crate::run::node_arguments;

/// An elementwise call on Meta tensors. Tensors are told apart by their identity.
pub(super) struct ElementwiseCall {
    operator: &'static Operator,
    arguments: Vec<Value>,
    result: Tensor,
}

/// Returns a Meta tensor for each value of a graph.
pub(super) fn meta_tensors(graph: &Graph) -> Option<Vec<Tensor>> {
    graph.values().iter().map(meta_tensor).collect()
}

fn meta_tensor(info: &ValueInfo) -> Option<Tensor> {
    Spec::contiguous(info.dtype, info.geometry.sizes()).on(Device::META).ok()
}

/// Returns the one result of a node, or `None` if the node has effects, other results, or returns a view.
pub(super) fn single_new_result(graph: &Graph, node: &Node) -> Option<ValueId> {
    let [Argument::Tensor(id)] = &node.outputs[..] else { return None };
    let is_new = graph.value(*id).shares_memory_with.is_none() && !node.used_values().any(|used| used == *id);
    (is_new && !node.has_effects()).then_some(*id)
}

/// Returns the calls of which a node is composed. Returns `None` unless all are elementwise, have the sizes of the node's result, and are
/// known to the fuser.
pub(super) fn elementwise_calls(
    graph: &Graph,
    at: usize,
    shapes: &[Tensor],
    fuser: &dyn Fuser,
) -> Option<Vec<ElementwiseCall>> {
    let node = &graph.nodes[at];
    let result = single_new_result(graph, node)?;
    OperatorKernels::for_operator(node.operator)?;
    let mut used: Vec<ValueId> = node.used_values().collect();
    used.sort_unstable();
    used.dedup();
    let given: Vec<Tensor> = used.iter().map(|id| shapes[id.0].clone()).collect();
    let parts = trace_decomposed(
        |given| {
            let values = node_arguments(at, node, &mut |id| used.binary_search(&id).ok().map(|at| given[at].clone()))?;
            let results = node.operator.call(values)?;
            Ok(results
                .into_iter()
                .filter_map(|value| if let Value::Tensor(tensor) = value { Some(tensor) } else { None }))
        },
        &given,
    )
    .ok()?;
    let calls = elementwise_calls_of_parts(&parts, given, &shapes[result.0])?;
    fuser.fuse(&build_fusion_group(&calls, std::slice::from_ref(&shapes[result.0])).0)?;
    Some(calls)
}

/// Returns the nodes of a graph as calls. The last one returns `result`.
fn elementwise_calls_of_parts(parts: &Graph, given: Vec<Tensor>, result: &Tensor) -> Option<Vec<ElementwiseCall>> {
    if !parts.constants().is_empty() {
        return None;
    }
    let mut tensors: HashMap<ValueId, Tensor> = parts.inputs().zip(given).collect();
    let mut calls = Vec::new();
    for (at, node) in parts.nodes().iter().enumerate() {
        let id = single_new_result(parts, node)?;
        OperatorKernels::for_operator(node.operator)?;
        let info = parts.value(id);
        if info.geometry.sizes() != result.sizes() {
            return None;
        }
        let arguments = node_arguments(at, node, &mut |id| tensors.get(&id).cloned()).ok()?;
        let is_last = parts.outputs() == [id];
        if is_last && info.dtype != result.dtype() {
            return None;
        }
        let result = if is_last { result.clone() } else { meta_tensor(info)? };
        tensors.insert(id, result.clone());
        calls.push(ElementwiseCall { operator: node.operator, arguments, result });
    }
    calls.last().is_some_and(|last| last.result.same(result)).then_some(calls)
}

/// Returns the kernels of nodes and of the calls of which they are composed.
pub(super) fn expected_kernels<'a>(
    nodes: impl Iterator<Item = &'a Node>,
    calls: &[ElementwiseCall],
) -> Vec<OperatorKernels> {
    let operators = nodes.map(|node| node.operator).chain(calls.iter().map(|call| call.operator));
    let mut kernels: Vec<OperatorKernels> = Vec::new();
    for operator in operators {
        if !kernels.iter().any(|known| known.operator.name() == operator.name()) {
            kernels.extend(OperatorKernels::for_operator(operator));
        }
    }
    kernels
}

/// Builds the chain of calls that computes `results`, and returns it with its inputs.
pub(super) fn build_fusion_group(calls: &[ElementwiseCall], results: &[Tensor]) -> (FusionGroup, Vec<Tensor>) {
    let steps_by_result: HashMap<usize, usize> =
        calls.iter().enumerate().map(|(at, call)| (call.result.identity(), at)).collect();
    let mut inputs: Vec<Tensor> = Vec::new();
    let tensors = calls.iter().flat_map(|call| &call.arguments).filter_map(Value::as_tensor);
    for tensor in tensors.filter(|tensor| !tensor.is_number() && !steps_by_result.contains_key(&tensor.identity())) {
        if !inputs.iter().any(|known| known.same(tensor)) {
            inputs.push(tensor.clone());
        }
    }
    let number = |tensor: &Tensor| match steps_by_result.get(&tensor.identity()) {
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
