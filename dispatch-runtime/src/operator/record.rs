//! Records of kernels and fallbacks, as the attribute macros make them.

use super::Operator;
use super::kernel::{BoxedFn, Condition, StaticKernel};
use super::operation::{self, Operation};
use super::table::CodePointer;
use crate::key::Key;
use crate::location::Location;
use crate::tensor::Marks;

/// The record of a kernel of an operator, as `#[op_impl]` makes it.
///
/// ```
/// use dispatch_runtime::{KernelRecord, Location, Record, TableRef, prelude::*, register};
///
/// #[op_def("increment(Tensor self, int by) -> int")]
/// pub fn increment(this: &Tensor, by: i64) -> Result<i64>;
///
/// fn typed(this: &Tensor, by: i64, _: KeySet, _: TableRef) -> Result<i64> {
///     Ok(this.read::<i64>()?[0] + by)
/// }
///
/// fn boxed(_: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
///     stack.drop_top(2);
///     Ok(stack.push(0_i64))
/// }
///
/// static TYPED: KernelRecord = KernelRecord::typed::<increment>(typed, &[&keys::CPU], "typed", Location::caller());
/// static BOXED: KernelRecord = KernelRecord::boxed::<increment>(boxed, &[&keys::Meta], "boxed", Location::caller());
/// static SKIPS: KernelRecord = KernelRecord::fallthrough::<increment>(&[&keys::Tracer], Location::caller());
/// static RECORDS: [Record; 3] = [Record::Kernel(&TYPED), Record::Kernel(&BOXED), Record::Kernel(&SKIPS)];
///
/// register(&RECORDS);
/// assert_eq!(increment(&Tensor::from_slice(&[2_i64]), 3).unwrap(), 5);
/// ```
#[derive(Debug)]
pub struct KernelRecord {
    pub(crate) operator: fn() -> &'static Operator,
    pub(crate) keys: &'static [&'static Key],
    pub(crate) kernel: StaticKernel,
    pub(crate) name: &'static str,
    pub(crate) location: Location,
    pub(crate) overrides: bool,
    /// Whether the kernel was derived from the functional operator's kernel. Any other kernel replaces it.
    pub(crate) derived: bool,
    pub(crate) condition: Option<Condition>,
    pub(crate) priority: i32,
}

impl KernelRecord {
    /// Makes the record of a kernel with the operator's own signature, followed by the keys of the call and the table of the call.
    #[must_use]
    pub const fn typed<O: Operation>(
        kernel: operation::Kernel<O>,
        keys: &'static [&'static Key],
        name: &'static str,
        location: Location,
    ) -> Self {
        Self::new(
            O::operator,
            StaticKernel::Typed(CodePointer::from_fn::<operation::Kernel<O>>(kernel)),
            keys,
            name,
            location,
        )
    }

    /// Makes the record of a kernel that takes its arguments from the stack.
    #[must_use]
    pub const fn boxed<O: Operation>(
        kernel: BoxedFn,
        keys: &'static [&'static Key],
        name: &'static str,
        location: Location,
    ) -> Self {
        Self::new(O::operator, StaticKernel::Boxed(kernel), keys, name, location)
    }

    /// Makes a record without a kernel: calls skip the key.
    #[must_use]
    pub const fn fallthrough<O: Operation>(keys: &'static [&'static Key], location: Location) -> Self {
        Self::new(O::operator, StaticKernel::Fallthrough, keys, "fallthrough", location)
    }

    const fn new(
        operator: fn() -> &'static Operator,
        kernel: StaticKernel,
        keys: &'static [&'static Key],
        name: &'static str,
        location: Location,
    ) -> Self {
        Self { operator, keys, kernel, name, location, overrides: false, derived: false, condition: None, priority: 0 }
    }

    /// Makes the kernel replace other kernels for the same key.
    #[must_use]
    pub const fn overriding(mut self) -> Self {
        self.overrides = true;
        self
    }

    /// Marks the kernel of an in-place or `out=` form as derived from the functional operator's kernel.
    #[doc(hidden)]
    #[must_use]
    pub const fn derived(mut self) -> Self {
        self.derived = true;
        self
    }

    /// Makes the kernel one of several for its key. It runs only if `holds` returns true.
    ///
    /// # Safety
    ///
    /// The record is one of the operator `O`.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn when<O: Operation>(mut self, holds: operation::ConditionFn<O>, text: &'static str) -> Self {
        self.condition = Some(Condition { predicate: CodePointer::from_fn::<operation::ConditionFn<O>>(holds), text });
        self
    }

    /// Sets the priority. Of several kernels whose conditions hold, the one with the highest priority runs.
    #[must_use]
    pub const fn with_priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

/// The record of a kernel for all operators without a kernel for a key, as `#[op_fallback]` and `fallthrough!` make it.
///
/// ```
/// use dispatch_runtime::{FallbackRecord, Location, Record, prelude::*, register};
///
/// fn pass(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
///     op.redispatch_boxed(keys.below(keys::Fake), stack)
/// }
///
/// static PASS: FallbackRecord = FallbackRecord::boxed(pass, &keys::Fake, "pass", Location::caller());
/// static SKIP: FallbackRecord = FallbackRecord::fallthrough(&keys::PythonTLSSnapshot, Location::caller());
/// static RECORDS: [Record; 2] = [Record::Fallback(&PASS), Record::Fallback(&SKIP)];
/// register(&RECORDS);
/// ```
#[derive(Debug)]
pub struct FallbackRecord {
    pub(crate) key: &'static Key,
    pub(crate) kernel: StaticKernel,
    pub(crate) name: &'static str,
    pub(crate) location: Location,
    pub(crate) aliasing: bool,
    pub(crate) marks: &'static [Marks],
}

impl FallbackRecord {
    /// Makes the record of a fallback with a boxed kernel.
    #[must_use]
    pub const fn boxed(kernel: BoxedFn, key: &'static Key, name: &'static str, location: Location) -> Self {
        Self { key, kernel: StaticKernel::Boxed(kernel), name, location, aliasing: false, marks: &[] }
    }

    /// Makes the record of a fallback without a kernel: calls of all operators skip the key.
    #[must_use]
    pub const fn fallthrough(key: &'static Key, location: Location) -> Self {
        Self { key, kernel: StaticKernel::Fallthrough, name: "fallthrough", location, aliasing: false, marks: &[] }
    }

    /// Restricts the fallback to operators whose schema has alias annotations on arguments.
    #[must_use]
    pub const fn for_aliasing_operators(mut self) -> Self {
        self.aliasing = true;
        self
    }

    /// Declares that the fallback only redispatches calls in which no tensor has one of these marks. Typed calls skip it then. As long as
    /// no tensor of the program had such a mark, no call reaches it.
    #[must_use]
    pub const fn for_marks(mut self, marks: &'static [Marks]) -> Self {
        self.marks = marks;
        self
    }
}
