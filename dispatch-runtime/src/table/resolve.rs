//! The rule that decides which registered kernel fills which cell.
//!
//! Only [`resolve_slot`] implements this rule. Tables, dumps, explanations and errors all use it. For one operator and one slot, it returns
//! the first of these that exists:
//!
//! 1. a kernel registered for exactly this key;
//! 2. a kernel registered for an alias that covers it, in this order:
//!    `CompositeExplicitAutogradNonFunctional`, `CompositeExplicitAutograd`, `CompositeImplicitAutogradNestedTensor`,
//!    `CompositeImplicitAutograd`, `Autograd`, `FuncTorchBatchedDecomposition`, `Autocast`;
//! 3. the key's fallback, if it serves this operator;
//! 4. nothing.
//!
//! Implicit composites are special. Autograd differentiates the operators that such a composite calls, so the composite serves autograd
//! keys too. It does not if the backend below has its own kernel, because that kernel does not call these operators. `AutogradOther` is
//! above many storages, so it can be unknown whether the storage has its own kernel. Then the call returns an error.

use crate::key::{
    AUTOGRAD, AUTOGRAD_NESTED_TENSOR, Alias, BACKEND_END, DENSE, LAYER_END, Provenance, SLOT_COUNT, Slot, SlotOrAlias,
};

/// The keys for which an operator has kernels.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RegisteredKeys {
    slots: SlotSet,
    aliases: u8,
}

/// Returns the reason why a kernel fills a slot, and the key for which it was registered, or `None` for a fallback and for no kernel.
pub(crate) fn resolve_slot(
    registered_keys: &RegisteredKeys,
    has_fallback: bool,
    slot: Slot,
) -> (Provenance, Option<SlotOrAlias>) {
    let undefined = slot.layer_and_backend().is_none();
    if !undefined && registered_keys.slots.has(slot) {
        return (Provenance::Kernel, Some(SlotOrAlias::Slot(slot)));
    }
    if registered_keys.aliases != 0 {
        let serves = |alias: Alias| registered_keys.has_alias(alias) && alias.covers(slot);
        let serves_slot_or_undefined = |alias: Alias| serves(alias) || undefined && registered_keys.has_alias(alias);
        let by = |provenance, alias| (provenance, Some(SlotOrAlias::Alias(alias)));

        for explicit in [Alias::CompositeExplicitAutogradNonFunctional, Alias::CompositeExplicitAutograd] {
            if serves_slot_or_undefined(explicit) {
                return by(Provenance::DefaultBackendKernel, explicit);
            }
        }
        if serves(Alias::CompositeImplicitAutogradNestedTensor) {
            return by(Provenance::NestedKernel, Alias::CompositeImplicitAutogradNestedTensor);
        }
        if serves_slot_or_undefined(Alias::CompositeImplicitAutograd) {
            if slot == Slot::for_autograd_other() && registered_keys.slots.intersects(&STORAGES_UNDER_AUTOGRAD_OTHER) {
                return by(Provenance::AmbiguousAutogradOther, Alias::CompositeImplicitAutograd);
            }
            if !registered_keys.has_backend_kernel_below(slot) {
                return by(Provenance::MathKernel, Alias::CompositeImplicitAutograd);
            }
        }
        for (provenance, alias) in [
            (Provenance::AutogradKernel, Alias::Autograd),
            (Provenance::BatchedKernel, Alias::FuncTorchBatchedDecomposition),
            (Provenance::AutocastKernel, Alias::Autocast),
        ] {
            if serves(alias) {
                return by(provenance, alias);
            }
        }
    }
    if has_fallback && !undefined { (Provenance::BackendFallback, None) } else { (Provenance::Missing, None) }
}

impl RegisteredKeys {
    pub(crate) fn add(&mut self, target: SlotOrAlias) {
        match target {
            SlotOrAlias::Slot(slot) => self.slots.insert(slot),
            SlotOrAlias::Alias(alias) => self.aliases |= 1 << alias as u8,
        }
    }

    pub(crate) const fn has_alias(&self, alias: Alias) -> bool {
        self.aliases & 1 << alias as u8 != 0
    }

    /// Whether the backend below an autograd key has a kernel of its own.
    fn has_backend_kernel_below(&self, slot: Slot) -> bool {
        let own_kernel = match slot.layer_and_backend() {
            Some((AUTOGRAD, Some(backend))) => self.slots.has(Slot::for_layer_on_backend(DENSE, backend)),
            Some((AUTOGRAD_NESTED_TENSOR, None)) => self.slots.intersects(&STORAGES_UNDER_AUTOGRAD_NESTED_TENSOR),
            _ => false,
        };
        own_kernel || self.has_alias(Alias::CompositeExplicitAutograd)
    }
}

/// A set of slots, with one bit per slot.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
struct SlotSet([u64; SLOT_COUNT.div_ceil(64)]);

impl SlotSet {
    const fn insert(&mut self, slot: Slot) {
        self.0[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    const fn has(&self, slot: Slot) -> bool {
        self.0[slot.index() / 64] & 1 << (slot.index() % 64) != 0
    }

    fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Returns all storages whose autograd key is `autograd`.
    const fn storages_under(autograd: Slot) -> Self {
        let mut slots = Self([0; SLOT_COUNT.div_ceil(64)]);
        let mut layer = 0;
        while layer < LAYER_END {
            let mut backend = 0;
            while backend < BACKEND_END {
                let slot = Slot::for_layer_on_backend(layer, backend);
                if let Some(above) = slot.autograd_slot()
                    && above.index() == autograd.index()
                {
                    slots.insert(slot);
                }
                backend += 1;
            }
            layer += 1;
        }
        slots
    }
}

const STORAGES_UNDER_AUTOGRAD_OTHER: SlotSet = SlotSet::storages_under(Slot::for_autograd_other());
const STORAGES_UNDER_AUTOGRAD_NESTED_TENSOR: SlotSet = SlotSet::storages_under(Slot::for_layer(AUTOGRAD_NESTED_TENSOR));
