//! What the attribute macros submit.
//!
//! Every attribute becomes one static record. Records arrive in no particular order - through `inventory`, through `linkme`, or by an
//! explicit [`register`](crate::register) - and the registry makes the same tables of them whatever the order was.

use super::annotation::AnnotationRecord;
use super::claim::Claim;
use super::disabled_feature::DisabledFeatureRecord;
use super::fuser::FuserRecord;
use crate::key::UserKey;
use crate::memory::BackendRecord;
use crate::operator::{FallbackRecord, KernelRecord, Operator, RuleRecord};

/// One thing that some crate adds to the program.
///
/// The attribute macros make and submit records. A program whose records are not collected makes them itself and hands them to
/// [`register`](crate::register).
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// An operator.
    Operator(&'static Operator),
    /// A kernel of an operator, for one or more keys.
    Kernel(&'static KernelRecord),
    /// A kernel of an operator, and what follows from it for the operator's forms.
    Kernels(&'static [KernelRecord]),
    /// What a key does for operators that have no kernel for it.
    Fallback(&'static FallbackRecord),
    /// A backend or a layer.
    Key(&'static UserKey),
    /// What one of Rust's own operators does with tensors.
    Claim(&'static Claim),
    /// A backend's memory.
    Backend(&'static BackendRecord),
    /// What makes one pass of many calls on a backend.
    Fuser(&'static FuserRecord),
    /// What a layer knows about an operator.
    Rule(&'static RuleRecord),
    /// What a layer says about operators.
    Annotation(&'static AnnotationRecord),
    /// The operators of a Cargo feature that is off.
    DisabledFeature(&'static DisabledFeatureRecord),
}

impl Record {
    /// What makes two records the same one, submitted twice.
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Operator(record) => std::ptr::from_ref(record).addr(),
            Self::Kernel(record) => std::ptr::from_ref(record).addr(),
            Self::Kernels(records) => records.as_ptr().addr(),
            Self::Fallback(record) => std::ptr::from_ref(record).addr(),
            Self::Key(record) => std::ptr::from_ref(record).addr(),
            Self::Claim(record) => std::ptr::from_ref(record).addr(),
            Self::Backend(record) => std::ptr::from_ref(record).addr(),
            Self::Fuser(record) => std::ptr::from_ref(record).addr(),
            Self::Rule(record) => std::ptr::from_ref(record).addr(),
            Self::Annotation(record) => std::ptr::from_ref(record).addr(),
            Self::DisabledFeature(record) => std::ptr::from_ref(record).addr(),
        }
    }
}
