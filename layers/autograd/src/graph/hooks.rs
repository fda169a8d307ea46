//! Hooks: functions that read or replace gradients during a backward pass.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dispatch_runtime::{Result, Tensor};

use crate::graph::history;
use crate::graph::node::{Edge, Gradients, Node};

/// A hook that reads the gradient of a tensor and may return a replacement.
pub(crate) type TensorHook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// A hook that is called with a leaf whose gradient has changed.
pub(crate) type PostAccumulateHook = Arc<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;
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
#[must_use = "a hook stays registered until this handle removes it"]
pub struct HookHandle {
    id: u64,
    target: HookTarget,
}

enum HookTarget {
    Node(Arc<NodeHooks>),
    Leaf(Tensor),
}

/// The hooks of a node.
#[derive(Default)]
pub(crate) struct NodeHooks(Mutex<NodeHookLists>);

#[derive(Default)]
#[expect(clippy::struct_field_names, reason = "PyTorch names its lists of hooks so")]
struct NodeHookLists {
    tensor_hooks: Vec<(u64, (u32, TensorHook))>,
    pre_hooks: Vec<(u64, NodeHook)>,
    post_hooks: Vec<(u64, NodeHook)>,
}

/// The hooks of a leaf.
#[derive(Default)]
pub(crate) struct LeafHooks {
    pub(crate) tensor_hooks: Vec<(u64, TensorHook)>,
    pub(crate) post_accumulate_hooks: Vec<(u64, PostAccumulateHook)>,
}

fn next_hook_id() -> u64 {
    static NEXT_HOOK_ID: AtomicU64 = AtomicU64::new(0);
    NEXT_HOOK_ID.fetch_add(1, Ordering::Relaxed)
}

/// Registers a hook on a tensor's gradient, at its node or its leaf.
pub(crate) fn register_tensor_hook(edge: Edge, hook: TensorHook) -> HookHandle {
    match edge {
        Edge::Node(node, result) => node.add_hook(|hooks, id| hooks.tensor_hooks.push((id, (result, hook)))),
        Edge::Leaf(leaf) => register_leaf_hook(&leaf, |hooks, id| hooks.tensor_hooks.push((id, hook))),
    }
}

/// Registers a hook that is called after each accumulation into a leaf's gradient.
pub(crate) fn register_post_accumulate_hook(
    leaf: &Tensor,
    hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
) -> HookHandle {
    register_leaf_hook(leaf, |hooks, id| hooks.post_accumulate_hooks.push((id, Arc::new(hook))))
}

fn register_leaf_hook(leaf: &Tensor, add: impl FnOnce(&mut LeafHooks, u64)) -> HookHandle {
    let id = next_hook_id();
    history::update_state(leaf, |state| add(&mut state.rare_or_init().hooks, id));
    HookHandle { id, target: HookTarget::Leaf(leaf.clone()) }
}

/// Removes the hooks with this id and returns them.
fn take_hooks_by_id<T>(hooks: &mut Vec<(u64, T)>, id: u64) -> Vec<(u64, T)> {
    hooks.extract_if(.., |(other, _)| *other == id).collect()
}

impl Node {
    /// Registers a hook that is called with the gradients of the node's results before the node runs. The hook may change them.
    pub fn register_prehook(
        &self,
        hook: impl Fn(&mut [Option<Tensor>]) -> Result<()> + Send + Sync + 'static,
    ) -> HookHandle {
        self.add_hook(|hooks, id| hooks.pre_hooks.push((id, Arc::new(hook))))
    }

    /// Registers a hook that is called with the gradients of the node's inputs after the node ran. The hook may change them.
    pub fn register_hook(
        &self,
        hook: impl Fn(&mut [Option<Tensor>]) -> Result<()> + Send + Sync + 'static,
    ) -> HookHandle {
        self.add_hook(|hooks, id| hooks.post_hooks.push((id, Arc::new(hook))))
    }

    fn add_hook(&self, add: impl FnOnce(&mut NodeHookLists, u64)) -> HookHandle {
        let (id, hooks) = (next_hook_id(), self.hooks_or_init());
        hooks.with_locked_lists(|hooks| add(hooks, id));
        HookHandle { id, target: HookTarget::Node(hooks.clone()) }
    }
}

impl NodeHooks {
    fn with_locked_lists<T>(&self, f: impl FnOnce(&mut NodeHookLists) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn run_pre_hooks(&self, gradients: &mut [Option<Tensor>]) -> Result<()> {
        // Hooks are called without the lock, as a hook may remove hooks.
        let (results, before) = self.with_locked_lists(|hooks| (hooks.tensor_hooks.clone(), hooks.pre_hooks.clone()));
        for (_, (result, hook)) in results {
            if let Some(gradient) = &mut gradients[result as usize] {
                call_tensor_hook(&hook, gradient)?;
            }
        }
        before.iter().try_for_each(|(_, hook)| hook(gradients))
    }

    pub(crate) fn run_post_hooks(&self, gradients: &mut Gradients) -> Result<()> {
        let after = self.with_locked_lists(|hooks| hooks.post_hooks.clone());
        after.iter().try_for_each(|(_, hook)| hook(gradients))
    }
}

pub(crate) fn call_tensor_hook(hook: &TensorHook, gradient: &mut Tensor) -> Result<()> {
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
        match self.target {
            HookTarget::Node(hooks) => drop(hooks.with_locked_lists(|hooks| {
                (
                    take_hooks_by_id(&mut hooks.tensor_hooks, id),
                    take_hooks_by_id(&mut hooks.pre_hooks, id),
                    take_hooks_by_id(&mut hooks.post_hooks, id),
                )
            })),
            HookTarget::Leaf(leaf) => drop(history::update_state(&leaf, |state| {
                let hooks = &mut state.rare_or_init().hooks;
                (take_hooks_by_id(&mut hooks.tensor_hooks, id), take_hooks_by_id(&mut hooks.post_accumulate_hooks, id))
            })),
        }
    }
}
