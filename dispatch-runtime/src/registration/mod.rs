//! Registration: the records of all linked crates, the registry that they fill, and registering at run time.

mod annotation;
pub(crate) mod bind;
mod collect;
mod define;
mod disabled_feature;
mod fallback;
mod fuser;
mod listener;
mod lookup;
mod parse_key;
mod record;
#[allow(unsafe_code, reason = "a typed closure has the type that its adapter calls")]
mod registrar;
mod registration_handle;
pub(crate) mod registry;
mod rules;
mod rust_operator_impl;
mod set_marks;
mod task_runner;

pub use annotation::AnnotationRecord;
pub use bind::bind_all;
#[cfg(feature = "linkme")]
pub use collect::SUBMITTED_RECORDS;
#[cfg(feature = "inventory")]
pub use collect::SubmittedRecord;
pub use collect::register;
pub use disabled_feature::DisabledFeatureRecord;
pub use fallback::{fallback, fallback_fallthrough};
pub use fuser::{FusedKernel, Fuser, FuserRecord, FusionGroup, FusionStep, KernelId, StepArgument};
pub use listener::OperatorEvent;
pub use record::Record;
pub use registrar::Registrar;
pub use registration_handle::{Registration, ScopedRegistration, on_operator_event};
pub(crate) use registry::Registry;
pub use rust_operator_impl::RustOperatorImpl;
pub(crate) use rust_operator_impl::{RustOperatorFn, assign_elements, rust_operator_impl};
pub use task_runner::{TaskRunner, TaskRunnerRecord};
