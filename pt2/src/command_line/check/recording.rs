//! The recording of a program: what to run, and what PyTorch computed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use aten::prelude::*;
use dispatch_runtime::{Str, Tensor, Value};
use serde::Deserialize;

/// A recording, `NAME.json` with the tensors of `NAME.safetensors`.
#[derive(Deserialize)]
pub(super) struct Recording {
    /// Whether the runs follow each other on one state.
    #[serde(default)]
    pub(super) stateful: bool,
    pub(super) runs: Vec<RecordedRun>,
    pub(super) training: Option<RecordedTraining>,
    /// The names of the files of the program, by dialect.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    #[serde(default)]
    notes: String,
    /// The differences that PyTorch itself has after it has loaded the file, by dialect.
    #[serde(default)]
    torch_itself: BTreeMap<String, OwnDifferences>,
    #[serde(skip)]
    tensors: BTreeMap<String, Tensor>,
}

/// A run with its results.
#[derive(Deserialize)]
pub(super) struct RecordedRun {
    pub(super) inputs: Vec<RecordedValue>,
    #[serde(default)]
    pub(super) outputs: Vec<RecordedValue>,
    /// The inputs that the program writes, by position.
    #[serde(default)]
    pub(super) inputs_after: BTreeMap<usize, String>,
    #[serde(default)]
    pub(super) buffers: BTreeMap<String, String>,
    /// The error of PyTorch, if it refuses the run.
    pub(super) refused: Option<serde_json::Value>,
    /// The gradient of the loss for each output, by position.
    #[serde(default)]
    pub(super) cotangents: BTreeMap<usize, String>,
    #[serde(default)]
    pub(super) grads: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) no_grads: Vec<String>,
    #[serde(default)]
    pub(super) input_grads: BTreeMap<usize, String>,
    #[serde(default)]
    pub(super) noise: Noise,
}

/// The distance of 32-bit results from 64-bit results, as the largest difference divided by the largest value.
#[derive(Deserialize, Default, Clone, Copy)]
pub(super) struct Noise {
    pub(super) out: Option<f64>,
    pub(super) grad: Option<f64>,
}

/// An input or an output.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Tensor(String),
    Int(i64),
    Float(RecordedNumber),
    Bool(bool),
    String(String),
    None(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct RecordedValue {
    #[serde(flatten)]
    content: Content,
    /// Whether the last dimension of the tensor is (re, im).
    #[serde(default)]
    complex: bool,
}

/// The training of a program with two optimisers.
#[derive(Deserialize)]
pub(super) struct RecordedTraining {
    /// The name of the target: the loss is the squared distance of the first output from it.
    pub(super) target: String,
    pub(super) sgd: Option<RecordedSteps>,
    pub(super) adamw: Option<RecordedSteps>,
}

/// The losses of the steps, and the norms of the parameters after them.
#[derive(Deserialize)]
pub(super) struct RecordedSteps {
    pub(super) losses: Vec<RecordedNumber>,
    pub(super) norms: BTreeMap<String, RecordedNumber>,
    pub(super) options: RecordedOptions,
}

/// A number, or NaN in place of a number that JSON does not have.
#[derive(Deserialize, Clone, Copy)]
#[serde(from = "Option<f64>")]
pub(super) struct RecordedNumber(pub(super) f64);

impl From<Option<f64>> for RecordedNumber {
    fn from(number: Option<f64>) -> Self {
        Self(number.unwrap_or(f64::NAN))
    }
}

/// The options of an optimiser. An option that is missing has its default.
#[derive(Deserialize, Clone, Copy)]
pub(super) struct RecordedOptions {
    pub(super) lr: Option<f64>,
    pub(super) momentum: Option<f64>,
    pub(super) weight_decay: Option<f64>,
    pub(super) betas: Option<(f64, f64)>,
    pub(super) eps: Option<f64>,
}

#[derive(Deserialize, Default)]
struct OwnDifferences {
    /// A number, or the text of an error.
    grad: Option<serde_json::Value>,
}

/// Returns the names of the programs in a folder, in order.
pub(super) fn program_names(folder: &Path) -> Result<Vec<String>, String> {
    let refuse = |error| format!("`{}` cannot be read: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(refuse)? {
        let file_name = entry.map_err(refuse)?.file_name();
        names.extend(file_name.to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Reads a JSON file that Python wrote.
pub(super) fn load_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let refuse = |error: &dyn std::fmt::Display| format!("`{}` cannot be read: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| refuse(&error))?;
    serde_json::from_str(&without_special_numbers(&text)).map_err(|error| refuse(&error))
}

/// Replaces `NaN` and `Infinity`, which Python writes and JSON does not have, by `null`. Texts in quotes stay.
fn without_special_numbers(text: &str) -> String {
    let parts = text.split('"').scan(false, |is_quoted, part| {
        let replaced = if *is_quoted {
            part.to_owned()
        } else {
            ["-Infinity", "Infinity", "NaN"].iter().fold(part.to_owned(), |part, name| part.replace(name, "null"))
        };
        // An escaped quote does not end the text.
        *is_quoted = if *is_quoted { part.ends_with('\\') } else { true };
        Some(replaced)
    });
    parts.collect::<Vec<_>>().join("\"")
}

impl Recording {
    pub(super) fn load(folder: &Path, name: &str) -> Result<Self, String> {
        let mut recording: Self = load_json(&folder.join(format!("{name}.json")))?;
        let tensors = dispatch_files::load_safetensors(folder.join(format!("{name}.safetensors")));
        recording.tensors = tensors.map_err(|error| error.to_string())?;
        Ok(recording)
    }

    /// Returns a tensor by its key.
    pub(super) fn tensor(&self, key: &str) -> Result<&Tensor, String> {
        self.tensors.get(key).ok_or_else(|| format!("the recording has no tensor `{key}`"))
    }

    /// Returns a recorded value. A tensor shares the memory of the recording.
    pub(super) fn value(&self, recorded: &RecordedValue) -> Result<Value, String> {
        Ok(match &recorded.content {
            Content::Tensor(key) => {
                let tensor = self.tensor(key)?;
                let tensor = if recorded.complex { aten::view_as_complex(tensor) } else { Ok(tensor.clone()) };
                tensor.map_err(|error| error.to_string())?.into()
            }
            Content::Int(value) => (*value).into(),
            Content::Float(value) => value.0.into(),
            Content::Bool(value) => (*value).into(),
            Content::String(value) => Str::from(value.as_str()).into(),
            Content::None(_) => Value::None,
        })
    }

    /// Returns the inputs of a run. Tensors are copies, because the program may write to them.
    pub(super) fn inputs(&self, run: &RecordedRun) -> Result<Vec<Value>, String> {
        let copy = |recorded| {
            Ok(match self.value(recorded)? {
                Value::Tensor(tensor) => tensor.deep_clone().map_err(|error| error.to_string())?.into(),
                value => value,
            })
        };
        run.inputs.iter().map(copy).collect()
    }

    /// Whether only the shapes and the dtypes of outputs are determined.
    pub(super) fn is_random(&self) -> bool {
        self.notes.contains("random")
    }

    /// Returns the difference of gradients that PyTorch itself has after it has loaded the file of a dialect, if it has gradients.
    pub(super) fn own_gradient_difference(&self, dialect: &str) -> Option<f64> {
        self.torch_itself.get(dialect)?.grad.as_ref()?.as_f64()
    }
}
