//! Registration: the records of all linked crates, the registry that they fill, and registering while the program runs.

mod annotation;
pub(crate) mod bind;
mod claim;
mod collect;
mod define;
mod disabled_feature;
mod fallback;
mod first_mark;
mod fuser;
mod handle;
mod listener;
mod lookup;
mod parse_key;
mod record;
#[allow(unsafe_code, reason = "a typed closure has the type that its adapter calls")]
mod registrar;
pub(crate) mod registry;
mod rules;

pub use annotation::AnnotationRecord;
pub use bind::assemble;
pub use claim::Claim;
pub(crate) use claim::{Call, assign, granted};
#[cfg(feature = "linkme")]
pub use collect::RECORDS;
#[cfg(feature = "inventory")]
pub use collect::Submitted;
pub use collect::register;
pub use disabled_feature::DisabledFeatureRecord;
pub use fallback::{fallback, fallback_fallthrough};
pub use fuser::{Chain, Destination, Fuser, FuserRecord, Given, Pass, Step};
pub use handle::{Registration, Scoped, listen};
pub use listener::Change;
pub use record::Record;
pub use registrar::Registrar;
pub(crate) use registry::Registry;
