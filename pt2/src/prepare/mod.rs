//! Preparation of a graph: values become slots, operators become handles, and each instruction knows the values that die after it.

mod arguments;
mod functionalized;
mod higher_order;
mod lifetimes;
mod link;
mod python_operator;
mod source;
mod vmap_region;
mod workspaces;
mod written_inputs;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use dispatch_runtime::Operator;

use crate::error::{NodeProblem, Pt2Problem, UnknownOperator};
use crate::format::{Argument, Graph, Node};
use crate::recorded::RecordedValue;

pub(crate) use higher_order::HigherOrder;
pub(crate) use python_operator::PythonOperator;
pub(crate) use source::{Source, SymSource};

pub(crate) use vmap_region::VmapRegion;

use arguments::Definitions;
use link::{Linker, Target};
use vmap_region::{Marker, Uses};
use workspaces::Workspaces;

/// The index of a value during a run.
pub(crate) type Slot = usize;

/// The slot of the device that a graph runs on. Each graph has it.
pub(crate) const DEVICE_SLOT: Slot = 0;

/// The deepest nesting of graphs in the arguments of nodes.
const MAX_DEPTH: usize = 32;

/// A graph that can be run.
#[derive(Debug)]
pub(crate) struct PreparedGraph {
    /// The slot of each input. An input that is a constant has none.
    pub(crate) inputs: Vec<Option<Slot>>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) outputs: Vec<Source>,
    /// The name of the value in each slot.
    pub(crate) slot_names: Vec<String>,
    pub(crate) workspaces: Workspaces,
    /// The description of the value in each slot.
    pub(crate) recorded: Vec<RecordedValue>,
}

/// A node: a call, the places of its results, and the values that are not needed any more after it.
#[derive(Debug)]
pub(crate) struct Instruction {
    pub(crate) name: String,
    pub(crate) target: String,
    /// The path of the module that made the call.
    pub(crate) module: String,
    pub(crate) operation: Operation,
    pub(crate) outputs: Vec<Output>,
    /// The slots that are emptied after the instruction, besides those that its call takes its arguments out of.
    pub(crate) dead_after: Vec<Slot>,
}

#[derive(Debug)]
pub(crate) enum Operation {
    Call(OperatorCall),
    Python(PythonOperator, Vec<Source>),
    HigherOrder(Box<HigherOrder>),
}

/// A call of an operator, with a source for each argument of its schema.
#[derive(Debug)]
pub(crate) struct OperatorCall {
    pub(crate) operator: &'static Operator,
    pub(crate) arguments: Vec<Source>,
    /// The results that are one of the written arguments: the position of the result, and the slot of the argument.
    pub(crate) written: Vec<(usize, Slot)>,
}

/// The place of a result.
#[derive(Debug)]
pub(crate) enum Output {
    Ignored,
    Value(Slot),
    Values(Vec<Option<Slot>>),
}

/// Prepares the graph of a program.
///
/// # Errors
///
/// Returns an error that lists all unknown operators, or the error of the first invalid node.
pub(crate) fn prepare_program(graph: &Graph) -> Result<PreparedGraph, Pt2Problem> {
    let mut linker = Linker::default();
    let prepared = prepare_graph(graph, &mut linker, 0);
    let unknown: Vec<UnknownOperator> = linker.into_unknown();
    if unknown.is_empty() { prepared } else { Err(Pt2Problem::UnknownOperators(unknown)) }
}

fn prepare_graph(graph: &Graph, linker: &mut Linker, depth: usize) -> Result<PreparedGraph, Pt2Problem> {
    let mut builder = GraphBuilder::new(graph, depth);
    let mut inputs = Vec::with_capacity(graph.inputs.len());
    for input in &graph.inputs {
        let slot = builder.definitions.define_input(input).map_err(|value| Pt2Problem::Value {
            value,
            reason: "two inputs of the graph have this name".to_owned(),
        })?;
        inputs.push(slot);
    }
    builder.add_nodes(&graph.nodes.iter().collect::<Vec<_>>(), linker);
    if let Some(error) = builder.first_error {
        return Err(error);
    }
    let outputs = graph.outputs.iter().map(|output| {
        builder.definitions.output_source(output).map_err(|value| Pt2Problem::Signature {
            reason: format!("the output `{value}` of the graph is defined by nothing"),
        })
    });
    let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
    Ok(builder.finish(inputs, outputs))
}

/// A prepared graph under construction.
struct GraphBuilder<'g> {
    graph: &'g Graph,
    /// The number of graphs and regions around this one.
    depth: usize,
    definitions: Definitions,
    instructions: Vec<Instruction>,
    first_error: Option<Pt2Problem>,
    /// The uses of all values of `graph`. They are counted when the first region needs them.
    uses: Rc<OnceCell<Uses<'g>>>,
}

impl<'g> GraphBuilder<'g> {
    fn new(graph: &'g Graph, depth: usize) -> Self {
        let definitions = Definitions::default();
        Self { graph, depth, definitions, instructions: Vec::new(), first_error: None, uses: Rc::default() }
    }

    fn add_nodes(&mut self, nodes: &[&'g Node], linker: &mut Linker) {
        let mut rest = nodes;
        while let Some((node, after)) = rest.split_first() {
            rest = after;
            match Marker::of(node) {
                None if node.target == functionalized::TARGET => self.add_functionalized(node, linker),
                None => match self.prepare_node(node, linker) {
                    Ok(instruction) => self.instructions.extend(instruction),
                    Err(reason) => self.add_error(node, reason),
                },
                Some(Marker::LoadDecompositions) => {}
                Some(Marker::Begin) => {
                    let (region, after) = vmap_region::split(rest);
                    rest = after;
                    self.add_region(node, region, linker);
                }
                Some(Marker::End | Marker::AddBatchDim | Marker::RemoveBatchDim) => {
                    self.add_error(node, NodeProblem::Other("it is outside of a region of vmap".to_owned()));
                }
            }
        }
    }

    /// Adds the error of a node. An invalid node may be the consequence of an unknown operator, and all unknown operators are reported at
    /// once, so the nodes after it are prepared, too.
    fn add_error(&mut self, node: &Node, reason: NodeProblem) {
        self.first_error.get_or_insert_with(|| node_error(self.graph, node, reason));
        self.definitions.define_outputs_of_invalid_node(node);
    }

    fn finish(mut self, inputs: Vec<Option<Slot>>, outputs: Vec<Source>) -> PreparedGraph {
        let slot_names = self.definitions.into_names();
        lifetimes::set_dead_values(&mut self.instructions, &outputs, slot_names.len());
        let recorded = slot_names.iter().map(|name| RecordedValue::of(self.graph, name)).collect();
        PreparedGraph {
            inputs,
            instructions: self.instructions,
            outputs,
            slot_names,
            recorded,
            workspaces: Workspaces::default(),
        }
    }

    /// Prepares a node. Returns `None` if its operator is unknown.
    fn prepare_node(&mut self, node: &Node, linker: &mut Linker) -> Result<Option<Instruction>, NodeProblem> {
        let definitions = &mut self.definitions;
        let operation = match linker.link(node)? {
            Target::Unknown => None,
            Target::Operator(operator) => Some(Operation::Call(arguments::prepare_call(operator, node, definitions)?)),
            Target::Python(operator) => {
                let sources = node.inputs.iter().enumerate().map(|(at, input)| definitions.number(&input.arg, at));
                let sources = sources.collect::<Result<Vec<_>, _>>()?;
                operator.check_operand_count(sources.len())?;
                Some(Operation::Python(operator, sources))
            }
            Target::HigherOrder(name) => {
                if self.depth >= MAX_DEPTH {
                    return Err(NodeProblem::TooDeep);
                }
                let operation = higher_order::prepare(name, node, definitions, linker, self.depth + 1)?;
                Some(Operation::HigherOrder(Box::new(operation)))
            }
        };
        let outputs = definitions.define_results(&node.outputs)?;
        let Some(operation) = operation else { return Ok(None) };
        Ok(Some(Instruction::new(node, operation, outputs)))
    }
}

impl Instruction {
    fn new(node: &Node, operation: Operation, outputs: Vec<Output>) -> Self {
        Self {
            name: node_name(node).to_owned(),
            target: node.target.clone(),
            module: node.metadata.module_path().to_owned(),
            operation,
            outputs,
            dead_after: Vec::new(),
        }
    }
}

/// Returns the name of a node, or that of its first result if it has none.
fn node_name(node: &Node) -> &str {
    node.name.as_deref().unwrap_or_else(|| match node.outputs.first() {
        Some(Argument::AsTensor(tensor)) => &tensor.name,
        _ => "",
    })
}

fn node_error(graph: &Graph, node: &Node, reason: NodeProblem) -> Pt2Problem {
    let reason = match reason {
        NodeProblem::Undefined { value, .. } => {
            let later = graph
                .nodes
                .iter()
                .flat_map(|node| &node.outputs)
                .any(|output| arguments::names(output).any(|name| name == value));
            NodeProblem::Undefined { value, later }
        }
        other => other,
    };
    Pt2Problem::Node {
        node: node_name(node).to_owned(),
        target: node.target.clone(),
        module: node.metadata.module_path().to_owned(),
        reason: Box::new(reason),
    }
}

/// The slots of values by name.
pub(crate) type SlotsByName = HashMap<String, Slot>;
