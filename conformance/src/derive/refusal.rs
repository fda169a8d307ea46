//! Calls that must be refused, with an error that says where the mistake is.

use dispatch_runtime::{BadArgument, Error, ErrorKind, Operator, Value};

use crate::verdict::{Failure, Stop, Verdict, invoke};

/// Makes a call that is a mistake, which one of the `culprits` is to blame for.
pub(crate) fn refused(operator: &Operator, values: Vec<Value>, mistake: &str, culprits: &[&str]) -> Verdict {
    let error = match invoke(operator, values) {
        Ok(_) => return Verdict::Failed(Failure::NotRefused { mistake: mistake.to_owned() }),
        Err(Stop::Failed(Failure::Refused(error))) => error,
        Err(stop) => return Verdict::from(stop).of(mistake),
    };
    let (named, blamed) = blame(&error);
    let lacks = if named != Some(operator.name().base) {
        "operator"
    } else if !blamed.is_some_and(|argument| culprits.contains(&argument)) {
        "argument"
    } else {
        return Verdict::Passed;
    };
    Verdict::Failed(Failure::Unnamed { mistake: mistake.to_owned(), lacks, message: error.to_string() })
}

/// The operator and the argument that an error names, in its fields and not only in its words.
fn blame(error: &Error) -> (Option<&str>, Option<&str>) {
    match error.kind() {
        ErrorKind::Kernel { operator, source } => {
            let blamed = source.downcast_ref::<BadArgument>().map(|bad| &*bad.argument);
            (operator.as_ref().map(|operator| operator.base), blamed)
        }
        ErrorKind::UnsupportedDType { operator, argument, .. } => (Some(operator.base), Some(argument)),
        ErrorKind::WrongArgument { operator, argument, .. } => (Some(operator.base), Some(argument)),
        _ => (None, None),
    }
}
