//! What a backend may give besides kernels and memory: one pass over memory for many elementwise calls.
//!
//! Called one by one, elementwise operators read and write all of their memory each time. A [`Fuser`] is given the calls that somebody
//! knows ahead as a [`Chain`], and makes a [`Pass`] of them that reads every input and writes every result once. What it gives is to
//! the bit what the kernels give one by one, so whoever has a pass may use it or not. A backend brings one with
//! [`fuser!`](crate::fuser), next to its kernels; those who make chains ask a device for it and know no backend.

use std::fmt;
use std::sync::OnceLock;

use super::registry;
use crate::error::Result;
use crate::key::{BACKENDS, Device, Key, KeySet};
use crate::operator::{Code, Entry, Operator};
use crate::tensor::Tensor;
use crate::value::Value;

/// Calls, one after the other, that each give one tensor. Values are numbered: the inputs first, then what the calls give.
///
/// All tensors are on [`Device::META`]: they say which dtypes and sizes there will be.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Chain, Given, Spec, Step};
///
/// #[op_def("divided(Tensor self) -> Tensor", shape = pointwise)]
/// pub fn divided(this: &Tensor) -> Result<Tensor>;
///
/// let shape = Spec::contiguous(DType::F32, &[3]).on(Device::META).unwrap();
/// let step = |value| Step { operator: divided::operator(), arguments: vec![Given::Value(value)], result: shape.clone() };
/// // A quarter: the input is value 0, its half 1, and half of that 2.
/// let chain = Chain { inputs: vec![shape.clone()], steps: vec![step(0), step(1)], results: vec![2] };
/// assert_eq!(chain.steps.len(), 2);
/// ```
#[derive(Clone, Default)]
pub struct Chain {
    /// What is given.
    pub inputs: Vec<Tensor>,
    /// The calls.
    pub steps: Vec<Step>,
    /// The values that are wanted.
    pub results: Vec<usize>,
}

/// One call of a [`Chain`], where there is an example.
#[derive(Clone)]
pub struct Step {
    /// The operator.
    pub operator: &'static Operator,
    /// All of its arguments.
    pub arguments: Vec<Given>,
    /// What it gives.
    pub result: Tensor,
}

/// An argument of a [`Step`]. There is an example at [`Chain`].
#[derive(Clone)]
pub enum Given {
    /// A value of the chain, by its number.
    Value(usize),
    /// The same at every run.
    Fixed(Value),
}

/// What makes one pass of many elementwise calls, on the devices of one backend.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Chain, Fuser, Pass, fuser};
///
/// #[dispatch_key(backend)]
/// pub static TPU: Key;
///
/// /// It can do nothing but nothing.
/// struct Idle;
/// impl Pass for Idle {
///     fn run(&self, _: &[&Tensor]) -> Result<Option<Vec<Tensor>>> { Ok(Some(Vec::new())) }
/// }
/// impl Fuser for Idle {
///     fn fuse(&self, chain: &Chain) -> Option<Box<dyn Pass>> {
///         chain.steps.is_empty().then(|| Box::new(Idle) as Box<dyn Pass>)
///     }
/// }
/// fuser!(TPU, Idle);
///
/// let fuser = Device::new(TPU).unwrap().fuser().unwrap();
/// assert!(fuser.fuse(&Chain::default()).is_some());
/// assert!(Device::META.fuser().is_none());
/// ```
pub trait Fuser: Sync {
    /// A pass that gives what the calls give one by one; none where there is a call among them that it cannot make a part of one.
    fn fuse(&self, chain: &Chain) -> Option<Box<dyn Pass>>;
}

/// One pass over memory. There is an example at [`Fuser`].
pub trait Pass: Send + Sync {
    /// Computes the results of the chain; none where these inputs are not as the pass has to have them, such as side by side, and the
    /// calls have to be made one by one.
    fn run(&self, inputs: &[&Tensor]) -> Result<Option<Vec<Tensor>>>;
}

/// A fuser and its backend's key: what [`fuser!`](crate::fuser) makes.
#[derive(Clone, Copy)]
pub struct FuserRecord {
    key: &'static Key,
    fuser: &'static (dyn Fuser + Sync),
}

impl FuserRecord {
    /// The fuser for the devices of `key`.
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

/// Gives a backend's key its [`Fuser`](crate::Fuser): `fuser!(TPU, Idle)`.
#[macro_export]
macro_rules! fuser {
    ($key:path, $fuser:expr) => {
        const _: () = {
            static __FUSER: $crate::FuserRecord = $crate::FuserRecord::new(&$key, &$fuser);
            $crate::__submit! { $crate::__private::Record::Fuser(&__FUSER) }
        };
    };
}

static FOUND: [OnceLock<&'static FuserRecord>; BACKENDS] = [const { OnceLock::new() }; BACKENDS];

/// Takes up what a record brings. The first one for a key stays.
pub(crate) fn found(record: &'static FuserRecord) {
    if let Some(backend) = record.key.backend() {
        FOUND[usize::from(backend)].get_or_init(|| record);
    }
}

impl Device {
    /// What makes one pass of many calls on this device, if its backend has such a thing. There is an example at [`Fuser`].
    #[must_use]
    pub fn fuser(self) -> Option<&'static dyn Fuser> {
        registry::load();
        FOUND[usize::from(self.backend())].get().map(|record| record.fuser as &dyn Fuser)
    }
}

/// The kernel that a call goes to: the same one as long as these are equal. [`Operator::destination`] gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Destination(Code);

impl Operator {
    /// The kernel that a typed call with exactly these keys goes to, where no tensor is marked for a fallback on the way; none where that
    /// is not one kernel of the operator's own signature.
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
    /// // No layer that a tensor of the CPU's has keys of is in the way to the kernel.
    /// let straight = scaled.destination(keys::CPU.into());
    /// assert_eq!(scaled.destination(Tensor::from_slice(&[1.0_f32]).keys()), straight);
    /// assert!(scaled.destination(keys::Meta.into()).is_none());
    /// ```
    #[must_use]
    pub fn destination(&self, keys: KeySet) -> Option<Destination> {
        let table = self.bound_table().ok()?;
        let (slot, ..) = table.slot(keys);
        let keys = if table.marks_for(slot).is_some() { table.passed(keys).1 } else { keys };
        let (code, entry) = table.at(keys);
        (entry == Entry::Typed).then_some(Destination(code))
    }
}
