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
use crate::graph::accumulate_grad::{self, plus};
use crate::graph::anomaly;
use crate::graph::function::Function;
use crate::graph::node::{Edge, Gradients, Node};

/// The task of one backward pass.
pub(crate) struct Task<'a> {
    pub(crate) roots: Vec<(Edge, Tensor)>,
    pub(crate) retain_graph: bool,
    pub(crate) create_graph: bool,
    /// The tensors whose gradients are returned. `None` if leaves accumulate their gradients instead.
    pub(crate) inputs: Option<&'a [Edge]>,
    /// Whether the walk stops at the inputs: nodes behind an input do not run, and the hooks of the inputs are not called.
    pub(crate) ends_at_inputs: bool,
}

/// A node that waits for the gradients of its results.
struct PendingNode {
    node: Shared<Node>,
    /// The number of edges whose gradient has not arrived.
    missing: usize,
    gradients: SmallVec<[Option<Tensor>; 1]>,
    /// Whether the node runs: it is an input, it leads to one, or the task has no inputs.
    wanted: bool,
}

/// A leaf that waits for its gradient.
struct LeafGradient {
    leaf: Tensor,
    missing: usize,
    gradient: Option<Tensor>,
    wanted: bool,
}

struct Run<'a> {
    task: &'a Task<'a>,
    nodes: Vec<PendingNode>,
    of_node: HashMap<usize, usize>,
    leaves: Vec<LeafGradient>,
    of_leaf: HashMap<usize, usize>,
    /// The nodes whose gradients have all arrived, by sequence number. The latest runs first.
    ready: BinaryHeap<(u64, Reverse<usize>)>,
    captured: Vec<Option<Tensor>>,
    caller: KeySet,
}

/// Runs a backward pass and returns the gradients of the inputs, if the task has any.
pub(crate) fn run(task: &Task<'_>) -> Result<Vec<Option<Tensor>>> {
    span("backward", || walk(task))
}

fn walk(task: &Task<'_>) -> Result<Vec<Option<Tensor>>> {
    let mut run = Run {
        task,
        nodes: Vec::new(),
        of_node: HashMap::new(),
        leaves: Vec::new(),
        of_leaf: HashMap::new(),
        ready: BinaryHeap::new(),
        captured: vec![None; task.inputs.map_or(0, <[Edge]>::len)],
        caller: guard::included(),
    };
    run.explore();
    if task.inputs.is_some() {
        run.find_wanted();
    }
    let _mode = if task.create_graph { guard::enable_grad() } else { guard::no_grad() };
    for (edge, seed) in &task.roots {
        run.arrive(edge, Some(seed.clone()))?;
    }
    while let Some((_, Reverse(node))) = run.ready.pop() {
        run.step(node)?;
    }
    Ok(run.captured)
}

impl Run<'_> {
    /// Finds every node and leaf reachable from the roots, and counts the edges to each.
    fn explore(&mut self) {
        let roots: Vec<Edge> = self.task.roots.iter().map(|(edge, _)| edge.clone()).collect();
        for root in &roots {
            self.count(root);
        }
        let mut next = 0;
        while let Some(pending) = self.nodes.get(next) {
            let node = pending.node.clone();
            for edge in node.edges().iter().flatten() {
                self.count(edge);
            }
            next += 1;
        }
    }

    /// Returns the index of the input at which this edge ends, if the walk stops at inputs.
    #[inline]
    fn end(&self, edge: &Edge) -> Option<usize> {
        let inputs = self.task.inputs.filter(|_| self.task.ends_at_inputs)?;
        inputs.iter().position(|input| input.same(edge))
    }

    fn count(&mut self, edge: &Edge) {
        if self.end(edge).is_some() {
            return;
        }
        match edge {
            Edge::Node(node, _) => {
                let at = *self.of_node.entry(node.identity()).or_insert_with(|| {
                    let gradients = smallvec![None; node.results().len()];
                    self.nodes.push(PendingNode { node: node.clone(), missing: 0, gradients, wanted: true });
                    self.nodes.len() - 1
                });
                self.nodes[at].missing += 1;
            }
            Edge::Leaf(leaf) => {
                let at = *self.of_leaf.entry(leaf.identity()).or_insert_with(|| {
                    self.leaves.push(LeafGradient { leaf: leaf.clone(), missing: 0, gradient: None, wanted: true });
                    self.leaves.len() - 1
                });
                self.leaves[at].missing += 1;
            }
        }
    }

    /// Marks the nodes and leaves that lead to an input.
    fn find_wanted(&mut self) {
        let inputs = self.task.inputs.unwrap_or_default();
        let is_input = |node: &Shared<Node>| {
            inputs.iter().any(|input| matches!(input, Edge::Node(other, _) if Shared::same(other, node)))
        };
        for leaf_gradient in &mut self.leaves {
            leaf_gradient.wanted =
                inputs.iter().any(|input| matches!(input, Edge::Leaf(leaf) if leaf.same(&leaf_gradient.leaf)));
        }
        // A node must be decided after the nodes that it leads to, so the order of arrival is read backwards.
        let mut missing: Vec<usize> = self.nodes.iter().map(|pending| pending.missing).collect();
        let (mut order, mut stack) = (Vec::new(), Vec::new());
        let mut follow = |edge: &Edge, stack: &mut Vec<usize>| {
            if let Edge::Node(node, _) = edge
                && self.end(edge).is_none()
            {
                let at = self.of_node[&node.identity()];
                missing[at] -= 1;
                stack.extend((missing[at] == 0).then_some(at));
            }
        };
        self.task.roots.iter().for_each(|(edge, _)| follow(edge, &mut stack));
        while let Some(at) = stack.pop() {
            order.push(at);
            self.nodes[at].node.edges().iter().flatten().for_each(|edge| follow(edge, &mut stack));
        }
        for at in order.into_iter().rev() {
            let node = self.nodes[at].node.clone();
            let leads_on = node.edges().iter().flatten().any(|edge| self.is_wanted(edge));
            self.nodes[at].wanted = leads_on || is_input(&node);
        }
    }

    fn is_wanted(&self, edge: &Edge) -> bool {
        match edge {
            _ if self.end(edge).is_some() => true,
            Edge::Node(node, _) => self.nodes[self.of_node[&node.identity()]].wanted,
            Edge::Leaf(leaf) => self.leaves[self.of_leaf[&leaf.identity()]].wanted,
        }
    }

    /// Adds a gradient, if any, to the node, leaf or input at the end of an edge.
    fn arrive(&mut self, edge: &Edge, gradient: Option<Tensor>) -> Result<()> {
        if let Some(input) = self.end(edge) {
            return gradient.map_or(Ok(()), |gradient| add(&mut self.captured[input], gradient));
        }
        match edge {
            Edge::Node(node, result) => {
                let at = self.of_node[&node.identity()];
                let pending = &mut self.nodes[at];
                if let Some(gradient) = gradient {
                    add(&mut pending.gradients[*result as usize], gradient)?;
                }
                pending.missing -= 1;
                if pending.missing == 0 {
                    self.ready.push((node.sequence(), Reverse(at)));
                }
            }
            Edge::Leaf(leaf) => {
                let at = self.of_leaf[&leaf.identity()];
                let leaf_gradient = &mut self.leaves[at];
                if let Some(gradient) = gradient {
                    add(&mut leaf_gradient.gradient, gradient)?;
                }
                leaf_gradient.missing -= 1;
                if leaf_gradient.missing == 0 {
                    self.finish_leaf(at)?;
                }
            }
        }
        Ok(())
    }

    fn finish_leaf(&mut self, at: usize) -> Result<()> {
        let leaf_gradient = &mut self.leaves[at];
        let (Some(mut gradient), true) = (leaf_gradient.gradient.take(), leaf_gradient.wanted) else { return Ok(()) };
        let leaf = leaf_gradient.leaf.clone();
        if self.task.inputs.is_none() && !leaf.requires_grad() {
            return Ok(());
        }
        accumulate_grad::run_hooks(&leaf, &mut gradient)?;
        match self.task.inputs {
            Some(inputs) => {
                for (input, captured) in inputs.iter().zip(&mut self.captured) {
                    if matches!(input, Edge::Leaf(input) if input.same(&leaf)) {
                        *captured = Some(gradient.clone());
                    }
                }
                Ok(())
            }
            None => accumulate_grad::accumulate(&leaf, gradient),
        }
    }

    /// Runs one node whose gradients have all arrived.
    fn step(&mut self, at: usize) -> Result<()> {
        let node = self.nodes[at].node.clone();
        let mut gradients = std::mem::take(&mut self.nodes[at].gradients);
        let wanted = self.nodes[at].wanted;
        let mut out: Gradients = smallvec![None; node.edges().len()];
        if wanted && gradients.iter().any(Option::is_some) {
            let _state = enter(node.state(), self.caller, self.task.create_graph);
            if let Some(hooks) = node.hooks() {
                hooks.before(&mut gradients)?;
            }
            self.capture(&node, &gradients);
            let needs: SmallVec<[bool; 4]> =
                node.edges().iter().map(|edge| edge.as_ref().is_some_and(|edge| self.is_wanted(edge))).collect();
            if needs.contains(&true) {
                let name = fmt::from_fn(|f| write!(f, "backward of {}", node.name()));
                out = span(name, || Self::run_node(&node, &mut gradients, &needs))?;
                if !self.task.retain_graph {
                    node.function().release();
                }
            }
        }
        drop(gradients);
        for (edge, gradient) in node.edges().iter().zip(out) {
            if let Some(edge) = edge {
                self.arrive(edge, gradient)?;
            }
        }
        Ok(())
    }

    fn run_node(node: &Shared<Node>, gradients: &mut [Option<Tensor>], needs: &[bool]) -> Result<Gradients> {
        let result = Function::run(node, gradients, needs).and_then(|mut out| {
            if let Some(hooks) = node.hooks() {
                hooks.after(&mut out)?;
            }
            for ((gradient, edge), need) in out.iter_mut().zip(node.edges()).zip(needs) {
                *gradient = match (gradient.take(), edge) {
                    (Some(gradient), Some(edge)) if *need => Some(edge.fit(gradient, node)?),
                    _ => None,
                };
            }
            if anomaly::is_watching() {
                check_for_nan(node, &out)?;
            }
            Ok(out)
        });
        result.map_err(|error| located(error, node))
    }

    fn capture(&mut self, node: &Shared<Node>, gradients: &[Option<Tensor>]) {
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
fn enter(forward: ThreadState, caller: KeySet, create_graph: bool) -> [Guard; 4] {
    let state = forward.enter();
    let mode = if create_graph { guard::enable_grad() } else { guard::no_grad() };
    [guard::exclude(KeySet::layers_of(keys::Autocast)), guard::include(caller.layers()), mode, state]
}

/// Adds a gradient to a sum, which may be empty.
fn add(sum: &mut Option<Tensor>, gradient: Tensor) -> Result<()> {
    *sum = Some(match sum.take() {
        Some(sum) => plus(sum, &gradient)?,
        None => gradient,
    });
    Ok(())
}

fn check_for_nan(node: &Node, gradients: &[Option<Tensor>]) -> Result<()> {
    let _quietly = guard::no_grad();
    for (position, gradient) in gradients.iter().enumerate() {
        if let Some(gradient) = gradient
            && aten::isnan(gradient)?.any()?.item::<bool>()?
        {
            return Err(GradientError::NaN { operator: node.name(), position }.into());
        }
    }
    Ok(())
}

/// Adds the operator and the call site to an error, if the node recorded its site (anomaly mode).
#[cold]
fn located(error: Error, node: &Node) -> Error {
    match node.site() {
        Some(site) => Error::kernel(format!("{error}\n  in the derivative of `{}`, {site}", node.name())),
        None => error,
    }
}
