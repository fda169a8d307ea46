//! Registration: the records of all linked crates, the registry that they fill, and registering while the program runs.

mod annotation;
pub(crate) mod collect;
mod disabled_feature;
mod fuser;
mod handle;
mod listener;
mod registrar;
pub(crate) mod registry;

pub use annotation::RemarkRecord;
#[cfg(feature = "linkme")]
pub use collect::RECORDS;
#[cfg(feature = "inventory")]
pub use collect::Submitted;
pub use collect::register;
pub use disabled_feature::LeftOutRecord;
pub use fuser::{Chain, Destination, Fuser, FuserRecord, Given, Pass, Step};
pub use handle::{Registration, Scoped, listen};
pub use listener::Change;
pub use registrar::{Registrar, fallback, fallback_fallthrough};
pub(crate) use registry::Registry;
pub use registry::assemble;
