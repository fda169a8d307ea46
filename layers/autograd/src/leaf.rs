//! The gradients that leaves gather.

use dispatch_runtime::{Result, Tensor, guard};

use crate::history;
use crate::hooks;

/// Adds a gradient to a leaf's own.
///
/// Whoever adds takes the leaf's gradient away, and puts the sum back. Where another thread has put one there meanwhile, that is added too:
/// nothing is lost, and no lock is held while operators run.
pub(crate) fn accumulate(leaf: &Tensor, gradient: Tensor) -> Result<()> {
    let mut sum = if guard::is_grad_enabled() { gradient } else { own(gradient)? };
    while let Some(there) = history::update(leaf, |state| match state.gradient.take() {
        Some(there) => Some(there),
        None => {
            state.gradient = Some(sum.clone());
            None
        }
    }) {
        sum = plus(there, &sum)?;
    }
    drop(sum);
    let after = history::peek(leaf, |state| state.extra.as_ref().map(|extra| extra.hooks.after.clone())).flatten();
    after.unwrap_or_default().iter().try_for_each(|(_, hook)| hook(leaf))
}

/// A gradient that is nobody else's: what a leaf shows must not change when somebody writes to another tensor.
fn own(mut gradient: Tensor) -> Result<Tensor> {
    if is_own(&mut gradient) { Ok(gradient) } else { aten::clone(&gradient, None) }
}

/// The sum of two gradients, in place where nobody else has the first.
pub(crate) fn plus(mut sum: Tensor, gradient: &Tensor) -> Result<Tensor> {
    if is_own(&mut sum) {
        aten::add_(&mut sum, gradient, 1.into())?;
        Ok(sum)
    } else {
        aten::add(&sum, gradient, 1.into())
    }
}

/// Whether a gradient can be added to in place: nobody else sees its elements, each is there once, and nothing is recorded.
fn is_own(gradient: &mut Tensor) -> bool {
    gradient.is_unique() && gradient.geometry().is_dense() && !guard::is_grad_enabled()
}

/// Lets the hooks of a leaf change its gradient.
pub(crate) fn run_hooks(leaf: &Tensor, gradient: &mut Tensor) -> Result<()> {
    let before = history::peek(leaf, |state| state.extra.as_ref().map(|extra| extra.hooks.before.clone())).flatten();
    before.unwrap_or_default().iter().try_for_each(|(_, hook)| hooks::apply(hook, gradient))
}
