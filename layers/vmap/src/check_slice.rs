//! What one slice alone could not be called with, and a batch of slices could: a rule would not notice.

use dispatch_runtime::{BadArgument, Error, Operator, Problem, Result, Value};

/// Makes the plan of the call of one slice, and passes on its refusal of shapes and dtypes. What has no plan, and no kernel for Meta, is
/// not forbidden.
///
/// # Errors
///
/// Those of the call of a slice.
pub(crate) fn check(operator: &Operator, arguments: &[Value]) -> Result<()> {
    match operator.plan(&arguments.iter().cloned().collect()) {
        Err(error) if is_about_shapes(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_about_shapes(error: &Error) -> bool {
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
                | Problem::Word { .. }
                | Problem::Value { .. }
        )
    })
}
