//! What one slice alone could not be called with, and a batch of slices could: a rule would not notice.

use dispatch_runtime::{
    BadArgument, Device, Error, KeySet, Operator, Problem, Result, Spec, Stack, Tensor, Value, guard, keys,
};

/// Asks Meta for the call of one slice, and passes on what that says about shapes and dtypes. What Meta does not know, it does not forbid.
///
/// # Errors
///
/// Those of the call of a slice.
pub(crate) fn check(operator: &Operator, arguments: &[Value]) -> Result<()> {
    let Some(shapes) = arguments.iter().map(shape_of).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let mut stack = Stack::new();
    for shape in shapes {
        stack.push(shape);
    }
    // Shapes are no business of levels and layers.
    let layers = [keys::Autograd, keys::ADInplaceOrView, keys::Autocast];
    let layers = layers.into_iter().fold(KeySet::EMPTY, |all, key| all | KeySet::layers_of(key));
    let _alone = guard::force(KeySet::EMPTY, layers);
    match operator.redispatch_boxed(KeySet::from(keys::Meta), &mut stack) {
        Err(error) if is_about_shapes(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_about_shapes(error: &Error) -> bool {
    let bad: Option<&BadArgument> = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    bad.is_some_and(|bad| {
        matches!(
            bad.problem,
            Problem::Dim { .. }
                | Problem::RepeatedDim { .. }
                | Problem::Broadcast { .. }
                | Problem::Sizes { .. }
                | Problem::Rank { .. }
                | Problem::DType { .. }
                | Problem::Value { .. }
        )
    })
}

fn shape_of(value: &Value) -> Option<Value> {
    let shape = |tensor: &Tensor| {
        // A number stays one, as it decides less about dtypes.
        if tensor.is_number() {
            return Some(tensor.clone());
        }
        Spec { dtype: tensor.dtype(), geometry: tensor.geometry().clone().at(0) }.on(Device::META).ok()
    };
    Some(match value {
        Value::Tensor(tensor) => shape(tensor)?.into(),
        Value::Tensors(tensors) => tensors.iter().map(shape).collect::<Option<Vec<_>>>()?.into(),
        Value::OptionalTensors(tensors) => {
            let shapes = tensors.iter().map(|tensor| match tensor {
                Some(tensor) => shape(tensor).map(Some),
                None => Some(None),
            });
            shapes.collect::<Option<Vec<_>>>()?.into()
        }
        Value::Device(_) => Device::META.into(),
        other => other.clone(),
    })
}
