//! Key sets: the dispatch keys of a tensor, of a call or of a guard.
//!
//! Every tensor carries a [`KeySet`]. A call takes the union over its arguments, adds the keys that the thread includes, and removes the
//! layers that it excludes. The kernel of the highest key that remains runs. A set is one word: the low 16 bits are backends (CPU, CUDA,
//! ...), the others are layers (dense data, autograd, ...).
//!
//! The set does not store pairs of layer and backend. `{CPU, AutogradCUDA}` is also `{CUDA, AutogradCPU}`: a call with arguments on two
//! backends belongs to both, and the higher one decides. So a union is a single `or`.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

use super::layer::{BACKEND_END, LAYER_END, LAYER_ORDER};
use super::slot::Slot;
use super::{Key, LAYER_BITS, layer_bit};

/// A set of dispatch keys, stored in one word.
///
/// ```
/// use dispatch_runtime::KeySet;
/// use dispatch_runtime::keys::*;
///
/// let call = AutogradCPU | CPU | ADInplaceOrView;
/// assert_eq!(call.highest(), Some(AutogradCPU));
/// assert_eq!(call.below(Autograd).highest(), Some(ADInplaceOrView));
/// assert_eq!(call - KeySet::from(AutogradCPU), CPU | ADInplaceOrView);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct KeySet(u64);

impl KeySet {
    /// The set without keys. A call with it runs the kernel for calls without tensors.
    pub const EMPTY: Self = Self(0);

    /// Every layer on every backend.
    pub const FULL: Self = Self(!0);

    /// Returns the set with exactly these bits, as [`bits`](Self::bits) returns them.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the set as one word: backends in the low 16 bits, layers above.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the layers of `key` without its backend, as guards need them. For an alias key, these are the layers of all keys that it
    /// expands to.
    #[inline]
    #[must_use]
    pub fn layers_of(key: Key) -> Self {
        Self(key.layer_bits())
    }

    /// Whether the set has neither layers nor backends.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `key` is in the set. For an alias key: whether any key that it expands to is in the set.
    #[inline]
    #[must_use]
    pub fn has(self, key: Key) -> bool {
        if key.is_alias() {
            return self.0 & key.layer_bits() != 0;
        }
        let bits = key.bits();
        bits != 0 && self.0 & bits == bits
    }

    /// Returns the set with `key` added.
    #[inline]
    #[must_use]
    pub fn with(self, key: Key) -> Self {
        self | Self::from(key)
    }

    /// Returns the key whose kernel a call with this set runs first, or `None` if the set has no key. A per-backend layer
    /// forms no key in a set without backends.
    #[must_use]
    pub fn highest(self) -> Option<Key> {
        let bits = if self.backends().is_empty() { self.0 & !PER_BACKEND_LAYERS } else { self.0 };
        let slot = Slot::from_key_bits(bits);
        slot.layer_and_backend().map(|_| Key::from_slot(slot))
    }

    /// Returns the layers of the set that are strictly below `key`, and all backends. Below an alias key means below its lowest layer.
    #[inline(always)]
    #[must_use]
    pub fn below(self, key: Key) -> Self {
        let layers = key.layer_bits();
        if layers == 0 { self } else { Self(self.0 & ((layers & layers.wrapping_neg()) - 1)) }
    }

    /// Iterates over the keys of the set, lowest first.
    pub fn iter(self) -> impl Iterator<Item = Key> {
        let (layers, backends) = (0..LAYER_END, 0..BACKEND_END);
        layers.filter(move |&layer| self.0 & layer_bit(layer) != 0).flat_map(move |layer| {
            let per_backend = LAYER_ORDER[layer as usize].is_per_backend();
            let on = backends.clone().filter(move |&backend| per_backend && self.0 & 1 << backend != 0);
            let alone = (!per_backend).then(|| Key::from_slot(Slot::for_layer(layer)));
            alone.into_iter().chain(on.map(move |backend| Key::from_slot(Slot::for_layer_on_backend(layer, backend))))
        })
    }

    /// Returns the keys of the set that are not in `other`.
    pub(crate) fn without(self, other: Self) -> Self {
        self.iter().filter(|&key| !other.has(key)).collect()
    }

    /// Returns the backends of the set without its layers.
    pub(crate) const fn backends(self) -> Self {
        Self(self.0 & !LAYER_BITS)
    }

    /// Returns the layers of the set without its backends.
    #[must_use]
    pub const fn layers(self) -> Self {
        Self(self.0 & LAYER_BITS)
    }
}

/// The bits of the per-backend layers.
const PER_BACKEND_LAYERS: u64 = {
    let mut bits = 0;
    let mut layer = 0;
    while layer < LAYER_END {
        if LAYER_ORDER[layer as usize].is_per_backend() {
            bits |= layer_bit(layer);
        }
        layer += 1;
    }
    bits
};

/// Makes the set of one runtime key. The set of any other key is empty: an alias key, [`Key::UNDEFINED`], an invalid key, and a user's key
/// for which no index was free. A guard with an empty set changes nothing. For the last two, registrations return an error, and
/// [`verify`](crate::verify) reports them.
impl From<Key> for KeySet {
    #[inline]
    fn from(key: Key) -> Self {
        Self(key.bits())
    }
}

impl FromIterator<Key> for KeySet {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        keys.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl BitOr for KeySet {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOr<Key> for KeySet {
    type Output = Self;

    #[inline]
    fn bitor(self, key: Key) -> Self {
        self.with(key)
    }
}

impl BitOr for Key {
    type Output = KeySet;

    #[inline]
    fn bitor(self, other: Self) -> KeySet {
        KeySet::from(self).with(other)
    }
}

impl BitOrAssign for KeySet {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for KeySet {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Removes layers, never backends: a call without autograd must keep its device.
impl Sub for KeySet {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !(other.0 & LAYER_BITS))
    }
}

impl fmt::Display for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, key) in self.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{key}")?;
        }
        f.write_str("}")
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn removing_layers_keeps_every_backend(set in any::<u64>(), gone in any::<u64>()) {
            let left = KeySet(set) - KeySet(gone);
            prop_assert_eq!(left.0 & 0xffff, set & 0xffff);
            prop_assert_eq!(left.0 & gone & LAYER_BITS, 0);
        }

        #[test]
        fn the_highest_key_is_the_last_of_the_iteration(set in any::<u64>(), on_backends in any::<bool>()) {
            let set = KeySet(if on_backends { set } else { set & LAYER_BITS });
            prop_assert_eq!(set.highest(), set.iter().last());
        }

        #[test]
        fn iterating_and_collecting_gives_the_same_set(set in any::<u64>()) {
            let set = KeySet(set);
            let collected: KeySet = set.iter().collect();
            prop_assert_eq!(collected.iter().collect::<Vec<_>>(), set.iter().collect::<Vec<_>>());
        }

        #[test]
        fn below_a_key_excludes_the_key_itself(set in any::<u64>()) {
            for key in KeySet(set).iter() {
                prop_assert!(!KeySet(set).below(key).has(key));
            }
        }

        #[test]
        fn union_is_commutative_associative_and_idempotent(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
            let (a, b, c) = (KeySet(a), KeySet(b), KeySet(c));
            prop_assert_eq!(a | b, b | a);
            prop_assert_eq!((a | b) | c, a | (b | c));
            prop_assert_eq!(a | a, a);
        }
    }

    #[test]
    fn a_backend_without_a_layer_is_no_key() {
        let only_a_device = KeySet(1);
        assert_eq!(only_a_device.highest(), None);
        assert_eq!(only_a_device.to_string(), "{}");
        assert!(!only_a_device.has(CPU));
    }

    #[test]
    fn a_layer_without_its_backend_is_no_key() {
        let dense_on_nothing = KeySet(layer_bit(0));
        assert_eq!(dense_on_nothing.highest(), None);
        assert_eq!(dense_on_nothing.iter().count(), 0);
    }

    #[test]
    fn every_layer_combines_with_every_backend() {
        let set = CPU | AutogradCUDA;
        assert_eq!(set.to_string(), "{CPU, CUDA, AutogradCPU, AutogradCUDA}");
        assert_eq!(set.highest(), Some(AutogradCUDA));
        assert_eq!((set - KeySet::from(AutogradCUDA)).to_string(), "{CPU, CUDA}");
    }

    #[test]
    fn below_an_alias_is_below_its_lowest_layer() {
        let set = CPU | ADInplaceOrView | AutogradCPU | AutogradOther | Tracer;
        assert_eq!(set.below(Autograd), CPU | ADInplaceOrView);
        assert_eq!(set.below(Tracer), CPU | ADInplaceOrView | AutogradCPU | AutogradOther);
    }

    #[test]
    fn a_key_set_never_contains_an_alias() {
        assert_eq!(KeySet::from(CompositeExplicitAutograd), KeySet::EMPTY);
        assert!((CPU | AutogradCPU).has(Autograd));
        assert!(!KeySet::from(CPU).has(Autograd));
    }
}
