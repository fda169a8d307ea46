//! The guard that turns autocast on or off for a backend.

use std::panic::Location as Caller;

use super::autocast_dtypes::AutocastDTypes;
use super::{AUTOCAST_LAYER, Guard, GuardLocations, GuardState, UndoAction, load_guard_state, store_guard_state};
use crate::key::{Device, KeySet};
use crate::scalar::DType;

/// Turns autocast on for the backend of `device` with this dtype, or off if `dtype` is `None`. While autocast is on for any backend, calls
/// reach the layer `Autocast`, which decides what to cast.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::guard;
///
/// let _on = guard::autocast(Device::CPU, Some(DType::BF16));
/// assert!(!guard::excluded().has(keys::Autocast));
/// let _but_not_here = guard::autocast(Device::CPU, None);
/// assert!(guard::excluded().has(keys::Autocast));
/// ```
#[track_caller]
pub fn autocast(device: Device, dtype: Option<DType>) -> Guard {
    let before = load_guard_state();
    let autocast_dtypes = before.autocast_dtypes.with_dtype(device, dtype);
    let allowed = match dtype {
        Some(_) => before.allowed | AUTOCAST_LAYER,
        None if autocast_dtypes == AutocastDTypes::NONE => before.allowed - AUTOCAST_LAYER,
        None => before.allowed,
    };
    let locations = GuardLocations { at: Caller::caller(), before: before.innermost_guard };
    store_guard_state(GuardState { allowed, autocast_dtypes, innermost_guard: Some(locations.at), ..before });
    // If autocast was off for every backend, there is nothing to restore: the layer is excluded again once it is off for every backend.
    let changed = before.autocast_dtypes != AutocastDTypes::NONE && before.allowed != allowed;
    Guard::new(UndoAction::Autocast(AutocastChange {
        dtype: (before.autocast_dtypes != autocast_dtypes).then(|| (device, before.autocast_dtypes.get(device))),
        allowed: changed.then_some(before.allowed & AUTOCAST_LAYER),
        locations,
    }))
}

/// Returns the dtype of [`autocast`] for the backend of `device` on this thread, or `None` if it is off.
///
/// ```
/// use dispatch_runtime::{DType, Device, guard};
/// let _on = guard::autocast(Device::META, Some(DType::F16));
/// assert_eq!(guard::autocast_dtype(Device::META), Some(DType::F16));
/// assert_eq!(guard::autocast_dtype(Device::CPU), None);
/// ```
#[must_use]
pub fn autocast_dtype(device: Device) -> Option<DType> {
    load_guard_state().autocast_dtypes.get(device)
}

/// The state before [`autocast`]: a backend's dtype, and whether the layer was allowed, if the guard changed them.
#[derive(Debug)]
pub(super) struct AutocastChange {
    dtype: Option<(Device, Option<DType>)>,
    allowed: Option<KeySet>,
    locations: GuardLocations,
}

impl AutocastChange {
    #[inline]
    pub(super) fn undo(&self, now: GuardState) -> GuardState {
        let autocast_dtypes =
            self.dtype.map_or(now.autocast_dtypes, |(device, dtype)| now.autocast_dtypes.with_dtype(device, dtype));
        let allowed = if autocast_dtypes == AutocastDTypes::NONE { Some(KeySet::EMPTY) } else { self.allowed };
        GuardState {
            allowed: allowed.map_or(now.allowed, |allowed| (now.allowed - AUTOCAST_LAYER) | allowed),
            autocast_dtypes,
            innermost_guard: self.locations.innermost_location_after_drop(now.innermost_guard),
            ..now
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::key_guards::{exclude, excluded};
    use crate::guard::thread_state::spawn;
    use crate::keys::*;

    #[test]
    fn autocast_is_on_while_some_backend_has_it_on() {
        let [cpu, cuda] = [Device::CPU, Device::new(CUDA).unwrap()];
        let is_on = || !excluded().has(Autocast);
        let first = autocast(cpu, Some(DType::BF16));
        let second = autocast(cuda, Some(DType::F16));
        drop(first);
        assert!(is_on() && autocast_dtype(cpu).is_none());
        {
            let _not_here = autocast(cuda, None);
            assert!(!is_on());
            let _here_again = autocast(cuda, Some(DType::BF16));
            assert!(is_on());
        }
        assert!(is_on());
        drop(second);
        assert!(!is_on());
    }

    #[test]
    fn an_inner_autocast_guard_restores_the_exclusion() {
        let on = autocast(Device::CPU, Some(DType::BF16));
        let excluding = exclude(KeySet::layers_of(Autocast));
        drop(autocast(Device::CPU, None));
        assert!(excluded().has(Autocast));
        drop(autocast(Device::CPU, Some(DType::F16)));
        assert!(excluded().has(Autocast));
        drop(excluding);
        assert!(!excluded().has(Autocast));
        drop(on);
        assert!(excluded().has(Autocast));
    }

    #[test]
    fn spawned_threads_inherit_the_autocast_dtype() {
        let _on = autocast(Device::CPU, Some(DType::F16));
        assert_eq!(spawn(|| autocast_dtype(Device::CPU)).join().unwrap(), Some(DType::F16));
        assert_eq!(std::thread::spawn(|| autocast_dtype(Device::CPU)).join().unwrap(), None);
    }
}
