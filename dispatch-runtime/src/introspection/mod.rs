//! Introspection: explanations of calls, dumps of tables, and checks of the registrations.

mod dump;
pub(crate) mod explain;
mod finding;
mod span;
mod table_cells;
mod verify;

pub use dump::{dump_by_name, operator_names_with_kernel_for};
pub use finding::Finding;
pub use span::{SpanListener, on_span, span};
pub use table_cells::{RegisteredKernel, TableCell};
pub use verify::verify;
