//! Checks that calls are refused with an error that names the operator and the argument.

use dispatch_runtime::{BadArgument, Error, ErrorKind, Operator, Value};

use crate::verdict::{Failure, Stop, Verdict, invoke};

/// Checks that a wrong call is refused, by an error that names the operator and one of the `culprits`.
pub(crate) fn refused(operator: &Operator, values: Vec<Value>, mistake: &str, culprits: &[&str]) -> Verdict {
    let error = match invoke(operator, values) {
        Ok(_) => return Verdict::Failed(Failure::NotRefused { mistake: mistake.to_owned() }),
        Err(Stop::Failed(Failure::Refused(error))) => error,
        Err(stop) => return Verdict::from(stop).of(mistake),
    };
    let own = operator.name();
    let composed = error.callers().contains(&own);
    let lacks = if error.kind().operator() != Some(own) && !composed {
        "operator"
    } else if !blamed(&error).is_some_and(|argument| composed || culprits.contains(&argument)) {
        "argument"
    } else {
        return Verdict::Passed;
    };
    Verdict::Failed(Failure::Unnamed { mistake: mistake.to_owned(), lacks, message: error.to_string() })
}

/// Returns the argument that an error names in its fields (the message alone does not count).
fn blamed(error: &Error) -> Option<&str> {
    match error.kind() {
        ErrorKind::Kernel { source, .. } => source.downcast_ref::<BadArgument>().map(|bad| &*bad.argument),
        ErrorKind::UnsupportedDType { argument, .. } => Some(argument),
        ErrorKind::WrongArgument { argument, .. } => Some(argument),
        _ => None,
    }
}
