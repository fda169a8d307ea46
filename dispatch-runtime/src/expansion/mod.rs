//! Items that only generated code uses. Not public API.

mod arguments;
mod dtype_switch;
mod named;
mod returns;

pub use arguments::{Given, Takes};
pub use dtype_switch::{HasDType, unsupported_dtype};
pub use named::{Anchor, Fresh, FreshName, Named, crate_of, fresh_name, function};
pub use returns::{KernelError, Returns, explained, failed, in_call, in_form};
