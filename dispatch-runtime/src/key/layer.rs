//! The layers of a call, in the order in which they run.
//!
//! A key set has one bit per layer. The highest layer that is present runs first, so this list, read from bottom to top, is the
//! life of a call: modes, batching, autocast, tracing, autograd, view tracking, backend selection, and at last the kernel itself.
//! The order is PyTorch's. Sixteen of the 48 places are left free for layers from other crates, in four [`Landing`]s.

use super::{Key, Target};

/// How many layers a key set can tell apart.
pub(crate) const LAYERS: usize = LAYER_END as usize;

/// How many backends a key set can tell apart.
pub(crate) const BACKENDS: usize = BACKEND_END as usize;

/// One past the number of the last layer.
pub(crate) const LAYER_END: u8 = 48;

/// One past the number of the last backend.
pub(crate) const BACKEND_END: u8 = 16;

/// What a layer's bit stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// How a tensor's data is laid out, on one particular backend: this is where kernels of backends live.
    BackendStorage,
    /// The same, for layouts that PyTorch never multiplied by backend.
    Storage,
    /// Runs before the backend, with a separate slot for each.
    BackendLayer,
    /// Runs before the backend, one slot for all.
    Layer,
    /// The same, waiting for a user's `#[dispatch_key(layer, ..)]`.
    Free(Landing),
}

/// Where a layer from another crate can be inserted. Each landing has room for four.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Landing {
    /// Directly above the backends: below backend selection and everything else.
    Backends,
    /// Above autograd, so what the layer does is not differentiated, only what it calls is.
    Autograd,
    /// Above autocast and tracing, below batching.
    Autocast,
    /// Above all other layers.
    Everything,
}

impl Landing {
    /// What `#[dispatch_key(layer, above = ..)]` calls this landing.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Backends => "Backends",
            Self::Autograd => "Autograd",
            Self::Autocast => "Autocast",
            Self::Everything => "Everything",
        }
    }
}

/// One place in the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

impl Layer {
    pub(crate) const fn is_per_backend(self) -> bool {
        matches!(self.kind, Kind::BackendStorage | Kind::BackendLayer)
    }

    /// Whether this is where a call ends, so that a missing kernel is an error and not simply nothing to do.
    pub(crate) const fn is_storage(self) -> bool {
        matches!(self.kind, Kind::BackendStorage | Kind::Storage)
    }
}

impl Key {
    /// Whether this is where data lies, so a call ends here, and a missing kernel is an error. Calls pass over all other keys that have
    /// nothing to do.
    ///
    /// ```
    /// use dispatch_runtime::keys::*;
    /// assert!(CPU.is_storage() && SparseCUDA.is_storage() && !AutogradCPU.is_storage());
    /// ```
    #[must_use]
    pub fn is_storage(self) -> bool {
        let Ok(Target::Slot(slot)) = self.target() else { return false };
        slot.key().is_some_and(|(layer, _)| ORDER[layer as usize].is_storage())
    }
}

macro_rules! layers {
    ($($index:literal $constant:tt $name:literal $kind:expr;)*) => {
        /// Lowest first; the position is the layer's number.
        pub(crate) const ORDER: [Layer; LAYERS] = {
            use Kind::{BackendLayer, BackendStorage, Free, Layer as Plain, Storage};
            [$(Layer { name: $name, kind: $kind }),*]
        };
        $(pub(crate) const $constant: u8 = $index;)*
    };
}

layers! {
    0 DENSE "Dense" BackendStorage;
    1 FPGA "FPGA" Storage;
    2 VULKAN "Vulkan" Storage;
    3 METAL "Metal" Storage;
    4 QUANTIZED "Quantized" BackendStorage;
    5 CUSTOM_RNG "CustomRNGKeyId" Storage;
    6 MKLDNN_CPU "MkldnnCPU" Storage;
    7 SPARSE "Sparse" BackendStorage;
    8 SPARSE_CSR "SparseCsr" BackendStorage;
    9 NESTED_TENSOR "NestedTensor" BackendStorage;
    10 _ "AboveBackends1" Free(Landing::Backends);
    11 _ "AboveBackends2" Free(Landing::Backends);
    12 _ "AboveBackends3" Free(Landing::Backends);
    13 _ "AboveBackends4" Free(Landing::Backends);
    14 BACKEND_SELECT "BackendSelect" Plain;
    15 FAKE "Fake" Plain;
    16 PYTHON "Python" Plain;
    17 TRANSFORM_BACK "FuncTorchDynamicLayerBackMode" Plain;
    18 FUNCTIONALIZE "Functionalize" Plain;
    19 CONJUGATE "Conjugate" Plain;
    20 NEGATIVE "Negative" Plain;
    21 ZERO_TENSOR "ZeroTensor" Plain;
    22 AD_INPLACE_OR_VIEW "ADInplaceOrView" Plain;
    23 AUTOGRAD_OTHER "AutogradOther" Plain;
    24 AUTOGRAD "Autograd" BackendLayer;
    25 AUTOGRAD_NESTED_TENSOR "AutogradNestedTensor" Plain;
    26 _ "AboveAutograd1" Free(Landing::Autograd);
    27 _ "AboveAutograd2" Free(Landing::Autograd);
    28 _ "AboveAutograd3" Free(Landing::Autograd);
    29 _ "AboveAutograd4" Free(Landing::Autograd);
    30 TRACER "Tracer" Plain;
    31 AUTOCAST "Autocast" BackendLayer;
    32 _ "AboveAutocast1" Free(Landing::Autocast);
    33 _ "AboveAutocast2" Free(Landing::Autocast);
    34 _ "AboveAutocast3" Free(Landing::Autocast);
    35 _ "AboveAutocast4" Free(Landing::Autocast);
    36 BATCHED "FuncTorchBatched" Plain;
    37 BATCHED_NESTED_TENSOR "BatchedNestedTensor" Plain;
    38 VMAP_MODE "FuncTorchVmapMode" Plain;
    39 GRAD_WRAPPER "FuncTorchGradWrapper" Plain;
    40 PYTHON_TLS_SNAPSHOT "PythonTLSSnapshot" Plain;
    41 TRANSFORM_FRONT "FuncTorchDynamicLayerFrontMode" Plain;
    42 PRE_DISPATCH "PreDispatch" Plain;
    43 PYTHON_DISPATCHER "PythonDispatcher" Plain;
    44 _ "AboveEverything1" Free(Landing::Everything);
    45 _ "AboveEverything2" Free(Landing::Everything);
    46 _ "AboveEverything3" Free(Landing::Everything);
    47 _ "AboveEverything4" Free(Landing::Everything);
}

/// The backends, lowest priority first, in PyTorch's order. `Meta` is the highest on purpose: one meta tensor makes it a meta call.
pub(crate) const BACKEND_NAMES: [&str; BACKENDS] = [
    "CPU",
    "CUDA",
    "HIP",
    "XLA",
    "MPS",
    "IPU",
    "XPU",
    "HPU",
    "VE",
    "Lazy",
    "MTIA",
    "MAIA",
    "PrivateUse1",
    "PrivateUse2",
    "PrivateUse3",
    "Meta",
];

pub(crate) const XLA: u8 = 3;
pub(crate) const LAZY: u8 = 9;

/// The backends that `#[dispatch_key(backend)]` may take over, in the order in which they are given out.
pub(crate) const FREE_BACKEND_SLOTS: [u8; 7] = [12, 13, 14, 11, 10, 8, 5];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_landing_has_four_places_side_by_side() {
        for landing in [Landing::Backends, Landing::Autograd, Landing::Autocast, Landing::Everything] {
            let at: Vec<usize> = (0..LAYERS).filter(|&i| ORDER[i].kind == Kind::Free(landing)).collect();
            assert_eq!(at.len(), 4, "{landing:?}");
            assert!(at.windows(2).all(|pair| pair[1] == pair[0] + 1), "{landing:?}");
        }
    }

    #[test]
    fn the_order_is_pytorchs() {
        let position = |name| ORDER.iter().position(|layer| layer.name == name).expect(name);
        let low_to_high = [
            "Dense",
            "Quantized",
            "Sparse",
            "NestedTensor",
            "BackendSelect",
            "Python",
            "Functionalize",
            "ADInplaceOrView",
            "AutogradOther",
            "Autograd",
            "Tracer",
            "Autocast",
            "FuncTorchBatched",
            "FuncTorchDynamicLayerFrontMode",
            "PythonDispatcher",
        ];
        assert!(low_to_high.windows(2).all(|pair| position(pair[0]) < position(pair[1])));
    }
}
