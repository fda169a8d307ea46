//! What a call gives as far as shapes say: the call on Meta, which has no elements.

use dispatch_runtime::guard;
use dispatch_runtime::{
    AccessError, BadArgument, Device, Error, ErrorKind, Geometry, Operator, Problem, Result, Spec, Tensor, Value, keys,
};

use super::gives_tensors;
use crate::error::TraceError;
use crate::print::Kind;

/// What the results look like; none where nobody knows without making the call. Of a call without elements, this is nothing.
///
/// # Errors
///
/// Where the arguments do not go together, and where what comes out depends on elements.
pub(super) fn planned(operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let tensors = || arguments.iter().flat_map(Value::tensors);
    let on_devices = tensors().any(|tensor| tensor.device() != Device::META);
    let all_numbers = tensors().all(Tensor::is_number);
    if !on_devices || all_numbers && gives_tensors(operator) {
        return Ok(Some(Vec::new()));
    }
    // A number promotes as no tensor does, so it stays one; but not where it is all that there could be to ask for elements.
    let shape = |tensor: &Tensor| {
        if tensor.is_number() && !all_numbers {
            return Some(tensor.clone());
        }
        Spec { dtype: tensor.dtype(), geometry: without_offset(tensor) }.on(Device::META).ok()
    };
    let shapes = arguments.iter().map(|value| as_shape(value, &shape));
    let Some(shapes) = shapes.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let _unheard = guard::exclude(keys::Tracer.into());
    match operator.call(shapes) {
        Ok(results) => Ok(Some(results)),
        Err(error) if asks_for_elements(&error) => {
            Err(TraceError::DataDependent { operator: operator.name().to_string() }.into())
        }
        Err(error) if is_ignorance(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the results look as planned.
pub(super) fn check(operator: &Operator, planned: &[Value], results: &[Value]) -> Result<(), TraceError> {
    for (at, (planned, result)) in planned.iter().zip(results).enumerate() {
        let differ = |(a, b): &(&Tensor, &Tensor)| a.dtype() != b.dtype() || a.sizes() != b.sizes();
        if let Some((expected, found)) = planned.tensors().zip(result.tensors()).find(differ) {
            return Err(TraceError::Unplanned {
                operator: operator.name().to_string(),
                result: at,
                planned: Kind::of_tensor(expected).to_string(),
                found: Kind::of_tensor(found).to_string(),
            });
        }
    }
    Ok(())
}

/// Whether an error says that elements were asked for where there are none.
fn asks_for_elements(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let bad: Option<&BadArgument> = source.and_then(|source| source.downcast_ref());
    let access: Option<&AccessError> = source.and_then(|source| source.downcast_ref());
    let is_copy = error.kind().operator().is_some_and(|operator| operator.base == "copy_");
    matches!(error.kind(), ErrorKind::DataDependent { .. })
        || is_copy && bad.is_some_and(|bad| matches!(*bad.problem, Problem::Device { .. }))
        || bad.is_some_and(|bad| *bad.problem == Problem::NotOnHost { device: Device::META })
        || access.is_some_and(|access| *access == AccessError::NotOnHost { device: Device::META })
}

/// Whether an error says no more than that Meta does not know: nobody said it, or an operator has tensors of its own.
pub(crate) fn is_ignorance(error: &Error) -> bool {
    let bad: Option<&BadArgument> = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    matches!(error.kind(), ErrorKind::NoKernel(_) | ErrorKind::NoneFits { .. } | ErrorKind::NoShape { .. })
        || bad.is_some_and(|bad| matches!(*bad.problem, Problem::Device { .. }))
}

fn as_shape(value: &Value, shape: &impl Fn(&Tensor) -> Option<Tensor>) -> Option<Value> {
    Some(match value {
        Value::Tensor(tensor) => shape(tensor)?.into(),
        Value::Tensors(tensors) => tensors.iter().map(shape).collect::<Option<Vec<_>>>()?.into(),
        Value::OptionalTensors(tensors) => {
            let shapes =
                tensors.iter().map(|tensor| tensor.as_ref().map_or(Some(None), |tensor| shape(tensor).map(Some)));
            shapes.collect::<Option<Vec<_>>>()?.into()
        }
        Value::Device(_) => Device::META.into(),
        other => other.clone(),
    })
}

pub(super) fn without_offset(tensor: &Tensor) -> Geometry {
    tensor.geometry().clone().at(0)
}
