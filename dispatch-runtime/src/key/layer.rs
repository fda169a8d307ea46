//! The layers of a call, in the order in which they run.
//!
//! A key set has one bit per layer. The highest layer in the set runs first. So this list, read from bottom to top, is the order of a call:
//! modes, batching, autocast, tracing, autograd, view tracking, backend selection, and finally the kernel. The order is PyTorch's. Sixteen
//! of the 48 layers are free for other crates, in four [`InsertionPoint`]s.

use super::{Key, SlotOrAlias};

/// The number of layers in a key set.
pub(crate) const LAYER_COUNT: usize = LAYER_END as usize;

/// The number of backends in a key set.
pub(crate) const BACKEND_COUNT: usize = BACKEND_END as usize;

/// One past the index of the last layer.
pub(crate) const LAYER_END: u8 = 48;

/// One past the index of the last backend.
pub(crate) const BACKEND_END: u8 = 16;

/// The kind of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LayerKind {
    /// A per-backend storage layout. Backends register their kernels here.
    PerBackendLayout,
    /// A storage layout that is not per-backend.
    SharedLayout,
    /// A layer above the storage layouts, with one slot per backend.
    PerBackendLayer,
    /// A layer above the storage layouts, with one slot for all backends.
    SharedLayer,
    /// A layer with one slot for all backends that a user's `#[dispatch_key(layer, ..)]` can take.
    FreeForUser(InsertionPoint),
}

/// A position in the order where other crates can insert layers. Each insertion point has room for four.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum InsertionPoint {
    /// The insertion point directly above the backends: below backend selection and everything else.
    Backends,
    /// The insertion point above autograd. Autograd differentiates the operators that the layer calls, not its own computation.
    Autograd,
    /// The insertion point above autocast and tracing, and below batching.
    Autocast,
    /// The insertion point above all other layers.
    Everything,
}

impl InsertionPoint {
    /// The name of this insertion point in `#[dispatch_key(layer, above = ..)]`.
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

/// One layer of the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    pub(crate) name: &'static str,
    pub(crate) kind: LayerKind,
}

impl Layer {
    pub(crate) const fn is_per_backend(self) -> bool {
        matches!(self.kind, LayerKind::PerBackendLayout | LayerKind::PerBackendLayer)
    }

    /// Whether a call ends at this layer. A missing kernel is an error here; at other layers, the call falls through.
    pub(crate) const fn is_storage(self) -> bool {
        matches!(self.kind, LayerKind::PerBackendLayout | LayerKind::SharedLayout)
    }
}

impl Key {
    /// Whether the key is a storage, where a call ends. A missing kernel is an error at a storage; calls skip other keys without a kernel.
    ///
    /// ```
    /// use dispatch_runtime::keys::*;
    /// assert!(CPU.is_storage() && SparseCUDA.is_storage() && !AutogradCPU.is_storage());
    /// ```
    #[must_use]
    pub fn is_storage(self) -> bool {
        let Ok(SlotOrAlias::Slot(slot)) = self.slot_or_alias() else { return false };
        slot.layer_and_backend().is_some_and(|(layer, _)| LAYER_ORDER[layer as usize].is_storage())
    }
}

macro_rules! define_layers {
    ($($index:literal $constant:tt $name:literal $kind:expr;)*) => {
        /// All layers, lowest first. A layer's index is its position in this list.
        pub(crate) const LAYER_ORDER: [Layer; LAYER_COUNT] = {
            use LayerKind::{PerBackendLayer, PerBackendLayout, FreeForUser, SharedLayer, SharedLayout};
            [$(Layer { name: $name, kind: $kind }),*]
        };
        $(pub(crate) const $constant: u8 = $index;)*
    };
}

define_layers! {
    0 DENSE "Dense" PerBackendLayout;
    1 FPGA "FPGA" SharedLayout;
    2 VULKAN "Vulkan" SharedLayout;
    3 METAL "Metal" SharedLayout;
    4 QUANTIZED "Quantized" PerBackendLayout;
    5 CUSTOM_RNG "CustomRNGKeyId" SharedLayout;
    6 MKLDNN_CPU "MkldnnCPU" SharedLayout;
    7 SPARSE "Sparse" PerBackendLayout;
    8 SPARSE_CSR "SparseCsr" PerBackendLayout;
    9 NESTED_TENSOR "NestedTensor" PerBackendLayout;
    10 _ "AboveBackends1" FreeForUser(InsertionPoint::Backends);
    11 _ "AboveBackends2" FreeForUser(InsertionPoint::Backends);
    12 _ "AboveBackends3" FreeForUser(InsertionPoint::Backends);
    13 _ "AboveBackends4" FreeForUser(InsertionPoint::Backends);
    14 BACKEND_SELECT "BackendSelect" SharedLayer;
    15 FAKE "Fake" SharedLayer;
    16 PYTHON "Python" SharedLayer;
    17 TRANSFORM_BACK "FuncTorchDynamicLayerBackMode" SharedLayer;
    18 FUNCTIONALIZE "Functionalize" SharedLayer;
    19 CONJUGATE "Conjugate" SharedLayer;
    20 NEGATIVE "Negative" SharedLayer;
    21 ZERO_TENSOR "ZeroTensor" SharedLayer;
    22 AD_INPLACE_OR_VIEW "ADInplaceOrView" SharedLayer;
    23 AUTOGRAD_OTHER "AutogradOther" SharedLayer;
    24 AUTOGRAD "Autograd" PerBackendLayer;
    25 AUTOGRAD_NESTED_TENSOR "AutogradNestedTensor" SharedLayer;
    26 _ "AboveAutograd1" FreeForUser(InsertionPoint::Autograd);
    27 _ "AboveAutograd2" FreeForUser(InsertionPoint::Autograd);
    28 _ "AboveAutograd3" FreeForUser(InsertionPoint::Autograd);
    29 _ "AboveAutograd4" FreeForUser(InsertionPoint::Autograd);
    30 TRACER "Tracer" SharedLayer;
    31 AUTOCAST "Autocast" PerBackendLayer;
    32 _ "AboveAutocast1" FreeForUser(InsertionPoint::Autocast);
    33 _ "AboveAutocast2" FreeForUser(InsertionPoint::Autocast);
    34 _ "AboveAutocast3" FreeForUser(InsertionPoint::Autocast);
    35 _ "AboveAutocast4" FreeForUser(InsertionPoint::Autocast);
    36 BATCHED "FuncTorchBatched" SharedLayer;
    37 BATCHED_NESTED_TENSOR "BatchedNestedTensor" SharedLayer;
    38 VMAP_MODE "FuncTorchVmapMode" SharedLayer;
    39 GRAD_WRAPPER "FuncTorchGradWrapper" SharedLayer;
    40 PYTHON_TLS_SNAPSHOT "PythonTLSSnapshot" SharedLayer;
    41 TRANSFORM_FRONT "FuncTorchDynamicLayerFrontMode" SharedLayer;
    42 PRE_DISPATCH "PreDispatch" SharedLayer;
    43 PYTHON_DISPATCHER "PythonDispatcher" SharedLayer;
    44 _ "AboveEverything1" FreeForUser(InsertionPoint::Everything);
    45 _ "AboveEverything2" FreeForUser(InsertionPoint::Everything);
    46 _ "AboveEverything3" FreeForUser(InsertionPoint::Everything);
    47 _ "AboveEverything4" FreeForUser(InsertionPoint::Everything);
}

/// The backends, lowest priority first, in PyTorch's order. `Meta` is the highest, so a call with one meta tensor runs on Meta.
pub(crate) const BACKEND_NAMES: [&str; BACKEND_COUNT] = [
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

pub(crate) const XLA_BACKEND: u8 = 3;
pub(crate) const LAZY_BACKEND: u8 = 9;

/// The indices of the backends that `#[dispatch_key(backend)]` may take over, in the order of assignment.
pub(crate) const ASSIGNABLE_BACKENDS: [u8; 7] = [12, 13, 14, 11, 10, 8, 5];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_insertion_point_has_four_adjacent_layers() {
        for point in
            [InsertionPoint::Backends, InsertionPoint::Autograd, InsertionPoint::Autocast, InsertionPoint::Everything]
        {
            let at: Vec<usize> =
                (0..LAYER_COUNT).filter(|&i| LAYER_ORDER[i].kind == LayerKind::FreeForUser(point)).collect();
            assert_eq!(at.len(), 4, "{point:?}");
            assert!(at.windows(2).all(|pair| pair[1] == pair[0] + 1), "{point:?}");
        }
    }

    #[test]
    fn the_layer_order_is_pytorchs() {
        let position = |name| LAYER_ORDER.iter().position(|layer| layer.name == name).expect(name);
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
