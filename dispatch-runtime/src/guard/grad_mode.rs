//! Grad mode and inference mode: whether autograd records calls, and whether views are tracked.

use super::key_guards::change_key_sets;
use super::{GUARD_STATE, Guard, GuardState, UndoAction, load_guard_state};
use crate::key::keys::{ADInplaceOrView, Autograd};
use crate::key::{AD_INPLACE_OR_VIEW, KeySet, layer_bit};

/// Turns off autograd and view tracking on this thread. Tensors that are made meanwhile are inference tensors.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _fast = guard::inference_mode();
/// assert!(guard::excluded().has(Autograd) && !guard::included().has(ADInplaceOrView));
/// assert!(guard::is_inference_mode());
/// ```
#[track_caller]
pub fn inference_mode() -> Guard {
    change_key_sets(KeySet::EMPTY, KeySet::from(ADInplaceOrView), KeySet::layers_of(Autograd))
}

/// Whether this thread is in [`inference_mode`].
///
/// ```
/// assert!(!dispatch_runtime::guard::is_inference_mode());
/// ```
#[must_use]
#[inline]
pub fn is_inference_mode() -> bool {
    let state = load_guard_state();
    // Outside of inference mode, each new tensor costs only this first check.
    state.include.bits() & layer_bit(AD_INPLACE_OR_VIEW) == 0 && excludes_autograd(state)
}

#[cold]
fn excludes_autograd(state: GuardState) -> bool {
    state.excluded_layers().has(Autograd)
}

/// Stops autograd's recording on this thread. Results do not require gradients, and leaves may be written to.
///
/// ```
/// use dispatch_runtime::guard;
/// let _no_grad = guard::no_grad();
/// assert!(!guard::is_grad_enabled());
/// ```
pub fn no_grad() -> Guard {
    set_grad_mode(0)
}

/// Resumes autograd's recording inside of [`no_grad`].
///
/// ```
/// use dispatch_runtime::guard;
/// let _no_grad = guard::no_grad();
/// let _but_here = guard::enable_grad();
/// assert!(guard::is_grad_enabled());
/// ```
pub fn enable_grad() -> Guard {
    set_grad_mode(1)
}

fn set_grad_mode(grad_mode: u8) -> Guard {
    let before = GUARD_STATE.with(|cells| cells.grad_mode.replace(grad_mode));
    Guard::new(if before == grad_mode { UndoAction::Nothing } else { UndoAction::GradMode })
}

/// Whether autograd records on this thread: neither in [`no_grad`] nor in [`inference_mode`].
///
/// ```
/// use dispatch_runtime::guard;
/// assert!(guard::is_grad_enabled());
/// let _inference = guard::inference_mode();
/// assert!(!guard::is_grad_enabled());
/// ```
#[must_use]
#[inline]
pub fn is_grad_enabled() -> bool {
    load_guard_state().grad_mode == 1 && !is_inference_mode()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::thread_state::spawn;

    #[test]
    fn grad_mode_nests_and_is_inherited_by_spawned_threads() {
        let outer = no_grad();
        let inner = enable_grad();
        assert!(is_grad_enabled());
        drop(no_grad());
        assert!(is_grad_enabled());
        drop(inner);
        assert!(!is_grad_enabled());
        assert!(!spawn(is_grad_enabled).join().unwrap());
        assert!(std::thread::spawn(is_grad_enabled).join().unwrap());
        drop(outer);
        assert!(is_grad_enabled());
    }
}
