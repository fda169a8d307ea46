//! The gradients that leaves gather.

use dispatch_runtime::{Result, Tensor, guard};

use crate::graph::history;
use crate::graph::hooks;
use crate::graph::node::fit;

/// Adds a gradient to a leaf's own.
///
/// Whoever adds takes the leaf's gradient away, and puts the sum back. Where another thread has put one there meanwhile, that is added too:
/// nothing is lost, and no lock is held while operators run.
pub(crate) fn accumulate(leaf: &Tensor, gradient: Tensor) -> Result<()> {
    let mut sum = own(gradient)?;
    while let Some((there, mine)) = history::update(leaf, |state| exchange(&mut state.gradient, sum)) {
        sum = plus(there, &mine)?;
    }
    let after =
        history::with_state(leaf, |state| state.extra.as_ref().map(|extra| extra.hooks.after.clone())).flatten();
    after.unwrap_or_default().iter().try_for_each(|(_, hook)| hook(leaf))
}

/// Puts a gradient there, unless there is one: then takes that away and gives both back.
pub(crate) fn exchange(place: &mut Option<Tensor>, gradient: Tensor) -> Option<(Tensor, Tensor)> {
    if let Some(there) = place.take() {
        return Some((there, gradient));
    }
    *place = Some(gradient);
    None
}

/// A gradient that is nobody else's: what a leaf shows must not change when somebody writes to another tensor.
fn own(gradient: Tensor) -> Result<Tensor> {
    let mut gradient = without_base(gradient)?;
    if is_own(&mut gradient) { Ok(gradient) } else { aten::clone(&gradient, None) }
}

/// The sum of two gradients, in place where nobody else has the first.
pub(crate) fn plus(sum: Tensor, gradient: &Tensor) -> Result<Tensor> {
    let mut sum = without_base(sum)?;
    if is_own(&mut sum) {
        aten::add_(&mut sum, gradient, 1.into())?;
        Ok(sum)
    } else {
        aten::add(&sum, gradient, 1.into())
    }
}

/// A view keeps its base, which is often nobody's any more: a product that was then transposed.
fn without_base(gradient: Tensor) -> Result<Tensor> {
    let is_view = !guard::is_grad_enabled() && gradient.is_view();
    if is_view { history::bare(&gradient) } else { Ok(gradient) }
}

/// Whether a gradient can be added to in place: nobody else sees its elements, each is there once, and nothing is recorded.
fn is_own(gradient: &mut Tensor) -> bool {
    gradient.is_unique() && gradient.geometry().is_dense() && !guard::is_grad_enabled()
}

/// Lets the hooks of a leaf change its gradient.
pub(crate) fn run_hooks(leaf: &Tensor, gradient: &mut Tensor) -> Result<()> {
    let before =
        history::with_state(leaf, |state| state.extra.as_ref().map(|extra| extra.hooks.before.clone())).flatten();
    for (_, hook) in before.unwrap_or_default() {
        hooks::apply(&hook, gradient)?;
        *gradient = fit(gradient.clone(), leaf.sizes(), leaf.dtype(), &|| "a hook".to_owned())?;
    }
    Ok(())
}
