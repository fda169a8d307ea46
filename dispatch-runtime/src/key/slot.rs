//! From a key set to a position in a table.
//!
//! A table has one slot per layer, and one block of slots per layer that is multiplied by backend. Finding the slot of a key set is
//! two "highest set bit" instructions and one small load, with no branch: [`index`].
#![allow(unsafe_code, reason = "the index of a slot is inside of a table")]

use super::layer::{
    AUTOGRAD, AUTOGRAD_NESTED_TENSOR, AUTOGRAD_OTHER, BACKEND_END, BACKENDS, DENSE, LAYER_END, LAYERS, NESTED_TENSOR,
    ORDER,
};

/// How many slots a table has.
pub(crate) const SLOTS: usize = {
    let mut next = 1;
    let mut layer = 0;
    while layer < LAYERS {
        next += if ORDER[layer].is_per_backend() { 1 + BACKENDS } else { 1 };
        layer += 1;
    }
    next
};

/// The position of one runtime key in a table. Slot 0 is for calls that carry no key at all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot(u8);

impl Slot {
    pub(crate) const UNDEFINED: Self = Self(0);

    /// The slot of a layer that is not multiplied by backend, or of no backend in particular.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 256 slots")]
    pub(crate) const fn of_layer(layer: u8) -> Self {
        Self(INDEX[BACKENDS + layer as usize].first as u8)
    }

    pub(crate) const fn on_backend(layer: u8, backend: u8) -> Self {
        if ORDER[layer as usize].is_per_backend() {
            Self(Self::of_layer(layer).0 + 1 + backend)
        } else {
            Self::of_layer(layer)
        }
    }

    pub(crate) fn of_bits(bits: u64) -> Self {
        Self(u8::try_from(index(bits)).unwrap_or(0))
    }

    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }

    /// Every slot that stands for a runtime key, lowest priority first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        #[expect(clippy::cast_possible_truncation, reason = "SLOTS is below 256, which `of_layer` relies on too")]
        (0..SLOTS as u8).map(Self).filter(|slot| KEY_OF_SLOT[slot.position()].0 != NOT_A_KEY)
    }

    /// The slot of the autograd key that stands above this storage.
    pub(crate) const fn autograd(self) -> Option<Self> {
        match self.key() {
            Some((DENSE, Some(backend))) => Some(Self::on_backend(AUTOGRAD, backend)),
            Some((NESTED_TENSOR, _)) => Some(Self::of_layer(AUTOGRAD_NESTED_TENSOR)),
            Some((layer, _)) if ORDER[layer as usize].is_storage() => Some(Self::autograd_other()),
            _ => None,
        }
    }

    pub(crate) const fn autograd_other() -> Self {
        Self::of_layer(AUTOGRAD_OTHER)
    }

    pub(crate) const fn is_dense(self) -> bool {
        matches!(self.key(), Some((DENSE, _)))
    }

    /// The layer that this slot belongs to, on whatever backend or none.
    pub(crate) const fn layer(self) -> Option<u8> {
        match LAYER_OF_SLOT[self.0 as usize] {
            NOT_A_KEY => None,
            layer => Some(layer),
        }
    }

    /// The layer that this slot belongs to and, where that is multiplied by backend, the backend.
    pub(crate) const fn key(self) -> Option<(u8, Option<u8>)> {
        match KEY_OF_SLOT[self.0 as usize] {
            (NOT_A_KEY, _) => None,
            (layer, NOT_A_KEY) => Some((layer, None)),
            (layer, backend) => Some((layer, Some(backend))),
        }
    }
}

/// Where a call with these keys goes: the highest layer, and within it the highest backend.
#[inline(always)]
pub(crate) fn index(bits: u64) -> usize {
    index_from(highest(bits), bits)
}

/// The highest of these keys, as the number of its bit.
#[inline(always)]
pub(crate) const fn highest(bits: u64) -> u32 {
    (bits | 1).ilog2()
}

/// The same as [`index`], where the highest key is known.
#[inline(always)]
pub(crate) fn index_from(highest: u32, bits: u64) -> usize {
    let Place { first, backends } = &INDEX[highest as usize];
    #[expect(clippy::cast_possible_truncation, reason = "the backends are the low 16 bits")]
    let backends = bits as u32 & backends;
    let at = (first + (backends << 1 | 1).ilog2()) as usize;
    // SAFETY: a layer's slots are one, or one more than there are backends, and `SLOTS` is their sum.
    unsafe { std::hint::assert_unchecked(at < SLOTS) };
    at
}

/// Where a layer's slots are. Two words, because each is then an operand in memory of the one instruction that needs it.
#[derive(Clone, Copy)]
struct Place {
    first: u32,
    /// The mask that keeps the backends that matter.
    backends: u32,
}

/// By highest bit.
const INDEX: [Place; 64] = {
    let mut table = [Place { first: 0, backends: 0 }; 64];
    let mut next = 1;
    let mut layer = 0;
    while layer < LAYERS {
        let per_backend = ORDER[layer].is_per_backend();
        table[BACKENDS + layer] = Place { first: next, backends: if per_backend { 0xffff } else { 0 } };
        next += if per_backend { 1 + BACKEND_END as u32 } else { 1 };
        layer += 1;
    }
    table
};

const NOT_A_KEY: u8 = u8::MAX;

const KEY_OF_SLOT: [(u8, u8); SLOTS] = {
    let mut keys = [(NOT_A_KEY, NOT_A_KEY); SLOTS];
    let mut layer = 0;
    while layer < LAYER_END {
        if ORDER[layer as usize].is_per_backend() {
            let mut backend = 0;
            while backend < BACKEND_END {
                keys[Slot::on_backend(layer, backend).position()] = (layer, backend);
                backend += 1;
            }
        } else {
            keys[Slot::of_layer(layer).position()] = (layer, NOT_A_KEY);
        }
        layer += 1;
    }
    keys
};

const LAYER_OF_SLOT: [u8; SLOTS] = {
    let mut layers = [NOT_A_KEY; SLOTS];
    let mut layer = 0;
    while layer < LAYER_END {
        let mut backend = 0;
        while backend < BACKEND_END {
            layers[Slot::of_layer(layer).position()] = layer;
            layers[Slot::on_backend(layer, backend).position()] = layer;
            backend += 1;
        }
        layer += 1;
    }
    layers
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_runtime_key_has_a_slot_of_its_own_and_is_found_by_its_bits() {
        for slot in Slot::all() {
            let (layer, backend) = slot.key().expect("all() yields keys only");
            let bits = 1_u64 << (BACKENDS + layer as usize) | backend.map_or(0, |b| 1 << b);
            assert_eq!(index(bits), slot.position());
        }
        assert_eq!(Slot::all().count(), LAYERS - 7 + 7 * BACKENDS);
    }

    proptest! {
        #[test]
        fn no_key_set_indexes_outside_a_table(bits in any::<u64>()) {
            prop_assert!(index(bits) < SLOTS);
        }

        #[test]
        fn the_highest_layer_and_then_the_highest_backend_decide(bits in any::<u64>()) {
            let expected = (bits >> BACKENDS).checked_ilog2().map_or(Slot::UNDEFINED, |layer| {
                let layer = u8::try_from(layer).unwrap();
                match (bits & 0xffff).checked_ilog2() {
                    Some(backend) => Slot::on_backend(layer, u8::try_from(backend).unwrap()),
                    None => Slot::of_layer(layer),
                }
            });
            prop_assert_eq!(index(bits), expected.position());
        }
    }
}
