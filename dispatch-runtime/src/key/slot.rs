//! Slots: the positions of runtime keys in a dispatch table.
//!
//! A table has one slot per layer, and one more per backend if the layer is per-backend. [`slot_index`] finds the slot of a key set
//! with two "highest set bit" instructions and one small load, without a branch.
#![allow(unsafe_code, reason = "the index of a slot is inside of a table")]

use super::layer::{
    AUTOGRAD, AUTOGRAD_NESTED_TENSOR, AUTOGRAD_OTHER, BACKEND_COUNT, BACKEND_END, DENSE, LAYER_COUNT, LAYER_END,
    LAYER_ORDER, NESTED_TENSOR,
};

/// The number of slots of a table.
pub(crate) const SLOT_COUNT: usize = {
    let mut next = 1;
    let mut layer = 0;
    while layer < LAYER_COUNT {
        next += if LAYER_ORDER[layer].is_per_backend() { 1 + BACKEND_COUNT } else { 1 };
        layer += 1;
    }
    next
};

/// The position of one runtime key in a table. Slot 0 is for calls that carry no key at all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot(u8);

impl Slot {
    pub(crate) const UNDEFINED: Self = Self(0);

    /// Returns the slot of a layer that is not per-backend, or a layer's slot for calls without a backend.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 256 slots")]
    pub(crate) const fn for_layer(layer: u8) -> Self {
        Self(LAYER_SLOTS[BACKEND_COUNT + layer as usize].first_slot as u8)
    }

    pub(crate) const fn for_layer_on_backend(layer: u8, backend: u8) -> Self {
        if LAYER_ORDER[layer as usize].is_per_backend() {
            Self(Self::for_layer(layer).0 + 1 + backend)
        } else {
            Self::for_layer(layer)
        }
    }

    pub(crate) fn from_key_bits(bits: u64) -> Self {
        Self(u8::try_from(slot_index(bits)).unwrap_or(0))
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Iterates over the slots of all runtime keys, lowest priority first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        #[expect(clippy::cast_possible_truncation, reason = "SLOT_COUNT is below 256, which `for_layer` relies on too")]
        (0..SLOT_COUNT as u8).map(Self).filter(|slot| LAYER_AND_BACKEND_OF_SLOT[slot.index()].0 != NO_LAYER_OR_BACKEND)
    }

    /// Returns the slot of the autograd key of this storage.
    pub(crate) const fn autograd_slot(self) -> Option<Self> {
        match self.layer_and_backend() {
            Some((DENSE, Some(backend))) => Some(Self::for_layer_on_backend(AUTOGRAD, backend)),
            Some((NESTED_TENSOR, _)) => Some(Self::for_layer(AUTOGRAD_NESTED_TENSOR)),
            Some((layer, _)) if LAYER_ORDER[layer as usize].is_storage() => Some(Self::for_autograd_other()),
            _ => None,
        }
    }

    pub(crate) const fn for_autograd_other() -> Self {
        Self::for_layer(AUTOGRAD_OTHER)
    }

    pub(crate) const fn is_dense(self) -> bool {
        matches!(self.layer_and_backend(), Some((DENSE, _)))
    }

    /// Returns the layer of this slot.
    pub(crate) const fn layer(self) -> Option<u8> {
        match LAYER_OF_SLOT[self.0 as usize] {
            NO_LAYER_OR_BACKEND => None,
            layer => Some(layer),
        }
    }

    /// Returns the layer of this slot, and its backend if the layer is per-backend. Returns `None` if no runtime key has the
    /// slot.
    pub(crate) const fn layer_and_backend(self) -> Option<(u8, Option<u8>)> {
        match LAYER_AND_BACKEND_OF_SLOT[self.0 as usize] {
            (NO_LAYER_OR_BACKEND, _) => None,
            (layer, NO_LAYER_OR_BACKEND) => Some((layer, None)),
            (layer, backend) => Some((layer, Some(backend))),
        }
    }
}

/// Returns the slot of a call with these keys: that of the highest layer, and within it of the highest backend.
#[inline(always)]
pub(crate) fn slot_index(bits: u64) -> usize {
    slot_index_from_highest(highest_bit(bits), bits)
}

/// Returns the bit index of the highest of these keys.
#[inline(always)]
pub(crate) const fn highest_bit(bits: u64) -> u32 {
    (bits | 1).ilog2()
}

/// Returns the slot of a call with these keys, as [`slot_index`] does, if the caller knows the highest key.
#[inline(always)]
pub(crate) fn slot_index_from_highest(highest: u32, bits: u64) -> usize {
    let LayerSlots { first_slot, backend_mask } = &LAYER_SLOTS[highest as usize];
    #[expect(clippy::cast_possible_truncation, reason = "the backends are the low 16 bits")]
    let backends = bits as u32 & backend_mask;
    let slot = (first_slot + (backends << 1 | 1).ilog2()) as usize;
    // SAFETY: a layer has one slot, or one more than there are backends. `SLOT_COUNT` is the sum over all layers, plus slot 0.
    unsafe { std::hint::assert_unchecked(slot < SLOT_COUNT) };
    slot
}

/// The position of a layer's slots. Both fields are whole words, so that each is a memory operand of the one instruction that needs it.
#[derive(Clone, Copy)]
struct LayerSlots {
    first_slot: u32,
    /// The mask of the backends that select a slot: all backends, or none.
    backend_mask: u32,
}

/// The slots of each layer, indexed by the highest bit of a key set.
const LAYER_SLOTS: [LayerSlots; 64] = {
    let mut table = [LayerSlots { first_slot: 0, backend_mask: 0 }; 64];
    let mut next = 1;
    let mut layer = 0;
    while layer < LAYER_COUNT {
        let per_backend = LAYER_ORDER[layer].is_per_backend();
        table[BACKEND_COUNT + layer] =
            LayerSlots { first_slot: next, backend_mask: if per_backend { 0xffff } else { 0 } };
        next += if per_backend { 1 + BACKEND_END as u32 } else { 1 };
        layer += 1;
    }
    table
};

const NO_LAYER_OR_BACKEND: u8 = u8::MAX;

const LAYER_AND_BACKEND_OF_SLOT: [(u8, u8); SLOT_COUNT] = {
    let mut keys = [(NO_LAYER_OR_BACKEND, NO_LAYER_OR_BACKEND); SLOT_COUNT];
    let mut layer = 0;
    while layer < LAYER_END {
        if LAYER_ORDER[layer as usize].is_per_backend() {
            let mut backend = 0;
            while backend < BACKEND_END {
                keys[Slot::for_layer_on_backend(layer, backend).index()] = (layer, backend);
                backend += 1;
            }
        } else {
            keys[Slot::for_layer(layer).index()] = (layer, NO_LAYER_OR_BACKEND);
        }
        layer += 1;
    }
    keys
};

const LAYER_OF_SLOT: [u8; SLOT_COUNT] = {
    let mut layers = [NO_LAYER_OR_BACKEND; SLOT_COUNT];
    let mut layer = 0;
    while layer < LAYER_END {
        let mut backend = 0;
        while backend < BACKEND_END {
            layers[Slot::for_layer(layer).index()] = layer;
            layers[Slot::for_layer_on_backend(layer, backend).index()] = layer;
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
    fn the_bits_of_every_runtime_key_select_its_own_slot() {
        for slot in Slot::all() {
            let (layer, backend) = slot.layer_and_backend().expect("all() yields keys only");
            let bits = 1_u64 << (BACKEND_COUNT + layer as usize) | backend.map_or(0, |b| 1 << b);
            assert_eq!(slot_index(bits), slot.index());
        }
        assert_eq!(Slot::all().count(), LAYER_COUNT - 7 + 7 * BACKEND_COUNT);
    }

    proptest! {
        #[test]
        fn no_key_set_indexes_outside_a_table(bits in any::<u64>()) {
            prop_assert!(slot_index(bits) < SLOT_COUNT);
        }

        #[test]
        fn the_highest_layer_and_then_the_highest_backend_select_the_slot(bits in any::<u64>()) {
            let expected = (bits >> BACKEND_COUNT).checked_ilog2().map_or(Slot::UNDEFINED, |layer| {
                let layer = u8::try_from(layer).unwrap();
                match (bits & 0xffff).checked_ilog2() {
                    Some(backend) => Slot::for_layer_on_backend(layer, u8::try_from(backend).unwrap()),
                    None => Slot::for_layer(layer),
                }
            });
            prop_assert_eq!(slot_index(bits), expected.index());
        }
    }
}
