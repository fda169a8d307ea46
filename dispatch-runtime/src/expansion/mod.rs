//! Items that only generated code uses. Not public API.

mod argument_conversion;
mod dtype_switch;
mod generated_names;
mod return_conversion;

pub use argument_conversion::{KernelParameter, OptionalArgument};
pub use dtype_switch::{HasDType, unsupported_dtype_error};
pub use generated_names::{
    NotBuiltIn, NotBuiltInName, OperatorFunction, OperatorFunctions, check_not_built_in, crate_name,
    operator_function_pointer,
};
pub use return_conversion::{
    KernelError, Returns, check_or_body_error, error_in_operator, into_caller_error, into_form_error,
};
