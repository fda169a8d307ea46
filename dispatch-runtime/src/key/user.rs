//! Keys that other crates declare.
//!
//! `#[dispatch_key]` makes a static [`UserKey`]. Its backend or layer index is not known at compile time. When the first such key is used,
//! all keys of the program get their indices, sorted by name. So the same program always gets the same indices. A layer that is declared
//! above another user's layer gets a higher index. If an insertion point or the set of backends is full, the key gets no index. It still
//! prints and parses, but adds nothing to a key set. Registering and calling for it return an error that names the keys which have the
//! indices, and `verify` reports it.

use std::fmt;
use std::sync::atomic::AtomicU8;

use super::Key;
use super::layer::InsertionPoint;
use crate::location::Location;

/// A backend or a layer that some crate declared with `#[dispatch_key]`.
///
/// ```standalone_crate
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
/// A user's backend takes over one of PyTorch's backend keys. That key then has the user's name, from the start of the program:
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
    pub(super) name: &'static str,
    kind: UserKind,
    pub(super) location: Location,
    /// 0 until an index is assigned, then 1 + the index of the backend or layer, or [`NO_INDEX`].
    pub(super) index_plus_one: AtomicU8,
}

#[derive(Clone, Copy)]
enum UserKind {
    Backend,
    Layer(InsertionPoint),
    /// A layer at the insertion point of another user's layer, and above that layer.
    LayerAbove(&'static UserKey),
}

pub(super) const NO_INDEX: u8 = u8::MAX;

impl UserKey {
    /// Makes a backend, as `#[dispatch_key(backend)]` does.
    ///
    /// ```
    /// use dispatch_runtime::{Key, Location, Record, UserKey, register};
    ///
    /// static KEY: UserKey = UserKey::new_backend("DSP", Location::caller());
    /// static DSP: Key = Key::from_user_key(&KEY);
    /// static RECORDS: [Record; 1] = [Record::Key(&KEY)];
    /// register(&RECORDS);
    /// assert_eq!("DSP".parse(), Ok(DSP));
    /// ```
    #[must_use]
    pub const fn new_backend(name: &'static str, location: Location) -> Self {
        Self { name, kind: UserKind::Backend, location, index_plus_one: AtomicU8::new(0) }
    }

    /// Makes a layer, as `#[dispatch_key(layer, above = ..)]` does.
    #[must_use]
    pub const fn new_layer(name: &'static str, above: InsertionPoint, location: Location) -> Self {
        Self { name, kind: UserKind::Layer(above), location, index_plus_one: AtomicU8::new(0) }
    }

    /// Makes a layer above another user's layer, as `#[dispatch_key(layer, above = ..)]` does.
    ///
    /// # Panics
    ///
    /// Panics if `other` is not a user's layer. In the initialiser of a static, this is a compile error.
    ///
    /// ```standalone_crate
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
    pub const fn new_layer_above(name: &'static str, other: &'static Key, location: Location) -> Self {
        match other.as_user_key() {
            Some(layer_below) if !layer_below.is_backend() => {
                Self { name, kind: UserKind::LayerAbove(layer_below), location, index_plus_one: AtomicU8::new(0) }
            }
            _ => panic!(
                "a layer is declared above `Backends`, `Autograd`, `Autocast`, `Everything`, or the key of another user's layer"
            ),
        }
    }

    /// Returns the name that the key prints and parses as.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The location of the key's declaration.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.location
    }

    pub(super) const fn is_backend(&self) -> bool {
        matches!(self.kind, UserKind::Backend)
    }

    /// Returns the user's layer that this one is declared above, if there is one.
    pub(crate) fn layer_below(&self) -> Option<&'static Self> {
        if let UserKind::LayerAbove(layer_below) = self.kind { Some(layer_below) } else { None }
    }

    /// Returns the insertion point of a layer, or `None` for a backend.
    pub(crate) fn insertion_point(&self) -> Option<InsertionPoint> {
        let lowest = self.layers_below().last().map_or(self.kind, |lowest| lowest.kind);
        if let UserKind::Layer(point) = lowest { Some(point) } else { None }
    }

    /// Iterates over the user's layers below this one, from the nearest to the lowest.
    pub(crate) fn layers_below(&self) -> impl Iterator<Item = &'static Self> {
        std::iter::successors(self.layer_below(), |key| key.layer_below())
    }
}

impl fmt::Debug for UserKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.location)
    }
}
