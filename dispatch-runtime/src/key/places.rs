//! The assignment of free backends and layers ("places") to keys from other crates.
//!
//! All keys of the program get their places at once, sorted by name. So the places do not depend on the order of use.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use super::declared;
use super::layer::{BACKEND_NAMES, BACKENDS, FREE_BACKEND_SLOTS, Kind, LAYER_END, LAYERS, ORDER};
use super::user::{NO_ROOM, UserKey};
use crate::location::Location;

impl UserKey {
    /// Returns the index of this backend or layer, or `None` if no place was free.
    #[inline]
    pub(super) fn number(&'static self) -> Option<u8> {
        let place = match self.place.load(Ordering::Acquire) {
            0 => assign_now(self),
            place => place,
        };
        (place != NO_ROOM).then(|| place - 1)
    }

    /// Returns the index of this backend or layer, or an error that names the keys that have the places.
    pub(crate) fn place(&'static self) -> Result<u8, LandingFull> {
        self.number().ok_or_else(|| LandingFull::new(self))
    }
}

/// The error of a key for which no backend or layer was free.
///
/// ```
/// fn hint(error: &dispatch_runtime::LandingFull) -> String {
///     error.to_string()   // names the keys that have the places
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LandingFull {
    /// The name of the key.
    pub key: &'static str,
    /// The location of the key's declaration.
    pub location: Location,
    /// The keys that took the backends or layers, with the locations of their declarations.
    pub tenants: Vec<(&'static str, Location)>,
}

impl LandingFull {
    fn new(key: &'static UserKey) -> Self {
        let tenants = places(key).filter_map(|place| tenant(key, place)).map(|tenant| (tenant.name, tenant.location));
        Self { key: key.name, location: key.location, tenants: tenants.collect() }
    }
}

impl fmt::Display for LandingFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no place is left for the key `{}` ({}); these keys have them all:", self.key, self.location)?;
        for (name, location) in &self.tenants {
            write!(f, " `{name}` ({location})")?;
        }
        f.write_str("; link fewer of these crates, or declare the key above another landing")
    }
}

impl std::error::Error for LandingFull {}

static BACKEND_TENANTS: [OnceLock<&'static UserKey>; BACKENDS] = [const { OnceLock::new() }; BACKENDS];
static LAYER_TENANTS: [OnceLock<&'static UserKey>; LAYERS] = [const { OnceLock::new() }; LAYERS];
/// Every key that was handled by [`assign_places`], with or without a place.
static DECLARED: Mutex<Vec<&'static UserKey>> = Mutex::new(Vec::new());

/// Assigns places to these keys, in an order that does not depend on the order of `keys`. A key that has a place keeps it.
pub(crate) fn assign_places(mut keys: Vec<&'static UserKey>) {
    let below: Vec<_> = keys.iter().flat_map(|key| key.all_below()).collect();
    keys.extend(below);
    keys.sort_by_key(|key| (key.all_below().count(), key.name, key.location));
    let mut declared = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
    for key in keys {
        if key.place.load(Ordering::Acquire) == 0 {
            key.place.store(claim(key), Ordering::Release);
            declared.push(key);
        }
    }
}

/// Assigns places to the keys of all linked crates, once, before a place is looked up. So names do not depend on what the program did
/// first.
fn assign_linked() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| assign_places(declared::linked()));
}

/// Assigns a place to a key that is used before the registry. All linked keys get their places first, so the order of use does not matter.
#[cold]
fn assign_now(key: &'static UserKey) -> u8 {
    assign_places(declared::linked());
    assign_places(vec![key]);
    key.place.load(Ordering::Acquire)
}

fn claim(key: &'static UserKey) -> u8 {
    let tenants: &[OnceLock<&'static UserKey>] = if key.is_backend() { &BACKEND_TENANTS } else { &LAYER_TENANTS };
    // Layers below are handled earlier, so `place` is set, maybe to `NO_ROOM`.
    let above = key.lower().map_or(0, |lower| lower.place.load(Ordering::Acquire));
    let mut free = places(key).filter(|&place| place >= above);
    free.find(|&place| tenants[place as usize].set(key).is_ok()).map_or(NO_ROOM, |place| place + 1)
}

fn places(key: &UserKey) -> impl Iterator<Item = u8> {
    let (is_backend, lands) = (key.is_backend(), key.landing());
    let is_free =
        move |&layer: &u8| matches!(ORDER[layer as usize].kind, Kind::Free(landing) if lands == Some(landing));
    FREE_BACKEND_SLOTS.into_iter().filter(move |_| is_backend).chain((0..LAYER_END).filter(is_free))
}

fn tenant(key: &UserKey, place: u8) -> Option<&'static UserKey> {
    if key.is_backend() { tenant_of_backend(place) } else { tenant_of_layer(place) }
}

pub(super) fn tenant_of_backend(backend: u8) -> Option<&'static UserKey> {
    assign_linked();
    BACKEND_TENANTS[backend as usize].get().copied()
}

pub(super) fn tenant_of_layer(layer: u8) -> Option<&'static UserKey> {
    assign_linked();
    LAYER_TENANTS[layer as usize].get().copied()
}

pub(crate) fn backend_name(backend: u8) -> &'static str {
    tenant_of_backend(backend).map_or(BACKEND_NAMES[backend as usize], UserKey::name)
}

pub(super) fn layer_name(layer: u8) -> &'static str {
    tenant_of_layer(layer).map_or(ORDER[layer as usize].name, UserKey::name)
}

/// Returns every user's key that was linked, registered or used, with or without a place.
pub(super) fn declared() -> Vec<&'static UserKey> {
    assign_linked();
    DECLARED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
