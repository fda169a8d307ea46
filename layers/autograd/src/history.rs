//! What autograd remembers about a tensor.
//!
//! It sits in the tensor's extension slot and is shared by all clones: where its gradient goes, what gradient a leaf has gathered, and
//! of which tensor it is a view. Two marks on the tensor say without a lock whether there is anything to find out.
//!
//! A view has no history of its own. Whenever its base was written to in a way that gradients follow, through whichever view, the base
//! is a *generation* older, and a view that is of an earlier one derives its edge anew from the base's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch_runtime::{Marks, Result, Tensor};

use crate::hooks::LeafHooks;
use crate::node::{Edge, Node};
use crate::views;

#[derive(Default)]
pub(crate) struct History(Mutex<State>);

#[derive(Default)]
pub(crate) struct State {
    /// The node that computed it; none for a leaf.
    pub(crate) node: Option<(Arc<Node>, u32)>,
    pub(crate) gradient: Option<Tensor>,
    /// How often it was written to in a way that gradients follow.
    pub(crate) generation: u64,
    pub(crate) view: Option<View>,
    pub(crate) hooks: Option<Box<LeafHooks>>,
    /// Where a hook puts the gradient of a computed tensor, if it is to be kept.
    pub(crate) retained: Option<Arc<Mutex<Option<Tensor>>>>,
}

impl State {
    pub(crate) fn gradient(&self) -> Option<Tensor> {
        let retained = || self.retained.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.gradient.clone().or_else(retained)
    }
}

/// What a view is a view of.
#[derive(Clone)]
pub(crate) struct View {
    /// No view itself.
    pub(crate) base: Tensor,
    /// The generation of the base that `node` follows.
    pub(crate) generation: u64,
    pub(crate) origin: Origin,
}

/// How a view came about, which decides whether it may be written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    Plain,
    /// One of several that one call gave.
    OneOfMany,
    /// Made while nothing was recorded.
    Unrecorded,
    /// Elements of another dtype than the base's.
    Reinterpreted,
}

impl History {
    fn of(tensor: &Tensor) -> Option<MutexGuard<'_, State>> {
        tensor.extension::<Self>().map(Self::lock)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is remembered about a tensor, if anything.
pub(crate) fn peek<T>(tensor: &Tensor, look: impl FnOnce(&State) -> T) -> Option<T> {
    History::of(tensor).map(|state| look(&state))
}

/// The same, to be changed.
pub(crate) fn peek_mut<T>(tensor: &Tensor, change: impl FnOnce(&mut State) -> T) -> Option<T> {
    History::of(tensor).map(|mut state| change(&mut state))
}

/// What is remembered about a tensor from now on, to be changed. `change` calls no operator.
pub(crate) fn update<T>(tensor: &Tensor, change: impl FnOnce(&mut State) -> T) -> T {
    change(&mut tensor.extension_or_init(History::default).lock())
}

/// Whether gradients may have to be followed: no lock, and no more than a look where not.
#[inline]
pub(crate) fn may_require_grad(tensor: &Tensor) -> bool {
    tensor.has_any(Marks::REQUIRES_GRAD | Marks::VIEW)
}

/// Whether what is computed from a tensor is recorded.
pub(crate) fn requires_grad(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.requires_grad() || (tensor.is_view() && edge(tensor)?.is_some()))
}

/// Where the gradient of a tensor goes, if it has one.
pub(crate) fn edge(tensor: &Tensor) -> Result<Option<Edge>> {
    if !may_require_grad(tensor) {
        return Ok(None);
    }
    if tensor.is_view() {
        views::refresh(tensor)?;
    }
    let node = peek(tensor, |state| state.node.clone()).flatten();
    Ok(match node {
        Some((node, result)) => Some(Edge::Node(node, result)),
        None => tensor.requires_grad().then(|| Edge::Leaf(tensor.clone())),
    })
}

/// Makes a tensor the result of a node.
pub(crate) fn set(tensor: &Tensor, edge: Edge) {
    let Edge::Node(node, result) = edge else { return };
    update(tensor, |state| state.node = Some((node, result)));
    tensor.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
}

/// The same after it was written to, so that its views follow.
pub(crate) fn rewrite(tensor: &Tensor, node: Arc<Node>) {
    update(tensor, |state| {
        state.generation += 1;
        state.node.replace((node, 0))
    });
    tensor.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
}

/// The same elements in a tensor without history.
pub(crate) fn bare(tensor: &Tensor) -> Result<Tensor> {
    Ok(tensor.restride(tensor.geometry().clone())?)
}

/// The generation of a tensor that is no view.
pub(crate) fn generation(base: &Tensor) -> u64 {
    peek(base, |state| state.generation).unwrap_or(0)
}
