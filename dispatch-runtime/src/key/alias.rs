//! Alias keys: each stands for several runtime keys in a registration.
//!
//! A kernel for an alias key fills the cell of every runtime key that the alias expands to, unless a more specific registration fills that
//! cell. `table/resolve.rs` defines which alias wins if several apply.

use super::layer::{
    AUTOCAST, AUTOGRAD, AUTOGRAD_NESTED_TENSOR, AUTOGRAD_OTHER, BACKEND_END, BATCHED, LAYER_END, LAYER_ORDER,
    LAZY_BACKEND, NESTED_TENSOR, SPARSE, XLA_BACKEND,
};
use super::slot::{SLOT_COUNT, Slot};
use super::{Key, SlotOrAlias, layer_bit};

/// An alias key. The variants are in the order in which dumps list them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Alias {
    Autograd,
    CompositeImplicitAutograd,
    FuncTorchBatchedDecomposition,
    CompositeImplicitAutogradNestedTensor,
    CompositeExplicitAutograd,
    CompositeExplicitAutogradNonFunctional,
    Autocast,
}

impl Alias {
    pub(crate) const ALL: [Self; 7] = [
        Self::Autograd,
        Self::CompositeImplicitAutograd,
        Self::FuncTorchBatchedDecomposition,
        Self::CompositeImplicitAutogradNestedTensor,
        Self::CompositeExplicitAutograd,
        Self::CompositeExplicitAutogradNonFunctional,
        Self::Autocast,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Autograd => "Autograd",
            Self::CompositeImplicitAutograd => "CompositeImplicitAutograd",
            Self::FuncTorchBatchedDecomposition => "FuncTorchBatchedDecomposition",
            Self::CompositeImplicitAutogradNestedTensor => "CompositeImplicitAutogradNestedTensor",
            Self::CompositeExplicitAutograd => "CompositeExplicitAutograd",
            Self::CompositeExplicitAutogradNonFunctional => "CompositeExplicitAutogradNonFunctional",
            Self::Autocast => "Autocast",
        }
    }

    /// Whether the alias expands to the key of this slot.
    pub(crate) const fn covers(self, slot: Slot) -> bool {
        ALIASES_OF_SLOT[slot.index()] & self.bit() != 0
    }

    /// Returns the bits of the layers of all keys that the alias expands to. Guards and kernels call this often, so it is one table load.
    #[inline]
    pub(crate) const fn layer_bits(self) -> u64 {
        LAYER_BITS_OF_ALIAS[self as usize]
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    const fn expands_to(self, layer: u8, backend: Option<u8>) -> bool {
        let autograd = matches!(layer, AUTOGRAD | AUTOGRAD_OTHER | AUTOGRAD_NESTED_TENSOR);
        let storage = LAYER_ORDER[layer as usize].is_storage();
        match self {
            Self::Autograd => autograd,
            Self::CompositeImplicitAutograd => storage || autograd,
            Self::FuncTorchBatchedDecomposition => layer == BATCHED,
            Self::CompositeImplicitAutogradNestedTensor => matches!(layer, NESTED_TENSOR | AUTOGRAD_NESTED_TENSOR),
            Self::CompositeExplicitAutograd => storage && layer != NESTED_TENSOR,
            Self::CompositeExplicitAutogradNonFunctional => {
                storage
                    && layer != NESTED_TENSOR
                    && layer != SPARSE
                    && !matches!(backend, Some(XLA_BACKEND | LAZY_BACKEND))
            }
            Self::Autocast => layer == AUTOCAST,
        }
    }
}

impl Key {
    /// Whether a kernel for this key can fill the cell of `key`: both are the same runtime key, or this is an alias that expands to it.
    ///
    /// ```
    /// use dispatch_runtime::keys::*;
    /// assert!(Autograd.covers(AutogradCUDA) && AutogradCUDA.covers(AutogradCUDA));
    /// assert!(!Autograd.covers(CUDA) && !CUDA.covers(AutogradCUDA));
    /// ```
    #[must_use]
    pub fn covers(self, key: Self) -> bool {
        match (self.slot_or_alias(), key.slot_or_alias()) {
            (Ok(SlotOrAlias::Alias(alias)), Ok(SlotOrAlias::Slot(slot))) => alias.covers(slot),
            (Ok(SlotOrAlias::Slot(own)), Ok(SlotOrAlias::Slot(slot))) => own == slot,
            _ => false,
        }
    }
}

/// The aliases that expand to each slot's key, one bit per alias. The table is computed at compile time.
const ALIASES_OF_SLOT: [u8; SLOT_COUNT] = {
    let mut covered = [0; SLOT_COUNT];
    let mut layer = 0;
    while layer < LAYER_END {
        let mut backend = 0;
        while backend < BACKEND_END {
            let slot = Slot::for_layer_on_backend(layer, backend).index();
            let on = if LAYER_ORDER[layer as usize].is_per_backend() { Some(backend) } else { None };
            let mut alias = 0;
            while alias < Alias::ALL.len() {
                if Alias::ALL[alias].expands_to(layer, on) {
                    covered[slot] |= Alias::ALL[alias].bit();
                }
                alias += 1;
            }
            backend += 1;
        }
        layer += 1;
    }
    covered
};

/// The bits of the layers of each alias's expansion.
const LAYER_BITS_OF_ALIAS: [u64; Alias::ALL.len()] = {
    let mut layers = [0; Alias::ALL.len()];
    let mut alias = 0;
    while alias < Alias::ALL.len() {
        let mut layer = 0;
        while layer < LAYER_END {
            let mut backend = 0;
            while backend < BACKEND_END {
                if Alias::ALL[alias].covers(Slot::for_layer_on_backend(layer, backend)) {
                    layers[alias] |= layer_bit(layer);
                }
                backend += 1;
            }
            layer += 1;
        }
        alias += 1;
    }
    layers
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::layer::{BACKEND_SELECT, DENSE, QUANTIZED, SPARSE_CSR, TRACER};

    fn expansion_size(alias: Alias) -> usize {
        Slot::all().filter(|&slot| alias.covers(slot)).count()
    }

    #[test]
    fn expansions_have_pytorchs_sizes() {
        let (autograd, single_storages) = (2 + 16, 5);
        assert_eq!(expansion_size(Alias::Autograd), autograd);
        assert_eq!(expansion_size(Alias::CompositeImplicitAutograd), 5 * 16 + single_storages + autograd);
        assert_eq!(expansion_size(Alias::CompositeImplicitAutogradNestedTensor), 16 + 1);
        assert_eq!(expansion_size(Alias::CompositeExplicitAutograd), 4 * 16 + single_storages);
        assert_eq!(expansion_size(Alias::CompositeExplicitAutogradNonFunctional), 3 * 14 + single_storages);
        assert_eq!(expansion_size(Alias::FuncTorchBatchedDecomposition), 1);
        assert_eq!(expansion_size(Alias::Autocast), 16);
    }

    #[test]
    fn the_non_functional_alias_excludes_functional_backends_and_sparse() {
        let alias = Alias::CompositeExplicitAutogradNonFunctional;
        assert!(alias.covers(Slot::for_layer_on_backend(SPARSE_CSR, 0)));
        assert!(!alias.covers(Slot::for_layer_on_backend(SPARSE, 0)));
        assert!(!alias.covers(Slot::for_layer_on_backend(QUANTIZED, XLA_BACKEND)));
        assert!(!alias.covers(Slot::for_layer_on_backend(SPARSE_CSR, LAZY_BACKEND)));
    }

    #[test]
    fn layer_bits_are_the_layers_of_the_expansion() {
        for alias in Alias::ALL {
            let layers = Slot::all().filter(|&slot| alias.covers(slot)).filter_map(Slot::layer_and_backend);
            assert_eq!(
                alias.layer_bits(),
                layers.fold(0, |bits, (layer, _)| bits | layer_bit(layer)),
                "{}",
                alias.name()
            );
        }
    }

    #[test]
    fn no_alias_covers_a_mode_or_the_undefined_slot() {
        for alias in Alias::ALL {
            for slot in [Slot::UNDEFINED, Slot::for_layer(BACKEND_SELECT), Slot::for_layer(TRACER)] {
                assert!(!alias.covers(slot), "{}", alias.name());
            }
        }
        assert!(Alias::CompositeImplicitAutograd.covers(Slot::for_layer_on_backend(DENSE, 15)));
    }
}
