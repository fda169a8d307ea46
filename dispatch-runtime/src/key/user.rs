//! Keys from other crates.
//!
//! `#[dispatch_key]` makes a static [`UserKey`]. Its place in the order is not known to the compiler: it is given out when the
//! first such key is used, to all keys of the program at once and sorted by name, so that the same program always gives the same
//! places. A layer that is declared above another user's layer gets a higher place. If a landing or the set of backends is full, the key
//! has no place. It still prints and parses, but adds nothing to
//! a key set; registering and calling for it fail and say who has the places, and so does `verify`.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use super::layer::{BACKEND_NAMES, BACKENDS, FREE_BACKEND_SLOTS, Kind, LAYER_END, LAYERS, Landing, ORDER};
use super::{Key, declared};
use crate::location::Location;

/// A backend or a layer that some crate declared with `#[dispatch_key]`.
///
/// ```
/// use dispatch_runtime::{Key, dispatch_key};
///
/// #[dispatch_key(backend)]
/// pub static NPU: Key;
///
/// #[dispatch_key(layer, above = Autograd)]
/// pub static Audit: Key;
///
/// assert_eq!(NPU.to_string(), "NPU");
/// assert_eq!("Audit".parse(), Ok(Audit));
/// ```
///
/// Who has one of PyTorch's places for backends of others lends it the name, from the start of the program:
///
/// ```standalone_crate
/// use dispatch_runtime::{Device, Key, dispatch_key, keys::PrivateUse1};
///
/// #[dispatch_key(backend)]
/// pub static NPU: Key;
///
/// assert_eq!(Device::new(PrivateUse1).unwrap().to_string(), "npu");
/// assert_eq!(PrivateUse1.to_string(), "NPU");
/// ```
pub struct UserKey {
    name: &'static str,
    kind: UserKind,
    location: Location,
    /// 0 until a place was given, then 1 + the number of the backend or layer, or [`NO_ROOM`].
    place: AtomicU8,
}

#[derive(Clone, Copy)]
enum UserKind {
    Backend,
    Layer(Landing),
    /// A layer at the landing of another user's layer, and above that.
    LayerAbove(&'static UserKey),
}

const NO_ROOM: u8 = u8::MAX;

impl UserKey {
    /// A backend, as `#[dispatch_key(backend)]` makes it.
    ///
    /// ```
    /// use dispatch_runtime::{Key, Location, Record, UserKey, register};
    ///
    /// static KEY: UserKey = UserKey::backend("DSP", Location::caller());
    /// static DSP: Key = Key::user(&KEY);
    /// static RECORDS: [Record; 1] = [Record::Key(&KEY)];
    /// register(&RECORDS);
    /// assert_eq!("DSP".parse(), Ok(DSP));
    /// ```
    #[must_use]
    pub const fn backend(name: &'static str, location: Location) -> Self {
        Self { name, kind: UserKind::Backend, location, place: AtomicU8::new(0) }
    }

    /// A layer, as `#[dispatch_key(layer, above = ..)]` makes it.
    #[must_use]
    pub const fn layer(name: &'static str, above: Landing, location: Location) -> Self {
        Self { name, kind: UserKind::Layer(above), location, place: AtomicU8::new(0) }
    }

    /// A layer above another user's layer, as `#[dispatch_key(layer, above = ..)]` makes it.
    ///
    /// # Panics
    ///
    /// If `other` is no such layer. In the value of a static, that is an error of the compiler's.
    ///
    /// ```
    /// use dispatch_runtime::{Key, KeySet, dispatch_key};
    ///
    /// #[dispatch_key(layer, above = Zebra)]
    /// pub static Audit: Key;
    ///
    /// #[dispatch_key(layer, above = Autograd)]
    /// pub static Zebra: Key;
    ///
    /// assert_eq!((Audit | Zebra).highest(), Some(Audit));
    /// ```
    #[must_use]
    pub const fn layer_above(name: &'static str, other: &'static Key, location: Location) -> Self {
        match other.as_user() {
            Some(lower) if !lower.is_backend() => {
                Self { name, kind: UserKind::LayerAbove(lower), location, place: AtomicU8::new(0) }
            }
            _ => panic!(
                "a layer is declared above `Backends`, `Autograd`, `Autocast`, `Everything`, or the key of another user's layer"
            ),
        }
    }

    /// The name that the key prints and parses as.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Where it was declared.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.location
    }

    pub(super) const fn is_backend(&self) -> bool {
        matches!(self.kind, UserKind::Backend)
    }

    /// The user's layer that this one is declared above.
    pub(crate) fn lower(&self) -> Option<&'static Self> {
        if let UserKind::LayerAbove(lower) = self.kind { Some(lower) } else { None }
    }

    /// Where a layer lands; none for a backend.
    pub(crate) fn landing(&self) -> Option<Landing> {
        let lowest = self.all_below().last().map_or(self.kind, |lowest| lowest.kind);
        if let UserKind::Layer(landing) = lowest { Some(landing) } else { None }
    }

    /// The number of this backend or layer; none where no place is left for it.
    #[inline]
    pub(super) fn number(&'static self) -> Option<u8> {
        let place = match self.place.load(Ordering::Acquire) {
            0 => assign_now(self),
            place => place,
        };
        (place != NO_ROOM).then(|| place - 1)
    }

    /// The user's layers that it is declared above, one below the other.
    pub(crate) fn all_below(&self) -> impl Iterator<Item = &'static Self> {
        std::iter::successors(self.lower(), |key| key.lower())
    }

    /// The same, and who has the places where none is left.
    pub(crate) fn place(&'static self) -> Result<u8, LandingFull> {
        self.number().ok_or_else(|| LandingFull::new(self))
    }
}

impl fmt::Debug for UserKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.location)
    }
}

/// No place is left for a key.
///
/// ```
/// fn hint(error: &dispatch_runtime::LandingFull) -> String {
///     error.to_string()   // names the keys that have the places
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LandingFull {
    /// The key that found no place.
    pub key: &'static str,
    /// Where it was declared.
    pub location: Location,
    /// The keys that have the places, and where they were declared.
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
/// Every key that was given a place, or found none left.
static DECLARED: Mutex<Vec<&'static UserKey>> = Mutex::new(Vec::new());

/// Gives places to these keys, in an order that does not depend on theirs. Keys that have one keep it.
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

/// What is linked has its places before anybody asks who has one: names do not depend on what the program did first.
fn assign_linked() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| assign_places(declared::linked()));
}

/// A key is used before the registry was: everything that is linked gets its place first, so that the order of use has no say.
#[cold]
fn assign_now(key: &'static UserKey) -> u8 {
    assign_places(declared::linked());
    assign_places(vec![key]);
    key.place.load(Ordering::Acquire)
}

fn claim(key: &'static UserKey) -> u8 {
    let tenants: &[OnceLock<&'static UserKey>] = if key.is_backend() { &BACKEND_TENANTS } else { &LAYER_TENANTS };
    // A layer below has its place by now, or none.
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

/// Every user's key that the registry or a use of the key has brought, with and without a place.
pub(super) fn declared() -> Vec<&'static UserKey> {
    assign_linked();
    DECLARED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Names that do not tell keys apart.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clash {
    /// Two keys of one name.
    Key(&'static UserKey, &'static UserKey),
    /// Two backends whose devices have one name, which is the key's in lower case.
    Device(&'static UserKey, &'static UserKey),
    /// A key with the name of a built-in one, or of its device. `#[dispatch_key]` refuses the first, but not every key is made by it.
    BuiltIn(&'static UserKey),
}

/// Every clash among these keys, in an order that does not depend on theirs.
pub(crate) fn clashes(mut keys: Vec<&'static UserKey>) -> Vec<Clash> {
    keys.sort_by_key(|key| (key.name, key.location));
    let names = keys.windows(2).filter(|pair| pair[0].name == pair[1].name).map(|pair| Clash::Key(pair[0], pair[1]));
    let mut backends: Vec<_> = keys.iter().copied().filter(|key| key.is_backend()).collect();
    backends.sort_by_key(|key| (key.name.to_ascii_lowercase(), key.name, key.location));
    let same_device = |a: &UserKey, b: &UserKey| a.name != b.name && a.name.eq_ignore_ascii_case(b.name);
    let devices = backends.windows(2).filter(|pair| same_device(pair[0], pair[1]));
    let devices = devices.map(|pair| Clash::Device(pair[0], pair[1]));
    let of_built_in_device =
        |key: &UserKey| key.is_backend() && BACKEND_NAMES.iter().any(|name| name.eq_ignore_ascii_case(key.name));
    let built_in = keys.iter().copied().filter(|key| super::parse::is_built_in(key.name) || of_built_in_device(key));
    names.chain(devices).chain(built_in.map(Clash::BuiltIn)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clashing(keys: &'static [UserKey]) -> Vec<String> {
        let texts = clashes(keys.iter().collect()).into_iter().map(|clash| match clash {
            Clash::Key(a, b) => format!("key {} {}", a.name, b.name),
            Clash::Device(a, b) => format!("device {} {}", a.name, b.name),
            Clash::BuiltIn(key) => format!("built-in {}", key.name),
        });
        texts.collect()
    }

    const HERE: Location = Location::new(file!(), line!());

    #[test]
    fn a_key_must_not_have_the_name_of_a_built_in_one() {
        static KEYS: [UserKey; 9] = [
            UserKey::backend("XPU", HERE),
            UserKey::backend("Cuda", HERE),
            UserKey::layer("Tracer", Landing::Autograd, HERE),
            UserKey::layer("Autograd", Landing::Autograd, HERE),
            UserKey::layer("SparseHIP", Landing::Autograd, HERE),
            UserKey::layer("Sparse", Landing::Autograd, HERE),
            UserKey::layer("Math", Landing::Autograd, HERE),
            UserKey::layer("tracer", Landing::Autograd, HERE),
            UserKey::layer("Audit", Landing::Autograd, HERE),
        ];
        let found = ["Autograd", "Cuda", "Math", "Sparse", "SparseHIP", "Tracer", "XPU"];
        assert_eq!(clashing(&KEYS), found.map(|name| format!("built-in {name}")));
    }

    #[test]
    fn two_backends_must_not_have_one_device_name() {
        static KEYS: [UserKey; 5] = [
            UserKey::backend("NPU", HERE),
            UserKey::layer("nPU", Landing::Autograd, HERE),
            UserKey::backend("Npv", HERE),
            UserKey::backend("Npu", HERE),
            UserKey::backend("Npv", HERE),
        ];
        assert_eq!(clashing(&KEYS), ["key Npv Npv", "device NPU Npu"]);
    }
}
