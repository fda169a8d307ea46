//! A run over recorded calls.

use dispatch_runtime::{Device, Operator};

use crate::case::Case;
use crate::error::Result;
use crate::recording::{Call, recorded_calls};
use crate::report::{Check, Report};
use crate::verdict::{Failure, Verdict};

/// What to run, and where.
///
/// ```
/// use conformance::{Check, Suite};
/// use dispatch_runtime::Device;
///
/// let report = Suite::new(Device::CPU).only("aten::relu").check(Check::Values).run()?;
/// assert!(report.rows().len() <= 1);
/// # Ok::<(), conformance::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Suite {
    device: Device,
    only: Vec<String>,
    call: Option<usize>,
    checks: Vec<Check>,
}

impl Suite {
    /// Everything, on this device.
    #[must_use]
    pub const fn new(device: Device) -> Self {
        Self { device, only: Vec::new(), call: None, checks: Vec::new() }
    }

    /// Only this operator, and others that are named the same way.
    #[must_use]
    pub fn only(mut self, operator: impl Into<String>) -> Self {
        self.only.push(operator.into());
        self
    }

    /// Only the recorded call of this number of each operator.
    #[must_use]
    pub const fn call(mut self, number: usize) -> Self {
        self.call = Some(number);
        self
    }

    /// Only this check, and others that are named the same way.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// Runs over the recordings.
    ///
    /// # Errors
    ///
    /// Where the recordings cannot be read. Where there are none, the report is empty.
    pub fn run(&self) -> Result<Report> {
        Ok(self.run_calls(&recorded_calls()?.unwrap_or_default()))
    }

    /// Runs over these calls.
    ///
    /// ```
    /// # use conformance::{Call, Suite};
    /// let call = Call::parse(r#"{"op": "nowhere::f", "args": [], "kwargs": {}, "out": {"none": true}}"#)?;
    /// let report = Suite::new(dispatch_runtime::Device::CPU).run_calls(&[call]);
    /// assert_eq!(report.count(conformance::State::NotImplemented), 1);
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn run_calls(&self, calls: &[Call]) -> Report {
        let mut calls: Vec<&Call> = calls.iter().filter(|call| self.wants(call)).collect();
        calls.sort_by(|a, b| (&a.operator, a.number).cmp(&(&b.operator, b.number)));
        let mut report = Report::new(self.device);
        for call in calls {
            report.open(&call.operator);
            self.run_call(call, &mut report);
        }
        report
    }

    fn wants(&self, call: &Call) -> bool {
        (self.only.is_empty() || self.only.contains(&call.operator))
            && self.call.is_none_or(|number| number == call.number)
    }

    fn run_call(&self, call: &Call, report: &mut Report) {
        let case = match Operator::find(&call.operator) {
            Ok(operator) => Case::new(operator, call, self.device),
            Err(error) => return report.add(call.number, Check::Values, Verdict::NotImplemented(error.to_string())),
        };
        let case = match case {
            Ok(case) => case,
            Err(error) => return report.add(call.number, Check::Values, Verdict::Failed(Failure::Suite(error))),
        };
        for check in Check::ALL {
            if self.checks.is_empty() || self.checks.contains(&check) {
                for verdict in verdicts(check, &case) {
                    report.add(call.number, check, verdict);
                }
            }
        }
    }
}

fn verdicts(check: Check, case: &Case) -> Vec<Verdict> {
    match check {
        Check::Values => vec![case.values()],
        _ => Vec::new(),
    }
}
