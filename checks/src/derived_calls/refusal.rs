//! Checks that calls are refused with an error that names the operator and the argument.

use dispatch_runtime::{BadArgument, Error, ErrorKind, Operator, Value};

use crate::verdict::{CallError, Failure, Verdict, call_catching_panics};

/// Checks that a wrong call is refused, by an error that names the operator and one of the `arguments_to_name`.
pub(crate) fn check_call_is_refused(
    operator: &Operator,
    values: Vec<Value>,
    mistake: &str,
    arguments_to_name: &[&str],
) -> Verdict {
    let error = match call_catching_panics(operator, values) {
        Ok(_) => return Verdict::Failed(Failure::NotRefused { mistake: mistake.to_owned() }),
        Err(CallError::Failed(Failure::Refused(error))) => error,
        Err(error) => return Verdict::from(error).with_context(mistake),
    };
    let own = operator.name();
    let composed = error.callers().contains(&own);
    let missing_name = if error.kind().operator() != Some(own) && !composed {
        "operator"
    } else if !argument_named_by(&error).is_some_and(|argument| composed || arguments_to_name.contains(&argument)) {
        "argument"
    } else {
        return Verdict::Passed;
    };
    Verdict::Failed(Failure::ErrorWithoutName { mistake: mistake.to_owned(), missing_name, message: error.to_string() })
}

/// Returns the argument that an error names in its fields (the message alone does not count).
pub(super) fn argument_named_by(error: &Error) -> Option<&str> {
    match error.kind() {
        ErrorKind::Kernel { source, .. } => source.downcast_ref::<BadArgument>().map(|bad| &*bad.argument),
        ErrorKind::UnsupportedDType { argument, .. } => Some(argument),
        ErrorKind::WrongArgument { argument, .. } => Some(argument),
        _ => None,
    }
}
