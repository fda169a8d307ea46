//! The command `show`: the operators and the modules of a program, with what they cost.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::{Arc, Mutex};

use dispatch_modes::{Flops, with_mode};
use dispatch_nn::Module as _;
use dispatch_pt2::{Program, ProgramNode};
use dispatch_runtime::{Tensor, Value, guard};

use crate::node_observer::{NodeObserver, lock, tensors};
use crate::program_input::ProgramInput;
use crate::progress_bar::DelayedProgressBar;
use crate::text_table::write_table;
use crate::{Outcome, Verdict};

/// Prints the operators and the modules of a program, with their costs in a run.
///
/// The run is on the example that the program was exported with, or on the given inputs. Without both, the columns of the run are empty.
#[derive(clap::Args)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    input: ProgramInput,
}

/// The cost of calls in a run.
#[derive(Default, Clone, Copy)]
struct Cost {
    flops: u64,
    /// The bytes of the results.
    bytes: u64,
}

/// The sums over the nodes of an operator, or over those of a module and the modules in it.
#[derive(Default)]
struct Total<'p> {
    nodes: u64,
    parameters: u64,
    parameter_bytes: u64,
    cost: Cost,
    /// The first result of the last node.
    result: Option<&'p dyn std::fmt::Display>,
}

pub(crate) fn run(options: &ShowOptions, out: &mut dyn Write) -> Outcome<Verdict> {
    let archive = options.input.open()?;
    let program = options.input.program(&archive)?;
    let nodes = program.nodes();
    let leaves = options.input.leaves_if_any(&archive, &program)?;
    let costs = leaves.map(|leaves| measure_costs(&program, leaves)).transpose()?;
    let parameters = program.parameters();
    let bytes: u64 = parameters.iter().map(|parameter| byte_count(parameter)).sum();
    writeln!(
        out,
        "program `{}`: {} nodes, {} parameters in {} tensors ({}), {} other tensors",
        program.name(),
        nodes.len(),
        program.num_parameters(),
        parameters.len(),
        format_bytes(bytes),
        program.buffers().len(),
    )?;
    let inputs: Vec<String> =
        program.inputs().iter().map(|input| format!("{} {}", input.name, input.recorded)).collect();
    writeln!(out, "inputs: {}\n", inputs.join(", "))?;
    write_operators(&nodes, costs.as_ref(), out)?;
    writeln!(out)?;
    write_modules(&program, &nodes, costs.as_ref(), out)?;
    if let Some(sample) = archive.sample_inputs(program.name())? {
        let memory = program.memory(sample)?;
        let [total, peak] =
            [memory.total, memory.peak].map(|size| format_bytes(u64::try_from(size).unwrap_or(u64::MAX)));
        writeln!(out, "\nmemory of the results in a run on the example: {total}, and at most {peak} at one time")?;
    }
    if costs.is_none() {
        writeln!(out, "\nThe file has no example of inputs, so nothing was run. Give inputs to see the costs.")?;
    }
    Ok(Verdict::Good)
}

/// Runs the program, and returns the cost of each node.
fn measure_costs(program: &Program, leaves: Vec<Value>) -> Outcome<HashMap<String, Cost>> {
    let flops = Arc::new(Flops::new());
    let costs = Arc::new(Mutex::new(HashMap::<String, Cost>::new()));
    let bar = Mutex::new(DelayedProgressBar::new(program.nodes().len()));
    let (counted, measured) = (flops.clone(), costs.clone());
    let previous = Mutex::new(0);
    let observer = NodeObserver::new(move |node, _, results| {
        lock(&bar).step(node);
        let total = counted.total();
        let mut costs = lock(&measured);
        let cost = costs.entry(node.to_owned()).or_default();
        cost.flops += total.saturating_sub(std::mem::replace(&mut *lock(&previous), total));
        cost.bytes += tensors(results).map(byte_count).sum::<u64>();
        Ok(())
    });
    let _no_grad = guard::no_grad();
    with_mode(flops, || with_mode(observer, || program.run_leaves(leaves)))?;
    let mut costs = lock(&costs);
    Ok(std::mem::take(&mut *costs))
}

fn write_operators(
    nodes: &[ProgramNode<'_>],
    costs: Option<&HashMap<String, Cost>>,
    out: &mut dyn Write,
) -> Outcome<()> {
    let mut operators: BTreeMap<&str, Total<'_>> = BTreeMap::new();
    for node in nodes {
        operators.entry(node.target).or_default().add_node(node, costs);
    }
    let mut operators: Vec<_> = operators.into_iter().collect();
    operators.sort_by_key(|(_, total)| std::cmp::Reverse((total.cost.flops, total.nodes)));
    let is_run = costs.is_some();
    let row = |(target, total): &(&str, Total<'_>)| {
        let name = target.strip_prefix("torch.ops.").unwrap_or(target);
        [
            name.to_owned(),
            total.nodes.to_string(),
            cell(is_run, total.cost.flops, format_flops),
            cell(is_run, total.cost.bytes, format_bytes),
        ]
    };
    let rows: Vec<_> = operators.iter().map(row).collect();
    Ok(write_table(out, ["operator", "nodes", "FLOP", "results"], &rows, 1)?)
}

fn write_modules(
    program: &Program,
    nodes: &[ProgramNode<'_>],
    costs: Option<&HashMap<String, Cost>>,
    out: &mut dyn Write,
) -> Outcome<()> {
    // Modules in the order of their first node.
    let mut order: Vec<&str> = Vec::new();
    let mut modules: HashMap<&str, Total<'_>> = HashMap::new();
    for node in nodes {
        for module in enclosing_modules(node.module) {
            let total = modules.entry(module).or_insert_with(|| {
                order.push(module);
                Total::default()
            });
            total.add_node(node, costs);
        }
    }
    for parameter in program.parameters() {
        for (module, total) in &mut modules {
            if is_inside(&parameter.name, module) {
                total.parameters += u64::try_from(parameter.geometry().count()).unwrap_or(0);
                total.parameter_bytes += byte_count(&parameter);
            }
        }
    }
    let is_run = costs.is_some();
    let rows: Vec<_> = order
        .iter()
        .filter_map(|module| Some((module, modules.get(module)?)))
        .map(|(module, total)| {
            [
                if module.is_empty() { "(program)".to_owned() } else { (*module).to_owned() },
                total.result.map_or(String::new(), ToString::to_string),
                total.nodes.to_string(),
                total.parameters.to_string(),
                format_bytes(total.parameter_bytes),
                cell(is_run, total.cost.flops, format_flops),
                cell(is_run, total.cost.bytes, format_bytes),
            ]
        })
        .collect();
    let header = ["module", "last result", "nodes", "parameters", "bytes", "FLOP", "results"];
    Ok(write_table(out, header, &rows, 2)?)
}

impl<'p> Total<'p> {
    fn add_node(&mut self, node: &ProgramNode<'p>, costs: Option<&HashMap<String, Cost>>) {
        self.nodes += 1;
        if let Some(cost) = costs.and_then(|costs| costs.get(node.name)) {
            self.cost.flops += cost.flops;
            self.cost.bytes += cost.bytes;
        }
        if let Some(result) = node.results.first() {
            self.result = Some(result.recorded);
        }
    }
}

/// Returns the path of a module and of those that it is in, the outermost first.
fn enclosing_modules(path: &str) -> impl Iterator<Item = &str> {
    let inner = path.match_indices('.').map(|(end, _)| end).chain([path.len()]).filter(|&end| end > 0);
    std::iter::once("").chain(inner.filter_map(|end| path.get(..end)))
}

fn is_inside(name: &str, module: &str) -> bool {
    module.is_empty() || name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'))
}

fn byte_count(tensor: &Tensor) -> u64 {
    let elements = u64::try_from(tensor.geometry().count()).unwrap_or(0);
    elements.saturating_mul(u64::try_from(tensor.dtype().size()).unwrap_or(0))
}

fn cell(is_run: bool, number: u64, format: fn(u64) -> String) -> String {
    if is_run { format(number) } else { String::new() }
}

fn format_flops(number: u64) -> String {
    format_scaled(number, "")
}

fn format_bytes(number: u64) -> String {
    format_scaled(number, "B")
}

/// Formats a number with a prefix (k, M, G, T) and three digits or more.
#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn format_scaled(number: u64, unit: &str) -> String {
    let prefixes = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    match prefixes.into_iter().find(|&(scale, _)| number >= scale) {
        Some((scale, prefix)) => format!("{:.2} {prefix}{unit}", number as f64 / scale as f64),
        None => format!("{number} {unit}").trim_end().to_owned(),
    }
}
