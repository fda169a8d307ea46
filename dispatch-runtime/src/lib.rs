//! PyTorch's operator dispatcher, rebuilt for Rust.
//!
//! An operator is a row, a dispatch key is a column, and an attribute fills a cell. Any crate can define operators, and any other crate can
//! add kernels for them. A layer (autograd, tracing, or your own) intercepts the calls of every operator.
//!
//! ```
//! use dispatch_runtime::prelude::*;
//!
//! /// Multiplies two tensors elementwise.
//! #[op_def("mymul(Tensor self, Tensor other) -> Tensor")]
//! pub fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor>;
//!
//! #[op_impl(mymul, CPU)]
//! fn mymul_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
//!     let (a, b) = (this.read::<f32>()?, other.read::<f32>()?);
//!     let product: Vec<f32> = a.iter().zip(&*b).map(|(a, b)| a * b).collect();
//!     Ok(Tensor::from_slice(&product))
//! }
//!
//! # fn main() -> Result<()> {
//! let (a, b) = (Tensor::from_slice(&[1.0_f32, 2.0]), Tensor::from_slice(&[3.0_f32, 4.0]));
//! assert_eq!(&*mymul(&a, &b)?.read::<f32>()?, [3.0, 8.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # A call
//!
//! The generated function unites the [`KeySet`]s of its tensor arguments, and adds and removes the keys that the thread's [`guard`]s name.
//! It finds the slot of the highest key in the operator's table, and jumps there. A layer's kernel receives the key set, does its work, and
//! redispatches with `keys.below(itself)`. A backend's kernel computes the result.
//!
//! # A registration
//!
//! Attributes become static records. They are collected from all linked crates when the first operator is called. Each operator's table is
//! built when that operator is first called. If a key has no kernel, the aliases that cover it serve it, and then its fallback;
//! `table/resolve.rs` has the whole rule. [`verify`] reports mistakes in registrations before any call.

extern crate self as dispatch_runtime;

mod call;
mod device;
mod display;
mod error;
mod expansion;
pub mod guard;
mod introspection;
mod key;
mod location;
mod memory;
mod name;
#[allow(unsafe_code, reason = "a published pointer is never null and never freed")]
mod operator;
mod plan;
mod random;
mod registration;
mod rust_operator;
mod scalar;
mod spec;
mod table;
#[allow(unsafe_code, reason = "memory lent as slices")]
mod tensor;
mod tree;
#[allow(unsafe_code, reason = "values dropped without a call")]
mod value;

pub use call::{ArithmeticOperand, KernelHandle};
pub use dispatch_schema as schema;
pub use error::{
    BadArgument, DTypes, Error, ErrorKind, Expected, Explanation, KernelSite, Problem, Reason, Result, Sizes,
};
pub use half::{bf16, f16};
pub use introspection::{
    Finding, RegisteredKernel, SpanListener, TableCell, dump_by_name, on_span, operator_names_with_kernel_for, span,
    verify,
};
pub use key::{
    Device, InsertionPoint, InvalidKey, Key, KeySet, NoFreeKeyIndex, Provenance, UnknownDevice, UnknownKey, UserKey,
    keys,
};
pub use location::Location;
pub use memory::{Backend, BackendRecord, Buffer, HostBuffer, MemoryLayout, OutOfMemory, Shared, Storage, Unique};
pub use name::Name;
pub use num_complex::{Complex32, Complex64};
pub use operator::{BoxedFn, FallbackRecord, KernelRecord, Operation, Operator, RuleRecord, TableRef, TableVersion};
pub use plan::{
    DimFlags, HasInPlace, HasOut, Plan, PlanList, Planned, PointwisePlan, ReductionDims, reduced_dims, reduced_sizes,
};
pub use random::{DefaultGeneratorGuard, Generator, RandomRecording, manual_seed, philox};
pub use registration::{
    AnnotationRecord, DisabledFeatureRecord, FusedKernel, Fuser, FuserRecord, FusionGroup, FusionStep, KernelId,
    OperatorEvent, Record, Registrar, Registration, ScopedRegistration, StepArgument, TaskRunner, TaskRunnerRecord,
    bind_all, fallback, fallback_fallthrough, on_operator_event, register,
};
pub use scalar::{
    Arithmetic, Bool, DType, Element, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu,
    Floating, Layout, MemoryFormat, Number, Scalar, Str, UnknownDType,
};
pub use spec::{
    DimOrder, OperandError, Promotion, ShapeWord, Spec, broadcast, broadcast_strides, check_float8_operands,
    check_not_float8, dims_by_stride, result_dtype, wrap_dim,
};
pub use tensor::{
    AccessError, Bounds, Dims, Elements, ElementsMut, Geometry, IntoAxes, IntoBounds, IntoInt, IntoSizes, Marks,
    NestedArray, NestedRow, Operand, Operands, OutOfStorage, RaggedRows, ReadGuard, Tensor, TransferHold, WriteGuard,
    element_count,
};
pub use tree::{IntoTensorTree, LeafFn, Leaves, TensorTree, TreeMismatch, TreePath};
pub use value::{Argument, Object, Output, Stack, Value, Values};

/// Defines an operator by its schema.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// /// Without a body: backends supply kernels. Errors of a call name this operator.
/// #[op_def("lerp(Tensor self, Tensor end, *, Scalar weight=0.5) -> Tensor")]
/// pub fn lerp(this: &Tensor, end: &Tensor, weight: Scalar) -> Result<Tensor>;
///
/// /// `_: ...` stands for the schema's parameters.
/// #[op_def("clip(Tensor self, float min, float max) -> Tensor")]
/// pub fn clip(_: ...) -> Result<Tensor>;
///
/// /// The schema is inferred: `count(Tensor[] tensors) -> int`. An operator with a body is a composite.
/// #[op_def]
/// pub fn count(tensors: &[Tensor]) -> Result<i64> {
///     Ok(tensors.len() as i64)
/// }
///
/// assert_eq!(lerp::operator().schema().arguments[2].name, "weight");
/// assert_eq!(count(&[]).unwrap(), 0);
/// ```
#[doc(inline)]
pub use dispatch_macros::op_def;

/// Passes the definition of an elementwise operator to a backend's macro, so that the backend writes only an expression.
///
/// `op_row! { operator => macro, more }` calls `macro! { name { arguments } (tensors; others) [dtypes] more }`.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::op_row;
///
/// #[op_def("plus(Tensor self, Tensor other, Scalar alpha) -> Tensor", shape = pointwise, dtypes(floating))]
/// fn plus(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor>;
///
/// macro_rules! name_of {
///     ($name:ident $all:tt (this, other; alpha) [f32, f64] $more:literal) => {
///         const NAME: &str = concat!(stringify!($name), $more);
///     };
/// }
///
/// op_row! { plus => name_of, "!" }
/// assert_eq!(NAME, "plus!");
/// ```
#[doc(inline)]
pub use dispatch_macros::op_row;

/// Registers a kernel of an operator for a key.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("total(Tensor self) -> float")]
/// fn total(this: &Tensor) -> Result<f64>;
///
/// #[op_impl(total, CPU, when(this.dtype() == DType::F64), priority = 1)]
/// fn total_f64(this: &Tensor) -> Result<f64> {
///     Ok(this.read::<f64>()?.iter().sum())
/// }
///
/// #[op_impl(total, CPU, dtypes(floating))]
/// fn total_any<T: Floating>(this: &Tensor) -> Result<f64> {
///     Ok(this.read::<T>()?.iter().map(|x| x.to_f64()).sum())
/// }
///
/// // A layer's kernel takes the keys of the call as its last argument, and redispatches below its own key. Calling `total` itself would
/// // end here again.
/// #[op_impl(total, Tracer)]
/// fn total_traced(this: &Tensor, keys: KeySet) -> Result<f64> {
///     total::redispatch(keys.below(keys::Tracer), this)
/// }
///
/// assert_eq!(total(&Tensor::from_slice(&[1.0_f64, 2.0])).unwrap(), 3.0);
/// assert_eq!(total(&Tensor::from_slice(&[1.0_f32, 2.5])).unwrap(), 3.5);
/// ```
#[doc(inline)]
pub use dispatch_macros::op_impl;

/// Registers a Meta kernel, which computes the sizes and dtype of an operator's results.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::Spec;
///
/// #[op_def("twice(Tensor self) -> Tensor")]
/// fn twice(this: &Tensor) -> Result<Tensor>;
///
/// #[op_meta(twice)]
/// fn twice_meta(this: &Tensor) -> Result<Tensor> {
///     Spec::contiguous(this.dtype(), &[2 * this.sizes()[0]]).on(Device::META)
/// }
///
/// let shape = Spec::contiguous(DType::F32, &[3]).on(Device::META).unwrap();
/// assert_eq!(twice(&shape).unwrap().sizes(), [6]);
/// ```
#[doc(inline)]
pub use dispatch_macros::op_meta;

/// Defines the plan of an operator: its checks, and the specs of its results.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{BadArgument, Spec};
///
/// #[op_def("repeated(Tensor self, int times) -> Tensor", plan, out = "out")]
/// fn repeated(this: &Tensor, times: i64) -> Result<Tensor>;
///
/// // The plan checks the arguments and describes the result. Meta needs no kernel.
/// #[op_plan(repeated)]
/// fn repeated_plan(this: &Tensor, times: i64) -> Result<Plan<usize>, BadArgument> {
///     match (this.sizes(), usize::try_from(times)) {
///         ([size], Ok(count)) => Ok(Plan::new(count, [Spec::contiguous(this.dtype(), &[size * times])])),
///         ([_], Err(_)) => Err(BadArgument::number("times", times, 0..)),
///         (sizes, _) => Err(BadArgument::rank("self", sizes.len(), 1)),
///     }
/// }
///
/// // The kernel receives the plan's value, the output, and the arguments that it names.
/// #[op_impl(repeated, CPU, dtypes(all))]
/// fn repeated_cpu<T: Element>(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
///     out.write::<T>()?.copy_from_slice(&this.to_vec::<T>()?.repeat(*plan));
///     Ok(())
/// }
///
/// let mut out = Tensor::from_slice(&[0.0_f32; 4]);
/// repeated_out(&Tensor::from_slice(&[1.0_f32, 2.0]), 2, &mut out).unwrap();
/// assert_eq!(out.to_vec::<f32>().unwrap(), [1.0, 2.0, 1.0, 2.0]);
/// ```
#[doc(inline)]
pub use dispatch_macros::op_plan;

/// Registers the fallback of a key: a boxed kernel for every operator that has no kernel for that key.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
///
/// #[op_fallback(FuncTorchGradWrapper)]
/// fn see_calls(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
///     println!("{op}{}", stack.display_args(op));
///     op.redispatch_boxed(keys.below(keys::FuncTorchGradWrapper), stack)
/// }
///
/// // Operators that write no argument and return no view skip this fallback, at no cost.
/// #[op_fallback(Functionalize, aliasing)]
/// fn see_writes_and_views(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
///     println!("{op}{}", stack.display_args(op));
///     op.redispatch_boxed(keys.below(keys::Functionalize), stack)
/// }
///
/// // `marked` is a promise: without a marked tensor argument, this fallback only redispatches. Then typed calls skip it, for a few
/// // instructions. Before the program's first marked tensor, no table contains this fallback.
/// #[op_fallback(Fake, marked(REQUIRES_GRAD))]
/// fn refuse_gradients(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
///     let arguments = stack.top(op.argument_count()).unwrap_or_default();
///     if arguments.iter().filter_map(Value::as_tensor).any(Tensor::requires_grad) {
///         return Err(Error::kernel("there is no derivative"));
///     }
///     op.redispatch_boxed(keys.below(keys::Fake), stack)
/// }
/// ```
#[doc(inline)]
pub use dispatch_macros::op_fallback;

/// Makes a key fall through, so that calls of every operator, or of one operator, skip the key.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("same(Tensor self) -> Tensor")]
/// fn same(this: &Tensor) -> Result<Tensor>;
///
/// fallthrough!(PythonTLSSnapshot);     // every operator
/// fallthrough!(same, Conjugate);       // one
/// # fn main() {}
/// ```
#[doc(inline)]
pub use dispatch_macros::fallthrough;

/// Declares a dispatch key: a backend or a layer.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
///
/// #[dispatch_key(backend)]
/// pub static TPU: Key;
///
/// assert_eq!(keys::Autograd.on(TPU).to_string(), "AutogradTPU");
/// assert_eq!(Device::new(TPU).unwrap().to_string(), "tpu");
/// ```
#[doc(inline)]
pub use dispatch_macros::dispatch_key;

/// Links crates for their registrations.
///
/// ```
/// mod backends {
///     dispatch_runtime::link!(dispatch_runtime);      // a crate with kernels
/// }
/// ```
#[doc(inline)]
pub use dispatch_macros::link;

/// Computes an arithmetic expression of tensors: `expr!(a * b + c)` is `(&a * &b)? + &c`.
///
/// Operands are tensors, references to tensors, numbers, and `Result`s of these. Tensors in variables and fields are borrowed. The value is a
/// `Result`, so a `?` follows the macro, and inside of it none is needed.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("difference(Tensor self, Tensor other) -> Tensor", operator = Sub)]
/// pub fn difference(this: &Tensor, other: &Tensor) -> Result<Tensor>;
///
/// #[op_impl(difference, CPU)]
/// fn difference_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
///     Ok(Tensor::from(this.read::<f64>()?[0] - other.read::<f64>()?[0]))
/// }
///
/// # fn main() -> Result<()> {
/// let (x, y) = (Tensor::from(8.0), Tensor::from(1.5));
/// let z = expr!(x - (y - 1.0) - difference(&x, &y))?;
/// assert_eq!(z.to_vec::<f64>()?, [1.0]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use dispatch_macros::expr;

/// Makes a struct a tree of tensors. All fields must be trees.
///
/// ```
/// use dispatch_runtime::{Tensor, TensorTree};
///
/// #[derive(TensorTree)]
/// struct Attention<N> {
///     heads: usize,
///     projections: [Tensor; 3],
///     norm: Option<N>,
/// }
/// # let tensor = Tensor::from(0.0);
/// # let layer = Attention::<Tensor> { heads: 2, projections: [(); 3].map(|()| tensor.clone()), norm: None };
/// # assert_eq!(layer.tensors().len(), 3);
/// ```
#[doc(inline)]
pub use dispatch_macros::TensorTree;

/// The names that a crate with operators or kernels imports.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("id(Tensor(a) self) -> Tensor(a)")]
/// fn id(this: &Tensor) -> Result<Tensor> {
///     Ok(this.clone())
/// }
/// ```
pub mod prelude {
    pub use crate::{
        Arithmetic, DType, Device, Element, Error, Floating, Generator, Key, KeySet, Number, Operation, Operator, Plan,
        PlanList, Result, Scalar, Stack, Str, Tensor, Value, dispatch_key, expr, fallthrough, keys, link, op_def,
        op_fallback, op_impl, op_meta, op_plan,
    };
    /// The derive macro alone: with the trait, every number would have its methods.
    pub use dispatch_macros::TensorTree;
}

/// Not public API: the items that generated code uses, with all public ones.
#[doc(hidden)]
pub mod __private {
    pub use crate::*;

    pub use crate::call::{
        BorrowedOperand, ComputedOperand, DeviceArgument, HasDeviceKeys, Mut, NewResult, OptMut, OptOwned, OptRef,
        Owned, RedispatchGuard, Ref, Sig, WrittenArgument, argument_keys, borrow_operand, call_keys, call_keys_up_to,
        convert_argument, evaluate, lookup_kernel, unwrap_operand,
    };
    pub use crate::error::Result;
    pub use crate::expansion::{
        HasDType, KernelError, KernelParameter, NotBuiltIn, NotBuiltInName, OperatorFunction, OperatorFunctions,
        OptionalArgument, Returns, check_not_built_in, check_or_body_error, crate_name, error_in_operator,
        into_caller_error, into_form_error, operator_function_pointer, unsupported_dtype_error,
    };
    #[cfg(feature = "linkme")]
    pub use crate::key::DECLARED_KEYS;
    #[cfg(feature = "inventory")]
    pub use crate::key::DeclaredKey;
    pub use crate::operator::{
        ConditionFn, Definition, Kernel, Signature, TableHeader, TypedAdapters, too_few_arguments_error,
    };
    pub use crate::plan::{
        CheckOnMeta, DimList, DirectOutputKinds, HasTensors, ListArgument, OutputParameter, OutputTensor,
        PlanParameter, PointwiseOperand, ReturnsPlan, ReturnsPlanList, allocate_all_on, allocate_pointwise, call_each,
        check_argument_on_meta, check_outputs_disjoint, form_kernel, form_meta_kernel, planned_meta_kernel,
        pointwise_plan, product_plan, reduction_plan, result_device, shape_word_specs,
    };
    pub use crate::registration::RustOperatorImpl;
    #[cfg(feature = "linkme")]
    pub use crate::registration::SUBMITTED_RECORDS;
    #[cfg(feature = "inventory")]
    pub use crate::registration::SubmittedRecord;
    pub use crate::rust_operator::RustOperator;
    pub use crate::tensor::Tensor;
    pub use crate::tree::{IntoTensorTree, LeafFn, Leaves, TensorTree, TreePath};
    pub use dispatch_macros::{
        __call, __kernel, __plan, __row, unknown_backend_import_its_key_or_declare_it_with_dispatch_key,
        unknown_operator_import_it_or_define_it_with_op_def,
    };
    #[cfg(feature = "inventory")]
    pub use inventory;
    #[cfg(feature = "linkme")]
    pub use linkme;
}
