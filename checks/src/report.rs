//! The report of `opcheck`: the verdict of each check, and what to do about each failure.

use std::fmt;

use dispatch_runtime::ErrorKind;

use crate::check::Check;
use crate::compare::Difference;
use crate::error::{Error, Result};
use crate::verdict::{Failure, Verdict, is_wrong_gradient};

/// The verdicts of all checks of an operator. Its text has each failure, and what to do about it.
///
/// ```
/// use dispatch_checks::{Check, opcheck};
/// use dispatch_runtime::Tensor;
/// # use kernels_cpu as _;
///
/// let report = opcheck(aten::neg::operator(), &Tensor::from([1.0, -2.0]))?;
/// assert_eq!(report.failed().count(), 0);
/// assert!(report.passed_count(Check::InPlace) > 0 && report.passed_count(Check::Numeric) == 2);
/// # Ok::<(), dispatch_checks::Error>(())
/// ```
#[derive(Debug)]
pub struct Report {
    /// The operator's schema, or a description of the function.
    subject: String,
    verdicts: Vec<(Check, Verdict)>,
}

impl Report {
    pub(crate) const fn new(subject: String) -> Self {
        Self { subject, verdicts: Vec::new() }
    }

    pub(crate) fn add(&mut self, check: Check, verdicts: impl IntoIterator<Item = Verdict>) {
        self.verdicts.extend(verdicts.into_iter().map(|verdict| (check, verdict)));
    }

    /// Returns the report, or an error if a check failed.
    pub(crate) fn into_result(self) -> Result<Self> {
        if self.failed().next().is_some() { Err(Error::Failed(Box::new(self))) } else { Ok(self) }
    }

    /// Returns the number of verdicts of this check that passed.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # let report = dispatch_checks::opcheck(aten::neg::operator(), &dispatch_runtime::Tensor::from([1.0]))?;
    /// assert!(report.passed_count(dispatch_checks::Check::Trace) > 0);
    /// # Ok::<(), dispatch_checks::Error>(())
    /// ```
    #[must_use]
    pub fn passed_count(&self, check: Check) -> usize {
        self.verdicts.iter().filter(|(of, verdict)| *of == check && matches!(verdict, Verdict::Passed)).count()
    }

    /// Returns the failures, each with its check.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # let report = dispatch_checks::opcheck(aten::neg::operator(), &dispatch_runtime::Tensor::from([1.0]))?;
    /// assert!(report.failed().next().is_none());
    /// # Ok::<(), dispatch_checks::Error>(())
    /// ```
    pub fn failed(&self) -> impl Iterator<Item = (Check, &Failure)> {
        self.verdicts.iter().filter_map(|(check, verdict)| match verdict {
            Verdict::Failed(failure) => Some((*check, failure)),
            _ => None,
        })
    }

    /// Returns the report, or an error if one of these checks did not pass because it was not made. [`unchecked`](Self::unchecked) has the
    /// reasons.
    ///
    /// ```
    /// # use dispatch_checks::{Check, Error, opcheck};
    /// # use dispatch_runtime::Tensor;
    /// # use kernels_cpu as _;
    /// let x = Tensor::from([1.0, -2.0]);
    /// opcheck(aten::neg::operator(), &x)?.require([Check::Meta, Check::Numeric])?;
    /// let error = opcheck(aten::neg::operator(), &Tensor::from([1, -2]))?.require([Check::Numeric]);
    /// assert!(matches!(error, Err(Error::NotChecked { .. })));
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotChecked`] with the checks that were not made.
    pub fn require(self, checks: impl IntoIterator<Item = Check>) -> Result<Self> {
        let reasons = |required: Check| {
            self.unchecked().filter(|(check, _)| *check == required).map(|(_, reason)| reason.to_owned()).collect()
        };
        let missing = checks.into_iter().filter(|check| self.passed_count(*check) == 0);
        let missing: Vec<(Check, Vec<String>)> = missing.map(|check| (check, reasons(check))).collect();
        if missing.is_empty() {
            return Ok(self);
        }
        Err(Error::NotChecked { operator: self.subject, checks: missing })
    }

    /// Returns the checks that were not made, each with its reason: they do not apply, or a kernel or a derivative is missing. A reason is
    /// one line, and equal entries are returned once.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # let report = dispatch_checks::opcheck(aten::neg::operator(), &dispatch_runtime::Tensor::from([1.0]))?;
    /// for (check, reason) in report.unchecked() {
    ///     println!("{check}: {reason}");
    /// }
    /// # Ok::<(), dispatch_checks::Error>(())
    /// ```
    pub fn unchecked(&self) -> impl Iterator<Item = (Check, &str)> {
        let mut unchecked: Vec<(Check, &str)> = Vec::new();
        for (check, verdict) in &self.verdicts {
            let reason = match verdict {
                Verdict::NotApplicable(reason) => reason,
                // The lines after the first explain the keys of the call.
                Verdict::NotImplemented(reason) => reason.lines().next().unwrap_or_default(),
                _ => continue,
            };
            if !unchecked.contains(&(*check, reason)) {
                unchecked.push((*check, reason));
            }
        }
        unchecked.into_iter()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, verdicts } = self;
        let made = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Passed | Verdict::Failed(_)));
        write!(f, "{subject}: {} of {} checks failed", self.failed().count(), made.count())?;
        for (check, failure) in self.failed() {
            write!(f, "\n\n{check}: {failure}\n  to do: {}", advice(check, failure))?;
        }
        let unchecked: Vec<(Check, &str)> = self.unchecked().collect();
        if !unchecked.is_empty() {
            f.write_str("\n\nnot checked:")?;
        }
        unchecked.iter().try_for_each(|(check, reason)| write!(f, "\n  {check}: {reason}"))
    }
}

/// Returns what the operator's author can do about a failure.
fn advice(check: Check, failure: &Failure) -> &'static str {
    match failure {
        Failure::InDerivedCall { failure, .. }
            if check == Check::Values
                && matches!(**failure, Failure::WrongResult { .. } | Failure::WrongArgumentAfterCall { .. }) =>
        {
            "write every element of the result, and compute it from the arguments alone; other checks need results that do not change"
        }
        Failure::InDerivedCall { failure, .. } => advice(check, failure),
        Failure::NotCheckable(_) => "give inputs on a device whose memory can be read",
        Failure::Panicked { .. } => {
            "return an error in place of the panic: check dtypes and sizes before the kernel indexes or unwraps"
        }
        Failure::WrongResultCount { .. } => "return one value for each return of the schema",
        Failure::InvalidIndices { .. } => "return each index once, and only indices in range",
        Failure::UnexpectedWrite { .. } => "declare the write in the schema, `Tensor(a!)`, or write a copy",
        Failure::MissingSharing { .. } => {
            "return a view of the argument, or the written argument itself, as the schema says; or remove the alias from the schema"
        }
        Failure::UnexpectedSharing { .. } => {
            "return a copy, or declare the view in the schema: `Tensor(a) self` and `-> Tensor(a)`"
        }
        Failure::WrongGradient { .. } | Failure::WrongDirectionalDerivative { .. } => {
            "correct the derivative (`#[op_grad]`), or the kernel; for the second order, use only differentiable operators in the derivative, and no `detach`"
        }
        Failure::NotRefused { .. } => {
            "refuse such a call in the operator's plan (`shape = ..`, `check = ..`, `#[op_plan]`)"
        }
        Failure::ErrorWithoutName { .. } => "return a `BadArgument`, which names the argument",
        Failure::DifferentError { .. } => "return the same error for the same arguments",
        Failure::RefusedOnMeta(_) => "let the plan, or the kernel for Meta, accept what the kernel accepts",
        Failure::Refused(error) if is_wrong_gradient(error) => {
            "correct the derivative (`#[op_grad]`): the gradient of an argument has the sizes of the argument, or of the result if the argument is broadcast"
        }
        Failure::Refused(error) if matches!(error.kind(), ErrorKind::DuplicateKernel { .. }) => {
            "keep one of the kernels, or write `override` on one, or give all but one a condition, `when(..)`"
        }
        Failure::Refused(_) => advice_for_refusal(check),
        Failure::WrongResult { difference: Difference::Strides { .. }, .. } => {
            "give the result the strides of the plan: a kernel whose first parameter is `plan` gets such a result to write to; without a plan, an elementwise result has the strides of its input"
        }
        Failure::WrongResult { .. } | Failure::WrongArgumentAfterCall { .. } => advice_for_difference(check),
    }
}

const fn advice_for_refusal(check: Check) -> &'static str {
    match check {
        Check::Values => "give inputs that the operator accepts, or correct the kernel",
        Check::Layouts => "accept every memory layout: read elements by the strides, or make a contiguous copy first",
        Check::InPlace => {
            "accept the arguments that the functional form accepts, or drop the option `in_place` of the kernel"
        }
        Check::Out => {
            "accept the arguments that the functional form accepts: a kernel with the option `converts` writes any dtype (`cpu::map_into` does), and one with `strided` any strides; or drop the option"
        }
        Check::Vmap => "correct the batch rule (`#[op_vmap]`)",
        Check::Meta => "correct the plan, or the kernel for Meta",
        _ => "accept this call, as the kernel accepts the call from which it is derived",
    }
}

const fn advice_for_difference(check: Check) -> &'static str {
    match check {
        Check::Values => "correct the kernel, or the expected result",
        Check::Meta => "let the plan, or the kernel for Meta, compute the dtype and sizes that the kernel returns",
        Check::InPlace => {
            "write the result of the functional form to the first argument, or drop the option `in_place` of the kernel"
        }
        Check::Out => {
            "write the result of the functional form to `out`, at its strides and in its dtype, or drop the option `strided`, `in_place` or `converts` of the kernel"
        }
        Check::Layouts => "read arguments by their strides and offsets, not in the order of their memory",
        Check::Vmap => {
            "correct the batch rule (`#[op_vmap]`): each slice of the result belongs to the same slice of the inputs"
        }
        Check::Trace => {
            "compute results from the arguments alone, with operators: state outside of the arguments is not recorded"
        }
        Check::Changes => "correct the kernel for this dtype, or the plan, so that both return the same",
        _ => "correct the kernel",
    }
}
