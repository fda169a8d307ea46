//! The command `trace`: makes one call, and shows it with the calls inside of it.

use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};

use dispatch_inspect::{CommandOutcome, Failure, Output, Style, clap, find_operator};
use opdispatch::backend::{Explanation, Value, guard, keys};
use opdispatch::modes::{self, Call, Mode};
use opdispatch::{Device, Result, Tensor, autocast};
use serde::Serialize;

use crate::arguments;

/// The options of the command.
#[derive(clap::Args)]
pub(crate) struct TraceOptions {
    /// The name of the operator.
    operator: String,
    /// A description of each argument: a tensor as in `cpu,f32[2,3],requires_grad`, everything else as in schemas; or `NAME=DESCRIPTION`.
    #[arg(allow_negative_numbers = true)]
    arguments: Vec<String>,
    /// In inference mode.
    #[arg(long)]
    inference: bool,
    /// Without the recording of gradients.
    #[arg(long)]
    no_grad: bool,
    /// With autocast enabled on the devices of the arguments.
    #[arg(long)]
    autocast: bool,
}

/// The answer of the command.
#[derive(Serialize)]
struct Trace {
    calls: Vec<TracedCall>,
    error: Option<String>,
    /// The results as printed; `None` if the call fails.
    results: Option<Vec<String>>,
}

/// A call that was made.
#[derive(Serialize)]
struct TracedCall {
    /// The arguments as printed: a tensor as its dtype and sizes.
    arguments: Vec<String>,
    /// The kernel that the call entered first.
    first: EnteredKey,
    /// The keys of the call, lowest first.
    keys: Vec<String>,
    /// The backend's or the composite's kernel, if it differs from `first`. It is `None` for a call that autocast casts: autocast calls the
    /// operator again, as a call inside of this one.
    last: Option<EnteredKey>,
    /// The number of calls around this call.
    nesting: usize,
    operator: String,
}

/// A key whose cell a call enters, with its kernel or all candidates.
#[derive(Serialize)]
struct EnteredKey {
    key: String,
    kernels: Vec<String>,
}

impl EnteredKey {
    fn from_explanation(explanation: &Explanation) -> Self {
        let sites = explanation.winner.iter().chain(explanation.candidates.iter().map(|(site, _)| site));
        Self {
            key: explanation.key.map_or_else(|| "no keys".to_owned(), |key| key.to_string()),
            kernels: sites.map(|site| format!("`{}` ({})", site.kernel, site.location)).collect(),
        }
    }
}

impl fmt::Display for EnteredKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = if self.kernels.is_empty() { "has no kernel".to_owned() } else { self.kernels.join(" or ") };
        write!(f, "{} {kernels}", self.key)
    }
}

/// A mode that notes every call before it runs.
#[derive(Default)]
struct CallRecorder(Mutex<Vec<TracedCall>>);

impl Mode for CallRecorder {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let below = call.keys().below(keys::PreDispatch);
        let arrival = call.operator().explain_redispatch(below, call.arguments());
        let (first, last) =
            (EnteredKey::from_explanation(&arrival), EnteredKey::from_explanation(&call.explain_kernel()));
        let is_cast = below.device().is_some_and(|device| guard::autocast_dtype(device).is_some());
        let begins_anew = is_cast && arrival.key.is_some_and(|key| keys::Autocast.covers(key));
        let step = TracedCall {
            nesting: call.nesting_depth(),
            operator: call.operator().to_string(),
            arguments: call.arguments().iter().map(|argument| format!("{argument:?}")).collect(),
            keys: below.iter().map(|key| key.to_string()).collect(),
            last: (!begins_anew && last.kernels != first.kernels).then_some(last),
            first,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(step);
        call.pass_on()
    }
}

/// Runs the command `trace`.
pub(crate) fn run(options: &TraceOptions, output: &mut Output<'_>) -> Result<CommandOutcome, Failure> {
    let _inference = options.inference.then(guard::inference_mode);
    let _no_grad = options.no_grad.then(guard::no_grad);
    let operator = find_operator(&options.operator)?;
    let arguments = arguments::parse_arguments(operator, &options.arguments, Device::CPU)?;
    let devices = if options.autocast { tensor_devices(&arguments) } else { Vec::new() };
    let _autocast = devices.into_iter().map(|on| autocast::enable(on, None)).collect::<Result<Vec<_>>>()?;
    let recorder = modes::enter(CallRecorder::default());
    let outcome = operator.call(arguments);
    let calls = std::mem::take(&mut *recorder.0.lock().unwrap_or_else(PoisonError::into_inner));
    drop(recorder);
    let trace = match outcome {
        Ok(results) => {
            let results = results.iter().map(|result| format!("{result:?}")).collect();
            Trace { calls, error: None, results: Some(results) }
        }
        Err(error) => Trace { calls, error: Some(error.to_string()), results: None },
    };
    output.write_answer(&trace, |style| trace.text(style))?;
    Ok(if trace.error.is_none() { CommandOutcome::Answered } else { CommandOutcome::CallFails })
}

/// Returns the devices of the tensors among the values.
fn tensor_devices(values: &[Value]) -> Vec<Device> {
    let mut devices = Vec::new();
    for value in values {
        let tensors = match value {
            Value::Tensors(tensors) => &tensors[..],
            _ => value.as_tensor().map_or(&[][..], std::slice::from_ref),
        };
        for device in tensors.iter().map(Tensor::device) {
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
    }
    devices
}

impl Trace {
    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        for step in &self.calls {
            let indent = 2 * step.nesting;
            let (operator, arguments) = (style.bold(&step.operator), step.arguments.join(", "));
            _ = writeln!(text, "{:indent$}{operator}({arguments})\n{:indent$}  {}", "", "", step.first);
            if let Some(last) = &step.last {
                _ = writeln!(text, "{:indent$}  then {last}", "");
            }
        }
        if let Some(results) = &self.results {
            _ = writeln!(text, "returns {}", results.join(", "));
        }
        if let Some(error) = &self.error {
            _ = writeln!(text, "fails: {error}");
        }
        text
    }
}
