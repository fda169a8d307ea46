//! The built-in keys, with PyTorch's names.
//!
//! ```
//! use dispatch_runtime::KeySet;
//! use dispatch_runtime::keys::*;
//!
//! let keys = CPU | AutogradCPU;
//! assert_eq!(keys.to_string(), "{CPU, AutogradCPU}");
//! assert_eq!(keys.below(Autograd), KeySet::from(CPU));
//! ```
#![allow(non_upper_case_globals, reason = "these are PyTorch's names, and a key reads as a name, not as a number")]

use super::Key;
use super::alias::Alias;
use super::layer::{self, BACKEND_COUNT, LAYER_ORDER};

macro_rules! define_backend_keys {
    ($layer:expr => $($name:ident)*) => {
        define_backend_keys! { @ $layer; 0_u8; $($name)* }
    };
    (@ $layer:expr; $backend:expr; $name:ident $($rest:ident)*) => {
        #[doc = concat!("`", stringify!($name), "`: one layer on one backend.")]
        pub const $name: Key = Key::from_layer_and_backend($layer, $backend);
        define_backend_keys! { @ $layer; $backend + 1; $($rest)* }
    };
    (@ $layer:expr; $backend:expr;) => {
        const _: () = assert!($backend as usize == BACKEND_COUNT && LAYER_ORDER[$layer as usize].is_per_backend());
    };
}

macro_rules! define_layer_keys {
    ($($(#[$doc:meta])* $name:ident = $layer:ident;)*) => {
        $($(#[$doc])* pub const $name: Key = Key::from_layer(layer::$layer);)*
    };
}

macro_rules! define_alias_keys {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])* pub const $name: Key = Key::from_alias(Alias::$name);)*
    };
}

/// The key of calls without tensors. A registration for it is one for [`CompositeImplicitAutograd`].
pub const Undefined: Key = Key::UNDEFINED;

define_backend_keys! { layer::DENSE =>
    CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 PrivateUse3 Meta
}

define_backend_keys! { layer::QUANTIZED =>
    QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedXLA QuantizedMPS QuantizedIPU QuantizedXPU QuantizedHPU QuantizedVE QuantizedLazy QuantizedMTIA QuantizedMAIA QuantizedPrivateUse1 QuantizedPrivateUse2 QuantizedPrivateUse3 QuantizedMeta
}

define_backend_keys! { layer::SPARSE =>
    SparseCPU SparseCUDA SparseHIP SparseXLA SparseMPS SparseIPU SparseXPU SparseHPU SparseVE SparseLazy SparseMTIA SparseMAIA SparsePrivateUse1 SparsePrivateUse2 SparsePrivateUse3 SparseMeta
}

define_backend_keys! { layer::SPARSE_CSR =>
    SparseCsrCPU SparseCsrCUDA SparseCsrHIP SparseCsrXLA SparseCsrMPS SparseCsrIPU SparseCsrXPU SparseCsrHPU SparseCsrVE SparseCsrLazy SparseCsrMTIA SparseCsrMAIA SparseCsrPrivateUse1 SparseCsrPrivateUse2 SparseCsrPrivateUse3 SparseCsrMeta
}

define_backend_keys! { layer::NESTED_TENSOR =>
    NestedTensorCPU NestedTensorCUDA NestedTensorHIP NestedTensorXLA NestedTensorMPS NestedTensorIPU NestedTensorXPU NestedTensorHPU NestedTensorVE NestedTensorLazy NestedTensorMTIA NestedTensorMAIA NestedTensorPrivateUse1 NestedTensorPrivateUse2 NestedTensorPrivateUse3 NestedTensorMeta
}

define_backend_keys! { layer::AUTOGRAD =>
    AutogradCPU AutogradCUDA AutogradHIP AutogradXLA AutogradMPS AutogradIPU AutogradXPU AutogradHPU AutogradVE AutogradLazy AutogradMTIA AutogradMAIA AutogradPrivateUse1 AutogradPrivateUse2 AutogradPrivateUse3 AutogradMeta
}

define_backend_keys! { layer::AUTOCAST =>
    AutocastCPU AutocastCUDA AutocastHIP AutocastXLA AutocastMPS AutocastIPU AutocastXPU AutocastHPU AutocastVE AutocastLazy AutocastMTIA AutocastMAIA AutocastPrivateUse1 AutocastPrivateUse2 AutocastPrivateUse3 AutocastMeta
}

define_layer_keys! {
    /// Quantized tensors. Kernels are registered for one backend, such as `Quantized.on(CPU)`.
    Quantized = QUANTIZED;
    /// Sparse tensors. Kernels are registered for one backend, such as `Sparse.on(CPU)`.
    Sparse = SPARSE;
    /// Compressed sparse tensors. Kernels are registered for one backend, such as `SparseCsr.on(CPU)`.
    SparseCsr = SPARSE_CSR;
    /// Nested tensors. Kernels are registered for one backend, such as `NestedTensor.on(CPU)`.
    NestedTensor = NESTED_TENSOR;
    /// FPGA tensors: a storage without per-backend keys.
    FPGA = FPGA;
    /// Vulkan tensors: a storage without per-backend keys.
    Vulkan = VULKAN;
    /// Metal tensors: a storage without per-backend keys.
    Metal = METAL;
    /// Tensors of a user's random number generator.
    CustomRNGKeyId = CUSTOM_RNG;
    /// CPU tensors in oneDNN's opaque layout.
    MkldnnCPU = MKLDNN_CPU;
    /// Sends calls without tensors to the backend of their `device` argument. Included on every thread by default.
    BackendSelect = BACKEND_SELECT;
    /// Fake tensors, which have a device but no data.
    Fake = FAKE;
    /// Tensors and modes implemented in Python.
    Python = PYTHON;
    /// Passes a call to the next function transform. It runs below the transforms.
    FuncTorchDynamicLayerBackMode = TRANSFORM_BACK;
    /// Turns in-place operators and views into functional ones.
    Functionalize = FUNCTIONALIZE;
    /// Lazily conjugated tensors.
    Conjugate = CONJUGATE;
    /// Lazily negated tensors.
    Negative = NEGATIVE;
    /// Tensors whose elements are all known to be zero.
    ZeroTensor = ZERO_TENSOR;
    /// Version counters and view tracking. Included on every thread by default.
    ADInplaceOrView = AD_INPLACE_OR_VIEW;
    /// Autograd of storages that have no autograd key of their own, such as sparse and quantized tensors.
    AutogradOther = AUTOGRAD_OTHER;
    /// Autograd of nested tensors.
    AutogradNestedTensor = AUTOGRAD_NESTED_TENSOR;
    /// Records calls into a graph.
    Tracer = TRACER;
    /// Tensors with a batch dimension that `vmap` hides.
    FuncTorchBatched = BATCHED;
    /// Nested tensors with a batch dimension that `vmap` hides.
    BatchedNestedTensor = BATCHED_NESTED_TENSOR;
    /// Handles random operators under `vmap`.
    FuncTorchVmapMode = VMAP_MODE;
    /// Tensors wrapped by a gradient transform.
    FuncTorchGradWrapper = GRAD_WRAPPER;
    /// Stores the caller's guards for handlers that run later.
    PythonTLSSnapshot = PYTHON_TLS_SNAPSHOT;
    /// Picks the innermost function transform. It runs above the transforms.
    FuncTorchDynamicLayerFrontMode = TRANSFORM_FRONT;
    /// Records a program before autograd runs.
    PreDispatch = PRE_DISPATCH;
    /// Passes every call to a mode before all other layers.
    PythonDispatcher = PYTHON_DISPATCHER;
}

define_alias_keys! {
    /// Every autograd key. A derivative for all backends is registered for this key.
    Autograd;
    /// Every autocast key.
    Autocast;
    /// A kernel that calls other operators. It works on every backend, and autograd differentiates the operators that it calls.
    CompositeImplicitAutograd;
    /// A kernel that works on every backend and that autograd differentiates as one operator.
    CompositeExplicitAutograd;
    /// A kernel that autograd differentiates as one operator and that writes or makes views. It serves all backends except sparse tensors
    /// and those that need functional programs (XLA, Lazy).
    CompositeExplicitAutogradNonFunctional;
    /// A composite kernel for nested tensors.
    CompositeImplicitAutogradNestedTensor;
    /// A composite kernel that batches an operator through the operators that it calls.
    FuncTorchBatchedDecomposition;
}
