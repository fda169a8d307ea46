//! Accounts for people: why a call goes where it goes, what a table holds, what is wrong with the registrations.

pub(crate) mod explain;
mod span;
mod table_cells;
mod verify;

pub use explain::{Explanation, Site};
pub use span::{OnSpan, on_span, span};
pub use table_cells::{RegisteredKernel, TableCell, dump_name, registrations_for};
pub use verify::{Finding, verify};
