//! The assignment of backend and layer indices to keys from other crates.
//!
//! All keys of the program get their indices at once, sorted by name. So the indices do not depend on the order of use.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use super::declared_keys;
use super::layer::{ASSIGNABLE_BACKENDS, BACKEND_COUNT, BACKEND_NAMES, LAYER_COUNT, LAYER_END, LAYER_ORDER, LayerKind};
use super::user::{NO_INDEX, UserKey};
use crate::location::Location;

impl UserKey {
    /// Returns the index of this backend or layer, or `None` if none was free.
    #[inline]
    pub(super) fn index(&'static self) -> Option<u8> {
        let index_plus_one = match self.index_plus_one.load(Ordering::Acquire) {
            0 => assign_on_first_use(self),
            assigned => assigned,
        };
        (index_plus_one != NO_INDEX).then(|| index_plus_one - 1)
    }

    /// Returns the index of this backend or layer, or an error that names the keys that have the indices.
    pub(crate) fn checked_index(&'static self) -> Result<u8, NoFreeKeyIndex> {
        self.index().ok_or_else(|| NoFreeKeyIndex::new(self))
    }
}

/// The error of a key for which no backend or layer was free.
///
/// ```
/// fn hint(error: &dispatch_runtime::NoFreeKeyIndex) -> String {
///     error.to_string()   // names the keys that have the indices
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoFreeKeyIndex {
    /// The name of the key.
    pub key: &'static str,
    /// The location of the key's declaration.
    pub location: Location,
    /// The keys that took the backends or layers, with the locations of their declarations.
    pub assigned_keys: Vec<(&'static str, Location)>,
}

impl NoFreeKeyIndex {
    fn new(key: &'static UserKey) -> Self {
        let assigned_keys = candidate_indices(key).filter_map(|index| user_key_at(key, index));
        let assigned_keys = assigned_keys.map(|other| (other.name, other.location));
        Self { key: key.name, location: key.location, assigned_keys: assigned_keys.collect() }
    }
}

impl fmt::Display for NoFreeKeyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no index is left for the key `{}` ({}); these keys have all of them:", self.key, self.location)?;
        for (name, location) in &self.assigned_keys {
            write!(f, " `{name}` ({location})")?;
        }
        f.write_str("; link fewer of these crates, or declare the key above another insertion point")
    }
}

impl std::error::Error for NoFreeKeyIndex {}

static BACKEND_USER_KEYS: [OnceLock<&'static UserKey>; BACKEND_COUNT] = [const { OnceLock::new() }; BACKEND_COUNT];
static LAYER_USER_KEYS: [OnceLock<&'static UserKey>; LAYER_COUNT] = [const { OnceLock::new() }; LAYER_COUNT];
/// Every key that was handled by [`assign_indices`], with or without an index.
static USER_KEYS: Mutex<Vec<&'static UserKey>> = Mutex::new(Vec::new());

/// Assigns indices to these keys, in an order that does not depend on the order of `keys`. A key that has an index keeps it.
pub(crate) fn assign_indices(mut keys: Vec<&'static UserKey>) {
    let below: Vec<_> = keys.iter().flat_map(|key| key.layers_below()).collect();
    keys.extend(below);
    keys.sort_by_key(|key| (key.layers_below().count(), key.name, key.location));
    let mut user_keys = USER_KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    for key in keys {
        if key.index_plus_one.load(Ordering::Acquire) == 0 {
            key.index_plus_one.store(reserve_index(key), Ordering::Release);
            user_keys.push(key);
        }
    }
}

/// Assigns indices to the keys of all linked crates, once, before an index is looked up. So names do not depend on what the program did
/// first.
fn assign_linked_keys() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| assign_indices(declared_keys::linked_keys()));
}

/// Assigns an index to a key that has none yet when it is first used. All linked keys get their indices first, so the order of use does not
/// matter.
#[cold]
fn assign_on_first_use(key: &'static UserKey) -> u8 {
    assign_indices(declared_keys::linked_keys());
    assign_indices(vec![key]);
    key.index_plus_one.load(Ordering::Acquire)
}

/// Reserves the first free index for the key. Returns 1 + the index, or [`NO_INDEX`].
fn reserve_index(key: &'static UserKey) -> u8 {
    let assigned_keys: &[OnceLock<&'static UserKey>] =
        if key.is_backend() { &BACKEND_USER_KEYS } else { &LAYER_USER_KEYS };
    // Layers below are handled earlier, so `index_plus_one` is set, maybe to `NO_INDEX`.
    let above = key.layer_below().map_or(0, |layer_below| layer_below.index_plus_one.load(Ordering::Acquire));
    let mut candidates = candidate_indices(key).filter(|&index| index >= above);
    candidates.find(|&index| assigned_keys[index as usize].set(key).is_ok()).map_or(NO_INDEX, |index| index + 1)
}

/// Iterates over the backend or layer indices that the key may get.
fn candidate_indices(key: &UserKey) -> impl Iterator<Item = u8> {
    let (is_backend, insertion_point) = (key.is_backend(), key.insertion_point());
    let is_free = move |&layer: &u8| matches!(LAYER_ORDER[layer as usize].kind, LayerKind::FreeForUser(point) if insertion_point == Some(point));
    ASSIGNABLE_BACKENDS.into_iter().filter(move |_| is_backend).chain((0..LAYER_END).filter(is_free))
}

fn user_key_at(key: &UserKey, index: u8) -> Option<&'static UserKey> {
    if key.is_backend() { user_key_of_backend(index) } else { user_key_of_layer(index) }
}

pub(super) fn user_key_of_backend(backend: u8) -> Option<&'static UserKey> {
    assign_linked_keys();
    BACKEND_USER_KEYS[backend as usize].get().copied()
}

pub(super) fn user_key_of_layer(layer: u8) -> Option<&'static UserKey> {
    assign_linked_keys();
    LAYER_USER_KEYS[layer as usize].get().copied()
}

pub(crate) fn backend_name(backend: u8) -> &'static str {
    user_key_of_backend(backend).map_or(BACKEND_NAMES[backend as usize], UserKey::name)
}

pub(super) fn layer_name(layer: u8) -> &'static str {
    user_key_of_layer(layer).map_or(LAYER_ORDER[layer as usize].name, UserKey::name)
}

/// Returns every user's key that was linked, registered or used, with or without an index.
pub(super) fn user_keys() -> Vec<&'static UserKey> {
    assign_linked_keys();
    USER_KEYS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
