//! Retained gradients of computed tensors (`retain_grad`).

use std::sync::{Arc, Mutex, PoisonError};

use dispatch_runtime::{Result, Tensor};

use crate::graph::accumulate_grad::exchange;
use crate::graph::history;
use crate::graph::hooks::{self, HookHandle};
use crate::graph::node::Edge;

/// The retained gradient of a tensor, and the hook that fills it. The node does not keep the tensor alive.
pub(crate) struct Retained {
    kept: Kept,
    hook: HookHandle,
}

type Kept = Arc<Mutex<Option<Tensor>>>;

impl Retained {
    pub(crate) fn gradient(&self) -> Option<Tensor> {
        lock(&self.kept, |kept| kept.clone())
    }

    pub(crate) fn replace(&self, gradient: Option<Tensor>) -> Option<Tensor> {
        lock(&self.kept, |kept| std::mem::replace(kept, gradient))
    }

    fn on(edge: Edge, kept: Kept) -> Self {
        let to = kept.clone();
        let hook = hooks::on_tensor(edge, Arc::new(move |gradient| add(&to, gradient).map(|()| None)));
        Self { kept, hook }
    }
}

/// Retains the gradients of a tensor from now on.
pub(crate) fn retain(tensor: &Tensor, edge: Edge) {
    if !history::update(tensor, |state| state.extra().retained.is_some()) {
        let retained = Retained::on(edge, Kept::default());
        history::update(tensor, |state| state.extra().retained = Some(retained));
    }
}

/// Moves the hook to the new node of a tensor that was written to. The retained gradient is that of the new contents.
pub(crate) fn follow(tensor: &Tensor, edge: Edge) {
    let before = history::with_state(tensor, |state| state.extra.as_mut()?.retained.take()).flatten();
    if let Some(Retained { kept, hook }) = before {
        hook.remove();
        let retained = Retained::on(edge, kept);
        history::update(tensor, |state| state.extra().retained = Some(retained));
    }
}

/// Adds a copy of the gradient, as its storage may be shared. A gradient that another thread has stored in between is added too.
fn add(kept: &Mutex<Option<Tensor>>, gradient: &Tensor) -> Result<()> {
    let mut sum = match lock(kept, Option::take) {
        Some(before) => aten::add(&before, gradient, 1.into())?,
        None => aten::clone(gradient, None)?,
    };
    while let Some((there, mine)) = lock(kept, |kept| exchange(kept, sum)) {
        sum = aten::add(&there, &mine, 1.into())?;
    }
    Ok(())
}

fn lock<T>(kept: &Mutex<Option<Tensor>>, look: impl FnOnce(&mut Option<Tensor>) -> T) -> T {
    look(&mut kept.lock().unwrap_or_else(PoisonError::into_inner))
}
