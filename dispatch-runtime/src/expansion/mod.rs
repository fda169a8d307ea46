//! Items that only generated code uses. Not public API.

mod arguments;
mod dtype_switch;
mod named;
mod returns;

pub use arguments::{OptionalArgument, Takes};
pub use dtype_switch::{HasDType, unsupported_dtype};
pub use named::{
    NotBuiltIn, NotBuiltInName, OperatorFunction, OperatorFunctions, check_not_built_in, crate_of, operator_code,
};
pub use returns::{KernelError, Returns, composite_error, error_in_operator, in_call, in_form};
