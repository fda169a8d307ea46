//! Checkpointing: recomputation in the backward pass instead of saved tensors.

use std::collections::HashSet;

use dispatch_runtime::guard::{self, ThreadState};
use dispatch_runtime::{KeySet, RandomRecording, Result, Tensor, keys};
use dispatch_transform::caller_state;

use crate::api::differentiable::Differentiable;
use crate::api::differentiation::Differentiation;
use crate::error::GradientError;
use crate::graph::custom_function::{Backward, BackwardContext, ForwardContext, link_outputs};
use crate::graph::history;
use crate::graph::node::{Edge, Edges, SequenceScope};

/// Calls `f` without saving its intermediate tensors. The backward pass calls `f` again, with the same random numbers, and differentiates
/// that. Random numbers drawn on threads that `f` starts are not replayed.
///
/// Tensors that `f` captures receive gradients like the inputs. `f` must capture the same tensors in both calls, and they must not be
/// written to in between. Inside of a transformed function, such as the argument of [`functional::grad`](crate::api::functional::grad), `f`
/// is called and recorded as usual.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Differentiable, checkpoint};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let weight = Tensor::from([1.0, 2.0]).requires_grad_(true)?;
/// let captured = weight.clone();
/// let block = move |inputs: &[Tensor]| Ok(vec![(&inputs[0] * &captured)?.sin()?]);
/// checkpoint(block, &[&Tensor::from([3.0, 4.0])])?[0].sum()?.backward()?;
/// assert_eq!(weight.grad().unwrap().to_vec::<f64>()?, [3.0 * 3f64.cos(), 4.0 * 8f64.cos()]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of `f`. A backward pass returns the error of the recomputation, and [`GradientError::CheckpointCaptureMismatch`] if
/// `f` captures other tensors than before.
pub fn checkpoint(
    f: impl Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync + 'static,
    inputs: &[&Tensor],
) -> Result<Vec<Tensor>> {
    let inputs: Vec<Tensor> = inputs.iter().map(|&input| input.clone()).collect();
    if !guard::is_grad_enabled() || dispatch_transform::depth() > 0 {
        return f(&inputs);
    }
    let edges: Edges = inputs.iter().map(history::gradient_edge).collect::<Result<_>>()?;
    let requires: Vec<bool> = edges.iter().map(Option::is_some).collect();
    let (outputs, mut captured, first_sequence, recording) = {
        let scope = SequenceScope::begin();
        let detached = detach_inputs(&inputs, &requires)?;
        let (outputs, recording) = RandomRecording::record(|| f(&detached));
        let outputs = outputs?;
        let captured = find_captured_edges(&outputs, &detached, scope.first_sequence())?;
        if captured.is_empty() && !requires.contains(&true) {
            return Ok(outputs);
        }
        (outputs.iter().map(history::detach).collect::<Result<Vec<_>>>()?, captured, scope.first_sequence(), recording)
    };
    let captured_count = captured.len();
    // Drops the leaves that `f` made itself: they have no other handle.
    captured.retain_mut(|edge| match edge {
        Edge::Leaf(leaf) => !leaf.is_only_handle(),
        Edge::Node(..) => true,
    });
    let mut ctx = ForwardContext::default();
    let leaves = captured.iter().filter_map(|edge| match edge {
        Edge::Leaf(leaf) => Some(leaf),
        Edge::Node(..) => None,
    });
    for saved in inputs.iter().chain(leaves) {
        ctx.save(saved);
    }
    let recompute = CheckpointBackward {
        f: Box::new(f),
        input_count: inputs.len(),
        captured_count,
        first_sequence,
        recording,
        state: caller_state(),
    };
    let edges = edges.into_iter().chain(captured.into_iter().map(Some)).collect();
    link_outputs(edges, outputs, ctx, recompute)
}

type CheckpointedFn = Box<dyn Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync>;

/// The backward of a checkpoint. It saves the inputs and then the captured leaves. Its edges are those of the inputs and then the captured
/// ones.
struct CheckpointBackward {
    f: CheckpointedFn,
    /// The number of inputs.
    input_count: usize,
    /// The number of captured edges, including those to leaves that `f` makes itself.
    captured_count: usize,
    /// The smallest sequence number of `f`'s own nodes. Earlier nodes are captured.
    first_sequence: u64,
    /// The random numbers of the forward pass.
    recording: RandomRecording,
    state: ThreadState,
}

/// Returns the inputs without their history. Those whose gradient is requested are leaves.
fn detach_inputs(inputs: &[Tensor], requires: &[bool]) -> Result<Vec<Tensor>> {
    let detach = |(input, requires): (&Tensor, &bool)| match requires {
        true => history::detach(input)?.requires_grad_(true),
        false if history::requires_grad(input)? => history::detach(input),
        false => Ok(input.clone()),
    };
    inputs.iter().zip(requires).map(detach).collect()
}

/// Returns the edges from a function's own nodes to captured tensors, which are neither made by the function nor its inputs.
/// `first_sequence` is the function's smallest sequence number.
fn find_captured_edges(outputs: &[Tensor], inputs: &[Tensor], first_sequence: u64) -> Result<Vec<Edge>> {
    let edges = |tensors: &[Tensor]| {
        tensors.iter().filter_map(|tensor| history::gradient_edge(tensor).transpose()).collect::<Result<Vec<Edge>>>()
    };
    let (mut left, inputs) = (edges(outputs)?, edges(inputs)?);
    let (mut seen, mut captured) = (HashSet::new(), Vec::<Edge>::new());
    while let Some(edge) = left.pop() {
        match &edge {
            Edge::Node(node, _) if node.sequence() >= first_sequence => {
                if seen.insert(node.identity()) {
                    left.extend(node.edges().iter().flatten().cloned());
                }
            }
            edge if inputs.iter().chain(&captured).any(|known| known.same(edge)) => {}
            _ => captured.push(edge),
        }
    }
    Ok(captured)
}

impl CheckpointBackward {
    /// Calls the checkpointed function again, with the thread state and the random numbers of the forward pass.
    fn recompute(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let modes = guard::included() & KeySet::from(keys::PreDispatch);
        let _state = self.state.enter();
        let _modes = guard::include(modes);
        self.recording.replay(|| (self.f)(inputs))
    }

    fn check_same_captures(&self, captured: &[Edge], found: &[Edge]) -> Result<()> {
        let is_found = |edge: &Edge| found.iter().any(|found| found.same(edge));
        if found.len() == self.captured_count && captured.iter().all(is_found) {
            return Ok(());
        }
        Err(GradientError::CheckpointCaptureMismatch.into())
    }
}

impl Backward for CheckpointBackward {
    fn name(&self) -> String {
        "checkpoint".to_owned()
    }

    fn backward(&self, ctx: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let mut inputs = ctx.saved_tensors_with_names(|i| match i.checked_sub(self.input_count) {
            None => format!("input {i}"),
            Some(i) => format!("captured leaf {i}"),
        })?;
        inputs.truncate(self.input_count);
        let captured_before: Vec<Edge> = ctx.node.edges().iter().skip(self.input_count).flatten().cloned().collect();
        let create_graph = guard::is_grad_enabled();
        // With `create_graph` the inputs keep their history. Otherwise gradients end at the inputs.
        let inputs = if create_graph { inputs } else { detach_inputs(&inputs, ctx.needs)? };
        let outputs = {
            let _recorded = guard::enable_grad();
            let _scope = SequenceScope::begin();
            let outputs = self.recompute(&inputs)?;
            self.check_same_captures(&captured_before, &find_captured_edges(&outputs, &inputs, self.first_sequence)?)?;
            outputs
        };
        let differentiated: Vec<(&Tensor, &Tensor)> = outputs
            .iter()
            .zip(gradients)
            .filter_map(|(output, gradient)| Some((output, gradient.as_ref()?)))
            .filter(|(output, _)| output.requires_grad())
            .collect();
        let (outputs, seeds): (Vec<&Tensor>, Vec<&Tensor>) = differentiated.into_iter().unzip();
        let input_edges: Vec<Option<Edge>> = inputs.iter().map(history::gradient_edge).collect::<Result<_>>()?;
        let ends: Vec<Edge> = input_edges.iter().flatten().chain(&captured_before).cloned().collect();
        let task = Differentiation::of_outputs(&outputs).with_seeds(&seeds);
        let task = if create_graph { task.create_graph() } else { task };
        let mut found = task.grad_at_edges(&ends)?.into_iter();
        let mut found = |is_end: bool| if is_end { found.next().flatten() } else { None };
        let captured = captured_before.iter().map(|_| true);
        Ok(input_edges.iter().map(Option::is_some).chain(captured).map(&mut found).collect())
    }
}
