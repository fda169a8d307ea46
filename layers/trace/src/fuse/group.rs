//! Grouping of the calls that are fused.
//!
//! A group is open while calls may join it, and runs when it is closed. It is closed before the first call outside of it that uses one of
//! its results, and before any call that writes, because the group may read the old elements. Until then, independent calls run before the
//! group.

use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use dispatch_runtime::{Dims, Fuser, Tensor};

use super::call::{ElementwiseCall, build_fusion_group, elementwise_calls, expected_kernels, meta_tensors};
use super::{FusedCalls, RunStep};
use crate::argument::ValueId;
use crate::graph::{Graph, Node};

pub(super) fn group_calls(graph: &Graph, fuser: &dyn Fuser) -> Vec<RunStep> {
    // Grouping calls operators on Meta. A thread of its own has none of this thread's guards, which are not part of the graph.
    thread::scope(|scope| scope.spawn(|| group_calls_on_this_thread(graph, fuser)).join())
        .unwrap_or_else(|panic| resume_unwind(panic))
}

fn group_calls_on_this_thread(graph: &Graph, fuser: &dyn Fuser) -> Vec<RunStep> {
    let Some(shapes) = meta_tensors(graph) else { return (0..graph.nodes.len()).map(RunStep::Call).collect() };
    let values = shapes.iter().enumerate().map(|(at, shape)| (shape.identity(), ValueId(at))).collect();
    let mut use_counts = vec![0; shapes.len()];
    graph
        .nodes
        .iter()
        .flat_map(Node::used_values)
        .chain(graph.outputs.iter().copied())
        .for_each(|id| use_counts[id.0] += 1);
    let mut grouping = CallGrouping { graph, fuser, shapes, values, use_counts, open: Vec::new(), steps: Vec::new() };
    for (at, node) in graph.nodes.iter().enumerate() {
        let calls = elementwise_calls(graph, at, &grouping.shapes, fuser);
        let sizes = calls
            .as_ref()
            .and_then(|_| node.result_values().next())
            .map(|id| Dims::from_slice(graph.value(id).geometry.sizes()));
        let used: HashSet<ValueId> = node.used_values().collect();
        let writes = !node.effects.writes.is_empty();
        grouping.close_groups(|open| writes || Some(&open.sizes) != sizes.as_ref() && !open.results.is_disjoint(&used));
        match calls.zip(sizes) {
            Some((calls, sizes)) => grouping.add_call(at, calls, sizes),
            None => grouping.steps.push(RunStep::Call(at)),
        }
    }
    grouping.close_groups(|_| true);
    grouping.steps
}

struct CallGrouping<'a> {
    graph: &'a Graph,
    fuser: &'a dyn Fuser,
    shapes: Vec<Tensor>,
    /// The value of each Meta tensor, by the tensor's identity.
    values: HashMap<usize, ValueId>,
    /// The number of uses of each value, as an argument or as a result of the graph.
    use_counts: Vec<usize>,
    open: Vec<OpenGroup>,
    steps: Vec<RunStep>,
}

/// A group that calls may still join.
struct OpenGroup {
    sizes: Dims,
    nodes: Vec<usize>,
    calls: Vec<ElementwiseCall>,
    results: HashSet<ValueId>,
}

impl CallGrouping<'_> {
    fn add_call(&mut self, at: usize, mut calls: Vec<ElementwiseCall>, sizes: Dims) {
        let results = self.graph.nodes[at].result_values();
        if let Some(open) = self.open.iter_mut().find(|open| open.sizes == sizes) {
            open.nodes.push(at);
            open.calls.append(&mut calls);
            open.results.extend(results);
        } else {
            self.open.push(OpenGroup { sizes, nodes: vec![at], calls, results: results.collect() });
        }
    }

    /// Closes the groups for which `should_close` returns true.
    fn close_groups(&mut self, should_close: impl Fn(&OpenGroup) -> bool) {
        let (closed, open) = std::mem::take(&mut self.open).into_iter().partition(should_close);
        self.open = open;
        let closed: Vec<OpenGroup> = closed;
        for open in closed {
            match self.fuse_group(&open) {
                Some(group) => self.steps.push(RunStep::Group(Arc::new(group))),
                None => self.steps.extend(open.nodes.into_iter().map(RunStep::Call)),
            }
        }
    }

    /// Fuses the calls of a group. Returns `None` for a single call, or if the fuser cannot fuse them.
    fn fuse_group(&self, open: &OpenGroup) -> Option<FusedCalls> {
        let [_, _, ..] = open.nodes[..] else { return None };
        let nodes = || open.nodes.iter().map(|at| &self.graph.nodes[*at]);
        let mut inner_uses: HashMap<ValueId, usize> = HashMap::new();
        nodes().flat_map(Node::used_values).for_each(|id| *inner_uses.entry(id).or_default() += 1);
        let is_used_outside = |id: &ValueId| self.use_counts[id.0] > inner_uses.get(id).copied().unwrap_or(0);
        let mut results: Vec<ValueId> = open.results.iter().copied().filter(is_used_outside).collect();
        results.sort_unstable();
        let result_tensors: Vec<Tensor> = results.iter().map(|id| self.shapes[id.0].clone()).collect();
        let (chain, inputs) = build_fusion_group(&open.calls, &result_tensors);
        let pass = self.fuser.fuse(&chain)?;
        let inputs = inputs.iter().map(|shape| self.values.get(&shape.identity()).copied()).collect::<Option<_>>()?;
        let (kernels, records_grad) =
            (expected_kernels(nodes(), &open.calls), nodes().any(|node| node.grad_mode == Some(true)));
        Some(FusedCalls { nodes: open.nodes.clone(), inputs, results, pass, kernels, records_grad })
    }
}
