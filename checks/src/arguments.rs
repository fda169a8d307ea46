//! All arguments of a call, in the schema's order, from those that the caller gives.

use dispatch_runtime::schema::Argument;
use dispatch_runtime::{Operator, Value};

use crate::datum::Datum;
use crate::error::{Error, Result};

/// Returns the value of an argument that the caller omits: its default, or `None` for an optional type.
pub fn omitted_argument(operator: &str, argument: &Argument) -> Result<Datum> {
    let value = match &argument.default {
        Some(_) => Value::default_of(argument),
        None => argument.ty.accepts_none().then_some(Value::None),
    };
    let missing = || Error::MissingArgument { operator: operator.to_owned(), argument: argument.name.clone() };
    value.map(Datum::NonTensor).ok_or_else(missing)
}

/// Collects all arguments in the schema's order: by name from `given`, or the default if `given` returns `None`.
pub fn arguments_by_name(operator: &Operator, given: impl Fn(&str) -> Option<Datum>) -> Result<Vec<Datum>> {
    let name = operator.name().to_string();
    let arguments = operator.schema().arguments.iter();
    arguments.map(|argument| given(&argument.name).map_or_else(|| omitted_argument(&name, argument), Ok)).collect()
}
