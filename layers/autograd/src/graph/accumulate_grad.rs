//! Accumulation of gradients in leaves.

use dispatch_runtime::{Result, Tensor, guard};

use crate::graph::history;
use crate::graph::hooks;
use crate::graph::node::reduce_and_cast;

/// Adds a gradient to the stored gradient of a leaf.
///
/// The addition takes the stored gradient out and stores the sum. If another thread has stored a gradient in between, that is added too. No
/// lock is held while operators run.
pub(crate) fn accumulate_into_leaf(leaf: &Tensor, gradient: Tensor) -> Result<()> {
    let mut sum = copy_gradient_if_shared(gradient)?;
    while let Some((stored, added)) = history::update_state(leaf, |state| store_or_take_both(&mut state.gradient, sum))
    {
        sum = add_gradients(stored, &added)?;
    }
    let after =
        history::with_state(leaf, |state| state.rare.as_ref().map(|rare| rare.hooks.post_accumulate_hooks.clone()))
            .flatten();
    after.unwrap_or_default().iter().try_for_each(|(_, hook)| hook(leaf))
}

/// Stores a gradient if the slot is empty. Otherwise empties the slot and returns both gradients.
pub(crate) fn store_or_take_both(slot: &mut Option<Tensor>, gradient: Tensor) -> Option<(Tensor, Tensor)> {
    if let Some(stored) = slot.take() {
        return Some((stored, gradient));
    }
    *slot = Some(gradient);
    None
}

/// Returns the gradient, or a copy if it is shared, not dense, or recorded. A later write to another tensor must not change a leaf's
/// gradient.
fn copy_gradient_if_shared(gradient: Tensor) -> Result<Tensor> {
    let mut gradient = detach_from_base(gradient)?;
    if can_add_in_place(&mut gradient) { Ok(gradient) } else { aten::clone(&gradient, None) }
}

/// Returns the sum of two gradients, computed in place if the first has no other owner.
pub(crate) fn add_gradients(sum: Tensor, gradient: &Tensor) -> Result<Tensor> {
    let mut sum = detach_from_base(sum)?;
    if can_add_in_place(&mut sum) {
        aten::add_(&mut sum, gradient, 1.into())?;
        Ok(sum)
    } else {
        aten::add(&sum, gradient, 1.into())
    }
}

/// Detaches a gradient that is a view from its base. A view keeps its base alive, often as its only owner, such as a product that was then
/// transposed.
fn detach_from_base(gradient: Tensor) -> Result<Tensor> {
    let is_view = !guard::is_grad_enabled() && gradient.is_view();
    if is_view { history::detach(&gradient) } else { Ok(gradient) }
}

/// Whether a gradient can be added to in place: it has no other owner, its elements are dense, and nothing is recorded.
fn can_add_in_place(gradient: &mut Tensor) -> bool {
    gradient.owns_elements_alone() && gradient.geometry().is_dense() && !guard::is_grad_enabled()
}

/// Calls the hooks of a leaf, which may replace its gradient.
pub(crate) fn run_leaf_hooks(leaf: &Tensor, gradient: &mut Tensor) -> Result<()> {
    let before =
        history::with_state(leaf, |state| state.rare.as_ref().map(|rare| rare.hooks.tensor_hooks.clone())).flatten();
    for (_, hook) in before.unwrap_or_default() {
        hooks::call_tensor_hook(&hook, gradient)?;
        *gradient = reduce_and_cast(gradient.clone(), leaf.sizes(), leaf.dtype(), &|| "a hook".to_owned())?;
    }
    Ok(())
}
