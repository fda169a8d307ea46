//! The command `run`: runs a program once, and prints its outputs.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use dispatch_modes::with_mode;
use dispatch_pt2::{Program, Tree};
use dispatch_runtime::{Tensor, Value, guard};

use crate::difference::{elements, outline};
use crate::node_observer::{NodeObserver, lock};
use crate::program_input::ProgramInput;
use crate::progress_bar::DelayedProgressBar;
use crate::text_table::write_table;
use crate::{Outcome, Verdict};

/// The largest number of elements that are printed one by one.
const MOST_PRINTED: usize = 8;

/// Runs a program once, and prints its outputs.
#[derive(clap::Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    input: ProgramInput,
    /// Saves the outputs that are tensors to a safetensors file.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(options: &RunOptions, out: &mut dyn Write) -> Outcome<Verdict> {
    let (program, leaves) = options.input.load()?;
    let start = Instant::now();
    let outputs = named_leaves(&run_with_progress(&program, leaves)?);
    let seconds = start.elapsed().as_secs_f64();
    let rows: Vec<_> = outputs.iter().map(|(name, value)| output_row(name, value)).collect::<Outcome<_>>()?;
    write_table(out, ["output", "value", "min", "mean", "max"], &rows, 2)?;
    writeln!(out, "\n{} nodes in {:.1} ms", program.nodes().len(), 1e3 * seconds)?;
    if let Some(path) = &options.output {
        let tensors: Vec<(&str, Tensor)> =
            outputs.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_tensor()?.clone()))).collect();
        dispatch_files::save_safetensors(path, tensors.iter().map(|(name, tensor)| (*name, tensor)))?;
    }
    Ok(Verdict::Good)
}

/// Returns the leaves of the outputs with their paths, such as `past_key_values.0.1`.
fn named_leaves(outputs: &Tree) -> Vec<(String, Value)> {
    fn collect(path: &str, tree: &Tree, named: &mut Vec<(String, Value)>) {
        let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match tree {
            Tree::Leaf(value) => {
                named.push((if path.is_empty() { "output".to_owned() } else { path.to_owned() }, value.clone()));
            }
            Tree::Tuple(items) | Tree::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    collect(&inner(&at.to_string()), item, named);
                }
            }
            Tree::Dict(entries) | Tree::Record { fields: entries, .. } => {
                for (key, item) in entries {
                    collect(&inner(key), item, named);
                }
            }
        }
    }
    let mut named = Vec::new();
    collect("", outputs, &mut named);
    named
}

fn run_with_progress(program: &Program, leaves: Vec<Value>) -> Outcome<Tree> {
    let bar = Mutex::new(DelayedProgressBar::new(program.nodes().len()));
    let observer = NodeObserver::new(move |node, _, _| {
        lock(&bar).step(node);
        Ok(())
    });
    let _no_grad = guard::no_grad();
    Ok(program.tree(with_mode(observer, || program.run_leaves(leaves))?))
}

fn output_row(name: &str, value: &Value) -> Outcome<[String; 5]> {
    let name = name.to_owned();
    let Value::Tensor(tensor) = value else {
        return Ok([name, format!("{value:?}"), String::new(), String::new(), String::new()]);
    };
    let numbers = elements(tensor)?;
    let mut text = outline(tensor);
    if numbers.len() <= MOST_PRINTED {
        let decimals = if tensor.dtype().is_floating() || tensor.dtype().is_complex() { 4 } else { 0 };
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:.decimals$}")).collect();
        text = format!("{text} [{}]", numbers.join(", "));
    }
    let count = f64::from(u32::try_from(numbers.len()).unwrap_or(u32::MAX));
    let format = |number: f64| if numbers.is_empty() { String::new() } else { format!("{number:.6}") };
    let min = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let max = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok([name, text, format(min), format(numbers.iter().sum::<f64>() / count), format(max)])
}
