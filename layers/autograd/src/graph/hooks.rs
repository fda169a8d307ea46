//! Hooks: functions that read or replace gradients during a backward pass.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dispatch_runtime::{Result, Tensor};

use crate::graph::history;
use crate::graph::node::{Edge, Gradients, Node};

/// A hook that reads the gradient of a tensor and may return a replacement.
pub(crate) type TensorHook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// A hook that is called with a leaf whose gradient has changed.
pub(crate) type LeafHook = Arc<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;
type NodeHook = Arc<dyn Fn(&mut [Option<Tensor>]) -> Result<()> + Send + Sync>;

/// A handle that removes a hook. Dropping the handle does not remove the hook.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from(3.0).requires_grad_(true)?;
/// let doubling = x.register_hook(|gradient| (gradient * 2.0).map(Some))?;
/// (&x * &x)?.backward()?;
/// assert_eq!(x.grad().unwrap().item::<f64>()?, 12.0);
/// doubling.remove();
/// # Ok(())
/// # }
/// ```
#[must_use = "a hook stays until it is removed through this"]
pub struct HookHandle {
    id: u64,
    of: Hooked,
}

enum Hooked {
    Node(Arc<Hooks>),
    Leaf(Tensor),
}

/// The hooks of a node.
#[derive(Default)]
pub(crate) struct Hooks(Mutex<OfNode>);

#[derive(Default)]
struct OfNode {
    results: Vec<(u64, (u32, TensorHook))>,
    before: Vec<(u64, NodeHook)>,
    after: Vec<(u64, NodeHook)>,
}

/// The hooks of a leaf.
#[derive(Default)]
pub(crate) struct LeafHooks {
    pub(crate) before: Vec<(u64, TensorHook)>,
    pub(crate) after: Vec<(u64, LeafHook)>,
}

fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Registers a hook on a tensor's gradient, at its node or its leaf.
pub(crate) fn on_tensor(edge: Edge, hook: TensorHook) -> HookHandle {
    match edge {
        Edge::Node(node, result) => node.hook(|hooks, id| hooks.results.push((id, (result, hook)))),
        Edge::Leaf(leaf) => on_leaf(&leaf, |hooks, id| hooks.before.push((id, hook))),
    }
}

/// Registers a hook that is called after each accumulation into a leaf's gradient.
pub(crate) fn after_accumulation(
    leaf: &Tensor,
    hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
) -> HookHandle {
    on_leaf(leaf, |hooks, id| hooks.after.push((id, Arc::new(hook))))
}

fn on_leaf(leaf: &Tensor, add: impl FnOnce(&mut LeafHooks, u64)) -> HookHandle {
    let id = fresh();
    history::update(leaf, |state| add(&mut state.extra().hooks, id));
    HookHandle { id, of: Hooked::Leaf(leaf.clone()) }
}

/// Removes the hooks with this id and returns them.
fn take<T>(hooks: &mut Vec<(u64, T)>, id: u64) -> Vec<(u64, T)> {
    hooks.extract_if(.., |(other, _)| *other == id).collect()
}

impl Node {
    /// Calls `hook` with the gradients of this node's results before it runs. The hook may change them.
    pub fn register_prehook(
        &self,
        hook: impl Fn(&mut [Option<Tensor>]) -> Result<()> + Send + Sync + 'static,
    ) -> HookHandle {
        self.hook(|hooks, id| hooks.before.push((id, Arc::new(hook))))
    }

    /// Calls `hook` with the gradients of this node's inputs after it ran. The hook may change them.
    pub fn register_hook(
        &self,
        hook: impl Fn(&mut [Option<Tensor>]) -> Result<()> + Send + Sync + 'static,
    ) -> HookHandle {
        self.hook(|hooks, id| hooks.after.push((id, Arc::new(hook))))
    }

    fn hook(&self, add: impl FnOnce(&mut OfNode, u64)) -> HookHandle {
        let (id, hooks) = (fresh(), self.hooks_or_new());
        hooks.change(|hooks| add(hooks, id));
        HookHandle { id, of: Hooked::Node(hooks.clone()) }
    }
}

impl Hooks {
    fn change<T>(&self, change: impl FnOnce(&mut OfNode) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn before(&self, gradients: &mut [Option<Tensor>]) -> Result<()> {
        // Hooks are called without the lock, as a hook may remove hooks.
        let (results, before) = self.change(|hooks| (hooks.results.clone(), hooks.before.clone()));
        for (_, (result, hook)) in results {
            if let Some(gradient) = &mut gradients[result as usize] {
                apply(&hook, gradient)?;
            }
        }
        before.iter().try_for_each(|(_, hook)| hook(gradients))
    }

    pub(crate) fn after(&self, gradients: &mut Gradients) -> Result<()> {
        let after = self.change(|hooks| hooks.after.clone());
        after.iter().try_for_each(|(_, hook)| hook(gradients))
    }
}

pub(crate) fn apply(hook: &TensorHook, gradient: &mut Tensor) -> Result<()> {
    if let Some(other) = hook(gradient)? {
        *gradient = other;
    }
    Ok(())
}

impl HookHandle {
    /// Removes the hook.
    pub fn remove(self) {
        let id = self.id;
        // The hooks are dropped without the lock: their captured values may use autograd when they are dropped.
        match self.of {
            Hooked::Node(hooks) => drop(hooks.change(|hooks| {
                (take(&mut hooks.results, id), take(&mut hooks.before, id), take(&mut hooks.after, id))
            })),
            Hooked::Leaf(leaf) => drop(history::update(&leaf, |state| {
                let hooks = &mut state.extra().hooks;
                (take(&mut hooks.before, id), take(&mut hooks.after, id))
            })),
        }
    }
}
