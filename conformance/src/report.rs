//! The report of a run of the suite, with one row per operator.

use std::collections::BTreeMap;
use std::fmt;

use dispatch_runtime::Device;

use dispatch_checks::{Check, Failure, Verdict};

/// The outcomes of one check, counted.
///
/// ```
/// assert_eq!(conformance::Tally::default().passed, 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// The number of checks that passed.
    pub passed: usize,
    /// The number of checks that failed.
    pub failed: usize,
    /// The number of checks without an operator, kernel or derivative.
    pub not_implemented: usize,
    /// The number of checks that do not apply to their call.
    pub not_applicable: usize,
}

/// The overall result of an operator.
///
/// ```
/// assert_eq!(conformance::OperatorState::NotImplemented.to_string(), "not implemented");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OperatorState {
    /// At least one check passed, and none failed.
    Passed,
    /// At least one check failed.
    Failed,
    /// No check could be made, because the operator, a kernel or a derivative is missing.
    NotImplemented,
    /// No check applied to the operator.
    Unchecked,
}

impl fmt::Display for OperatorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotImplemented => "not implemented",
            Self::Unchecked => "unchecked",
        })
    }
}

/// The results of one operator.
///
/// ```
/// let row = conformance::OperatorRow { operator: "aten::relu".to_owned(), tallies: Default::default() };
/// assert_eq!(row.state(), conformance::OperatorState::Unchecked);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperatorRow {
    /// The operator's name with namespace and overload.
    pub operator: String,
    /// The outcomes of each check.
    pub tallies: BTreeMap<Check, Tally>,
}

impl OperatorRow {
    /// Returns the overall result of the operator.
    #[must_use]
    pub fn state(&self) -> OperatorState {
        if self.tallies.values().any(|tally| tally.failed > 0) {
            OperatorState::Failed
        } else if self.tallies.values().any(|tally| tally.passed > 0) {
            OperatorState::Passed
        } else if self.tallies.values().any(|tally| tally.not_implemented > 0) {
            OperatorState::NotImplemented
        } else {
            OperatorState::Unchecked
        }
    }
}

/// A failed check of one call.
///
/// ```
/// use conformance::{Check, FailedCheck, Failure};
/// let failed = FailedCheck {
///     operator: "aten::neg".to_owned(),
///     call: 3,
///     check: Check::Values,
///     failure: Failure::Panicked { message: "overflow".to_owned() },
/// };
/// assert_eq!(failed.arguments_to_repeat(), "--only aten::neg --call 3 --check values");
/// ```
#[derive(Debug)]
pub struct FailedCheck {
    /// The operator's name with namespace and overload.
    pub operator: String,
    /// The number of the call among those of the operator, counted from 0.
    pub call: usize,
    /// The check that failed.
    pub check: Check,
    /// The reason of the failure.
    pub failure: Failure,
}

impl FailedCheck {
    /// Returns the arguments with which the program `conformance` repeats only this check.
    #[must_use]
    pub fn arguments_to_repeat(&self) -> String {
        format!("--only {} --call {} --check {}", self.operator, self.call, self.check)
    }
}

impl fmt::Display for FailedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, call {}, {}: {}", self.operator, self.call, self.check, self.failure)?;
        write!(f, "\n  repeat: cargo run --release -p conformance-program -- {}", self.arguments_to_repeat())
    }
}

/// The results of a run. A report prints as a table.
///
/// ```
/// let report = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::no_such_operator").run()?;
/// assert!(report.rows().is_empty() && report.failed_checks().is_empty());
/// # Ok::<(), conformance::Error>(())
/// ```
#[derive(Debug)]
pub struct Report {
    device: Device,
    rows: Vec<OperatorRow>,
    /// The index of the row to which verdicts are added.
    open_row: usize,
    failed: Vec<FailedCheck>,
    not_applicable: Vec<(String, Check, &'static str)>,
    missing: Vec<(String, Check, String)>,
}

impl Report {
    pub(crate) const fn new(device: Device) -> Self {
        Self {
            device,
            rows: Vec::new(),
            open_row: 0,
            failed: Vec::new(),
            not_applicable: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Opens the row of an operator: verdicts are added to it from now on.
    pub(crate) fn open_row(&mut self, operator: &str) {
        self.open_row = self.rows.iter().rposition(|row| row.operator == operator).unwrap_or_else(|| {
            self.rows.push(OperatorRow { operator: operator.to_owned(), tallies: BTreeMap::new() });
            self.rows.len() - 1
        });
    }

    pub(crate) fn add_verdict(&mut self, call: usize, check: Check, verdict: Verdict) {
        let Some(row) = self.rows.get_mut(self.open_row) else { return };
        let tally = row.tallies.entry(check).or_default();
        match verdict {
            Verdict::Passed => tally.passed += 1,
            Verdict::NotImplemented(what) => {
                tally.not_implemented += 1;
                if !self.missing.iter().any(|(operator, made, _)| (operator, *made) == (&row.operator, check)) {
                    self.missing.push((row.operator.clone(), check, what));
                }
            }
            Verdict::NotApplicable(reason) => {
                tally.not_applicable += 1;
                let said = (row.operator.clone(), check, reason);
                if !self.not_applicable.contains(&said) {
                    self.not_applicable.push(said);
                }
            }
            Verdict::Failed(failure) => {
                tally.failed += 1;
                self.failed.push(FailedCheck { operator: row.operator.clone(), call, check, failure });
            }
        }
    }

    pub(crate) fn add_verdicts(&mut self, call: usize, check: Check, verdicts: Vec<Verdict>) {
        for verdict in verdicts {
            self.add_verdict(call, check, verdict);
        }
    }

    /// Appends the report of other operators.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.rows.append(&mut other.rows);
        self.failed.append(&mut other.failed);
        self.not_applicable.append(&mut other.not_applicable);
        self.missing.append(&mut other.missing);
    }

    pub(crate) fn sort(&mut self) {
        self.rows.sort_by(|a, b| a.operator.cmp(&b.operator));
        self.failed.sort_by(|a, b| a.operator.cmp(&b.operator));
        self.not_applicable.sort_by(|a, b| a.0.cmp(&b.0));
        self.missing.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// Returns the rows of all operators, sorted by name.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// let report = suite.run()?;
    /// assert!(report.rows().iter().all(|row| row.operator == "aten::relu"));
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn rows(&self) -> &[OperatorRow] {
        &self.rows
    }

    /// Returns all failed checks.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// for failed in suite.run()?.failed_checks() {
    ///     println!("{failed}");
    /// }
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn failed_checks(&self) -> &[FailedCheck] {
        &self.failed
    }

    /// Returns all failed checks, and consumes the report.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// let failed: Vec<conformance::FailedCheck> = suite.run()?.into_failed_checks();
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn into_failed_checks(self) -> Vec<FailedCheck> {
        self.failed
    }

    /// Returns the operators to which a check does not apply, with the reason.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// for (operator, check, why) in suite.run()?.not_applicable_checks() {
    ///     println!("{operator}, {check}: {why}");
    /// }
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn not_applicable_checks(&self) -> &[(String, Check, &'static str)] {
        &self.not_applicable
    }

    /// Returns the operators for which a check could not be made, with the missing item: the operator, its kernel, or a derivative.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// for (operator, check, what) in suite.run()?.missing_items() {
    ///     println!("{operator}, {check}: {what}");
    /// }
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn missing_items(&self) -> &[(String, Check, String)] {
        &self.missing
    }

    /// Returns the number of operators in a state.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// use conformance::OperatorState;
    /// let report = suite.run()?;
    /// assert!(report.operator_count(OperatorState::Passed) <= report.rows().len());
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn operator_count(&self, state: OperatorState) -> usize {
        self.rows.iter().filter(|row| row.state() == state).count()
    }

    /// Returns the number of operators for which a check applied to all calls and passed.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// let report = suite.run()?;
    /// assert!(report.fully_passed_count(conformance::Check::BatchRules) <= report.rows().len());
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn fully_passed_count(&self, check: Check) -> usize {
        let tallies = self.rows.iter().filter_map(|row| row.tallies.get(&check));
        tallies.filter(|tally| **tally == Tally { passed: tally.passed.max(1), ..Tally::default() }).count()
    }

    /// Returns the outcomes of one check, summed over all operators.
    ///
    /// ```
    /// # let suite = conformance::Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu");
    /// let tally = suite.run()?.tally(conformance::Check::Values);
    /// println!("{} of {} calls", tally.passed, tally.passed + tally.failed);
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn tally(&self, check: Check) -> Tally {
        let tallies = self.rows.iter().filter_map(|row| row.tallies.get(&check));
        tallies.fold(Tally::default(), |sum, tally| Tally {
            passed: sum.passed + tally.passed,
            failed: sum.failed + tally.failed,
            not_implemented: sum.not_implemented + tally.not_implemented,
            not_applicable: sum.not_applicable + tally.not_applicable,
        })
    }
}

/// Formats an outcome as `7/10`: passed of made checks. Returns a dot if none was made.
fn format_passed_fraction(tally: Option<&Tally>) -> String {
    match tally {
        Some(tally) if tally.passed + tally.failed > 0 => format!("{}/{}", tally.passed, tally.passed + tally.failed),
        _ => ".".to_owned(),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.operator.len()).max().unwrap_or(0).max("operator".len());
        write!(f, "{:width$}  {:15}", "operator", "state")?;
        let column = |check: &Check| check.name().len().max(9);
        Check::ALL.iter().try_for_each(|check| write!(f, "  {check:>0$}", column(check)))?;
        for row in &self.rows {
            write!(f, "\n{:width$}  {:15}", row.operator, row.state())?;
            Check::ALL.iter().try_for_each(|check| {
                write!(f, "  {:>1$}", format_passed_fraction(row.tallies.get(check)), column(check))
            })?;
        }
        let states =
            [OperatorState::Passed, OperatorState::Failed, OperatorState::NotImplemented, OperatorState::Unchecked];
        let [passed, failed, missing, unchecked] = states.map(|state| self.operator_count(state));
        let total = self.rows.len();
        write!(
            f,
            "\n\n{}: {total} operators: {passed} passed, {failed} failed, {missing} not implemented, {unchecked} unchecked",
            self.device
        )?;
        match self.fully_passed_count(Check::BatchRules) {
            0 => Ok(()),
            count => write!(f, "\n{count} operators have a batch rule for all of their calls"),
        }
    }
}
