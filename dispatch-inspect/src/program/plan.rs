//! The command `plan`: the dtypes, sizes and strides of a call's results, without the call.

use std::io::Write;

use dispatch_inspect::{Failure, Found, find};
use opdispatch::{Device, Result, Stack, Tensor, Value};
use serde::Serialize;

use crate::arguments;

/// A planned result.
#[derive(Serialize)]
#[serde(untagged)]
enum Planned {
    Tensor { dtype: String, sizes: Vec<i64>, strides: Vec<i64> },
    List(Vec<Self>),
    Other(String),
}

impl Planned {
    fn of(value: &Value) -> Self {
        let tensor = |tensor: &Tensor| Self::Tensor {
            dtype: tensor.dtype().to_string(),
            sizes: tensor.sizes().to_vec(),
            strides: tensor.strides().to_vec(),
        };
        match value {
            Value::Tensor(one) => tensor(one),
            Value::Tensors(many) => Self::List(many.iter().map(tensor).collect()),
            other => Self::Other(format!("{other:?}")),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Tensor { dtype, sizes, strides } => format!("{dtype} {sizes:?}, strides {strides:?}"),
            Self::List(list) => list.iter().map(Self::text).collect::<Vec<_>>().join("\n"),
            Self::Other(text) => text.clone(),
        }
    }
}

/// Runs the command `plan OP [ARG..]`.
pub(crate) fn run(words: &[String], out: &mut dyn Write) -> std::result::Result<Found, Failure> {
    let (options, words): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with("--"));
    if let Some(option) = options.iter().find(|option| option.as_str() != "--json") {
        return Err(Failure::Usage(format!("`plan` knows no option `{option}`; it knows --json")));
    }
    let Some((name, words)) = words.split_first() else {
        return Err(Failure::Usage("`plan` takes an operator, and words for its arguments".to_owned()));
    };
    let operator = find(name)?;
    let arguments: Stack = arguments::from_words(operator, words, Device::META)?.into_iter().collect();
    let results: Result<Vec<Planned>> =
        operator.infer_results(&arguments).map(|results| results.values().iter().map(Planned::of).collect());
    if options.is_empty() {
        match &results {
            Ok(results) => results.iter().try_for_each(|result| writeln!(out, "{}", result.text()))?,
            Err(error) => writeln!(out, "refused: {error}")?,
        }
    } else {
        let error = results.as_ref().err().map(ToString::to_string);
        writeln!(out, "{:#}", serde_json::json!({ "results": results.as_ref().ok(), "error": error }))?;
    }
    Ok(if results.is_ok() { Found::Answer } else { Found::Finding })
}
