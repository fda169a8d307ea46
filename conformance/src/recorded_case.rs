//! Converts recorded calls to calls with an expected outcome, which the checks repeat.

use dispatch_checks::plumbing::{Datum, ReferenceCall};
use dispatch_runtime::schema::Schema;
use dispatch_runtime::{Device, Operator};

use crate::as_strided_offset;
use crate::decode;
use crate::error::Result;
use crate::recording::Call;

/// Decodes a recorded call with its outcome, for a device.
pub(crate) fn decode_case(operator: &'static Operator, call: &Call, device: Device) -> Result<ReferenceCall> {
    let schema = operator.schema();
    let (mut arguments, expected) = (decode::decode_arguments(call, schema)?, decode::decode_results(call, schema)?);
    if operator.name().base == "as_strided" {
        as_strided_offset::infer_as_strided_offset(&mut arguments, &expected);
    }
    let gradient_arguments = decode_gradient_arguments(call, schema, &arguments)?;
    let mut case = ReferenceCall::new(operator, device, arguments, expected);
    case.gradients = gradient_arguments.is_some().then(|| call.gradients.clone());
    case.gradient_arguments = gradient_arguments;
    case.scalar_arguments =
        (0..schema.arguments.len()).map(|i| decode::is_recorded_as_scalar(call, schema, i)).collect();
    case.after = decode::decode_arguments_after(call, schema)?;
    Ok(case)
}

/// Decodes a call without a recorded outcome.
pub(crate) fn decode_case_without_outcome(
    operator: &'static Operator,
    call: &Call,
    device: Device,
) -> Result<ReferenceCall> {
    Ok(ReferenceCall::new(operator, device, decode::decode_arguments(call, operator.schema())?, Vec::new()))
}

/// Decodes the arguments at which gradients were recorded, in double precision. Returns `None` if no gradients were recorded.
fn decode_gradient_arguments(call: &Call, schema: &Schema, arguments: &[Datum]) -> Result<Option<Vec<Datum>>> {
    if call.gradients.is_empty() {
        return Ok(None);
    }
    let mut widened = decode::decode_arguments(&call.with_f64_for_f32(), schema)?;
    for (widened, datum) in widened.iter_mut().zip(arguments) {
        *widened = widened.with_f64_for_f32();
        if let (Datum::Array(widened), Datum::Array(array)) = (widened, datum) {
            widened.offset = array.offset;
        }
    }
    Ok(Some(widened))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OperatorState, Report, Suite};
    use kernels_cpu as _;

    /// Runs the suite on a recorded call whose expected elements cannot be the result of a random draw.
    fn run_recorded_call(operator: &str, further: &str, result: &str) -> Report {
        let numbers = |dtype: &str, shape: &str, data: &str| {
            format!(r#"{{"tensor": {{"dtype": "{dtype}", "shape": {shape}, "strides": [1], "data": {data}}}}}"#)
        };
        let (this, out) = (numbers("f32", "[4]", "[0.5, 0.25, 0.5, 0.75]"), numbers(result, "[4]", "[41, 42, 43, 44]"));
        let line = format!(r#"{{"op": "{operator}", "args": [{this}{further}], "kwargs": {{}}, "out": {out}}}"#);
        Suite::new(Device::CPU).run_calls(&[Call::parse(&line).unwrap()])
    }

    #[test]
    fn only_the_geometry_of_random_results_is_compared() {
        let calls = [
            ("aten::rand_like", ""),
            ("aten::randint_like", r#", {"int": 100}"#),
            ("aten::bernoulli_.float", r#", {"float": 0.5}"#),
            ("aten::exponential_", ""),
            ("aten::geometric_", r#", {"float": 0.1}"#),
            ("aten::poisson", ""),
            ("aten::rrelu", r#", {"float": -2.0}, {"float": -1.0}, {"bool": true}"#),
            ("aten::empty_like", ""),
            ("aten::new_empty", r#", {"list": [{"int": 4}]}"#),
        ];
        for (operator, further) in calls {
            let report = run_recorded_call(operator, further, "f32");
            assert_eq!(report.operator_count(OperatorState::Passed), 1, "{operator}: {:?}", report.failed_checks());
            assert_eq!(
                run_recorded_call(operator, further, "f64").operator_count(OperatorState::Failed),
                1,
                "{operator}"
            );
        }
    }

    #[test]
    fn elements_are_compared_if_a_random_operator_draws_nothing() {
        let report = run_recorded_call("aten::rrelu", r#", {"float": 0.25}, {"float": 0.5}, {"bool": false}"#, "f32");
        assert_eq!(report.operator_count(OperatorState::Failed), 1);
    }
}
