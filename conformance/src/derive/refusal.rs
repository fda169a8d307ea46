//! Calls that must be refused, with an error that says where the mistake is.

use dispatch_runtime::{Operator, Value};

use crate::verdict::{Failure, Stop, Verdict, invoke};

/// Makes a call that is a mistake, which one of the `culprits` is to blame for.
pub(crate) fn refused(operator: &Operator, values: Vec<Value>, mistake: &str, culprits: &[&str]) -> Verdict {
    let error = match invoke(operator, values) {
        Ok(_) => return Verdict::Failed(Failure::NotRefused { mistake: mistake.to_owned() }),
        Err(Stop::Failed(Failure::Refused(error))) => error,
        Err(stop) => return Verdict::from(stop).of(mistake),
    };
    let message = error.to_string();
    let words: Vec<&str> = message.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let lacks = if !words.contains(&operator.name().base) {
        "operator"
    } else if !culprits.iter().any(|culprit| words.contains(culprit)) {
        "argument"
    } else {
        return Verdict::Passed;
    };
    Verdict::Failed(Failure::Unnamed { mistake: mistake.to_owned(), lacks, message })
}
