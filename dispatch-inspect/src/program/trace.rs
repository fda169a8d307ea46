//! The command `trace`: makes one call, and shows it with the calls inside of it.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use dispatch_inspect::{Failure, Found, Style, find};
use opdispatch::modes::{self, Call, Mode};
use opdispatch::{Device, Explanation, Result, Tensor, Value, autocast, guard, keys};
use serde::Serialize;

use crate::arguments;

/// A call that was made.
#[derive(Serialize)]
struct Step {
    /// The number of calls around it.
    nesting: usize,
    operator: String,
    /// The arguments as printed: a tensor as its dtype and sizes.
    arguments: Vec<String>,
    /// The keys of the call, lowest first.
    keys: Vec<String>,
    /// The kernel that the call entered first.
    first: Stop,
    /// The backend's or the composite's kernel, if it differs from `first`. It is `None` for a call that autocast casts: autocast calls the
    /// operator again, as a call inside of this one.
    last: Option<Stop>,
}

/// A key whose cell a call enters, with its kernel or all candidates.
#[derive(Serialize)]
struct Stop {
    key: String,
    kernels: Vec<String>,
}

impl Stop {
    fn of(explanation: &Explanation) -> Self {
        let sites = explanation.winner.iter().chain(explanation.candidates.iter().map(|(site, _)| site));
        Self {
            key: explanation.key.map_or_else(|| "no keys".to_owned(), |key| key.to_string()),
            kernels: sites.map(|site| format!("`{}` ({})", site.kernel, site.location)).collect(),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = if self.kernels.is_empty() { "has no kernel".to_owned() } else { self.kernels.join(" or ") };
        write!(f, "{} {kernels}", self.key)
    }
}

/// A mode that notes every call before it runs.
#[derive(Default)]
struct Notes(Mutex<Vec<Step>>);

impl Mode for Notes {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let below = call.keys().below(keys::PreDispatch);
        let arrival = call.operator().explain_redispatch(below, call.arguments());
        let (first, last) = (Stop::of(&arrival), Stop::of(&call.explain_kernel()));
        let is_cast = below.device().is_some_and(|device| guard::autocast_dtype(device).is_some());
        let begins_anew = is_cast && arrival.key.is_some_and(|key| keys::Autocast.covers(key));
        let step = Step {
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

/// Runs the command `trace OP [ARG..]`.
pub(crate) fn run(words: &[String], out: &mut dyn Write, style: Style) -> Result<Found, Failure> {
    let (options, words): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with("--"));
    let (mut as_json, mut is_autocast) = (false, false);
    let mut guards = Vec::new();
    for option in options {
        match option.as_str() {
            "--json" => as_json = true,
            "--inference" => guards.push(guard::inference_mode()),
            "--no-grad" => guards.push(guard::no_grad()),
            "--autocast" => is_autocast = true,
            _ => {
                let known = "--inference, --no-grad, --autocast, --json";
                return Err(Failure::Usage(format!("`trace` knows no option `{option}`; it knows {known}")));
            }
        }
    }
    let Some((name, words)) = words.split_first() else {
        return Err(Failure::Usage("`trace` takes an operator, and words for its arguments".to_owned()));
    };
    let operator = find(name)?;
    let arguments = arguments::from_words(operator, words, Device::CPU)?;
    let devices = if is_autocast { devices(&arguments) } else { Vec::new() };
    let _autocast = devices.into_iter().map(|on| autocast::enable(on, None)).collect::<Result<Vec<_>>>()?;
    let notes = modes::enter(Notes::default());
    let outcome = operator.call(arguments);
    let steps = std::mem::take(&mut *notes.0.lock().unwrap_or_else(PoisonError::into_inner));
    drop(notes);
    let results = outcome.map(|results| results.iter().map(|result| format!("{result:?}")).collect::<Vec<_>>());
    if as_json {
        let (results, error) = match &results {
            Ok(results) => (Some(results), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let answer = serde_json::json!({ "calls": steps, "results": results, "error": error });
        writeln!(out, "{answer:#}")?;
    } else {
        steps.iter().try_for_each(|step| write(step, out, style))?;
        match &results {
            Ok(results) => writeln!(out, "gives {}", results.join(", "))?,
            Err(error) => writeln!(out, "fails: {error}")?,
        }
    }
    Ok(if results.is_ok() { Found::Answer } else { Found::Finding })
}

/// Returns the devices of the tensors among the values.
fn devices(values: &[Value]) -> Vec<Device> {
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

fn write(step: &Step, out: &mut dyn Write, style: Style) -> std::io::Result<()> {
    let indent = 2 * step.nesting;
    writeln!(out, "{:indent$}{}({})", "", style.bold(&step.operator), step.arguments.join(", "))?;
    writeln!(out, "{:indent$}  {}", "", step.first)?;
    step.last.iter().try_for_each(|last| writeln!(out, "{:indent$}  then {last}", ""))
}
