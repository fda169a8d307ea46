//! Checks of operators without a recording, by comparison with recorded operators.
//!
//! A backward operator must return the recorded gradient, and an overload the result of its sibling. The results of a random operator must
//! have the right distribution.

pub(crate) mod random_operators;
mod siblings;

use dispatch_checks::Verdict;
use dispatch_checks::plumbing::{Array, ComparedProperties, Datum, ReferenceCall, arguments_by_name};
use dispatch_runtime::schema::Schema;
use dispatch_runtime::{Device, Operator, Value};

use crate::error::Result;
use crate::recorded_case::decode_case;
use crate::recording::Call;

/// A call of an operator without a recording: its named arguments, and the expected results.
pub(super) struct DerivedCall {
    given: Vec<(&'static str, Datum)>,
    expected: ExpectedOutcome,
}

enum ExpectedOutcome {
    /// The given results. More may follow.
    Results(Vec<Datum>),
    /// The results of the sibling for these arguments.
    Sibling(Vec<Datum>),
    /// A result with this dtype, these sizes and strides, and any elements.
    TensorOutline(Array),
}

/// A recorded call of the operator with which the unrecorded one is compared.
pub(super) struct RecordedSibling<'a> {
    schema: &'a Schema,
    arguments: Vec<Datum>,
    results: Vec<Datum>,
    gradients: Vec<Option<Vec<f64>>>,
}

impl RecordedSibling<'_> {
    fn from_case(case: &ReferenceCall, call: &Call) -> Self {
        Self {
            schema: case.operator.schema(),
            arguments: case.arguments.clone(),
            results: case.expected.clone(),
            gradients: call.gradients.clone(),
        }
    }

    fn argument(&self, name: &str) -> Option<Datum> {
        self.schema.argument(name).map(|(i, _)| self.arguments[i].clone())
    }

    fn array_argument(&self, name: &str) -> Option<Array> {
        self.argument(name)?.as_array().cloned()
    }

    /// Returns the arguments with the named one replaced.
    fn arguments_with(&self, name: &str, datum: Datum) -> Option<Vec<Datum>> {
        let mut arguments = self.arguments.clone();
        arguments[self.schema.argument(name)?.0] = datum;
        Some(arguments)
    }
}

/// Returns the operators that are checked although the list of PyTorch's core operators may lack them.
pub(crate) fn operators_outside_core_set() -> impl Iterator<Item = &'static str> {
    random_operators::RANDOM_OPERATORS.into_iter().chain(siblings::NON_CORE_OPERATORS)
}

/// Checks an operator without a recording. Returns no verdicts if the suite knows no sibling of it.
pub(crate) fn check(
    operator: &'static Operator,
    calls: &[Call],
    device: Device,
    covers: &dyn Fn(&ReferenceCall) -> bool,
) -> Vec<Verdict> {
    let name = operator.name().to_string();
    if let Some(verdict) = random_operators::check(operator, device) {
        return vec![verdict];
    }
    let Some(sibling_name) = siblings::sibling_name(&name) else { return Vec::new() };
    let Ok(sibling) = Operator::find(sibling_name) else {
        return vec![Verdict::NotApplicable("its sibling is not implemented")];
    };
    let mut verdicts = Vec::new();
    for call in calls.iter().filter(|call| call.operator == sibling_name) {
        match decode_case(sibling, call, device) {
            Ok(case) if covers(&case) => {
                if let Some(derived) = siblings::derive_call(&name, &RecordedSibling::from_case(&case, call)) {
                    let verdict = check_derived_call(operator, &case, derived).unwrap_or_else(Verdict::from);
                    verdicts.push(verdict.with_context(format!("by {sibling_name}, call {}", call.number)));
                }
            }
            Ok(_) => {}
            Err(error) => verdicts.push(error.into()),
        }
    }
    verdicts
}

fn check_derived_call(operator: &'static Operator, sibling: &ReferenceCall, derived: DerivedCall) -> Result<Verdict> {
    let given = |name: &str| derived.given.iter().find(|(given, _)| *given == name).map(|(_, datum)| datum.clone());
    let arguments = arguments_by_name(operator, given)?;
    let (expected, properties) = match derived.expected {
        ExpectedOutcome::Results(results) => (results, ComparedProperties::AllButStrides),
        ExpectedOutcome::TensorOutline(array) => (vec![Datum::Array(array)], ComparedProperties::AllButElements),
        ExpectedOutcome::Sibling(arguments) => {
            let Ok(outcome) = sibling.call(&arguments) else { return Ok(Verdict::NotApplicable("its sibling fails")) };
            (
                outcome.results.iter().map(Datum::from_value).collect::<dispatch_checks::Result<_>>()?,
                ComparedProperties::AllButStrides,
            )
        }
    };
    Ok(sibling.derived_call(operator, arguments, expected).check(properties))
}

/// Creates an argument from a value without tensors.
pub(super) fn non_tensor(value: impl Into<Value>) -> Datum {
    Datum::NonTensor(value.into())
}

#[cfg(test)]
#[allow(missing_docs, reason = "only these tests use the operators")]
mod tests {
    use super::*;
    use dispatch_checks::Failure;
    use dispatch_runtime::Result;
    use dispatch_runtime::prelude::*;

    #[op_def("suite::copied(Tensor self) -> Tensor")]
    pub fn copied(this: &Tensor) -> Result<Tensor>;

    #[op_def("suite::numel(Tensor self) -> int")]
    pub fn numel(this: &Tensor) -> Result<i64> {
        Ok(this.geometry().count())
    }

    #[op_def("suite::wrong_numel(Tensor self) -> int")]
    pub fn wrong_numel(this: &Tensor) -> Result<i64> {
        Ok(this.geometry().count() + 1)
    }

    #[op_def("suite::im2col(Tensor self, int[2] kernel_size) -> Tensor")]
    pub fn im2col(this: &Tensor, kernel_size: &[i64]) -> Result<Tensor>;

    #[op_def("suite::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size) -> Tensor")]
    pub fn col2im(this: &Tensor, output_size: &[i64], kernel_size: &[i64]) -> Result<Tensor> {
        // With a window of one element, `im2col` only reshapes.
        assert_eq!(kernel_size, [1, 1]);
        let elements: Vec<f64> = this.read::<f64>()?.to_vec();
        let sizes: Vec<i64> = [1].iter().chain(output_size).copied().collect();
        Ok(Tensor::from_slice(&elements).restride(dispatch_runtime::Geometry::contiguous(&sizes))?)
    }

    fn recorded_case(line: &str) -> (ReferenceCall, Call) {
        let call = Call::parse(line).unwrap();
        let operator = Operator::find(&call.operator).unwrap();
        (decode_case(operator, &call, Device::CPU).unwrap(), call)
    }

    fn derive_from_sibling(case: &ReferenceCall, call: &Call, name: &str) -> Option<DerivedCall> {
        siblings::derive_call(name, &RecordedSibling::from_case(case, call))
    }

    const MATRIX_JSON: &str =
        r#"{"tensor": {"dtype": "f32", "shape": [1, 1, 2], "strides": [2, 2, 1], "data": [1.0, 2.0]}}"#;

    #[test]
    fn operators_that_return_a_geometry_are_checked() {
        let line =
            format!(r#"{{"op": "suite::copied", "args": [{MATRIX_JSON}], "kwargs": {{}}, "out": {MATRIX_JSON}}}"#);
        let (case, call) = recorded_case(&line);
        let derived = || derive_from_sibling(&case, &call, "aten::sym_numel").unwrap();
        assert!(matches!(check_derived_call(numel::operator(), &case, derived()), Ok(Verdict::Passed)));
        assert!(matches!(
            check_derived_call(wrong_numel::operator(), &case, derived()),
            Ok(Verdict::Failed(Failure::WrongResult { .. }))
        ));
    }

    #[test]
    fn a_backward_operator_returns_the_recorded_gradient() {
        let gradient = |second: f64| {
            let numbers = [1.0_f64.cos(), second];
            let line = format!(
                r#"{{"op": "suite::im2col", "args": [{MATRIX_JSON}, {{"int": 1}}], "kwargs": {{}}, "out": {MATRIX_JSON}, "grad_f64": [{numbers:?}]}}"#
            );
            let (case, call) = recorded_case(&line);
            check_derived_call(col2im::operator(), &case, derive_from_sibling(&case, &call, "aten::col2im").unwrap())
                .unwrap()
        };
        assert!(matches!(gradient(2.0_f64.cos()), Verdict::Passed));
        assert!(matches!(gradient(0.5), Verdict::Failed(Failure::WrongResult { .. })));
    }
}
