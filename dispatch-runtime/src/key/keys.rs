//! The built-in keys, by the names that PyTorch gives them.
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
use super::layer::{self, BACKENDS, ORDER};

macro_rules! per_backend {
    ($layer:expr => $($name:ident)*) => {
        per_backend! { @ $layer; 0_u8; $($name)* }
    };
    (@ $layer:expr; $backend:expr; $name:ident $($rest:ident)*) => {
        #[doc = concat!("`", stringify!($name), "`: one layer on one backend.")]
        pub const $name: Key = Key::on_backend($layer, $backend);
        per_backend! { @ $layer; $backend + 1; $($rest)* }
    };
    (@ $layer:expr; $backend:expr;) => {
        const _: () = assert!($backend as usize == BACKENDS && ORDER[$layer as usize].is_per_backend());
    };
}

macro_rules! single {
    ($($(#[$doc:meta])* $name:ident = $layer:ident;)*) => {
        $($(#[$doc])* pub const $name: Key = Key::layer(layer::$layer);)*
    };
}

macro_rules! alias {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])* pub const $name: Key = Key::alias(Alias::$name);)*
    };
}

/// Calls that carry no tensor. Registering for it is registering for [`CompositeImplicitAutograd`].
pub const Undefined: Key = Key::UNDEFINED;

per_backend! { layer::DENSE =>
    CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 PrivateUse3 Meta
}

per_backend! { layer::QUANTIZED =>
    QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedXLA QuantizedMPS QuantizedIPU QuantizedXPU QuantizedHPU QuantizedVE QuantizedLazy QuantizedMTIA QuantizedMAIA QuantizedPrivateUse1 QuantizedPrivateUse2 QuantizedPrivateUse3 QuantizedMeta
}

per_backend! { layer::SPARSE =>
    SparseCPU SparseCUDA SparseHIP SparseXLA SparseMPS SparseIPU SparseXPU SparseHPU SparseVE SparseLazy SparseMTIA SparseMAIA SparsePrivateUse1 SparsePrivateUse2 SparsePrivateUse3 SparseMeta
}

per_backend! { layer::SPARSE_CSR =>
    SparseCsrCPU SparseCsrCUDA SparseCsrHIP SparseCsrXLA SparseCsrMPS SparseCsrIPU SparseCsrXPU SparseCsrHPU SparseCsrVE SparseCsrLazy SparseCsrMTIA SparseCsrMAIA SparseCsrPrivateUse1 SparseCsrPrivateUse2 SparseCsrPrivateUse3 SparseCsrMeta
}

per_backend! { layer::NESTED_TENSOR =>
    NestedTensorCPU NestedTensorCUDA NestedTensorHIP NestedTensorXLA NestedTensorMPS NestedTensorIPU NestedTensorXPU NestedTensorHPU NestedTensorVE NestedTensorLazy NestedTensorMTIA NestedTensorMAIA NestedTensorPrivateUse1 NestedTensorPrivateUse2 NestedTensorPrivateUse3 NestedTensorMeta
}

per_backend! { layer::AUTOGRAD =>
    AutogradCPU AutogradCUDA AutogradHIP AutogradXLA AutogradMPS AutogradIPU AutogradXPU AutogradHPU AutogradVE AutogradLazy AutogradMTIA AutogradMAIA AutogradPrivateUse1 AutogradPrivateUse2 AutogradPrivateUse3 AutogradMeta
}

per_backend! { layer::AUTOCAST =>
    AutocastCPU AutocastCUDA AutocastHIP AutocastXLA AutocastMPS AutocastIPU AutocastXPU AutocastHPU AutocastVE AutocastLazy AutocastMTIA AutocastMAIA AutocastPrivateUse1 AutocastPrivateUse2 AutocastPrivateUse3 AutocastMeta
}

single! {
    /// Quantized tensors; `Quantized.on(CPU)` is a key to register for.
    Quantized = QUANTIZED;
    /// Sparse tensors; `Sparse.on(CPU)` is a key to register for.
    Sparse = SPARSE;
    /// Compressed sparse tensors; `SparseCsr.on(CPU)` is a key to register for.
    SparseCsr = SPARSE_CSR;
    /// Nested tensors; `NestedTensor.on(CPU)` is a key to register for.
    NestedTensor = NESTED_TENSOR;
    /// A storage of its own that PyTorch never multiplied by backend.
    FPGA = FPGA;
    /// A storage of its own that PyTorch never multiplied by backend.
    Vulkan = VULKAN;
    /// A storage of its own that PyTorch never multiplied by backend.
    Metal = METAL;
    /// Tensors made by a random number generator of the user's.
    CustomRNGKeyId = CUSTOM_RNG;
    /// CPU tensors in oneDNN's opaque layout.
    MkldnnCPU = MKLDNN_CPU;
    /// Sends calls without tensors to the backend that their `device` argument names. On for every thread.
    BackendSelect = BACKEND_SELECT;
    /// Tensors that know a device but hold no data.
    Fake = FAKE;
    /// Tensors and modes implemented in Python.
    Python = PYTHON;
    /// Below the function transforms: hands a call to the next transform.
    FuncTorchDynamicLayerBackMode = TRANSFORM_BACK;
    /// Turns in-place operators and views into functional ones.
    Functionalize = FUNCTIONALIZE;
    /// Lazily conjugated tensors.
    Conjugate = CONJUGATE;
    /// Lazily negated tensors.
    Negative = NEGATIVE;
    /// Tensors known to be zero.
    ZeroTensor = ZERO_TENSOR;
    /// Version counters and view tracking. On for every thread.
    ADInplaceOrView = AD_INPLACE_OR_VIEW;
    /// Autograd of storages that have no autograd key of their own, such as sparse and quantized tensors.
    AutogradOther = AUTOGRAD_OTHER;
    /// Autograd of nested tensors.
    AutogradNestedTensor = AUTOGRAD_NESTED_TENSOR;
    /// Records calls into a graph.
    Tracer = TRACER;
    /// Tensors with a batch dimension that `vmap` hides.
    FuncTorchBatched = BATCHED;
    /// The same over nested tensors.
    BatchedNestedTensor = BATCHED_NESTED_TENSOR;
    /// Random operators under `vmap`.
    FuncTorchVmapMode = VMAP_MODE;
    /// Tensors wrapped by a gradient transform.
    FuncTorchGradWrapper = GRAD_WRAPPER;
    /// Remembers the caller's guards for handlers that run later.
    PythonTLSSnapshot = PYTHON_TLS_SNAPSHOT;
    /// Above the function transforms: picks the innermost one.
    FuncTorchDynamicLayerFrontMode = TRANSFORM_FRONT;
    /// Records a program before autograd sees it.
    PreDispatch = PRE_DISPATCH;
    /// Lets a mode see every call first.
    PythonDispatcher = PYTHON_DISPATCHER;
}

alias! {
    /// Every autograd key: where a derivative that holds for all backends is registered.
    Autograd;
    /// Every autocast key.
    Autocast;
    /// A kernel made of other operators: works on every backend and is differentiated through its parts.
    CompositeImplicitAutograd;
    /// A kernel that works on every backend but is differentiated as a whole.
    CompositeExplicitAutograd;
    /// The same, for an operator whose kernel writes or makes views: not for backends that want functional programs.
    CompositeExplicitAutogradNonFunctional;
    /// A composite kernel for nested tensors.
    CompositeImplicitAutogradNestedTensor;
    /// A composite kernel to batch an operator by its parts.
    FuncTorchBatchedDecomposition;
}
