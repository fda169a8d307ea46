//! Higher-order operators: their arguments are graphs.

use dispatch_runtime::{DType, Operator, keys};

use super::arguments::{Definitions, device_source, prepare_call_with};
use super::link::Linker;
use super::{OperatorCall, PreparedGraph, Slot, Source, VmapRegion, prepare_graph};
use crate::error::NodeProblem;
use crate::format::{self, Argument, NamedArgument, Node};

/// A higher-order operator with its graphs and operands.
#[derive(Debug)]
pub(crate) enum HigherOrder {
    /// Runs one of two graphs.
    Cond { predicate: Source, then: PreparedGraph, otherwise: PreparedGraph, operands: Vec<Source> },
    /// Runs a graph on the carried values until a condition is false.
    WhileLoop { condition: PreparedGraph, body: PreparedGraph, carried: Vec<Source>, additional: Vec<Source> },
    /// Runs a graph on each slice of the mapped values, and stacks the results.
    Map { body: PreparedGraph, mapped: Vec<Source>, others: Vec<Source> },
    /// Runs a graph on each slice of the mapped values, and passes the carried values on to the next run.
    Scan { body: PreparedGraph, carried: Vec<Source>, mapped: Vec<Source>, additional: Vec<Source> },
    /// Combines the slices of the mapped values from the first one on, in any grouping, and returns all intermediate results.
    AssociativeScan { combine: PreparedGraph, mapped: Vec<Source>, additional: Vec<Source> },
    /// Runs a graph of one sample on a batch.
    Vmap(VmapRegion),
    /// Runs an operator with side effects. Its token says only that it must not be removed.
    WithEffects(OperatorCall),
    /// Runs a graph with gradients on or off.
    SetGradEnabled { enabled: bool, body: PreparedGraph, operands: Vec<Source> },
    /// Runs a graph with autocast on or off.
    Autocast { device: Source, dtype: Option<DType>, enabled: bool, body: PreparedGraph, operands: Vec<Source> },
}

/// Prepares a node with a higher-order operator.
pub(super) fn prepare(
    name: &str,
    node: &Node,
    definitions: &Definitions,
    linker: &mut Linker,
    depth: usize,
) -> Result<HigherOrder, NodeProblem> {
    let mut arguments = Arguments { rest: &node.inputs, position: 0, definitions, linker, depth };
    let operation = match name {
        "cond" => {
            let predicate = arguments.source()?;
            let (then, otherwise) = (arguments.graph()?, arguments.graph()?);
            HigherOrder::Cond { predicate, then, otherwise, operands: arguments.operands()? }
        }
        "while_loop" => {
            let (condition, body) = (arguments.graph()?, arguments.graph()?);
            HigherOrder::WhileLoop { condition, body, carried: arguments.list()?, additional: arguments.operands()? }
        }
        "map_impl" => {
            let body = arguments.graph()?;
            HigherOrder::Map { body, mapped: arguments.list()?, others: arguments.operands()? }
        }
        "scan" => {
            let body = arguments.graph()?;
            let (carried, mapped) = (arguments.list()?, arguments.list()?);
            HigherOrder::Scan { body, carried, mapped, additional: arguments.operands()? }
        }
        "associative_scan" => {
            let combine = arguments.graph()?;
            HigherOrder::AssociativeScan { combine, mapped: arguments.list()?, additional: arguments.operands()? }
        }
        "with_effects" => return arguments.with_effects(node),
        "wrap_with_set_grad_enabled" => {
            let enabled = arguments.flag()?;
            let body = arguments.graph()?;
            HigherOrder::SetGradEnabled { enabled, body, operands: arguments.operands()? }
        }
        "wrap_with_autocast" => {
            let device = arguments.device()?;
            let dtype = arguments.optional_dtype()?;
            let (enabled, _caches_casts) = (arguments.flag()?, arguments.flag_or_none()?);
            if enabled && !is_autocast_linked() {
                let reason = "the program has no autocast layer; link it: `use dispatch_autocast as _;`";
                return Err(NodeProblem::Other(reason.to_owned()));
            }
            let body = arguments.graph()?;
            HigherOrder::Autocast { device, dtype, enabled, body, operands: arguments.operands()? }
        }
        _ => return Err(NodeProblem::UnsupportedHigherOrder),
    };
    operation.check_counts()?;
    Ok(operation)
}

/// The arguments of a higher-order operator, which have an order and no names.
struct Arguments<'a> {
    rest: &'a [NamedArgument],
    position: usize,
    definitions: &'a Definitions,
    linker: &'a mut Linker,
    depth: usize,
}

impl<'a> Arguments<'a> {
    fn next(&mut self) -> Result<&'a Argument, NodeProblem> {
        let Some((first, rest)) = self.rest.split_first() else {
            return Err(NodeProblem::MissingArgument { argument: self.position.to_string() });
        };
        (self.rest, self.position) = (rest, self.position + 1);
        Ok(&first.arg)
    }

    #[cold]
    fn wrong(&self, expected: &str, found: &Argument) -> NodeProblem {
        let argument = self.position.saturating_sub(1).to_string();
        NodeProblem::WrongArgument { argument, expected: expected.to_owned(), found: found.kind() }
    }

    fn source(&mut self) -> Result<Source, NodeProblem> {
        let argument = self.next()?;
        self.definitions.source(argument, &(self.position - 1).to_string())
    }

    fn graph(&mut self) -> Result<PreparedGraph, NodeProblem> {
        match self.next()? {
            Argument::AsGraph(graph) => prepare_graph(&graph.graph, self.linker, self.depth)
                .map_err(|error| NodeProblem::Other(format!("in its graph `{}`: {error}", graph.name))),
            other => Err(self.wrong("graph", other)),
        }
    }

    /// Returns the operands in one argument.
    fn list(&mut self) -> Result<Vec<Source>, NodeProblem> {
        let argument = self.next()?;
        let mut operands = Vec::new();
        self.add_operands(argument, &mut operands)?;
        Ok(operands)
    }

    /// Returns the operands in all remaining arguments.
    fn operands(&mut self) -> Result<Vec<Source>, NodeProblem> {
        let mut operands = Vec::new();
        while !self.rest.is_empty() {
            let argument = self.next()?;
            self.add_operands(argument, &mut operands)?;
        }
        Ok(operands)
    }

    fn add_operands(&self, argument: &Argument, operands: &mut Vec<Source>) -> Result<(), NodeProblem> {
        let name = self.position.saturating_sub(1).to_string();
        match self.definitions.source(argument, &name)? {
            Source::Tensors(slots) => operands.extend(slots.into_iter().map(Source::Slot)),
            Source::OptionalTensors(slots) => operands.extend(
                slots
                    .into_iter()
                    .map(|slot| slot.map_or(Source::Constant(dispatch_runtime::Value::None), Source::Slot)),
            ),
            Source::Ints(items) => operands.extend(items.into_iter().map(|item| match item {
                super::SymSource::Constant(value) => Source::Constant(value.into()),
                super::SymSource::Slot(slot) => Source::Slot(slot),
            })),
            Source::Constant(dispatch_runtime::Value::Ints(values)) => {
                operands.extend(values.iter().map(|value| Source::Constant((*value).into())));
            }
            source => operands.push(source),
        }
        Ok(())
    }

    fn flag(&mut self) -> Result<bool, NodeProblem> {
        match self.next()? {
            Argument::AsBool(flag) => Ok(*flag),
            other => Err(self.wrong("bool", other)),
        }
    }

    fn flag_or_none(&mut self) -> Result<Option<bool>, NodeProblem> {
        match self.next()? {
            Argument::AsBool(flag) => Ok(Some(*flag)),
            Argument::AsNone(_) => Ok(None),
            other => Err(self.wrong("bool", other)),
        }
    }

    fn optional_dtype(&mut self) -> Result<Option<DType>, NodeProblem> {
        match self.next()? {
            Argument::AsNone(_) => Ok(None),
            argument @ Argument::AsScalarType(id) => {
                format::dtype_of_id(*id).map(Some).ok_or_else(|| self.wrong("dtype", argument))
            }
            other => Err(self.wrong("dtype", other)),
        }
    }

    fn device(&mut self) -> Result<Source, NodeProblem> {
        match self.next()? {
            Argument::AsString(kind) => Ok(device_source(kind)),
            other => Err(self.wrong("str", other)),
        }
    }

    fn with_effects(mut self, node: &Node) -> Result<HigherOrder, NodeProblem> {
        let _token = self.source()?;
        let target = match self.next()? {
            Argument::AsOperator(target) => target,
            other => return Err(self.wrong("operator", other)),
        };
        let Some(operator) = self.linker.find_target(target, node) else {
            return Err(NodeProblem::Other(format!("its operator {target} is unknown")));
        };
        let given = self.rest.iter().map(|input| (input.name.as_str(), &input.arg));
        let outputs = node.outputs.len().saturating_sub(1).min(operator.schema().returns.len());
        prepare_call_with(operator, given, outputs, self.definitions).map(HigherOrder::WithEffects)
    }
}

impl HigherOrder {
    /// Checks that the graphs take and return the operation's values.
    fn check_counts(&self) -> Result<(), NodeProblem> {
        let check = |graph: &PreparedGraph, operands: usize| {
            if graph.inputs.len() == operands {
                return Ok(());
            }
            Err(NodeProblem::Other(format!("its graph has {} inputs, and gets {operands} values", graph.inputs.len())))
        };
        match self {
            Self::Cond { then, otherwise, operands, .. } => {
                check(then, operands.len())?;
                check(otherwise, operands.len())?;
                if then.outputs.len() == otherwise.outputs.len() {
                    return Ok(());
                }
                Err(NodeProblem::Other("its two graphs have different numbers of results".to_owned()))
            }
            Self::WhileLoop { condition, body, carried, additional } => {
                check(condition, carried.len() + additional.len())?;
                check(body, carried.len() + additional.len())?;
                if body.outputs.len() == carried.len() && condition.outputs.len() == 1 {
                    return Ok(());
                }
                Err(NodeProblem::Other("its graphs do not return one condition and each carried value".to_owned()))
            }
            Self::Map { body, mapped, others } => check(body, mapped.len() + others.len()),
            Self::Scan { body, carried, mapped, additional } => {
                check(body, carried.len() + mapped.len() + additional.len())?;
                if body.outputs.len() >= carried.len() {
                    return Ok(());
                }
                Err(NodeProblem::Other("its graph does not return each carried value".to_owned()))
            }
            Self::AssociativeScan { combine, mapped, additional } => {
                check(combine, 2 * mapped.len() + additional.len())?;
                if combine.outputs.len() == mapped.len() {
                    return Ok(());
                }
                Err(NodeProblem::Other("its graph does not return each combined value".to_owned()))
            }
            Self::SetGradEnabled { body, operands, .. } | Self::Autocast { body, operands, .. } => {
                check(body, operands.len())
            }
            Self::WithEffects(_) | Self::Vmap(_) => Ok(()),
        }
    }

    /// Calls `f` with each slot that the operation reads.
    pub(crate) fn for_each_slot(&self, f: &mut dyn FnMut(Slot)) {
        let mut all = |sources: &[Source]| {
            for source in sources {
                source.for_each_slot(&mut *f);
            }
        };
        match self {
            Self::Cond { predicate, operands, .. } => {
                all(std::slice::from_ref(predicate));
                all(operands);
            }
            Self::WhileLoop { carried: first, additional: second, .. }
            | Self::Map { mapped: first, others: second, .. }
            | Self::AssociativeScan { mapped: first, additional: second, .. } => {
                all(first);
                all(second);
            }
            Self::Scan { carried, mapped, additional, .. } => {
                all(carried);
                all(mapped);
                all(additional);
            }
            Self::Vmap(region) => {
                all(std::slice::from_ref(&region.size));
                region.mapped.iter().for_each(|(value, _)| all(std::slice::from_ref(value)));
                all(&region.captured);
            }
            Self::WithEffects(call) => all(&call.arguments),
            Self::SetGradEnabled { operands, .. } => all(operands),
            Self::Autocast { device, operands, .. } => {
                all(std::slice::from_ref(device));
                all(operands);
            }
        }
    }

    /// Returns the graphs of the operation.
    pub(crate) fn graphs(&self) -> Vec<&PreparedGraph> {
        match self {
            Self::Cond { then, otherwise, .. } => vec![then, otherwise],
            Self::WhileLoop { condition, body, .. } => vec![condition, body],
            Self::AssociativeScan { combine, .. } => vec![combine],
            Self::Vmap(region) => vec![&region.body],
            Self::Map { body, .. }
            | Self::Scan { body, .. }
            | Self::SetGradEnabled { body, .. }
            | Self::Autocast { body, .. } => vec![body],
            Self::WithEffects(_) => Vec::new(),
        }
    }
}

/// Whether a linked crate casts the arguments of products in a region of autocast.
fn is_autocast_linked() -> bool {
    let has_kernel = |operator: &Operator| {
        operator
            .table()
            .iter()
            .any(|cell| cell.key == keys::AutocastCPU && !cell.kernels.is_empty() && !cell.falls_through)
    };
    Operator::find("aten::mm").is_ok_and(has_kernel)
}
