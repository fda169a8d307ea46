//! Regions of vmap: the nodes between two markers, which run once for a batch.
//!
//! A program that is not decomposed has the calls that `torch.vmap` made as nodes: one that enters a level, one for each mapped input, one
//! for each result, and one that leaves the level. The nodes between them see one sample. All of them become one operation with a graph of
//! its own, whose inputs are the mapped inputs and the other values that the region reads.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use dispatch_vmap::Randomness;

use super::arguments::names;
use super::link::Linker;
use super::{GraphBuilder, HigherOrder, Instruction, MAX_DEPTH, Operation, Output, PreparedGraph, Source};
use crate::error::NodeProblem;
use crate::format::{Argument, Node};

/// A node that `torch.vmap` leaves in a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// A call without an effect in a program.
    LoadDecompositions,
    Begin,
    End,
    AddBatchDim,
    RemoveBatchDim,
}

impl Marker {
    pub(super) fn of(node: &Node) -> Option<Self> {
        Some(match node.target.strip_prefix("torch._functorch.predispatch.")? {
            "lazy_load_decompositions" => Self::LoadDecompositions,
            "_vmap_increment_nesting" => Self::Begin,
            "_vmap_decrement_nesting" => Self::End,
            "_add_batch_dim" => Self::AddBatchDim,
            "_remove_batch_dim" => Self::RemoveBatchDim,
            _ => return None,
        })
    }
}

/// A region of vmap.
#[derive(Debug)]
pub(crate) struct VmapRegion {
    /// The number of samples.
    pub(crate) size: Source,
    pub(crate) randomness: Randomness,
    /// The mapped inputs with their batch dimensions. They are the first inputs of the graph.
    pub(crate) mapped: Vec<(Source, i64)>,
    /// The other values that the region reads. They are the other inputs of the graph.
    pub(crate) captured: Vec<Source>,
    /// The computation of one sample. Its outputs are tensors, and then numbers.
    pub(crate) body: PreparedGraph,
    /// The batch dimension of each tensor of the results. `None` for a tensor that is the same for all samples, as all numbers are.
    pub(crate) result_dims: Vec<Option<i64>>,
}

/// Splits the nodes after a marker that begins a region: those of the region, with the marker that ends it, and the nodes after it.
pub(super) fn split<'s, 'n>(nodes: &'s [&'n Node]) -> (&'s [&'n Node], &'s [&'n Node]) {
    let mut depth = 1_usize;
    for (at, node) in nodes.iter().enumerate() {
        match Marker::of(node) {
            Some(Marker::Begin) => depth += 1,
            Some(Marker::End) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return nodes.split_at(at + 1);
        }
    }
    (nodes, &[])
}

/// The nodes of a region by their meaning.
#[derive(Default)]
struct RegionNodes<'n> {
    added: Vec<&'n Node>,
    removed: Vec<&'n Node>,
    /// The nodes of the graph, with the markers of inner regions.
    inner: Vec<&'n Node>,
    /// The names of the values that the region reads and does not define.
    captured: Vec<&'n str>,
    /// The tensors and the numbers that the region defines and that later nodes read.
    tensors: Vec<&'n str>,
    numbers: Vec<&'n str>,
}

impl<'n> RegionNodes<'n> {
    fn new(nodes: &[&'n Node], all_uses: &Uses<'n>) -> Self {
        let mut region = Self::default();
        let mut known = HashSet::new();
        let uses = count_uses(nodes.iter().flat_map(|node| inputs(node)));
        let is_read_later = |name: &str| all_uses.get(name) > uses.get(name);
        let mut depth = 0_usize;
        for &node in nodes {
            let marker = Marker::of(node);
            match marker {
                Some(Marker::Begin) => depth += 1,
                Some(Marker::End) => depth = depth.saturating_sub(1),
                _ => {}
            }
            match marker {
                Some(Marker::AddBatchDim) if depth == 0 => region.added.push(node),
                Some(Marker::RemoveBatchDim) if depth == 0 => region.removed.push(node),
                _ => region.inner.push(node),
            }
            if marker != Some(Marker::AddBatchDim) || depth > 0 {
                let arguments = inputs(node).flat_map(names);
                region.captured.extend(arguments.filter(|name| known.insert(*name)));
            }
            let is_result = marker == Some(Marker::RemoveBatchDim) && depth == 0;
            for output in &node.outputs {
                if is_result {
                    continue;
                }
                known.extend(names(output));
                let is_number =
                    matches!(output, Argument::AsSymInt(_) | Argument::AsSymFloat(_) | Argument::AsSymBool(_));
                let results = if is_number { &mut region.numbers } else { &mut region.tensors };
                results.extend(names(output).filter(|name| is_read_later(name)));
            }
        }
        region
    }
}

impl<'g> GraphBuilder<'g> {
    /// Adds the operation of a region. `nodes` are the nodes after its first marker, with the last marker.
    pub(super) fn add_region(&mut self, begin: &'g Node, nodes: &[&'g Node], linker: &mut Linker) {
        let (end, nodes) = match nodes.split_last() {
            Some((end, inner)) if Marker::of(end) == Some(Marker::End) => (Ok(()), inner),
            _ => (Err(NodeProblem::Other("the region of vmap that it begins has no end".to_owned())), nodes),
        };
        let region = end.map_err(|problem| (begin, problem)).and_then(|()| self.prepare_region(begin, nodes, linker));
        match region {
            Ok(Some(instruction)) => return self.instructions.push(instruction),
            Ok(None) => {}
            Err((node, reason)) => self.add_error(node, reason),
        }
        // The nodes after an invalid region have no consequential errors.
        for node in nodes {
            self.definitions.define_outputs_of_invalid_node(node);
        }
    }

    /// Returns no instruction if a node of the region is invalid.
    fn prepare_region(
        &mut self,
        begin: &'g Node,
        nodes: &[&'g Node],
        linker: &mut Linker,
    ) -> Result<Option<Instruction>, (&'g Node, NodeProblem)> {
        if self.depth >= MAX_DEPTH {
            return Err((begin, NodeProblem::TooDeep));
        }
        let (size, randomness) = self.region_options(begin).map_err(|problem| (begin, problem))?;
        let graph = self.graph;
        let all = || count_uses(graph.nodes.iter().flat_map(inputs).chain(&graph.outputs));
        let nodes = RegionNodes::new(nodes, self.uses.get_or_init(all));
        if nodes.added.is_empty() {
            return Err((begin, NodeProblem::Other("the region of vmap has no mapped input".to_owned())));
        }
        let mut body = GraphBuilder::new(self.graph, self.depth + 1);
        body.uses = Rc::clone(&self.uses);
        let (mut inputs, mut mapped, mut captured) = (Vec::new(), Vec::new(), Vec::new());
        for node in nodes.added {
            let problem = |problem| (node, problem);
            let value = operand(node, 0).and_then(|value| self.definitions.source(value, "0")).map_err(problem)?;
            mapped.push((value, dim_of(node, 1).map_err(problem)?));
            let name = node.outputs.iter().flat_map(names).next().unwrap_or_default();
            let slot = body.definitions.define(name);
            inputs.push(Some(slot.map_err(|value| problem(NodeProblem::DefinedTwice { value }))?));
        }
        for name in nodes.captured {
            // Names of mapped inputs are not captured. Unknown names are errors of the nodes that use them.
            if let Ok(slot) = self.definitions.slot(name)
                && let Ok(own) = body.definitions.define(name)
            {
                captured.push(Source::Slot(slot));
                inputs.push(Some(own));
            }
        }
        body.add_nodes(&nodes.inner, linker);
        if let Some(error) = body.first_error {
            self.first_error.get_or_insert(error);
            return Ok(None);
        }
        let (mut results, mut result_dims, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for node in nodes.removed {
            let problem = |problem| (node, problem);
            let value = operand(node, 0).and_then(|value| body.definitions.source(value, "0")).map_err(problem)?;
            results.push(value);
            result_dims.push(Some(dim_of(node, 3).map_err(problem)?));
            let name = node.outputs.iter().flat_map(names).next().unwrap_or_default();
            let slot = self.definitions.define(name);
            outputs.push(Output::Value(slot.map_err(|value| problem(NodeProblem::DefinedTwice { value }))?));
        }
        result_dims.resize(results.len() + nodes.tensors.len(), None);
        for name in nodes.tensors.into_iter().chain(nodes.numbers) {
            let problem = |problem| (begin, problem);
            results.push(Source::Slot(body.definitions.slot(name).map_err(problem)?));
            let slot = self.definitions.define(name);
            outputs.push(Output::Value(slot.map_err(|value| problem(NodeProblem::DefinedTwice { value }))?));
        }
        let body = body.finish(inputs, results);
        let region = VmapRegion { size, randomness, mapped, captured, body, result_dims };
        let operation = Operation::HigherOrder(Box::new(HigherOrder::Vmap(region)));
        Ok(Some(Instruction::new(begin, operation, outputs)))
    }

    fn region_options(&self, begin: &Node) -> Result<(Source, Randomness), NodeProblem> {
        let (size, randomness) = (operand(begin, 0)?, operand(begin, 1)?);
        let wrong = |expected: &str| NodeProblem::WrongArgument {
            argument: "1".to_owned(),
            expected: expected.to_owned(),
            found: randomness.kind(),
        };
        let Argument::AsString(text) = randomness else { return Err(wrong("str")) };
        let randomness = match text.as_str() {
            "error" => Randomness::Error,
            "same" => Randomness::Same,
            "different" => Randomness::Different,
            _ => return Err(wrong("`error`, `same` or `different`")),
        };
        Ok((self.definitions.number(size, 0)?, randomness))
    }
}

/// The number of times that nodes, and the outputs of their graph, read each value.
pub(super) type Uses<'n> = HashMap<&'n str, usize>;

fn count_uses<'n>(arguments: impl Iterator<Item = &'n Argument>) -> Uses<'n> {
    let mut uses = Uses::new();
    arguments.flat_map(names).for_each(|name| *uses.entry(name).or_default() += 1);
    uses
}

fn inputs(node: &Node) -> impl Iterator<Item = &Argument> {
    node.inputs.iter().map(|input| &input.arg)
}

/// Returns an argument of a marker.
fn operand(node: &Node, position: usize) -> Result<&Argument, NodeProblem> {
    let missing = || NodeProblem::MissingArgument { argument: position.to_string() };
    node.inputs.get(position).map(|input| &input.arg).ok_or_else(missing)
}

fn dim_of(node: &Node, position: usize) -> Result<i64, NodeProblem> {
    match operand(node, position)? {
        Argument::AsInt(dim) => Ok(*dim),
        other => Err(NodeProblem::WrongArgument {
            argument: position.to_string(),
            expected: "int".to_owned(),
            found: other.kind(),
        }),
    }
}
