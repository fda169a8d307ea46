//! The check that a call is valid for one slice. A batch rule would not notice an invalid slice.

use dispatch_runtime::{BadArgument, Error, Operator, Problem, Result, Value};

/// Makes the plan of a call with one slice, and returns its errors of shapes and dtypes. An operator without a plan and without a Meta
/// kernel passes the check.
///
/// # Errors
///
/// Returns the error of the plan if it concerns shapes, dtypes or argument values.
pub(crate) fn check_slice(operator: &Operator, arguments: &[Value]) -> Result<()> {
    match operator.infer_results(&arguments.iter().cloned().collect()) {
        Err(error) if is_shape_or_dtype_error(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_shape_or_dtype_error(error: &Error) -> bool {
    let bad: Option<&BadArgument> = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    bad.is_some_and(|bad| {
        matches!(
            *bad.problem,
            Problem::Dim { .. }
                | Problem::RepeatedDim { .. }
                | Problem::Broadcast { .. }
                | Problem::Sizes { .. }
                | Problem::Rank { .. }
                | Problem::DType { .. }
                | Problem::Number { .. }
                | Problem::Length { .. }
                | Problem::Keyword { .. }
                | Problem::Value { .. }
        )
    })
}
