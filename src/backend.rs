//! For authors of backends and layers, and of operators that go beyond the prelude.
//!
//! | to write | use | the guide's chapter |
//! |---|---|---|
//! | kernels of operators | `op_impl` with [`PointwisePlan`] or another [`Planned`] value, [`operands!`], [`BadArgument`] | *Kernels and plans* |
//! | a plan for an operator | `op_plan`, [`Spec`], [`Promotion`], [`broadcast`] | *Kernels and plans* |
//! | a backend: a key, memory and kernels | [`dispatch_key`], [`Backend`], [`backend!`], [`Buffer`], [`Storage`] | *A backend* |
//! | a layer: a key and a fallback | [`dispatch_key`], [`op_fallback`], [`Operator`], [`KeySet`], [`Stack`], [`Value`], [`guard`] | *A layer* |
//! | a mode, which observes calls | `opdispatch::modes`, [`Operator`], [`Value`] | *A mode* |
//! | kernels at run time | [`Registrar`], [`KernelHandle`] | *How a call works* |
//! | a test of the registrations | [`verify`] | *Reading `explain`* |
//!
//! Derivatives are in `opdispatch::autograd`, batch rules in `opdispatch::vmap`, policies of mixed precision in `opdispatch::autocast`.
//! [`runtime`](crate::runtime) has the other items of the dispatcher.
//!
//! # A backend and a layer
//!
//! A crate with operators imports the prelude, and from here what it names. This program declares a device, a kernel for it, and a layer
//! that counts the calls of all operators.
//!
//! ```standalone_crate
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use std::sync::{Mutex, PoisonError};
//!
//! use opdispatch::backend::{
//!     Backend, Buffer, Key, KeySet, Operator, PointwisePlan, Stack, Storage, backend, dispatch_key, guard, op_fallback,
//!     verify,
//! };
//! use opdispatch::prelude::*;
//!
//! /// The key of the backend. Its devices are called `dsp`.
//! #[dispatch_key(backend)]
//! pub static DSP: Key;
//!
//! /// A block of the device's memory, here simulated.
//! struct Block(Device, Mutex<Vec<u8>>);
//!
//! impl Block {
//!     fn with<R>(storage: &Storage, work: impl FnOnce(&mut [u8]) -> R) -> Result<R> {
//!         let Self(_, bytes) = storage.buffer().ok_or("this storage is not on a DSP")?;
//!         Ok(work(&mut bytes.lock().unwrap_or_else(PoisonError::into_inner)))
//!     }
//! }
//!
//! impl Buffer for Block {
//!     fn device(&self) -> Device {
//!         self.0
//!     }
//!
//!     fn size(&self) -> usize {
//!         self.1.lock().unwrap_or_else(PoisonError::into_inner).len()
//!     }
//! }
//!
//! /// The three operations that every backend has: allocate, copy in, copy out.
//! struct Driver;
//!
//! impl Backend for Driver {
//!     fn allocate(&self, device: Device, size: usize) -> Result<Storage> {
//!         Ok(Storage::new(Block(device, Mutex::new(vec![0; size]))))
//!     }
//!
//!     fn copy_in(&self, from: &[u8], to: &Storage) -> Result<()> {
//!         Block::with(to, |bytes| bytes.copy_from_slice(from))
//!     }
//!
//!     fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()> {
//!         Block::with(from, |bytes| to.copy_from_slice(bytes))
//!     }
//! }
//!
//! backend!(DSP, Driver);
//!
//! /// Computes `255 - self`.
//! #[op_def("invert(Tensor self) -> Tensor", shape = pointwise)]
//! pub fn invert(this: &Tensor) -> Result<Tensor>;
//!
//! // The framework checks the arguments and allocates `out` on the device. A real kernel reads sizes and strides, too.
//! #[op_impl(invert, DSP, dtypes(u8))]
//! fn invert_dsp<T: Element>(_plan: &PointwisePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
//!     let pixels = Block::with(this.storage(), |bytes| bytes.to_vec())?;
//!     Block::with(out.storage(), |to| to.iter_mut().zip(pixels).for_each(|(to, pixel)| *to = 255 - pixel))
//! }
//!
//! /// The key of the layer, above the backends and below autograd.
//! #[dispatch_key(layer, above = Backends)]
//! pub static Counter: Key;
//!
//! static CALLS: AtomicU32 = AtomicU32::new(0);
//!
//! #[op_fallback(Counter)]
//! fn count(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
//!     CALLS.fetch_add(1, Ordering::Relaxed);
//!     op.redispatch_boxed(keys.below(Counter), stack)
//! }
//!
//! # #[cfg(feature = "cpu")]
//! # fn main() -> Result<()> {
//! let device = Device::new(DSP).ok_or("all places for backends are taken")?;
//! let pixels = Tensor::from([0_u8, 55, 255]).to(device)?;
//! let inverted = {
//!     let _counting = guard::include(Counter.into());
//!     invert(&pixels)?
//! };
//! assert_eq!(inverted.device().to_string(), "dsp");
//! assert_eq!(inverted.to(Device::CPU)?.to_vec::<u8>()?, [255, 200, 0]);
//! assert_eq!(CALLS.load(Ordering::Relaxed), 1);
//! assert!(verify().is_empty());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "cpu"))]
//! # fn main() {}
//! ```

// Keys, and the operators that they select kernels of.
pub use dispatch_runtime::{
    Explanation, InsertionPoint, InvalidKey, Key, KeySet, Location, Name, NoFreeKeyIndex, Operation, Operator,
    Provenance, TableCell, UnknownKey, dispatch_key, guard, keys, schema,
};
// Boxed calls.
pub use dispatch_runtime::{Argument, BoxedFn, Object, Output, Stack, Str, Value, Values, fallthrough, op_fallback};
// Plans: the checks and the results of an operator.
pub use dispatch_runtime::{
    DimFlags, DimOrder, HasInPlace, HasOut, OperandError, Plan, PlanList, Planned, PointwisePlan, Promotion,
    ReductionDims, ShapeWord, Spec, broadcast, broadcast_strides, dims_by_stride, element_count, op_meta, op_row,
    reduced_dims, reduced_sizes, result_dtype, wrap_dim,
};
// Errors of arguments.
pub use dispatch_runtime::{BadArgument, DTypes, ErrorKind, Expected, Problem, Reason, Sizes};
// Memory of devices.
pub use dispatch_runtime::{Backend, Buffer, HostBuffer, OutOfMemory, Shared, Storage, TransferHold, Unique, backend};
// Access to elements.
pub use dispatch_runtime::{
    AccessError, Dims, Elements, ElementsMut, Geometry, Layout, Marks, MemoryFormat, Operand, Operands, ReadGuard,
    WriteGuard, operands,
};
// Element types.
pub use dispatch_runtime::{
    Arithmetic, Bool, Complex32, Complex64, Element, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz,
    Float8E8M0Fnu, Floating, Number, bf16, f16,
};
// Random numbers.
pub use dispatch_runtime::{Generator, RandomRecording, philox};
// Services of a backend: it runs tasks on its threads, and fuses chains of calls.
pub use dispatch_runtime::{
    FusedKernel, Fuser, FusionGroup, FusionStep, KernelId, StepArgument, TaskRunner, fuser, task_runner,
};
// Registration at run time, and its inspection.
pub use dispatch_runtime::{
    Finding, KernelHandle, KernelRecord, OperatorEvent, Record, Registrar, Registration, RuleRecord,
    ScopedRegistration, annotate, on_operator_event, register, verify,
};

/// The CPU backend's threads, loops and matrix products, for kernels of other crates.
#[cfg(feature = "cpu")]
pub use kernels_cpu::engine as cpu;
