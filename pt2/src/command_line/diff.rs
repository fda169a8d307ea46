//! The command `diff`: compares two runs node by node.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use aten::prelude::*;
use dispatch_modes::with_mode;
use dispatch_nn::Module as _;
use dispatch_pt2::{Archive, Program};
use dispatch_runtime::{DType, Result, Tensor, Value, guard};
use kernels_cpu::thread_pool::set_num_threads;

use crate::difference::{Difference, default_tolerance};
use crate::node_observer::{NodeObserver, lock, tensors};
use crate::program_input::{ProgramInput, copy_inputs};
use crate::progress_bar::DelayedProgressBar;
use crate::{Outcome, Verdict};

/// Compares two runs node by node, and names the first node that differs.
///
/// The runs are those of two programs, or of one program with other settings. Nodes of two programs are compared if they have the same name,
/// operator and sizes. The outputs are always compared.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DiffOptions {
    #[command(flatten)]
    input: ProgramInput,
    /// The program of the second run. Without it, the same one.
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,
    /// The dtype of the second run's parameters, buffers and inputs of floating-point numbers.
    #[arg(long, value_name = "DTYPE")]
    dtype: Option<DType>,
    /// The number of threads of the second run. The first one has one thread then.
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// The largest relative difference of two results that agree. Without it, that of `torch.testing` for the dtype, times 10.
    #[arg(long, value_name = "NUMBER")]
    tolerance: Option<f64>,
}

const AFTER_HELP: &str = "\
Examples:
  pt2 diff model.pt2 --dtype bf16
  pt2 diff old.pt2 input.npy --with new.pt2";

/// The results of the calls of each node with this name and operator, in the order of the calls.
type NodeResults = HashMap<(String, String), Vec<Vec<Tensor>>>;

/// The results of the first run, and copies of those of its nodes.
struct FirstRun {
    nodes: NodeResults,
    outputs: Vec<Value>,
}

/// The comparison of the second run with the first.
struct Comparison {
    first: NodeResults,
    /// The number of calls of each node in the second run so far.
    calls: HashMap<(String, String), usize>,
    compared: usize,
    only_second: usize,
    tolerance: Option<f64>,
    largest: Option<(f64, String)>,
    first_difference: Option<String>,
}

pub(crate) fn run(options: &DiffOptions, out: &mut dyn Write) -> Outcome<Verdict> {
    let (program, leaves) = options.input.load()?;
    let mut second = match &options.with {
        Some(path) => options.input.program(&Archive::open(path)?)?,
        None => options.input.program(&options.input.open()?)?,
    };
    let mut second_leaves = copy_inputs(&leaves)?;
    if let Some(dtype) = options.dtype {
        second = second.to(dtype)?;
        second_leaves.iter_mut().try_for_each(|leaf| convert_floating(leaf, dtype))?;
    }
    let _no_grad = guard::no_grad();
    if options.threads.is_some() {
        set_num_threads(1);
    }
    let first = collect_results(&program, leaves)?;
    if let Some(threads) = options.threads {
        set_num_threads(threads);
    }
    let comparison = compare_run(&second, second_leaves, first, options.tolerance)?;
    comparison.print(out)
}

fn convert_floating(leaf: &mut Value, dtype: DType) -> Result<()> {
    if let Value::Tensor(tensor) = leaf
        && tensor.is_floating_point()
    {
        *tensor = tensor.to(dtype)?;
    }
    Ok(())
}

/// Runs a program, and returns copies of all results.
fn collect_results(program: &Program, leaves: Vec<Value>) -> Outcome<FirstRun> {
    let results = Arc::new(Mutex::new(NodeResults::new()));
    let bar = Mutex::new(DelayedProgressBar::new(program.nodes().len()));
    let collected = results.clone();
    let observer = NodeObserver::new(move |node, operator, values| {
        // Later nodes may write to the results in place.
        let copies = tensors(values).map(ConversionMethods::deep_clone).collect::<Result<Vec<Tensor>>>()?;
        lock(&bar).step(node);
        lock(&collected).entry((node.to_owned(), operator.name().to_string())).or_default().push(copies);
        Ok(())
    });
    let outputs = with_mode(observer, || program.run_leaves(leaves))?;
    let nodes = std::mem::take(&mut *lock(&results));
    Ok(FirstRun { nodes, outputs })
}

fn compare_run(program: &Program, leaves: Vec<Value>, first: FirstRun, tolerance: Option<f64>) -> Outcome<Comparison> {
    let comparison = Comparison {
        first: first.nodes,
        calls: HashMap::new(),
        compared: 0,
        only_second: 0,
        tolerance,
        largest: None,
        first_difference: None,
    };
    let comparison = Arc::new(Mutex::new(comparison));
    let bar = Mutex::new(DelayedProgressBar::new(program.nodes().len()));
    let compared = comparison.clone();
    let observer = NodeObserver::new(move |node, operator, values| {
        lock(&bar).step(node);
        lock(&compared).add_call(node, &operator.name().to_string(), values);
        Ok(())
    });
    let outcome = with_mode(observer, || program.run_leaves(leaves));
    let comparison = Arc::into_inner(comparison).ok_or("the run has not ended")?;
    let mut comparison = comparison.into_inner().unwrap_or_else(PoisonError::into_inner);
    match outcome {
        Ok(outputs) => comparison.add_outputs(&outputs, &first.outputs),
        // The comparison tells more than the error of a second run that fails after a difference.
        Err(_) if comparison.first_difference.is_some() => {}
        Err(error) => return Err(error.into()),
    }
    Ok(comparison)
}

impl Comparison {
    /// Compares the results of a call with those of the same call in the first run. If the sizes differ, it is another call.
    fn add_call(&mut self, node: &str, operator: &str, values: &[Value]) {
        let key = (node.to_owned(), operator.to_owned());
        let call = self.calls.entry(key.clone()).or_default();
        let expected = self.first.get(&key).and_then(|calls| calls.get(*call));
        *call += 1;
        let has_sizes =
            |expected: &&Vec<Tensor>| tensors(values).map(Tensor::sizes).eq(expected.iter().map(Tensor::sizes));
        let Some(expected) = expected.filter(has_sizes) else {
            self.only_second += 1;
            return;
        };
        self.compared += 1;
        for (actual, expected) in tensors(values).zip(expected.clone()) {
            self.add(&format!("`{node}` ({operator})"), actual, &expected);
        }
    }

    fn add_outputs(&mut self, actual: &[Value], expected: &[Value]) {
        if actual.len() != expected.len() {
            let reason = format!("the programs have {} and {} outputs", expected.len(), actual.len());
            self.first_difference.get_or_insert(reason);
        }
        for (at, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            if let (Value::Tensor(actual), Value::Tensor(expected)) = (actual, expected) {
                self.add(&format!("output {at}"), actual, expected);
            }
        }
    }

    fn add(&mut self, place: &str, actual: &Tensor, expected: &Tensor) {
        let reason = match compare(actual, expected) {
            Ok(difference) => {
                let dtypes = [actual.dtype(), expected.dtype()];
                let default = || 10.0 * dtypes.map(default_tolerance).into_iter().fold(0.0, f64::max);
                let tolerance = self.tolerance.unwrap_or_else(default);
                if self.largest.as_ref().is_none_or(|(largest, _)| difference > *largest) {
                    self.largest = Some((difference, place.to_owned()));
                }
                // A NaN is not within the tolerance.
                (difference.is_nan() || difference > tolerance)
                    .then(|| format!("the relative difference is {difference:.3e}, and the tolerance {tolerance:.3e}"))
            }
            Err(reason) => Some(reason),
        };
        if let Some(reason) = reason {
            self.first_difference.get_or_insert_with(|| format!("{place}: {reason}"));
        }
    }

    fn print(&self, out: &mut dyn Write) -> Outcome<Verdict> {
        let first: usize = self.first.values().map(Vec::len).sum();
        let only_first = first.saturating_sub(self.compared);
        writeln!(
            out,
            "{} calls are in both runs, {only_first} only in the first, {} only in the second",
            self.compared, self.only_second
        )?;
        if let Some((largest, place)) = &self.largest {
            writeln!(out, "the largest relative difference is {largest:.3e}, at {place}")?;
        }
        Ok(if let Some(first) = &self.first_difference {
            writeln!(out, "first difference: {first}")?;
            Verdict::Bad
        } else {
            writeln!(out, "no difference above the tolerance")?;
            Verdict::Good
        })
    }
}

/// Returns the relative difference of two tensors, which may differ in the dtype of floating-point numbers.
fn compare(actual: &Tensor, expected: &Tensor) -> std::result::Result<f64, String> {
    let is_floating = actual.is_floating_point() && expected.is_floating_point();
    let expected =
        if is_floating { expected.to(actual.dtype()).map_err(|error| error.to_string())? } else { expected.clone() };
    let mut difference = Difference::default();
    difference.add(actual, &expected)?;
    Ok(difference.relative())
}
