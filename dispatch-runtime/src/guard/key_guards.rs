//! Guards that add keys to every call of a thread, or remove layers.

use std::panic::Location as Caller;

use super::{GUARD_STATE, Guard, GuardLocations, GuardState, UndoAction, load_guard_state, store_guard_state};
use crate::key::keys::Autograd;
use crate::key::{AD_INPLACE_OR_VIEW, AUTOGRAD, AUTOGRAD_NESTED_TENSOR, AUTOGRAD_OTHER, KeySet, layer_bit};

/// Returns the keys that this thread adds to every call.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// assert_eq!(guard::included(), BackendSelect | ADInplaceOrView);
/// ```
#[must_use]
pub fn included() -> KeySet {
    load_guard_state().include
}

/// Returns the layers that this thread removes from every call.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// assert!(guard::excluded().has(Autocast) && !guard::excluded().has(Autograd));
/// ```
#[must_use]
pub fn excluded() -> KeySet {
    load_guard_state().excluded_layers()
}

/// Adds `keys` to every call of this thread.
///
/// ```
/// use dispatch_runtime::{KeySet, guard, keys::*};
/// let _meta = guard::include(KeySet::from(Meta));
/// assert!(guard::included().has(Meta));
/// ```
#[track_caller]
#[inline]
pub fn include(keys: KeySet) -> Guard {
    change_key_sets(keys, KeySet::EMPTY, KeySet::EMPTY)
}

/// Removes the layers of `keys` from every call of this thread.
///
/// ```
/// use dispatch_runtime::{KeySet, guard, keys::*};
/// let _no_views = guard::exclude(KeySet::from(ADInplaceOrView));
/// assert!(guard::excluded().has(ADInplaceOrView));
/// ```
#[track_caller]
#[inline]
pub fn exclude(layers: KeySet) -> Guard {
    let at = Caller::caller();
    GUARD_STATE.with(|cells| {
        let before = cells.allowed.get();
        let excluded = layers.layers() & before;
        cells.allowed.set(before - excluded);
        Guard::new(UndoAction::ExcludedLayers(
            excluded,
            GuardLocations { at, before: cells.innermost_guard.replace(Some(at)) },
        ))
    })
}

/// Replaces this thread's included and excluded sets, and restores both when the guard is dropped. The guard must be dropped after every
/// guard that was made under it.
///
/// ```
/// use dispatch_runtime::{KeySet, guard, keys::*};
/// let _bare = guard::force_key_sets(KeySet::EMPTY, KeySet::from(Tracer));
/// assert!(guard::included().is_empty() && !guard::excluded().has(Autocast));
/// ```
#[track_caller]
pub fn force_key_sets(include: KeySet, exclude: KeySet) -> Guard {
    let before = load_guard_state();
    store_guard_state(GuardState {
        include,
        allowed: KeySet::FULL - exclude,
        innermost_guard: Some(Caller::caller()),
        ..before
    });
    Guard::new(UndoAction::WholeState(before))
}

/// Removes autograd from every call of this thread. Autograd kernels hold this guard while they compute.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _below = guard::below_autograd();
/// assert!(guard::excluded().has(AutogradOther) && !guard::excluded().has(ADInplaceOrView));
/// ```
#[track_caller]
#[inline]
pub fn below_autograd() -> Guard {
    exclude(KeySet::layers_of(Autograd))
}

/// Removes autograd and view tracking from every call of this thread.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _below = guard::below_ad_inplace_or_view();
/// assert!(guard::excluded().has(Autograd) && guard::excluded().has(ADInplaceOrView));
/// ```
#[track_caller]
#[inline]
pub fn below_ad_inplace_or_view() -> Guard {
    const LAYERS: KeySet = KeySet::from_bits(
        layer_bit(AUTOGRAD)
            | layer_bit(AUTOGRAD_OTHER)
            | layer_bit(AUTOGRAD_NESTED_TENSOR)
            | layer_bit(AD_INPLACE_OR_VIEW),
    );
    exclude(LAYERS)
}

/// Removes functionalization from every call of this thread.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _skip = guard::skip_functionalize();
/// assert!(guard::excluded().has(Functionalize));
/// ```
#[track_caller]
pub fn skip_functionalize() -> Guard {
    exclude(KeySet::layers_of(crate::key::keys::Functionalize))
}

/// The keys that a guard included or excluded on its thread, so that the end of the guard can undo the change.
#[derive(Debug)]
pub(super) struct KeySetChange {
    included: KeySet,
    no_longer_included: KeySet,
    excluded: KeySet,
    locations: GuardLocations,
}

#[track_caller]
#[inline]
pub(super) fn change_key_sets(include: KeySet, no_longer_include: KeySet, exclude: KeySet) -> Guard {
    let before = load_guard_state();
    let included = KeySet::from_bits(include.bits() & !before.include.bits());
    let no_longer_included = no_longer_include.layers() & before.include;
    let excluded = exclude.layers() & before.allowed;
    let locations = GuardLocations { at: Caller::caller(), before: before.innermost_guard };
    store_guard_state(GuardState {
        include: (before.include | included) - no_longer_included,
        allowed: before.allowed - excluded,
        innermost_guard: Some(locations.at),
        ..before
    });
    Guard::new(UndoAction::KeySets(KeySetChange { included, no_longer_included, excluded, locations }))
}

impl KeySetChange {
    #[inline]
    pub(super) fn undo(&self, now: GuardState) -> GuardState {
        GuardState {
            include: KeySet::from_bits(now.include.bits() & !self.included.bits()) | self.no_longer_included,
            allowed: now.allowed | self.excluded,
            innermost_guard: self.locations.innermost_location_after_drop(now.innermost_guard),
            ..now
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::call_keys;
    use crate::keys::*;
    use proptest::prelude::*;

    #[test]
    fn a_layer_stays_excluded_until_the_outer_guard_is_dropped() {
        let outer = exclude(KeySet::from(Tracer));
        drop(exclude(KeySet::from(Tracer)));
        assert!(excluded().has(Tracer));
        drop(outer);
        assert!(!excluded().has(Tracer));
    }

    #[test]
    fn excluding_a_key_keeps_its_backend() {
        let _no_sparse = exclude(KeySet::from(SparseCUDA));
        assert_eq!(call_keys(KeySet::from(CUDA)) & KeySet::from(CUDA), KeySet::from(CUDA));
    }

    #[test]
    fn exclude_beats_include() {
        let _tracing = include(KeySet::from(Tracer));
        let _not_here = exclude(KeySet::from(Tracer));
        assert!(!call_keys(KeySet::from(CPU)).has(Tracer));
    }

    proptest! {
        #[test]
        fn nested_guards_restore_the_key_sets(changes in prop::collection::vec((any::<u64>(), any::<bool>()), 0..8)) {
            let before = (included(), excluded());
            let mut guards = Vec::new();
            for (bits, adds) in changes {
                let keys = KeySet::from_bits(bits);
                guards.push(if adds { include(keys) } else { exclude(keys) });
            }
            while guards.pop().is_some() {}
            prop_assert_eq!((included(), excluded()), before);
        }
    }
}
