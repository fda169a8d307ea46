//! Accumulation of gradients in leaves.

use dispatch_runtime::{Result, Tensor, guard};

use crate::graph::history;
use crate::graph::hooks;
use crate::graph::node::fit;

/// Adds a gradient to the stored gradient of a leaf.
///
/// The addition takes the stored gradient out and stores the sum. If another thread has stored a gradient in between, that is added too. No
/// lock is held while operators run.
pub(crate) fn accumulate(leaf: &Tensor, gradient: Tensor) -> Result<()> {
    let mut sum = own(gradient)?;
    while let Some((there, mine)) = history::update(leaf, |state| exchange(&mut state.gradient, sum)) {
        sum = plus(there, &mine)?;
    }
    let after =
        history::with_state(leaf, |state| state.extra.as_ref().map(|extra| extra.hooks.after.clone())).flatten();
    after.unwrap_or_default().iter().try_for_each(|(_, hook)| hook(leaf))
}

/// Stores a gradient if the slot is empty. Otherwise empties the slot and returns both gradients.
pub(crate) fn exchange(place: &mut Option<Tensor>, gradient: Tensor) -> Option<(Tensor, Tensor)> {
    if let Some(there) = place.take() {
        return Some((there, gradient));
    }
    *place = Some(gradient);
    None
}

/// Returns the gradient, or a copy if it is shared, not dense, or recorded. A later write to another tensor must not change a leaf's
/// gradient.
fn own(gradient: Tensor) -> Result<Tensor> {
    let mut gradient = without_base(gradient)?;
    if is_own(&mut gradient) { Ok(gradient) } else { aten::clone(&gradient, None) }
}

/// Returns the sum of two gradients, computed in place if the first has no other owner.
pub(crate) fn plus(sum: Tensor, gradient: &Tensor) -> Result<Tensor> {
    let mut sum = without_base(sum)?;
    if is_own(&mut sum) {
        aten::add_(&mut sum, gradient, 1.into())?;
        Ok(sum)
    } else {
        aten::add(&sum, gradient, 1.into())
    }
}

/// Returns the gradient without its link to a base. A view keeps its base alive, which often has no other owner (a product that was then
/// transposed).
fn without_base(gradient: Tensor) -> Result<Tensor> {
    let is_view = !guard::is_grad_enabled() && gradient.is_view();
    if is_view { history::bare(&gradient) } else { Ok(gradient) }
}

/// Whether a gradient can be added to in place: it has no other owner, its elements are dense, and nothing is recorded.
fn is_own(gradient: &mut Tensor) -> bool {
    gradient.is_unique() && gradient.geometry().is_dense() && !guard::is_grad_enabled()
}

/// Calls the hooks of a leaf, which may replace its gradient.
pub(crate) fn run_hooks(leaf: &Tensor, gradient: &mut Tensor) -> Result<()> {
    let before =
        history::with_state(leaf, |state| state.extra.as_ref().map(|extra| extra.hooks.before.clone())).flatten();
    for (_, hook) in before.unwrap_or_default() {
        hooks::apply(&hook, gradient)?;
        *gradient = fit(gradient.clone(), leaf.sizes(), leaf.dtype(), &|| "a hook".to_owned())?;
    }
    Ok(())
}
