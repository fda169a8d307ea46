//! Checks of derived calls: their outcome follows from that of the reference call.

mod changes;
mod forms;
mod in_place;
mod layouts;
mod mistakes;
mod out;
mod overlapping_arguments;
mod refusal;

pub(crate) use changes::check as changes;
pub use forms::OperatorForms;
pub(crate) use in_place::check as in_place;
pub(crate) use layouts::{LAYOUT_SENSITIVE_OPERATORS, check as layouts};
pub(crate) use mistakes::check as mistakes;
pub(crate) use out::{check as out, derive_out_call, out_of_another_dtype};
