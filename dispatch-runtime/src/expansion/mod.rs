//! Items that only generated code uses. Not public API.

mod arguments;
mod dtype_switch;
mod generated_names;
mod returns;

pub use arguments::{KernelParameter, OptionalArgument};
pub use dtype_switch::{HasDType, unsupported_dtype};
pub use generated_names::{
    NotBuiltIn, NotBuiltInName, OperatorFunction, OperatorFunctions, check_not_built_in, crate_name, operator_code,
};
pub use returns::{KernelError, Returns, composite_error, error_in_operator, into_caller_error, into_form_error};
