//! Retained gradients of computed tensors (`retain_grad`).

use std::sync::{Arc, Mutex, PoisonError};

use dispatch_runtime::{Result, Tensor};

use crate::graph::accumulate_grad::store_or_take_both;
use crate::graph::history;
use crate::graph::hooks::{self, HookHandle};
use crate::graph::node::Edge;

/// The retained gradient of a tensor, and the hook that fills it. The node does not keep the tensor alive.
pub(crate) struct RetainedGradient {
    slot: GradientSlot,
    hook: HookHandle,
}

type GradientSlot = Arc<Mutex<Option<Tensor>>>;

impl RetainedGradient {
    pub(crate) fn gradient(&self) -> Option<Tensor> {
        with_locked_slot(&self.slot, |slot| slot.clone())
    }

    pub(crate) fn replace(&self, gradient: Option<Tensor>) -> Option<Tensor> {
        with_locked_slot(&self.slot, |slot| std::mem::replace(slot, gradient))
    }

    fn new(edge: Edge, slot: GradientSlot) -> Self {
        let target = slot.clone();
        let hook = hooks::register_tensor_hook(
            edge,
            Arc::new(move |gradient| add_to_retained_gradient(&target, gradient).map(|()| None)),
        );
        Self { slot, hook }
    }
}

/// Retains the gradients of a tensor from now on.
pub(crate) fn retain_gradient(tensor: &Tensor, edge: Edge) {
    if !history::update_state(tensor, |state| state.rare_or_init().retained.is_some()) {
        let retained = RetainedGradient::new(edge, GradientSlot::default());
        history::update_state(tensor, |state| state.rare_or_init().retained = Some(retained));
    }
}

/// Moves the hook that retains a gradient to the new node of a tensor that was written to. The retained gradient is that of the new
/// contents.
pub(crate) fn move_retain_hook(tensor: &Tensor, edge: Edge) {
    let before = history::with_state(tensor, |state| state.rare.as_mut()?.retained.take()).flatten();
    if let Some(RetainedGradient { slot, hook }) = before {
        hook.remove();
        let retained = RetainedGradient::new(edge, slot);
        history::update_state(tensor, |state| state.rare_or_init().retained = Some(retained));
    }
}

/// Adds a gradient to a retained gradient. It is copied, as its storage may be shared. A gradient that another thread has stored in between
/// is added too.
fn add_to_retained_gradient(slot: &Mutex<Option<Tensor>>, gradient: &Tensor) -> Result<()> {
    let mut sum = match with_locked_slot(slot, Option::take) {
        Some(before) => aten::add(&before, gradient, 1.into())?,
        None => aten::clone(gradient, None)?,
    };
    while let Some((stored, added)) = with_locked_slot(slot, |slot| store_or_take_both(slot, sum)) {
        sum = aten::add(&stored, &added, 1.into())?;
    }
    Ok(())
}

fn with_locked_slot<T>(slot: &Mutex<Option<Tensor>>, f: impl FnOnce(&mut Option<Tensor>) -> T) -> T {
    f(&mut slot.lock().unwrap_or_else(PoisonError::into_inner))
}
