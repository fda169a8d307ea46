//! The engine of the backward pass.
//!
//! A first walk counts the edges that lead to each reachable node. Then nodes run, the latest first, each after all of its gradients have
//! arrived and were summed. Neither walk recurses. A node's saved tensors are freed right after it ran, unless the graph is retained.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;

use aten::prelude::*;
use dispatch_runtime::guard::{self, Guard, ThreadState};
use dispatch_runtime::{Error, KeySet, Result, Shared, Tensor, keys, span};
use smallvec::{SmallVec, smallvec};

use crate::error::GradientError;
use crate::graph::accumulate_grad::{self, add_gradients};
use crate::graph::anomaly;
use crate::graph::function::BackwardFunction;
use crate::graph::node::{Edge, Gradients, Node};

/// The task of one backward pass.
pub(crate) struct GraphTask<'a> {
    pub(crate) roots: Vec<(Edge, Tensor)>,
    pub(crate) retain_graph: bool,
    pub(crate) create_graph: bool,
    /// The tensors whose gradients are returned. `None` if leaves accumulate their gradients instead.
    pub(crate) inputs: Option<&'a [Edge]>,
    /// Whether the walk stops at the inputs: nodes behind an input do not run, and the hooks of the inputs are not called.
    pub(crate) stops_at_inputs: bool,
}

/// A node that waits for the gradients of its results.
struct PendingNode {
    node: Shared<Node>,
    /// The number of edges whose gradient has not arrived.
    missing_gradients: usize,
    gradients: SmallVec<[Option<Tensor>; 1]>,
    /// Whether the node runs: it is an input, it leads to one, or the task has no inputs.
    needed: bool,
}

/// A leaf that waits for its gradient.
struct PendingLeaf {
    leaf: Tensor,
    missing_gradients: usize,
    gradient: Option<Tensor>,
    needed: bool,
}

struct BackwardPass<'a> {
    task: &'a GraphTask<'a>,
    nodes: Vec<PendingNode>,
    node_indices: HashMap<usize, usize>,
    leaves: Vec<PendingLeaf>,
    leaf_indices: HashMap<usize, usize>,
    /// The nodes whose gradients have all arrived, by sequence number. The latest runs first.
    ready: BinaryHeap<(u64, Reverse<usize>)>,
    captured: Vec<Option<Tensor>>,
    caller_keys: KeySet,
}

/// Runs a backward pass and returns the gradients of the inputs, if the task has any.
pub(crate) fn run_backward(task: &GraphTask<'_>) -> Result<Vec<Option<Tensor>>> {
    span("backward", || run_backward_without_span(task))
}

fn run_backward_without_span(task: &GraphTask<'_>) -> Result<Vec<Option<Tensor>>> {
    let mut pass = BackwardPass {
        task,
        nodes: Vec::new(),
        node_indices: HashMap::new(),
        leaves: Vec::new(),
        leaf_indices: HashMap::new(),
        ready: BinaryHeap::new(),
        captured: vec![None; task.inputs.map_or(0, <[Edge]>::len)],
        caller_keys: guard::included(),
    };
    pass.count_edges();
    if task.inputs.is_some() {
        pass.mark_needed();
    }
    let _mode = if task.create_graph { guard::enable_grad() } else { guard::no_grad() };
    for (edge, seed) in &task.roots {
        pass.add_gradient(edge, Some(seed.clone()))?;
    }
    while let Some((_, Reverse(node))) = pass.ready.pop() {
        pass.evaluate_node(node)?;
    }
    Ok(pass.captured)
}

impl BackwardPass<'_> {
    /// Finds every node and leaf reachable from the roots, and counts the edges to each.
    fn count_edges(&mut self) {
        let roots: Vec<Edge> = self.task.roots.iter().map(|(edge, _)| edge.clone()).collect();
        for root in &roots {
            self.count_edge(root);
        }
        let mut next = 0;
        while let Some(pending) = self.nodes.get(next) {
            let node = pending.node.clone();
            for edge in node.edges().iter().flatten() {
                self.count_edge(edge);
            }
            next += 1;
        }
    }

    /// Returns the index of the input at which this edge ends, if the walk stops at inputs.
    #[inline]
    fn stopping_input_index(&self, edge: &Edge) -> Option<usize> {
        let inputs = self.task.inputs.filter(|_| self.task.stops_at_inputs)?;
        inputs.iter().position(|input| input.same(edge))
    }

    fn count_edge(&mut self, edge: &Edge) {
        if self.stopping_input_index(edge).is_some() {
            return;
        }
        match edge {
            Edge::Node(node, _) => {
                let at = *self.node_indices.entry(node.identity()).or_insert_with(|| {
                    let gradients = smallvec![None; node.results().len()];
                    self.nodes.push(PendingNode { node: node.clone(), missing_gradients: 0, gradients, needed: true });
                    self.nodes.len() - 1
                });
                self.nodes[at].missing_gradients += 1;
            }
            Edge::Leaf(leaf) => {
                let at = *self.leaf_indices.entry(leaf.identity()).or_insert_with(|| {
                    self.leaves.push(PendingLeaf {
                        leaf: leaf.clone(),
                        missing_gradients: 0,
                        gradient: None,
                        needed: true,
                    });
                    self.leaves.len() - 1
                });
                self.leaves[at].missing_gradients += 1;
            }
        }
    }

    /// Marks the nodes and leaves that lead to an input.
    fn mark_needed(&mut self) {
        let inputs = self.task.inputs.unwrap_or_default();
        let is_input = |node: &Shared<Node>| {
            inputs.iter().any(|input| matches!(input, Edge::Node(other, _) if Shared::same(other, node)))
        };
        for pending_leaf in &mut self.leaves {
            pending_leaf.needed =
                inputs.iter().any(|input| matches!(input, Edge::Leaf(leaf) if leaf.same(&pending_leaf.leaf)));
        }
        // Whether a node is needed depends on the nodes that it leads to, so the order of arrival is read backwards.
        let mut missing_gradients: Vec<usize> = self.nodes.iter().map(|pending| pending.missing_gradients).collect();
        let (mut order, mut stack) = (Vec::new(), Vec::new());
        let mut count_down = |edge: &Edge, stack: &mut Vec<usize>| {
            if let Edge::Node(node, _) = edge
                && self.stopping_input_index(edge).is_none()
            {
                let at = self.node_indices[&node.identity()];
                missing_gradients[at] -= 1;
                stack.extend((missing_gradients[at] == 0).then_some(at));
            }
        };
        self.task.roots.iter().for_each(|(edge, _)| count_down(edge, &mut stack));
        while let Some(at) = stack.pop() {
            order.push(at);
            self.nodes[at].node.edges().iter().flatten().for_each(|edge| count_down(edge, &mut stack));
        }
        for at in order.into_iter().rev() {
            let node = self.nodes[at].node.clone();
            let leads_to_input = node.edges().iter().flatten().any(|edge| self.is_needed(edge));
            self.nodes[at].needed = leads_to_input || is_input(&node);
        }
    }

    fn is_needed(&self, edge: &Edge) -> bool {
        match edge {
            _ if self.stopping_input_index(edge).is_some() => true,
            Edge::Node(node, _) => self.nodes[self.node_indices[&node.identity()]].needed,
            Edge::Leaf(leaf) => self.leaves[self.leaf_indices[&leaf.identity()]].needed,
        }
    }

    /// Adds a gradient, if any, to the node, leaf or input at the end of an edge.
    fn add_gradient(&mut self, edge: &Edge, gradient: Option<Tensor>) -> Result<()> {
        if let Some(input) = self.stopping_input_index(edge) {
            return gradient.map_or(Ok(()), |gradient| add_to_optional_sum(&mut self.captured[input], gradient));
        }
        match edge {
            Edge::Node(node, result) => {
                let at = self.node_indices[&node.identity()];
                let pending = &mut self.nodes[at];
                if let Some(gradient) = gradient {
                    add_to_optional_sum(&mut pending.gradients[*result as usize], gradient)?;
                }
                pending.missing_gradients -= 1;
                if pending.missing_gradients == 0 {
                    self.ready.push((node.sequence(), Reverse(at)));
                }
            }
            Edge::Leaf(leaf) => {
                let at = self.leaf_indices[&leaf.identity()];
                let pending_leaf = &mut self.leaves[at];
                if let Some(gradient) = gradient {
                    add_to_optional_sum(&mut pending_leaf.gradient, gradient)?;
                }
                pending_leaf.missing_gradients -= 1;
                if pending_leaf.missing_gradients == 0 {
                    self.deliver_leaf_gradient(at)?;
                }
            }
        }
        Ok(())
    }

    fn deliver_leaf_gradient(&mut self, at: usize) -> Result<()> {
        let pending_leaf = &mut self.leaves[at];
        let (Some(mut gradient), true) = (pending_leaf.gradient.take(), pending_leaf.needed) else { return Ok(()) };
        let leaf = pending_leaf.leaf.clone();
        if self.task.inputs.is_none() && !leaf.requires_grad() {
            return Ok(());
        }
        accumulate_grad::run_leaf_hooks(&leaf, &mut gradient)?;
        match self.task.inputs {
            Some(inputs) => {
                for (input, captured) in inputs.iter().zip(&mut self.captured) {
                    if matches!(input, Edge::Leaf(input) if input.same(&leaf)) {
                        *captured = Some(gradient.clone());
                    }
                }
                Ok(())
            }
            None => accumulate_grad::accumulate_into_leaf(&leaf, gradient),
        }
    }

    /// Runs one node whose gradients have all arrived.
    fn evaluate_node(&mut self, at: usize) -> Result<()> {
        let node = self.nodes[at].node.clone();
        let mut gradients = std::mem::take(&mut self.nodes[at].gradients);
        let needed = self.nodes[at].needed;
        let mut out: Gradients = smallvec![None; node.edges().len()];
        if needed && gradients.iter().any(Option::is_some) {
            let _state = enter_forward_state(node.thread_state(), self.caller_keys, self.task.create_graph);
            if let Some(hooks) = node.hooks() {
                hooks.run_pre_hooks(&mut gradients)?;
            }
            self.capture_input_gradients(&node, &gradients);
            let needs: SmallVec<[bool; 4]> =
                node.edges().iter().map(|edge| edge.as_ref().is_some_and(|edge| self.is_needed(edge))).collect();
            if needs.contains(&true) {
                let name = fmt::from_fn(|f| write!(f, "backward of {}", node.name()));
                out = span(name, || Self::call_node_function(&node, &mut gradients, &needs))?;
                if !self.task.retain_graph {
                    node.function().release();
                }
            }
        }
        drop(gradients);
        for (edge, gradient) in node.edges().iter().zip(out) {
            if let Some(edge) = edge {
                self.add_gradient(edge, gradient)?;
            }
        }
        Ok(())
    }

    fn call_node_function(node: &Shared<Node>, gradients: &mut [Option<Tensor>], needs: &[bool]) -> Result<Gradients> {
        let result = BackwardFunction::run(node, gradients, needs).and_then(|mut out| {
            if let Some(hooks) = node.hooks() {
                hooks.run_post_hooks(&mut out)?;
            }
            for ((gradient, edge), need) in out.iter_mut().zip(node.edges()).zip(needs) {
                *gradient = match (gradient.take(), edge) {
                    (Some(gradient), Some(edge)) if *need => Some(edge.reduce_and_cast(gradient, node)?),
                    _ => None,
                };
            }
            if anomaly::is_enabled() {
                check_for_nan(node, &out)?;
            }
            Ok(out)
        });
        result.map_err(|error| add_call_site(error, node))
    }

    fn capture_input_gradients(&mut self, node: &Shared<Node>, gradients: &[Option<Tensor>]) {
        for (input, captured) in self.task.inputs.unwrap_or_default().iter().zip(&mut self.captured) {
            if let Edge::Node(input, result) = input
                && Shared::same(input, node)
            {
                captured.clone_from(&gradients[*result as usize]);
            }
        }
    }
}

/// Enters the thread state of the recorded call, with the layers that the caller of backward adds. Autocast is excluded, because its casts
/// were recorded as calls.
fn enter_forward_state(forward: ThreadState, caller_keys: KeySet, create_graph: bool) -> [Guard; 4] {
    let state = forward.enter();
    let mode = if create_graph { guard::enable_grad() } else { guard::no_grad() };
    [guard::exclude(KeySet::layers_of(keys::Autocast)), guard::include(caller_keys.layers()), mode, state]
}

/// Adds a gradient to a sum, which may be empty.
fn add_to_optional_sum(sum: &mut Option<Tensor>, gradient: Tensor) -> Result<()> {
    *sum = Some(match sum.take() {
        Some(sum) => add_gradients(sum, &gradient)?,
        None => gradient,
    });
    Ok(())
}

fn check_for_nan(node: &Node, gradients: &[Option<Tensor>]) -> Result<()> {
    let _no_grad = guard::no_grad();
    for (position, gradient) in gradients.iter().enumerate() {
        if let Some(gradient) = gradient
            && aten::isnan(gradient)?.any()?.item::<bool>()?
        {
            return Err(GradientError::NanGradient { operator: node.name(), position }.into());
        }
    }
    Ok(())
}

/// Adds the operator and the call site to an error, if the node recorded its site (anomaly mode).
#[cold]
fn add_call_site(error: Error, node: &Node) -> Error {
    match node.call_site() {
        Some(site) => Error::kernel(format!("{error}\n  in the derivative of `{}`, {site}", node.name())),
        None => error,
    }
}
