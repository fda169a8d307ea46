//! Dispatch keys: the columns of the dispatch table.
//!
//! An operator is a row, a key is a column, and a kernel fills a cell. A *runtime* key is a layer, combined with a backend if the layer is
//! per-backend. Every cell belongs to one runtime key. An *alias* key stands for several runtime keys and exists for registration
//! only. Built-in keys are constants in [`keys`]. A crate declares its own key with `#[dispatch_key]`; the key gets a free layer or
//! backend.

mod alias;
mod declared_keys;
mod device;
mod error;
mod index_assignment;
mod key_set;
pub mod keys;
mod layer;
mod name_clash;
pub(crate) mod parse;
mod provenance;
mod slot;
mod user;

use std::fmt;

use index_assignment::backend_name;
use layer::BACKEND_NAMES;

pub(crate) use alias::Alias;
#[cfg(feature = "linkme")]
pub use declared_keys::DECLARED_KEYS;
#[cfg(feature = "inventory")]
pub use declared_keys::DeclaredKey;
pub use device::{Device, UnknownDevice};
pub(crate) use device::{device_name, linked_devices_text};
pub(crate) use error::KeyError;
pub use error::{InvalidKey, UnknownKey};
pub use index_assignment::NoFreeKeyIndex;
pub(crate) use index_assignment::assign_indices;
pub use key_set::KeySet;
pub use layer::InsertionPoint;
pub(crate) use layer::{
    AD_INPLACE_OR_VIEW, AUTOCAST, AUTOGRAD, AUTOGRAD_NESTED_TENSOR, AUTOGRAD_OTHER, BACKEND_COUNT, BACKEND_END,
    BACKEND_SELECT, CONJUGATE, DENSE, LAYER_END, LAYER_ORDER, NEGATIVE,
};
pub(crate) use name_clash::{NameClash, name_clashes};
pub use provenance::Provenance;
pub(crate) use slot::{SLOT_COUNT, Slot, highest_bit, slot_index, slot_index_from_highest};
pub use user::UserKey;

/// A dispatch key. Kernels are registered for keys; tensors and guards add keys to a call.
///
/// ```
/// use dispatch_runtime::keys::*;
/// use dispatch_runtime::Key;
///
/// assert_eq!(Autograd.on(CUDA), AutogradCUDA);
/// assert_eq!("SparseCPU".parse::<Key>(), Ok(SparseCPU));
/// assert!(CompositeImplicitAutograd.is_alias());
/// ```
#[derive(Clone, Copy)]
pub struct Key(KeyRepr);

#[derive(Clone, Copy)]
enum KeyRepr {
    Undefined,
    /// A layer without a backend. If the layer is per-backend, [`Key::on`] adds the backend.
    Layer(u8),
    OnBackend(u8, u8),
    Alias(Alias),
    User(&'static UserKey),
    OnUserBackend(u8, &'static UserKey),
    Invalid(InvalidKey),
}

/// The cells of a key, once users' keys have their indices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum SlotOrAlias {
    Slot(Slot),
    Alias(Alias),
}

impl SlotOrAlias {
    /// Whether this is a per-backend layer, but without a backend. No call reaches such a key.
    pub(crate) fn lacks_backend(self) -> bool {
        matches!(self, Self::Slot(slot) if slot.layer_and_backend().is_none())
    }
}

impl Key {
    /// The key of calls that carry no tensor at all.
    pub const UNDEFINED: Self = Self(KeyRepr::Undefined);

    pub(crate) const fn from_layer(layer: u8) -> Self {
        Self(KeyRepr::Layer(layer))
    }

    pub(crate) const fn from_layer_and_backend(layer: u8, backend: u8) -> Self {
        Self(KeyRepr::OnBackend(layer, backend))
    }

    pub(crate) const fn from_alias(alias: Alias) -> Self {
        Self(KeyRepr::Alias(alias))
    }

    /// Returns the key of a user's backend or layer.
    #[must_use]
    pub const fn from_user_key(key: &'static UserKey) -> Self {
        Self(KeyRepr::User(key))
    }

    pub(crate) const fn as_user_key(self) -> Option<&'static UserKey> {
        if let KeyRepr::User(key) = self.0 { Some(key) } else { None }
    }

    pub(crate) fn from_slot(slot: Slot) -> Self {
        match slot.layer_and_backend() {
            None => Self::UNDEFINED,
            Some((layer, None)) => {
                index_assignment::user_key_of_layer(layer).map_or_else(|| Self::from_layer(layer), Self::from_user_key)
            }
            Some((layer, Some(backend))) => match index_assignment::user_key_of_backend(backend) {
                None => Self::from_layer_and_backend(layer, backend),
                Some(user) if layer == DENSE => Self::from_user_key(user),
                Some(user) => Self(KeyRepr::OnUserBackend(layer, user)),
            },
        }
    }

    pub(crate) fn from_slot_or_alias(target: SlotOrAlias) -> Self {
        match target {
            SlotOrAlias::Slot(slot) => Self::from_slot(slot),
            SlotOrAlias::Alias(alias) => Self::from_alias(alias),
        }
    }

    /// Returns the key of this layer on one backend: `Autograd.on(CUDA)` is `AutogradCUDA`. Backends from other crates work too.
    ///
    /// Returns an invalid key if this is not a per-backend layer, or if `backend` is not a backend. An invalid key prints
    /// as `Invalid` and adds nothing to a key set. Registering or calling for it fails with [`InvalidKey`], and [`verify`](crate::verify)
    /// reports it.
    ///
    /// ```
    /// use dispatch_runtime::{KeySet, keys::*};
    /// assert_eq!(Tracer.on(CPU).to_string(), "Invalid");
    /// assert!(KeySet::from(Tracer.on(CPU)).is_empty());
    /// ```
    #[must_use]
    pub const fn on(self, backend: Self) -> Self {
        let layer = match self.0 {
            KeyRepr::Layer(layer) if LAYER_ORDER[layer as usize].is_per_backend() => layer,
            KeyRepr::Alias(Alias::Autograd) => AUTOGRAD,
            KeyRepr::Alias(Alias::Autocast) => AUTOCAST,
            KeyRepr::Invalid(_) => return self,
            KeyRepr::OnBackend(1.., _) | KeyRepr::OnUserBackend(..) => {
                return Self(KeyRepr::Invalid(InvalidKey::AlreadyOnBackend { layer: self.static_name() }));
            }
            _ => return Self(KeyRepr::Invalid(InvalidKey::NotPerBackend { key: self.static_name() })),
        };
        match backend.0 {
            KeyRepr::OnBackend(DENSE, backend) => Self(KeyRepr::OnBackend(layer, backend)),
            KeyRepr::User(user) if user.is_backend() => Self(KeyRepr::OnUserBackend(layer, user)),
            KeyRepr::Invalid(_) => backend,
            _ => Self(KeyRepr::Invalid(InvalidKey::NotABackend { key: backend.static_name() })),
        }
    }

    /// Returns the name that is known at compile time. For a layer on a backend, this is the layer's name.
    const fn static_name(self) -> &'static str {
        match self.0 {
            KeyRepr::Undefined => "Undefined",
            KeyRepr::OnBackend(DENSE, backend) => BACKEND_NAMES[backend as usize],
            KeyRepr::Layer(layer) | KeyRepr::OnBackend(layer, _) | KeyRepr::OnUserBackend(layer, _) => {
                LAYER_ORDER[layer as usize].name
            }
            KeyRepr::Alias(alias) => alias.name(),
            KeyRepr::User(user) => user.name(),
            KeyRepr::Invalid(_) => "Invalid",
        }
    }

    /// Whether this key stands for several runtime keys. Such a key is never in a key set.
    #[must_use]
    pub const fn is_alias(self) -> bool {
        matches!(self.0, KeyRepr::Alias(_))
    }

    /// Returns the index of the backend if this is a backend's own key.
    pub(crate) fn backend_index(self) -> Option<u8> {
        match self.0 {
            KeyRepr::OnBackend(DENSE, backend) => Some(backend),
            KeyRepr::User(user) if user.is_backend() => user.checked_index().ok(),
            _ => None,
        }
    }

    /// Returns the cell or cells that a kernel for this key fills. A registration for `Undefined` is one for `CompositeImplicitAutograd`.
    pub(crate) fn slot_or_alias(self) -> Result<SlotOrAlias, KeyError> {
        Ok(match self.0 {
            KeyRepr::Undefined => SlotOrAlias::Alias(Alias::CompositeImplicitAutograd),
            KeyRepr::Layer(layer) => SlotOrAlias::Slot(Slot::for_layer(layer)),
            KeyRepr::OnBackend(layer, backend) => SlotOrAlias::Slot(Slot::for_layer_on_backend(layer, backend)),
            KeyRepr::Alias(alias) => SlotOrAlias::Alias(alias),
            KeyRepr::User(user) if user.is_backend() => {
                SlotOrAlias::Slot(Slot::for_layer_on_backend(DENSE, user.checked_index()?))
            }
            KeyRepr::User(user) => SlotOrAlias::Slot(Slot::for_layer(user.checked_index()?)),
            KeyRepr::OnUserBackend(layer, user) => {
                SlotOrAlias::Slot(Slot::for_layer_on_backend(layer, user.checked_index()?))
            }
            KeyRepr::Invalid(why) => return Err(why.into()),
        })
    }

    /// Returns the cell or cells that a kernel for this key fills, or an error if no call can reach them.
    pub(crate) fn registration_target(self) -> Result<SlotOrAlias, KeyError> {
        let target = self.slot_or_alias()?;
        if target.lacks_backend() { Err(KeyError::NotARuntimeKey(self)) } else { Ok(target) }
    }

    /// Returns the cell of a runtime key.
    pub(crate) fn slot(self) -> Result<Slot, KeyError> {
        match self.slot_or_alias()? {
            SlotOrAlias::Slot(slot) if slot.layer_and_backend().is_some() => Ok(slot),
            _ => Err(KeyError::NotARuntimeKey(self)),
        }
    }

    /// Returns the bits that this key sets in a key set. They are 0 for an alias key, for an invalid key, and for a user's key for which no
    /// index was free.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        match self.0 {
            KeyRepr::Undefined | KeyRepr::Alias(_) | KeyRepr::Invalid(_) => 0,
            KeyRepr::Layer(layer) => layer_bit(layer),
            KeyRepr::OnBackend(layer, backend) => layer_bit(layer) | 1 << backend,
            KeyRepr::User(user) if user.is_backend() => {
                user.index().map_or(0, |backend| layer_bit(DENSE) | 1 << backend)
            }
            KeyRepr::User(user) => user.index().map_or(0, layer_bit),
            KeyRepr::OnUserBackend(layer, user) => user.index().map_or(0, |backend| layer_bit(layer) | 1 << backend),
        }
    }

    /// Returns the bits of the key's layer without its backend. For an alias key, these are the layers of its expansion.
    #[inline(always)]
    pub(crate) fn layer_bits(self) -> u64 {
        match self.0 {
            KeyRepr::Alias(alias) => alias.layer_bits(),
            _ => self.bits() & LAYER_BITS,
        }
    }
}

/// The bits of a key set that stand for layers. The other bits stand for backends.
pub(crate) const LAYER_BITS: u64 = !0 << BACKEND_COUNT;

pub(crate) const fn layer_bit(layer: u8) -> u64 {
    1 << (BACKEND_END + layer)
}

/// Two keys are equal if they fill the same cells.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (KeyRepr::Undefined, KeyRepr::Undefined) => true,
            (KeyRepr::Layer(a), KeyRepr::Layer(b)) => a == b,
            (KeyRepr::OnBackend(a, on_a), KeyRepr::OnBackend(b, on_b)) => (a, on_a) == (b, on_b),
            (KeyRepr::Alias(a), KeyRepr::Alias(b)) => a == b,
            (KeyRepr::User(a), KeyRepr::User(b)) => std::ptr::eq(a, b),
            (KeyRepr::OnUserBackend(a, on_a), KeyRepr::OnUserBackend(b, on_b)) => a == b && std::ptr::eq(on_a, on_b),
            (KeyRepr::Invalid(a), KeyRepr::Invalid(b)) => a == b,
            (KeyRepr::Undefined, _) | (_, KeyRepr::Undefined) => false,
            _ => matches!((self.slot_or_alias(), other.slot_or_alias()), (Ok(a), Ok(b)) if a == b),
        }
    }
}

impl Eq for Key {}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            KeyRepr::Undefined => f.write_str("Undefined"),
            KeyRepr::Layer(layer) => f.write_str(index_assignment::layer_name(layer)),
            KeyRepr::OnBackend(DENSE, backend) => f.write_str(backend_name(backend)),
            KeyRepr::OnBackend(layer, backend) => {
                write!(f, "{}{}", LAYER_ORDER[layer as usize].name, backend_name(backend))
            }
            KeyRepr::Alias(alias) => f.write_str(alias.name()),
            KeyRepr::User(user) => f.write_str(user.name()),
            KeyRepr::OnUserBackend(layer, user) => write!(f, "{}{}", LAYER_ORDER[layer as usize].name, user.name()),
            KeyRepr::Invalid(_) => f.write_str("Invalid"),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::keys::*;
    use super::*;
    use crate::key::layer::InsertionPoint;

    #[test]
    fn on_with_a_wrong_layer_or_backend_makes_an_invalid_key() {
        static LAYER: UserKey =
            UserKey::new_layer("Lay", InsertionPoint::Backends, crate::Location::new(file!(), line!()));
        let (user, twice) = (Key::from_user_key(&LAYER), Autograd.on(CPU).on(CUDA));
        for (key, why) in [
            (Tracer.on(CPU), "`Tracer` is not a per-backend layer, so"),
            (CompositeImplicitAutograd.on(CPU), "`CompositeImplicitAutograd` is not a per-backend layer, so"),
            (Undefined.on(CPU), "`Undefined` is not a per-backend layer, so"),
            (CPU.on(CUDA), "`CPU` is not a per-backend layer, so"),
            (user.on(CUDA), "`Lay` is not a per-backend layer, so"),
            (twice, "this key of `Autograd` is on a backend already, so"),
            (Autograd.on(Tracer), "`Tracer` is not a backend, so"),
            (Autograd.on(user), "`Lay` is not a backend, so"),
            (Autograd.on(SparseCPU), "`Sparse` is not a backend, so"),
            (Autograd.on(twice), "this key of `Autograd` is on a backend already, so"),
        ] {
            let error = key.slot_or_alias().unwrap_err();
            let KeyError::Invalid(invalid) = error else { panic!("{error:?}") };
            assert!(invalid.to_string().starts_with(why), "{invalid}");
            assert_eq!((key.to_string().as_str(), key.bits(), key.layer_bits()), ("Invalid", 0, 0));
            assert!(key == key.on(CPU) && key != Undefined && !key.is_alias());
        }
    }
}
