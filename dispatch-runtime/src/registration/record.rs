//! Records: the registrations that the attribute macros submit.
//!
//! Every attribute becomes one static record. Records arrive in no particular order - through `inventory`, through `linkme`, or by an
//! explicit [`register`](crate::register). The registry makes the same tables from them in any order.

use super::annotation::AnnotationRecord;
use super::disabled_feature::DisabledFeatureRecord;
use super::fuser::FuserRecord;
use super::rust_operator_impl::RustOperatorImpl;
use super::task_runner::TaskRunnerRecord;
use crate::key::UserKey;
use crate::memory::BackendRecord;
use crate::operator::{FallbackRecord, KernelRecord, Operator, RuleRecord};

/// One registration of a crate.
///
/// The attribute macros make and submit records. A program whose records are not collected makes them itself and passes them to
/// [`register`](crate::register).
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// An operator.
    Operator(&'static Operator),
    /// A kernel of an operator, for one or more keys.
    Kernel(&'static KernelRecord),
    /// A kernel of an operator, and the kernels of the operator's in-place and `out=` forms that are derived from it.
    KernelAndForms(&'static [KernelRecord]),
    /// A key's kernel for operators that have no kernel for it.
    Fallback(&'static FallbackRecord),
    /// A user's backend or layer.
    Key(&'static UserKey),
    /// The operator that implements one of Rust's operators for tensors.
    RustOperator(&'static RustOperatorImpl),
    /// A backend's memory functions.
    Backend(&'static BackendRecord),
    /// A backend's fuser of elementwise calls.
    Fuser(&'static FuserRecord),
    /// A backend's runner of independent tasks.
    TaskRunner(&'static TaskRunnerRecord),
    /// A layer's rule for an operator.
    Rule(&'static RuleRecord),
    /// A layer's descriptions of its support for operators, which introspection shows.
    Annotation(&'static AnnotationRecord),
    /// The operators of a Cargo feature that is off.
    DisabledFeature(&'static DisabledFeatureRecord),
}

impl Record {
    /// Returns the address of the record. Two records with one address are the same record, submitted twice.
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Operator(record) => std::ptr::from_ref(record).addr(),
            Self::Kernel(record) => std::ptr::from_ref(record).addr(),
            Self::KernelAndForms(records) => records.as_ptr().addr(),
            Self::Fallback(record) => std::ptr::from_ref(record).addr(),
            Self::Key(record) => std::ptr::from_ref(record).addr(),
            Self::RustOperator(record) => std::ptr::from_ref(record).addr(),
            Self::Backend(record) => std::ptr::from_ref(record).addr(),
            Self::Fuser(record) => std::ptr::from_ref(record).addr(),
            Self::TaskRunner(record) => std::ptr::from_ref(record).addr(),
            Self::Rule(record) => std::ptr::from_ref(record).addr(),
            Self::Annotation(record) => std::ptr::from_ref(record).addr(),
            Self::DisabledFeature(record) => std::ptr::from_ref(record).addr(),
        }
    }
}
