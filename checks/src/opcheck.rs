//! `opcheck`: all checks of an operator for one case.

use dispatch_runtime::Operator;
use dispatch_runtime::keys::{Autograd, CPU};
use dispatch_runtime::schema::SchemaKind;

use crate::case::Case;
use crate::check::{Check, run_check};
use crate::compare::{ComparedProperties, compare_results};
use crate::datum::Datum;
use crate::derived_calls::{OperatorForms, out_of_another_dtype};
use crate::error::{Error, Result};
use crate::gradients::DifferentiableCall;
use crate::reference_call::{ReferenceCall, copy_outcome_to_host};
use crate::report::Report;
use crate::verdict::{CallError, Failure, Verdict};

/// The checks of [`opcheck`], in the order of a report.
const CHECKS: [Check; 11] = [
    Check::Values,
    Check::Meta,
    Check::InPlace,
    Check::Out,
    Check::Layouts,
    Check::Mistakes,
    Check::Changes,
    Check::InPlaceGradients,
    Check::Numeric,
    Check::Vmap,
    Check::Trace,
];

/// The call number for [`run_check`]: it selects batches with one and with two levels.
const CALL_NUMBER: usize = 0;

/// Checks an operator at these inputs, and returns the verdict of each check.
///
/// The operator's own call is the reference. Every other form of this call must have the same outcome: another memory layout, the in-place
/// and `out=` forms, a batch within `vmap`, a recorded graph, and Meta. Results may share memory with arguments, and arguments may be
/// written, only as the schema says. Wrong calls must return an error, and no call may panic. The derivative is compared with finite
/// differences, in double precision.
///
/// ```
/// use dispatch_checks::{Check, opcheck};
/// use dispatch_runtime::Tensor;
/// # use kernels_cpu as _;
///
/// let x = Tensor::from([[0.5, -1.5, 2.0], [1.0, 0.25, -3.0]]);
/// let report = opcheck(aten::sigmoid::operator(), &x)?;
/// assert!(report.passed_count(Check::Layouts) > 0);
/// for (check, reason) in report.unchecked() {
///     println!("{check} was not checked: {reason}");
/// }
/// # Ok::<(), dispatch_checks::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`Error::Failed`] with the report if a check failed, [`Error::Missing`] if the operator has no kernel for these inputs, and another
/// [`Error`] if they do not fit the operator's schema.
pub fn opcheck(operator: &'static Operator, case: impl Into<Case>) -> Result<Report> {
    let case = case.into();
    let mut report = Report::new(operator.schema().to_string());
    let reference = ReferenceCall::new(operator, case.device(), case.arguments(operator)?, Vec::new());
    match with_own_outcome(reference) {
        Ok(reference) => {
            let compared = compare_with_expected(&reference.expected, &case.expected()?);
            report.add(Check::Values, compared.err().map(Verdict::Failed));
            let forms = OperatorForms::for_operator(operator);
            for check in CHECKS {
                let mut verdicts = run_check(check, &reference, CALL_NUMBER, forms);
                match check {
                    Check::Values => {
                        verdicts =
                            verdicts.into_iter().map(|verdict| verdict.with_context("a second, equal call")).collect();
                    }
                    Check::Out => verdicts.extend(forms.out.and_then(|form| out_of_another_dtype(&reference, form))),
                    Check::Numeric if verdicts.is_empty() => {
                        verdicts.extend(missing_gradient_reason(&reference).map(Verdict::NotApplicable));
                    }
                    _ => {}
                }
                let is_unstable = check == Check::Values && matches!(verdicts[..], [Verdict::Failed(_)]);
                report.add(check, verdicts.into_iter().map(|verdict| accept_single_precision(check, verdict)));
                // Other checks would compare with results that the next call does not repeat.
                if is_unstable {
                    break;
                }
            }
        }
        Err(CallError::NotImplemented(message)) => return Err(Error::Missing(message)),
        Err(CallError::Failed(failure)) => report.add(Check::Values, [Verdict::Failed(failure)]),
    }
    report.into_result()
}

/// Makes the call, and adds its outcome as the expected one.
fn with_own_outcome(mut reference: ReferenceCall) -> Result<ReferenceCall, CallError> {
    let outcome = reference.call(&reference.arguments)?;
    let read = copy_outcome_to_host(reference.operator, &outcome)?;
    let tensors = |datum: Datum| (!matches!(datum, Datum::NonTensor(_))).then_some(datum);
    reference.after = Some(read.after.into_iter().map(tensors).collect());
    reference.expected = read.results;
    reference.gradient_arguments = double_precision_arguments(&reference);
    Ok(reference)
}

/// Compares the results with those that the case expects, if it expects any.
fn compare_with_expected(results: &[Datum], expected: &[Datum]) -> Result<(), Failure> {
    if expected.is_empty() {
        return Ok(());
    }
    if results.len() != expected.len() {
        return Err(Failure::WrongResultCount { actual: results.len(), expected: expected.len() });
    }
    compare_results(ComparedProperties::AllButStrides, results, expected)
}

/// Returns the arguments in double precision, if the call has a gradient and accepts them.
fn double_precision_arguments(reference: &ReferenceCall) -> Option<Vec<Datum>> {
    let has_leaf = |(i, datum): (usize, &Datum)| {
        datum.arrays().iter().any(|array| reference.is_leaf(i, array.dtype) && !array.elements.is_empty())
    };
    let arguments: Vec<Datum> = reference.arguments.iter().map(Datum::with_f64_for_f32).collect();
    let is_differentiable = reference.arguments.iter().enumerate().any(has_leaf);
    (is_differentiable && reference.call(&arguments).is_ok()).then_some(arguments)
}

/// Returns the reason why the gradients of a call are not checked, if none of its floating-point results has one.
fn missing_gradient_reason(reference: &ReferenceCall) -> Option<&'static str> {
    let is_floating = |datum: &Datum| datum.arrays().iter().any(|array| array.dtype.is_floating());
    let has_floats = reference.arguments.iter().any(is_floating) && reference.expected.iter().any(is_floating);
    if !has_floats || reference.operator.schema().kind() == SchemaKind::Out {
        return None;
    }
    // Autograd's kernels are the same for every backend. `not_differentiable!` registers a kernel with this name.
    let autograd = reference.operator.table().into_iter().find(|cell| cell.key == Autograd.on(CPU));
    let is_declared = autograd.is_some_and(|cell| {
        !cell.kernels.is_empty() && cell.kernels.iter().all(|kernel| kernel.starts_with("`not_differentiable`"))
    });
    Some(if is_declared { "declared not differentiable" } else { "no result has a gradient" })
}

/// Accepts that an operator has no kernel for double precision, in which gradients are checked. The report names the missing kernel.
fn accept_single_precision(check: Check, verdict: Verdict) -> Verdict {
    let has_gradients = matches!(check, Check::Numeric | Check::InPlaceGradients);
    match verdict {
        Verdict::Failed(failure) if has_gradients && failure.refuses_double_precision() => {
            Verdict::NotImplemented(failure.missing_double_precision())
        }
        other => other,
    }
}
