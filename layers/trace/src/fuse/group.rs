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

use super::call::{Call, calls, chain, kernels, shapes};
use super::{Group, Unit};
use crate::argument::Id;
use crate::graph::{Graph, Node};

pub(super) fn units(graph: &Graph, fuser: &dyn Fuser) -> Vec<Unit> {
    // Grouping calls operators on Meta. A thread of its own has none of this thread's guards, which are not part of the graph.
    thread::scope(|scope| scope.spawn(|| grouped(graph, fuser)).join()).unwrap_or_else(|panic| resume_unwind(panic))
}

fn grouped(graph: &Graph, fuser: &dyn Fuser) -> Vec<Unit> {
    let Some(shapes) = shapes(graph) else { return (0..graph.nodes.len()).map(Unit::Call).collect() };
    let values = shapes.iter().enumerate().map(|(at, shape)| (shape.identity(), Id(at))).collect();
    let mut needed = vec![0; shapes.len()];
    graph.nodes.iter().flat_map(Node::uses).chain(graph.outputs.iter().copied()).for_each(|id| needed[id.0] += 1);
    let mut grouping = Grouping { graph, fuser, shapes, values, needed, open: Vec::new(), units: Vec::new() };
    for (at, node) in graph.nodes.iter().enumerate() {
        let calls = calls(graph, at, &grouping.shapes, fuser);
        let sizes = calls
            .as_ref()
            .and_then(|_| node.gives().next())
            .map(|id| Dims::from_slice(graph.value(id).geometry.sizes()));
        let used: HashSet<Id> = node.uses().collect();
        let writes = !node.effects.writes.is_empty();
        grouping.close(|open| writes || Some(&open.sizes) != sizes.as_ref() && !open.gives.is_disjoint(&used));
        match calls.zip(sizes) {
            Some((calls, sizes)) => grouping.join(at, calls, sizes),
            None => grouping.units.push(Unit::Call(at)),
        }
    }
    grouping.close(|_| true);
    grouping.units
}

struct Grouping<'a> {
    graph: &'a Graph,
    fuser: &'a dyn Fuser,
    shapes: Vec<Tensor>,
    /// The value of each Meta tensor, by the tensor's identity.
    values: HashMap<usize, Id>,
    /// The number of uses of each value, as an argument or as a result of the graph.
    needed: Vec<usize>,
    open: Vec<Open>,
    units: Vec<Unit>,
}

/// A group that calls may still join.
struct Open {
    sizes: Dims,
    nodes: Vec<usize>,
    calls: Vec<Call>,
    gives: HashSet<Id>,
}

impl Grouping<'_> {
    fn join(&mut self, at: usize, mut calls: Vec<Call>, sizes: Dims) {
        let gives = self.graph.nodes[at].gives();
        if let Some(open) = self.open.iter_mut().find(|open| open.sizes == sizes) {
            open.nodes.push(at);
            open.calls.append(&mut calls);
            open.gives.extend(gives);
        } else {
            self.open.push(Open { sizes, nodes: vec![at], calls, gives: gives.collect() });
        }
    }

    /// Closes the groups for which `which` returns true.
    fn close(&mut self, which: impl Fn(&Open) -> bool) {
        let (closed, open) = std::mem::take(&mut self.open).into_iter().partition(which);
        self.open = open;
        let closed: Vec<Open> = closed;
        for open in closed {
            match self.group(&open) {
                Some(group) => self.units.push(Unit::Group(Arc::new(group))),
                None => self.units.extend(open.nodes.into_iter().map(Unit::Call)),
            }
        }
    }

    /// Fuses the calls of a group. Returns `None` for a single call, or if the fuser cannot fuse them.
    fn group(&self, open: &Open) -> Option<Group> {
        let [_, _, ..] = open.nodes[..] else { return None };
        let nodes = || open.nodes.iter().map(|at| &self.graph.nodes[*at]);
        let mut inside: HashMap<Id, usize> = HashMap::new();
        nodes().flat_map(Node::uses).for_each(|id| *inside.entry(id).or_default() += 1);
        let is_wanted = |id: &Id| self.needed[id.0] > inside.get(id).copied().unwrap_or(0);
        let mut results: Vec<Id> = open.gives.iter().copied().filter(is_wanted).collect();
        results.sort_unstable();
        let wanted: Vec<Tensor> = results.iter().map(|id| self.shapes[id.0].clone()).collect();
        let (chain, inputs) = chain(&open.calls, &wanted);
        let pass = self.fuser.fuse(&chain)?;
        let inputs = inputs.iter().map(|shape| self.values.get(&shape.identity()).copied()).collect::<Option<_>>()?;
        let (kernels, grad) = (kernels(nodes(), &open.calls), nodes().any(|node| node.grad == Some(true)));
        Some(Group { nodes: open.nodes.clone(), inputs, results, pass, kernels, grad })
    }
}
