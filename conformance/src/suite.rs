//! Runs of the suite: selects operators, calls and checks, and collects a report.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use dispatch_checks::plumbing::{OperatorForms, ReferenceCall, check_randomness, run_check};
use dispatch_checks::{Check, Verdict};
use dispatch_runtime::{DType, Device, Operator};

use crate::error::Result;
use crate::generated_calls;
use crate::large;
use crate::recorded_case::{decode_case, decode_case_without_outcome};
use crate::recording::{Call, core_operators, recorded_calls};
use crate::report::Report;
use crate::scalar_calls::RecordedScalarCalls;
use crate::unrecorded;

/// The number of parts per thread into which the operators are divided: one operator may take long.
const PARTS_PER_THREAD: usize = 16;

/// A selection of checks, calls and operators to run on a device.
///
/// ```
/// use conformance::{Check, Suite};
/// use dispatch_runtime::Device;
///
/// let report = Suite::new(Device::CPU).only_operator("aten::relu").only_check(Check::Values).run()?;
/// assert!(report.rows().len() <= 1);
/// # Ok::<(), conformance::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Suite {
    device: Device,
    only: Vec<String>,
    call: Option<usize>,
    part: (usize, usize),
    checks: Vec<Check>,
    without: Vec<DType>,
    /// Base names of operators, with dtypes that they do not support.
    without_calls: Vec<(String, DType)>,
    is_sampled: bool,
    has_device_differences: bool,
}

/// Operators whose results depend on the kind of their device. The recordings are those of the CPU.
const OPERATORS_WITH_RESULTS_OF_THE_CPU: [&str; 4] =
    ["_autocast_to_full_precision", "_autocast_to_reduced_precision", "_to_cpu", "get_device"];

/// The device under test, for checks that create their own calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestTarget<'a> {
    pub(crate) device: Device,
    /// The dtypes that the device does not support.
    pub(crate) without: &'a [DType],
    /// Whether only some of the calls are made, because the device is slow.
    pub(crate) is_sampled: bool,
    /// Whether the results may differ from those of PyTorch's CPU as those of PyTorch's own devices do.
    pub(crate) has_device_differences: bool,
}

/// The progress of a run of the suite.
///
/// [`Suite::run_with_progress`] has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress<'a> {
    /// The operator whose calls run next.
    pub operator: &'a str,
    /// The number of finished steps. An operator has one step for each kind of calls: recorded, large, with recorded scalars.
    pub finished: usize,
    /// The number of all steps.
    pub total: usize,
}

/// A step of a run: calls of one kind of one operator.
enum SuiteStep<'a> {
    Recorded(&'a [&'a Call]),
    /// Calls of an operator without a recording.
    Unrecorded(&'a str),
    Generated(&'a Call),
    Large(&'static Operator),
    ScalarCalls(&'a str, &'a RecordedScalarCalls),
}

impl SuiteStep<'_> {
    fn operator(&self) -> String {
        match self {
            Self::Recorded(calls) => calls[0].operator.clone(),
            Self::Generated(call) => call.operator.clone(),
            Self::Large(operator) => operator.name().to_string(),
            Self::Unrecorded(name) | Self::ScalarCalls(name, _) => (*name).to_owned(),
        }
    }
}

impl Suite {
    /// Creates a suite of all checks, calls and operators on a device.
    #[must_use]
    pub const fn new(device: Device) -> Self {
        Self {
            device,
            only: Vec::new(),
            call: None,
            part: (0, 1),
            checks: Vec::new(),
            without: Vec::new(),
            without_calls: Vec::new(),
            is_sampled: false,
            has_device_differences: false,
        }
    }

    /// Restricts the suite to this operator, and to operators of further calls of `only_operator`.
    ///
    /// ```
    /// # use conformance::Suite;
    /// let suite = Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::add.Tensor").only_operator("aten::mul.Tensor");
    /// ```
    #[must_use]
    pub fn only_operator(mut self, operator: impl Into<String>) -> Self {
        self.only.push(operator.into());
        self
    }

    /// Restricts the suite to the call of this number of each operator.
    ///
    /// ```
    /// # use conformance::Suite;
    /// let suite = Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu").only_call(3);
    /// ```
    #[must_use]
    pub const fn only_call(mut self, number: usize) -> Self {
        self.call = Some(number);
        self
    }

    /// Restricts the suite to part `part` of `parts` parts of the operators. The parts may run in separate threads.
    ///
    /// ```
    /// # use conformance::Suite;
    /// let halves = [0, 1].map(|part| Suite::new(dispatch_runtime::Device::CPU).only_part(part, 2));
    /// ```
    #[must_use]
    pub const fn only_part(mut self, part: usize, parts: usize) -> Self {
        self.part = (part, parts);
        self
    }

    /// Restricts the suite to this check, and to checks of further calls of `only_check`.
    ///
    /// ```
    /// # use conformance::{Check, Suite};
    /// let suite = Suite::new(dispatch_runtime::Device::CPU).only_check(Check::Values).only_check(Check::Meta);
    /// ```
    #[must_use]
    pub fn only_check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// Excludes calls with tensors of this dtype, for a backend that does not support it.
    ///
    /// ```
    /// # use conformance::Suite;
    /// # use dispatch_runtime::{DType, Device};
    /// let suite = Suite::new(Device::CPU).without_dtype(DType::C64).without_dtype(DType::C128);
    /// ```
    #[must_use]
    pub fn without_dtype(mut self, dtype: DType) -> Self {
        self.without.push(dtype);
        self
    }

    /// Excludes recorded calls of the operators of this base name with tensors of this dtype, for a backend that does not support them.
    ///
    /// ```
    /// # use conformance::Suite;
    /// # use dispatch_runtime::{DType, Device};
    /// let suite = Suite::new(Device::CPU).without_calls_of("upsample_bilinear2d", DType::U8);
    /// ```
    #[must_use]
    pub fn without_calls_of(mut self, base: impl Into<String>, dtype: DType) -> Self {
        self.without_calls.push((base.into(), dtype));
        self
    }

    /// Reduces the calls that checks create themselves, for a slow device: calls like every third recorded one, every third scalar, and one
    /// dtype of each category in large calls. The results of all recorded calls are compared.
    ///
    /// ```
    /// # use conformance::{Check, Suite};
    /// let suite = Suite::new(dispatch_runtime::Device::CPU).only_check(Check::Numbers).with_sampled_calls();
    /// ```
    #[must_use]
    pub const fn with_sampled_calls(mut self) -> Self {
        self.is_sampled = true;
        self
    }

    /// Accepts results for scalar arguments that PyTorch's own devices return and its CPU does not.
    ///
    /// ```
    /// # use conformance::{Check, Suite};
    /// let suite = Suite::new(dispatch_runtime::Device::CPU).only_check(Check::Numbers).accept_device_differences();
    /// ```
    #[must_use]
    pub const fn accept_device_differences(mut self) -> Self {
        self.has_device_differences = true;
        self
    }

    /// Runs the suite on the recordings.
    ///
    /// # Errors
    ///
    /// Returns an error if the recordings cannot be read. If there are none, the report is empty.
    pub fn run(&self) -> Result<Report> {
        self.run_with_progress(&mut |_| {})
    }

    /// Runs the suite on the recordings, and calls `on_step` before each step.
    ///
    /// ```
    /// use conformance::{Check, Suite};
    ///
    /// let suite = Suite::new(dispatch_runtime::Device::CPU).only_operator("aten::relu").only_check(Check::Values);
    /// let mut operators = Vec::new();
    /// suite.run_with_progress(&mut |progress| operators.push(progress.operator.to_owned()))?;
    /// assert!(operators.iter().all(|operator| operator == "aten::relu"));
    /// # Ok::<(), conformance::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the recordings cannot be read, as [`run`](Self::run) does.
    pub fn run_with_progress(&self, on_step: &mut dyn FnMut(Progress<'_>)) -> Result<Report> {
        let mut report = self.run_steps(&Recordings::read(self)?, on_step);
        report.sort();
        Ok(report)
    }

    /// Runs the suite on the recordings with one thread per entry of `devices`. The threads share the operators. Entries may be equal.
    ///
    /// ```
    /// use conformance::{Check, Suite};
    /// use dispatch_runtime::Device;
    ///
    /// let suite = Suite::new(Device::CPU).only_operator("aten::relu").only_check(Check::Values);
    /// let report = suite.run_on_devices(&[Device::CPU, Device::CPU])?;
    /// assert_eq!(report.rows().len(), suite.run()?.rows().len());
    /// # Ok::<(), conformance::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the recordings cannot be read, as [`run`](Self::run) does.
    pub fn run_on_devices(&self, devices: &[Device]) -> Result<Report> {
        let (recorded, next, count) = (Recordings::read(self)?, AtomicUsize::new(0), PARTS_PER_THREAD * devices.len());
        let (own, parts) = self.part;
        let run = |device: Device| {
            let mut report = Report::new(device);
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= count {
                    return report;
                }
                let suite = Self { device, ..self.clone() }.only_part(own + parts * part, parts * count);
                report.append(suite.run_steps(&recorded, &mut |_| {}));
            }
        };
        let mut report = Report::new(self.device);
        std::thread::scope(|scope| {
            let threads: Vec<_> = devices.iter().map(|device| scope.spawn(|| run(*device))).collect();
            for thread in threads {
                report.append(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
        });
        report.sort();
        Ok(report)
    }

    fn run_steps(&self, recorded: &Recordings, on_step: &mut dyn FnMut(Progress<'_>)) -> Report {
        let Recordings { calls, unrecorded: names, generated, numbers } = recorded;
        let wanted = self.selected_calls(calls);
        let large = if self.includes_check(Check::Large) { Operator::all() } else { Vec::new() };
        let with_numbers =
            numbers.iter().flat_map(|numbers| numbers.operator_names().into_iter().map(move |name| (name, numbers)));
        let steps = group_by_operator(&wanted).map(SuiteStep::Recorded);
        let steps = steps.chain(names.iter().map(|name| SuiteStep::Unrecorded(name)));
        let steps = steps.chain(generated.iter().filter(|call| self.includes_call(call)).map(SuiteStep::Generated));
        let steps = steps.chain(large.into_iter().map(SuiteStep::Large));
        let steps = steps.chain(with_numbers.map(|(name, numbers)| SuiteStep::ScalarCalls(name, numbers)));
        let steps = steps.map(|step| (step.operator(), step)).filter(|(operator, _)| self.includes_operator(operator));
        let steps: Vec<(String, SuiteStep<'_>)> = steps.collect();
        let mut report = Report::new(self.device);
        for (finished, (operator, step)) in steps.iter().enumerate() {
            on_step(Progress { operator, finished, total: steps.len() });
            match *step {
                SuiteStep::Recorded(recorded) => self.run_recorded_calls(recorded, &mut report),
                SuiteStep::Unrecorded(name) => {
                    self.run_unrecorded_operator(name, calls, &mut report);
                    self.run_randomness_check(name, &mut report);
                }
                SuiteStep::Generated(call) => self.run_generated_call(call, &mut report),
                SuiteStep::Large(operator) => self.run_large_calls(operator, calls, &mut report),
                SuiteStep::ScalarCalls(name, numbers) => self.run_scalar_calls(name, numbers, &mut report),
            }
        }
        report
    }

    /// Runs the large calls of an operator, and adds their verdicts.
    fn run_large_calls(&self, operator: &'static Operator, calls: &[Call], report: &mut Report) {
        let name = operator.name().to_string();
        let verdicts = large::check(operator, self.test_target(), calls);
        if !verdicts.is_empty() {
            report.open_row(&name);
        }
        self.add_numbered_verdicts(report, Check::Large, verdicts);
    }

    /// Runs the calls of an operator with the recorded scalars, and adds their verdicts.
    fn run_scalar_calls(&self, name: &str, numbers: &RecordedScalarCalls, report: &mut Report) {
        report.open_row(name);
        let check = |operator| numbers.check_operator(operator, self.test_target());
        self.add_numbered_verdicts(report, Check::Numbers, check_named_operator(name, check));
    }

    /// Compares the gradients of a call without a recording with finite differences, and adds the verdicts.
    fn run_generated_call(&self, call: &Call, report: &mut Report) {
        report.open_row(&call.operator);
        let check = |operator| {
            let case = decode_case_without_outcome(operator, call, self.device);
            case.map_or_else(
                |error| vec![error.into()],
                |case| run_check(Check::Numeric, &case, call.number, OperatorForms::default()),
            )
        };
        report.add_verdicts(call.number, Check::Numeric, check_named_operator(&call.operator, check));
    }

    /// Checks a random operator within `vmap` in each randomness mode, and adds the verdicts.
    fn run_randomness_check(&self, name: &str, report: &mut Report) {
        if !self.includes_check(Check::Vmap) {
            return;
        }
        let Ok(operator) = Operator::find(name) else { return };
        let Some(arguments) = unrecorded::random_operators::random_operator_arguments(operator, self.device) else {
            return;
        };
        report.open_row(name);
        let made = |arguments: Vec<_>| check_randomness(operator, &arguments, self.device);
        report.add_verdicts(0, Check::Vmap, arguments.map_or_else(|error| vec![error.into()], made));
    }

    /// Checks an operator without a recording against recordings of other operators, and adds the verdicts.
    fn run_unrecorded_operator(&self, name: &str, calls: &[Call], report: &mut Report) {
        if !self.includes_check(Check::Siblings) {
            return;
        }
        report.open_row(name);
        let check = |operator| unrecorded::check(operator, calls, self.device, &|case| self.supports_case(case));
        self.add_numbered_verdicts(report, Check::Siblings, check_named_operator(name, check));
    }

    /// Adds the verdicts of calls that are numbered by their index.
    fn add_numbered_verdicts(&self, report: &mut Report, check: Check, verdicts: Vec<Verdict>) {
        for (number, verdict) in verdicts.into_iter().enumerate() {
            if self.call.is_none_or(|call| call == number) {
                report.add_verdict(number, check, verdict);
            }
        }
    }

    /// Runs the suite on these calls.
    ///
    /// ```
    /// # use conformance::{Call, Suite};
    /// let call = Call::parse(r#"{"op": "nowhere::f", "args": [], "kwargs": {}, "out": {"none": true}}"#)?;
    /// let report = Suite::new(dispatch_runtime::Device::CPU).run_calls(&[call]);
    /// assert_eq!(report.operator_count(conformance::OperatorState::NotImplemented), 1);
    /// # Ok::<(), conformance::Error>(())
    /// ```
    #[must_use]
    pub fn run_calls(&self, calls: &[Call]) -> Report {
        let mut report = Report::new(self.device);
        group_by_operator(&self.selected_calls(calls)).for_each(|calls| self.run_recorded_calls(calls, &mut report));
        report
    }

    /// Returns the calls that the suite selects, sorted by operator and number.
    fn selected_calls<'a>(&self, calls: &'a [Call]) -> Vec<&'a Call> {
        let mut calls: Vec<&Call> = calls.iter().filter(|call| self.includes_call(call)).collect();
        calls.sort_by(|a, b| (&a.operator, a.number).cmp(&(&b.operator, b.number)));
        calls
    }

    /// Runs recorded calls of one operator, and adds their verdicts.
    fn run_recorded_calls(&self, calls: &[&Call], report: &mut Report) {
        report.open_row(&calls[0].operator);
        match Operator::find(&calls[0].operator) {
            Ok(operator) => self.run_operator(operator, calls, report),
            Err(error) => calls.iter().for_each(|call| {
                report.add_verdict(call.number, Check::Values, Verdict::NotImplemented(error.to_string()));
            }),
        }
    }

    fn includes_call(&self, call: &Call) -> bool {
        self.includes_operator(&call.operator) && self.call.is_none_or(|number| number == call.number)
    }

    fn includes_operator(&self, name: &str) -> bool {
        let (part, parts) = self.part;
        let is_in_part = parts < 2 || name.bytes().map(usize::from).sum::<usize>() % parts == part;
        is_in_part && (self.only.is_empty() || self.only.iter().any(|only| only == name))
    }

    fn includes_check(&self, check: Check) -> bool {
        self.checks.is_empty() || self.checks.contains(&check)
    }

    /// Returns the checks of each call. Calls with other dtypes and sizes are made only on request: `opcheck` is for them.
    fn checks_of_calls(&self) -> impl Iterator<Item = Check> {
        Check::ALL.into_iter().filter(|&check| {
            if check == Check::Changes { self.checks.contains(&check) } else { self.includes_check(check) }
        })
    }

    /// Whether the device supports all dtypes of a call, and the recorded results are those of the device.
    fn supports_case(&self, case: &ReferenceCall) -> bool {
        let base = case.operator.name().base;
        if WRONG_RECORDINGS.iter().any(|&(name, dtype)| name == base && case.dtypes().any(|found| found == dtype)) {
            return false;
        }
        if self.device != Device::CPU && OPERATORS_WITH_RESULTS_OF_THE_CPU.contains(&base) {
            return false;
        }
        let is_missing = |dtype| self.without_calls.iter().any(|(name, of)| name == base && *of == dtype);
        case.dtypes().all(|dtype| !self.without.contains(&dtype) && !is_missing(dtype))
    }

    fn test_target(&self) -> TestTarget<'_> {
        let Self { device, ref without, is_sampled, has_device_differences, .. } = *self;
        TestTarget { device, without, is_sampled, has_device_differences }
    }

    fn run_operator(&self, operator: &'static Operator, calls: &[&Call], report: &mut Report) {
        let forms = OperatorForms::for_operator(operator);
        for (index, call) in calls.iter().enumerate() {
            let case = match decode_case(operator, call, self.device) {
                Ok(case) => case,
                Err(error) => {
                    report.add_verdict(call.number, Check::Values, error.into());
                    continue;
                }
            };
            if !self.supports_case(&case) {
                continue;
            }
            for check in self.checks_of_calls() {
                let is_sampled_out = self.is_sampled && check != Check::Values && !index.is_multiple_of(3);
                if !is_sampled_out {
                    report.add_verdicts(call.number, check, run_check(check, &case, call.number, forms));
                }
            }
        }
    }
}

/// Groups sorted calls by operator.
fn group_by_operator<'a>(calls: &'a [&'a Call]) -> impl Iterator<Item = &'a [&'a Call]> {
    calls.chunk_by(|a, b| a.operator == b.operator)
}

/// The recordings that a run needs.
struct Recordings {
    calls: Vec<Call>,
    /// Operators without a recorded call.
    unrecorded: Vec<String>,
    /// Calls without a recording, whose gradients are compared with finite differences.
    generated: Vec<Call>,
    numbers: Option<RecordedScalarCalls>,
}

impl Recordings {
    fn read(suite: &Suite) -> Result<Self> {
        let calls = recorded_calls()?.unwrap_or_default();
        let core = core_operators()?.unwrap_or_default().into_iter().map(|(name, _)| name);
        let names = core.chain(unrecorded::operators_outside_core_set().map(str::to_owned));
        let unrecorded = names.filter(|name| !calls.iter().any(|call| call.operator == *name)).collect();
        let generated =
            if suite.includes_check(Check::Numeric) { generated_calls::generate_calls()? } else { Vec::new() };
        let numbers = suite.includes_check(Check::Numbers).then(RecordedScalarCalls::read).transpose()?;
        Ok(Self { calls, unrecorded, generated, numbers })
    }
}

/// Returns the verdicts of a check of the operator of this name, or that the operator is not implemented.
fn check_named_operator(name: &str, check: impl FnOnce(&'static Operator) -> Vec<Verdict>) -> Vec<Verdict> {
    Operator::find(name).map_or_else(|error| vec![Verdict::NotImplemented(error.to_string())], check)
}

/// Calls whose results in PyTorch are not numbers, although the arguments are finite.
const WRONG_RECORDINGS: [(&str, DType); 2] = [("linalg_matrix_exp", DType::BF16), ("linalg_matrix_exp", DType::F16)];
