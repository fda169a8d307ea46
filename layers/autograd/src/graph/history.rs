//! What autograd remembers about a tensor.
//!
//! All clones share it. The call that gave the tensor (`Computed`) and the base of a view are in its body; an extension, for which few
//! tensors have a use, holds the rest: what gradient a leaf has gathered, who wrote to the tensor, hooks. Two marks on the tensor say
//! without a lock whether there is anything to find out.
//!
//! A view has no history of its own. Whenever its base was written to in a way that gradients follow, through whichever view, the base
//! is a *generation* older, and a view that is of an earlier one derives its edge anew from the base's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::{Marks, Result, Shared, Tensor, Value};
use dispatch_transform::Lifted;

use crate::graph::hooks::LeafHooks;
use crate::graph::node::{Edge, Node};
use crate::graph::retain_grad::{self, Retained};
use crate::graph::views;

#[derive(Default)]
pub(crate) struct History {
    /// How a view came about. That is known when it is made, and never changes.
    origin: Origin,
    /// How often the tensor was written to in a way that gradients follow; of a view, the generation of its base that its node follows.
    generation: AtomicU64,
    state: Mutex<State>,
}

/// The call that gave a tensor, as long as nothing else is known about it.
struct Computed {
    node: Shared<Node>,
    result: u32,
}

#[derive(Default)]
pub(crate) struct State {
    /// The node that comes in place of the call that gave it: of the last write, or, of a view, that which follows its base.
    pub(crate) node: Option<(Shared<Node>, u32)>,
    pub(crate) gradient: Option<Tensor>,
    pub(crate) extra: Option<Box<Extra>>,
}

/// What few tensors have.
#[derive(Default)]
pub(crate) struct Extra {
    pub(crate) hooks: LeafHooks,
    /// Of a computed tensor, if its gradient is to be kept.
    pub(crate) retained: Option<Retained>,
}

impl State {
    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    fn retained(&self) -> Option<&Retained> {
        self.extra.as_ref()?.retained.as_ref()
    }

    pub(crate) fn gradient(&self) -> Option<Tensor> {
        self.retained().map_or_else(|| self.gradient.clone(), Retained::gradient)
    }

    /// Puts another one in its place, and gives the one that was there.
    pub(crate) fn replace_gradient(&mut self, gradient: Option<Tensor>) -> Option<Tensor> {
        match self.retained() {
            Some(retained) => retained.replace(gradient),
            None => std::mem::replace(&mut self.gradient, gradient),
        }
    }
}

/// How a view came about, which decides whether it may be written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Origin {
    #[default]
    Plain,
    /// One of several that one call gave.
    OneOfMany,
    /// Made while nothing was recorded.
    Unrecorded,
    /// Elements of another dtype than the base's.
    Reinterpreted,
}

impl Origin {
    /// Why the gradient of such a view could not follow a write to it, if it could not.
    pub(crate) const fn unwritable(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::OneOfMany => Some("is one of several that one call gave"),
            Self::Unrecorded => Some("was made while nothing was recorded"),
            Self::Reinterpreted => Some("shows its memory as another dtype"),
        }
    }
}

impl History {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `look` with the state of a tensor, if it has one.
pub(crate) fn with_state<T>(tensor: &Tensor, look: impl FnOnce(&mut State) -> T) -> Option<T> {
    tensor.extension::<History>().map(|history| look(&mut history.lock()))
}

/// What is remembered about a tensor from now on, to be changed. `change` calls no operator.
pub(crate) fn update<T>(tensor: &Tensor, change: impl FnOnce(&mut State) -> T) -> T {
    change(&mut tensor.extension_or_init(History::default).lock())
}

/// How a view came about. What is no view did in no special way.
pub(crate) fn origin(tensor: &Tensor) -> Origin {
    match tensor.extension::<History>().map_or(Origin::Plain, |history| history.origin) {
        Origin::Plain if tensor.base().is_some_and(|base| base.dtype() != tensor.dtype()) => Origin::Reinterpreted,
        origin => origin,
    }
}

/// Makes a fresh tensor a view of one that is none. Of a plain one of a tensor that was never written to, nothing else is remembered.
pub(crate) fn set_view(view: &mut Tensor, base: &Tensor, origin: Origin) {
    if !view.tie_to(base) {
        return;
    }
    let generation = generation(base);
    if origin != Origin::Plain || generation != 0 {
        view.extension_or_init(|| History { origin, generation: generation.into(), ..History::default() });
    }
}

/// Whether gradients may have to be followed. No lock, and for most tensors no more than a look.
#[inline(always)]
pub(crate) fn may_require_grad(tensor: &Tensor) -> bool {
    tensor.has_any(Marks::REQUIRES_GRAD | Marks::VIEW) && (tensor.requires_grad() || is_stale(tensor))
}

/// Whether a view's node is of an earlier generation than its base. A base that requires no gradients has none to follow.
#[inline]
pub(crate) fn is_stale(tensor: &Tensor) -> bool {
    tensor.base().is_some_and(|base| base.requires_grad() && is_older(tensor, base))
}

#[inline(never)]
fn is_older(view: &Tensor, base: &Tensor) -> bool {
    generation(view) != generation(base)
}

/// Whether what is computed from a tensor is recorded.
pub(crate) fn requires_grad(tensor: &Tensor) -> Result<bool> {
    Ok(may_require_grad(tensor) && edge(tensor)?.is_some())
}

/// The same for any of a value's tensors.
pub(crate) fn any_requires_grad(value: &Value) -> Result<bool> {
    value.tensors().try_fold(false, |any, tensor| Ok(any || requires_grad(tensor)?))
}

/// Where the gradient of a tensor goes, if it has one.
#[inline(always)]
pub(crate) fn edge(tensor: &Tensor) -> Result<Option<Edge>> {
    if may_require_grad(tensor) { find_edge(tensor) } else { Ok(None) }
}

fn find_edge(tensor: &Tensor) -> Result<Option<Edge>> {
    if let Some(base) = tensor.base().filter(|_| is_stale(tensor)) {
        views::follow(tensor, base)?;
    }
    if tensor.is_leaf() {
        return Ok(tensor.requires_grad().then(|| Edge::Leaf(tensor.clone())));
    }
    if let Some((node, result)) = with_state(tensor, |state| state.node.clone()).flatten() {
        return Ok(Some(Edge::Node(node, result)));
    }
    Ok(tensor.extension().map(|Computed { node, result }| Edge::Node(node.clone(), *result)))
}

/// Makes a fresh tensor the result of a node.
#[inline]
pub(crate) fn set(tensor: &mut Tensor, node: Shared<Node>, result: u32) {
    if let Err(Computed { node, result }) = tensor.set_extension(Computed { node, result }) {
        drop(update(tensor, |state| state.node.replace((node, result))));
    }
    tensor.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
}

/// The same after it was written to, so that its views follow.
pub(crate) fn rewrite(tensor: &Tensor, node: Shared<Node>) {
    let history = tensor.extension_or_init(History::default);
    let before = history.lock().node.replace((node.clone(), 0));
    history.generation.fetch_add(1, Ordering::Release);
    tensor.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
    retain_grad::follow(tensor, Edge::Node(node, 0));
    drop(before);
}

/// The same elements in a tensor without history: at its level, if it has one, or the levels outside would not know it.
pub(crate) fn bare(tensor: &Tensor) -> Result<Tensor> {
    match tensor.extension::<Lifted>() {
        Some(lifted) => Ok(lifted.level().lift(lifted.below())),
        None => Ok(tensor.restride(tensor.geometry().clone())?),
    }
}

/// The generation of a tensor, or the one that a view follows.
pub(crate) fn generation(tensor: &Tensor) -> u64 {
    tensor.extension::<History>().map_or(0, |history| history.generation.load(Ordering::Acquire))
}

/// Gives a view the node that follows this generation of its base.
pub(crate) fn follow(view: &Tensor, node: Option<Shared<Node>>, generation: u64) {
    let history = view.extension_or_init(History::default);
    let recorded = node.is_some();
    let before = std::mem::replace(&mut history.lock().node, node.map(|node| (node, 0)));
    history.generation.store(generation, Ordering::Release);
    if recorded {
        view.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
    }
    drop(before);
}
