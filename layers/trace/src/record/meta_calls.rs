//! Calls on Meta, which return the dtypes and sizes of results without computing elements.

use dispatch_runtime::guard;
use dispatch_runtime::{
    AccessError, BadArgument, Device, Error, ErrorKind, Geometry, Operator, Problem, Result, Spec, Tensor, Value, keys,
};

use super::returns_only_tensors;
use crate::error::TraceError;
use crate::print::TensorTypeText;

/// Calls an operator on Meta and returns its results. Returns `None` if only the real call can tell, and an empty list if there is nothing
/// to check: all tensors are on Meta or, if the results are tensors, all are numbers.
///
/// # Errors
///
/// Returns the operator's error if it refuses the arguments, and [`TraceError::DataDependent`] if its results depend on elements.
pub(super) fn call_on_meta(operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let tensors = || arguments.iter().flat_map(Value::tensors);
    let on_devices = tensors().any(|tensor| tensor.device() != Device::META);
    let all_numbers = tensors().all(Tensor::is_number);
    if !on_devices || all_numbers && returns_only_tensors(operator) {
        return Ok(Some(Vec::new()));
    }
    // Number tensors follow their own promotion rules, so they stay number tensors. If all tensors are numbers, they become Meta tensors,
    // so that an operator that reads elements fails.
    let shape = |tensor: &Tensor| {
        if tensor.is_number() && !all_numbers {
            return Some(tensor.clone());
        }
        Spec { dtype: tensor.dtype(), geometry: geometry_without_offset(tensor) }.on(Device::META).ok()
    };
    let shapes = arguments.iter().map(|value| value_on_meta(value, &shape));
    let Some(shapes) = shapes.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let _untraced = guard::exclude(keys::Tracer.into());
    match operator.call(shapes) {
        Ok(results) => Ok(Some(results)),
        Err(error) if is_element_access_error(&error) => {
            Err(TraceError::DataDependent { operator: operator.name().to_string() }.into())
        }
        Err(error) if is_meta_unsupported_error(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns an error if the results differ in dtype or sizes from those on Meta.
pub(super) fn check_results_match_meta(
    operator: &Operator,
    planned: &[Value],
    results: &[Value],
) -> Result<(), TraceError> {
    for (at, (planned, result)) in planned.iter().zip(results).enumerate() {
        let differ = |(a, b): &(&Tensor, &Tensor)| a.dtype() != b.dtype() || a.sizes() != b.sizes();
        if let Some((expected, found)) = planned.tensors().zip(result.tensors()).find(differ) {
            return Err(TraceError::MetaMismatch {
                operator: operator.name().to_string(),
                result: at,
                planned: TensorTypeText::from_tensor(expected).to_string(),
                found: TensorTypeText::from_tensor(found).to_string(),
            });
        }
    }
    Ok(())
}

/// Returns whether an error says that an operator tried to read elements on Meta.
fn is_element_access_error(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let bad: Option<&BadArgument> = source.and_then(|source| source.downcast_ref());
    let access: Option<&AccessError> = source.and_then(|source| source.downcast_ref());
    let is_copy = error.kind().operator().is_some_and(|operator| operator.base == "copy_");
    matches!(error.kind(), ErrorKind::DataDependent { .. })
        || is_copy && bad.is_some_and(|bad| matches!(*bad.problem, Problem::Device { .. }))
        || bad.is_some_and(|bad| *bad.problem == Problem::NotOnHost { device: Device::META })
        || access.is_some_and(|access| *access == AccessError::NotOnHost { device: Device::META })
}

/// Returns whether an error only says that Meta cannot compute the results: the operator has no Meta kernel, or it uses tensors of another
/// device.
pub(crate) fn is_meta_unsupported_error(error: &Error) -> bool {
    let bad: Option<&BadArgument> = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    matches!(
        error.kind(),
        ErrorKind::NoKernel(_) | ErrorKind::NoConditionHolds { .. } | ErrorKind::NoShapeInference { .. }
    ) || bad.is_some_and(|bad| matches!(*bad.problem, Problem::Device { .. }))
}

fn value_on_meta(value: &Value, shape: &impl Fn(&Tensor) -> Option<Tensor>) -> Option<Value> {
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

pub(super) fn geometry_without_offset(tensor: &Tensor) -> Geometry {
    tensor.geometry().clone().with_offset(0)
}
