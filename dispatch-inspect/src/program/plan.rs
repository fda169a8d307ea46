//! The command `plan`: the dtypes, sizes and strides of a call's results, without the call.

use dispatch_inspect::{CommandOutcome, Failure, Output, clap, find_operator};
use opdispatch::backend::{Stack, Value};
use opdispatch::{Device, Result, Tensor};
use serde::Serialize;

use crate::arguments;

/// The options of the command.
#[derive(clap::Args)]
pub(crate) struct PlanOptions {
    /// The name of the operator.
    operator: String,
    /// A description of each argument: a tensor as in `cpu,f32[2,3]`, everything else as in schemas; or `NAME=DESCRIPTION`. Tensors have no
    /// memory unless they name a device.
    #[arg(allow_negative_numbers = true)]
    arguments: Vec<String>,
}

/// The answer of the command.
#[derive(Serialize)]
struct Plan {
    error: Option<String>,
    results: Option<Vec<PlannedResult>>,
}

/// A planned result.
#[derive(Serialize)]
#[serde(untagged)]
enum PlannedResult {
    Tensor { dtype: String, sizes: Vec<i64>, strides: Vec<i64> },
    List(Vec<Self>),
    Other(String),
}

impl PlannedResult {
    fn from_value(value: &Value) -> Self {
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

impl Plan {
    fn text(&self) -> String {
        let results = self.results.iter().flatten().map(|result| format!("{}\n", result.text()));
        results.chain(self.error.iter().map(|error| format!("refused: {error}\n"))).collect()
    }
}

/// Runs the command `plan`.
pub(crate) fn run(options: &PlanOptions, output: &mut Output<'_>) -> std::result::Result<CommandOutcome, Failure> {
    let operator = find_operator(&options.operator)?;
    let arguments: Stack =
        arguments::parse_arguments(operator, &options.arguments, Device::META)?.into_iter().collect();
    let results: Result<Vec<PlannedResult>> = operator
        .infer_results(&arguments)
        .map(|results| results.values().iter().map(PlannedResult::from_value).collect());
    let plan = match results {
        Ok(results) => Plan { error: None, results: Some(results) },
        Err(error) => Plan { error: Some(error.to_string()), results: None },
    };
    output.write_answer(&plan, |_| plan.text())?;
    Ok(if plan.error.is_none() { CommandOutcome::Answered } else { CommandOutcome::CallFails })
}
