//! The autograd history of a tensor.
//!
//! All clones of a tensor share it. The call that computed the tensor (`ProducingCall`) and the base of a view are in the tensor's body. An
//! extension, which few tensors need, holds the rest: a leaf's gradient, the last write, hooks. Two marks on the tensor tell without a lock
//! whether there is any history.
//!
//! A view has no history of its own. Each recorded write to the base, through any of its views, increments the base's *generation*. A view
//! of an earlier generation derives its edge from the base again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::{Marks, Result, Shared, Tensor, Value};
use dispatch_transform::LiftInfo;

use crate::graph::hooks::LeafHooks;
use crate::graph::node::{Edge, Node};
use crate::graph::retain_grad::{self, RetainedGradient};
use crate::graph::views;

#[derive(Default)]
pub(crate) struct History {
    /// How the tensor was made, if it is a view. It never changes.
    origin: ViewOrigin,
    /// The number of recorded writes to the tensor. Of a view, the generation of the base that its node belongs to.
    generation: AtomicU64,
    state: Mutex<HistoryState>,
}

/// The call that computed a tensor, while the tensor has no other history.
struct ProducingCall {
    node: Shared<Node>,
    result: u32,
}

#[derive(Default)]
pub(crate) struct HistoryState {
    /// The node that replaces the one in `ProducingCall`: the node of the last write or, for a view, the node derived from that of its
    /// base.
    pub(crate) node: Option<(Shared<Node>, u32)>,
    pub(crate) gradient: Option<Tensor>,
    pub(crate) rare: Option<Box<RareHistoryState>>,
}

/// The parts of the history that few tensors have.
#[derive(Default)]
pub(crate) struct RareHistoryState {
    pub(crate) hooks: LeafHooks,
    /// The retained gradient of a computed tensor.
    pub(crate) retained: Option<RetainedGradient>,
}

impl HistoryState {
    pub(crate) fn rare_or_init(&mut self) -> &mut RareHistoryState {
        self.rare.get_or_insert_default()
    }

    fn retained_gradient(&self) -> Option<&RetainedGradient> {
        self.rare.as_ref()?.retained.as_ref()
    }

    pub(crate) fn gradient(&self) -> Option<Tensor> {
        self.retained_gradient().map_or_else(|| self.gradient.clone(), RetainedGradient::gradient)
    }

    /// Replaces the gradient and returns the old one.
    pub(crate) fn replace_gradient(&mut self, gradient: Option<Tensor>) -> Option<Tensor> {
        match self.retained_gradient() {
            Some(retained) => retained.replace(gradient),
            None => std::mem::replace(&mut self.gradient, gradient),
        }
    }
}

/// How a view was made, which decides whether it may be written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ViewOrigin {
    #[default]
    Plain,
    /// One of several views that one call returned.
    MultiOutput,
    /// A view made while nothing was recorded.
    Unrecorded,
    /// A view with another dtype than its base.
    OtherDType,
}

impl ViewOrigin {
    /// Returns why such a view cannot be written to, or `None` if it can.
    pub(crate) const fn reason_not_writable(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::MultiOutput => Some("is one of several results of one call"),
            Self::Unrecorded => Some("was made while nothing was recorded"),
            Self::OtherDType => Some("has another dtype than its base"),
        }
    }
}

impl History {
    fn lock(&self) -> MutexGuard<'_, HistoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `f` with the state of a tensor, if it has one.
pub(crate) fn with_state<T>(tensor: &Tensor, f: impl FnOnce(&mut HistoryState) -> T) -> Option<T> {
    tensor.extension::<History>().map(|history| f(&mut history.lock()))
}

/// Calls `f` with the state of a tensor, which is created if it has none. `f` must call no operator.
pub(crate) fn update_state<T>(tensor: &Tensor, f: impl FnOnce(&mut HistoryState) -> T) -> T {
    f(&mut tensor.extension_or_init(History::default).lock())
}

/// Returns how a view was made. A tensor that is no view is `Plain`.
pub(crate) fn view_origin(tensor: &Tensor) -> ViewOrigin {
    match tensor.extension::<History>().map_or(ViewOrigin::Plain, |history| history.origin) {
        ViewOrigin::Plain if tensor.base().is_some_and(|base| base.dtype() != tensor.dtype()) => ViewOrigin::OtherDType,
        origin => origin,
    }
}

/// Makes a new tensor a view of its base. Stores an extension only if the view is not plain or the base was written to.
pub(crate) fn set_view(view: &mut Tensor, base: &Tensor, origin: ViewOrigin) {
    if !view.make_view_of(base) {
        return;
    }
    let generation = generation(base);
    if origin != ViewOrigin::Plain || generation != 0 {
        view.extension_or_init(|| History { origin, generation: generation.into(), ..History::default() });
    }
}

/// Whether a tensor may require gradients. Takes no lock, and mostly reads only the marks.
#[inline(always)]
pub(crate) fn may_require_grad(tensor: &Tensor) -> bool {
    tensor.has_any_mark(Marks::REQUIRES_GRAD | Marks::VIEW) && (tensor.requires_grad() || is_stale_view(tensor))
}

/// Whether a view's node is of an earlier generation than its base. False if the base requires no gradients.
#[inline]
pub(crate) fn is_stale_view(tensor: &Tensor) -> bool {
    tensor.base().is_some_and(|base| base.requires_grad() && has_older_generation(tensor, base))
}

#[inline(never)]
fn has_older_generation(view: &Tensor, base: &Tensor) -> bool {
    generation(view) != generation(base)
}

/// Whether a call with this tensor is recorded, because the tensor requires gradients.
pub(crate) fn requires_grad(tensor: &Tensor) -> Result<bool> {
    Ok(may_require_grad(tensor) && gradient_edge(tensor)?.is_some())
}

/// Whether a call with this argument is recorded, because one of its tensors requires gradients.
pub(crate) fn any_requires_grad(value: &Value) -> Result<bool> {
    value.tensors().try_fold(false, |any, tensor| Ok(any || requires_grad(tensor)?))
}

/// Returns the edge along which a tensor's gradient goes, if it has one.
#[inline(always)]
pub(crate) fn gradient_edge(tensor: &Tensor) -> Result<Option<Edge>> {
    if may_require_grad(tensor) { gradient_edge_of_marked(tensor) } else { Ok(None) }
}

fn gradient_edge_of_marked(tensor: &Tensor) -> Result<Option<Edge>> {
    if let Some(base) = tensor.base().filter(|_| is_stale_view(tensor)) {
        views::update_view_node(tensor, base)?;
    }
    if tensor.is_leaf() {
        return Ok(tensor.requires_grad().then(|| Edge::Leaf(tensor.clone())));
    }
    if let Some((node, result)) = with_state(tensor, |state| state.node.clone()).flatten() {
        return Ok(Some(Edge::Node(node, result)));
    }
    Ok(tensor.extension().map(|ProducingCall { node, result }| Edge::Node(node.clone(), *result)))
}

/// Makes a new tensor the result of a node.
#[inline]
pub(crate) fn set_node(tensor: &mut Tensor, node: Shared<Node>, result: u32) {
    if let Err(ProducingCall { node, result }) = tensor.set_extension(ProducingCall { node, result }) {
        drop(update_state(tensor, |state| state.node.replace((node, result))));
    }
    tensor.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
}

/// Sets the node of a tensor that was written to, and increments the generation for its views.
pub(crate) fn set_node_after_write(tensor: &Tensor, node: Shared<Node>) {
    let history = tensor.extension_or_init(History::default);
    let before = history.lock().node.replace((node.clone(), 0));
    history.generation.fetch_add(1, Ordering::Release);
    tensor.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
    retain_grad::move_retain_hook(tensor, Edge::Node(node, 0));
    drop(before);
}

/// Makes a tensor a leaf that requires no gradients. Other handles of the tensor keep its graph alive.
pub(crate) fn remove(tensor: &mut Tensor) {
    tensor.unmark(Marks::REQUIRES_GRAD);
    tensor.unmark(Marks::RECORDED);
    drop(with_state(tensor, |state| (state.node.take(), state.rare.as_mut().and_then(|rare| rare.retained.take()))));
    tensor.drop_extension::<ProducingCall>();
}

/// Whether the gradient of a computed tensor is retained.
pub(crate) fn retains_gradient(tensor: &Tensor) -> bool {
    with_state(tensor, |state| state.retained_gradient().is_some()).unwrap_or(false)
}

/// Returns a tensor with the same elements and no history. A tensor of a transform level stays on its level.
pub(crate) fn detach(tensor: &Tensor) -> Result<Tensor> {
    match tensor.extension::<LiftInfo>() {
        Some(lifted) => Ok(lifted.level().lift(lifted.tensor_below())),
        None => Ok(tensor.restride(tensor.geometry().clone())?),
    }
}

/// Returns the generation of a tensor: the number of recorded writes to it. For a view, the generation that its node belongs to.
pub(crate) fn generation(tensor: &Tensor) -> u64 {
    tensor.extension::<History>().map_or(0, |history| history.generation.load(Ordering::Acquire))
}

/// Sets the node of a view for this generation of its base.
pub(crate) fn set_view_node(view: &Tensor, node: Option<Shared<Node>>, generation: u64) {
    let history = view.extension_or_init(History::default);
    let recorded = node.is_some();
    let before = std::mem::replace(&mut history.lock().node, node.map(|node| (node, 0)));
    history.generation.store(generation, Ordering::Release);
    if recorded {
        view.mark(Marks::REQUIRES_GRAD | Marks::RECORDED);
    }
    drop(before);
}
