//! From registrations to dispatch tables: which kernel fills which cell of an operator.

pub(crate) mod layout;
mod resolve;
pub(crate) mod row;

pub(crate) use layout::TableLayout;
pub use resolve::Provenance;
pub(crate) use resolve::{Direct, resolve};
pub(crate) use row::{Active, Cell, Kernel, Registered, Row, Source};
