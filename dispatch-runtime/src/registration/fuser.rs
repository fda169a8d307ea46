//! Fusion: many elementwise calls as one kernel of a backend.
//!
//! Called one by one, elementwise operators read and write all of their memory each time. A [`Fuser`] takes a [`FusionGroup`]: calls that
//! are known in advance. It makes a [`FusedKernel`], which reads every input and writes every result once. The results equal those of the
//! single kernels bit for bit, so a caller may use the fused kernel or not. A backend registers its fuser with [`fuser!`](crate::fuser),
//! next to its kernels. Code that makes fusion groups gets the fuser from the device and knows no backend.

use std::fmt;
use std::sync::OnceLock;

use super::registry;
use crate::error::Result;
use crate::key::{BACKEND_COUNT, Device, Key, KeySet};
use crate::operator::{CodePointer, Operator, SlotKind};
use crate::tensor::Tensor;
use crate::value::Value;

/// A sequence of calls that each return one tensor. Values are numbered: first the inputs, then the results of the calls.
///
/// All tensors are on [`Device::META`]: they only have the dtypes and sizes of the values.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{FusionGroup, FusionStep, Spec, StepArgument};
///
/// #[op_def("divided(Tensor self) -> Tensor", shape = pointwise)]
/// pub fn divided(this: &Tensor) -> Result<Tensor>;
///
/// let shape = Spec::contiguous(DType::F32, &[3]).on(Device::META).unwrap();
/// let step = |value| {
///     let arguments = vec![StepArgument::Value(value)];
///     FusionStep { operator: divided::operator(), arguments, result: shape.clone() }
/// };
/// // A quarter: the input is value 0, its half is value 1, and the half of value 1 is value 2.
/// let group = FusionGroup { inputs: vec![shape.clone()], steps: vec![step(0), step(1)], results: vec![2] };
/// assert_eq!(group.steps.len(), 2);
/// ```
#[derive(Clone, Default)]
pub struct FusionGroup {
    /// The input tensors of the group.
    pub inputs: Vec<Tensor>,
    /// The calls, in the order in which they are made.
    pub steps: Vec<FusionStep>,
    /// The numbers of the values that are the results of the group.
    pub results: Vec<usize>,
}

/// One call of a [`FusionGroup`], which has an example.
#[derive(Clone)]
pub struct FusionStep {
    /// The operator that is called.
    pub operator: &'static Operator,
    /// All arguments of the call.
    pub arguments: Vec<StepArgument>,
    /// The result of the call.
    pub result: Tensor,
}

/// An argument of a [`FusionStep`]. [`FusionGroup`] has an example.
#[derive(Clone)]
pub enum StepArgument {
    /// A value of the group, by its number.
    Value(usize),
    /// A value that is the same in every run.
    Constant(Value),
}

/// The part of a backend that compiles many elementwise calls to one kernel.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{FusedKernel, Fuser, FusionGroup, fuser};
///
/// #[dispatch_key(backend)]
/// pub static TPU: Key;
///
/// /// A fuser and a fused kernel for empty groups only.
/// struct Idle;
/// impl FusedKernel for Idle {
///     fn run(&self, _: &[&Tensor]) -> Result<Option<Vec<Tensor>>> { Ok(Some(Vec::new())) }
/// }
/// impl Fuser for Idle {
///     fn fuse(&self, group: &FusionGroup) -> Option<Box<dyn FusedKernel>> {
///         group.steps.is_empty().then(|| Box::new(Idle) as Box<dyn FusedKernel>)
///     }
/// }
/// fuser!(TPU, Idle);
///
/// let fuser = Device::new(TPU).unwrap().fuser().unwrap();
/// assert!(fuser.fuse(&FusionGroup::default()).is_some());
/// assert!(Device::META.fuser().is_none());
/// ```
pub trait Fuser: Sync {
    /// Makes a kernel with the same results as the single calls, or returns `None` if one of the calls cannot be fused.
    fn fuse(&self, group: &FusionGroup) -> Option<Box<dyn FusedKernel>>;
}

/// One kernel that computes the results of a [`FusionGroup`]. [`Fuser`] has an example.
pub trait FusedKernel: Send + Sync {
    /// Computes the results of the group. Returns `None` if the kernel does not support these inputs, for example because they are not
    /// contiguous. The calls must then be made one by one.
    fn run(&self, inputs: &[&Tensor]) -> Result<Option<Vec<Tensor>>>;
}

/// A fuser and its backend's key, as [`fuser!`](crate::fuser) makes it.
#[derive(Clone, Copy)]
pub struct FuserRecord {
    key: &'static Key,
    fuser: &'static (dyn Fuser + Sync),
}

impl FuserRecord {
    /// Makes the record of the fuser for the devices of `key`.
    #[must_use]
    pub const fn new(key: &'static Key, fuser: &'static (dyn Fuser + Sync)) -> Self {
        Self { key, fuser }
    }
}

impl fmt::Debug for FuserRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FuserRecord({})", self.key)
    }
}

/// Registers the [`Fuser`](crate::Fuser) of a backend's key: `fuser!(TPU, Idle)`.
#[macro_export]
macro_rules! fuser {
    ($key:path, $fuser:expr) => {
        const _: () = {
            static __FUSER: $crate::__private::FuserRecord = $crate::__private::FuserRecord::new(&$key, &$fuser);
            $crate::__private::__submit! { $crate::__private::Record::Fuser(&__FUSER) }
        };
    };
}

static FUSERS: [OnceLock<&'static FuserRecord>; BACKEND_COUNT] = [const { OnceLock::new() }; BACKEND_COUNT];

/// Stores the fuser of a record. The first one for a backend stays.
pub(crate) fn register_fuser(record: &'static FuserRecord) {
    if let Some(backend) = record.key.backend_index() {
        FUSERS[usize::from(backend)].get_or_init(|| record);
    }
}

impl Device {
    /// Returns the fuser of this device's backend, if it has one. [`Fuser`] has an example.
    #[must_use]
    pub fn fuser(self) -> Option<&'static dyn Fuser> {
        registry::load_records();
        FUSERS[usize::from(self.backend_index())].get().map(|record| record.fuser as &dyn Fuser)
    }
}

/// The identity of a kernel that a call reaches, as [`Operator::kernel_id`] returns it. Equal values are the same kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelId(CodePointer);

impl Operator {
    /// Returns the kernel that a typed call with exactly these keys reaches, if no tensor is marked for a fallback on the way. Returns
    /// `None` if that is not one kernel of the operator's own signature.
    ///
    /// ```
    /// use dispatch_runtime::{KeySet, keys, prelude::*};
    ///
    /// #[op_def("scaled(Tensor self) -> Tensor")]
    /// pub fn scaled(this: &Tensor) -> Result<Tensor>;
    /// #[op_impl(scaled, CPU)]
    /// fn scaled_cpu(this: &Tensor) -> Tensor { this.clone() }
    ///
    /// let scaled = scaled::operator();
    /// // No layer in the keys of a CPU tensor has a kernel above the CPU kernel.
    /// let straight = scaled.kernel_id(keys::CPU.into());
    /// assert_eq!(scaled.kernel_id(Tensor::from_slice(&[1.0_f32]).keys()), straight);
    /// assert!(scaled.kernel_id(keys::Meta.into()).is_none());
    /// ```
    #[must_use]
    pub fn kernel_id(&self, keys: KeySet) -> Option<KernelId> {
        let table = self.bound_table().ok()?;
        let (slot, ..) = table.lookup_slot(keys);
        let keys =
            if table.marks_that_prevent_skip(slot).is_some() { table.lookup_below_skipped(keys).1 } else { keys };
        let (code, kind) = table.lookup(keys);
        (kind == SlotKind::Typed).then_some(KernelId(code))
    }
}
