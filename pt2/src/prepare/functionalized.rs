//! Calls of a writing operator in a functional program: `auto_functionalized_v2`.
//!
//! The operator gets copies of the tensors that it writes, and the copies are results of the node. A written argument can be a view of such a
//! tensor, which the node describes. The node becomes ordinary instructions: one for each copy, one for each view, and the call.

use dispatch_runtime::Operator;
use dispatch_runtime::schema;

use super::arguments::prepare_call_with;
use super::link::Linker;
use super::{GraphBuilder, Instruction, Operation, Output, node_name};
use crate::error::NodeProblem;
use crate::format::{Argument, NamedArgument, Node, OptionalTensor, TensorName};

/// The target of the nodes.
pub(super) const TARGET: &str = "torch.ops.higher_order.auto_functionalized_v2";

impl GraphBuilder<'_> {
    /// Adds the instructions of a node.
    pub(super) fn add_functionalized(&mut self, node: &Node, linker: &mut Linker) {
        if let Err(reason) = self.try_add_functionalized(node, linker) {
            self.add_error(node, reason);
        }
    }

    fn try_add_functionalized(&mut self, node: &Node, linker: &mut Linker) -> Result<(), NodeProblem> {
        let Some((NamedArgument { arg: Argument::AsOperator(target), .. }, named)) = node.inputs.split_first() else {
            return Err(NodeProblem::MissingArgument { argument: "0".to_owned() });
        };
        let Some(operator) = linker.find_target(target, node) else {
            self.definitions.define_outputs_of_invalid_node(node);
            return Ok(());
        };
        let schema = operator.schema();
        // If the operator has no results, its node still has one result, `None`, before the copies.
        let result_count = schema.returns.len().max(1);
        let bases = self.add_copies(node, named, node.outputs.get(result_count..).unwrap_or_default())?;
        let views = Views { node, named, bases };
        let mut written = Vec::new();
        for described in schema.arguments.iter().filter(|argument| argument.is_written()) {
            written.push((described.name.as_str(), self.written_argument(&views, described)?));
        }
        let is_own = |argument: &&NamedArgument| schema.arguments.iter().any(|known| known.name == argument.name);
        let others = named.iter().filter(is_own).map(|argument| (argument.name.as_str(), &argument.arg));
        let given = others.chain(written.iter().map(|(name, argument)| (*name, argument)));
        let call = prepare_call_with(operator, given, schema.returns.len(), &self.definitions)?;
        let results = node.outputs.get(..schema.returns.len()).unwrap_or_default();
        let outputs = self.definitions.define_results(results)?;
        self.instructions.push(Instruction::new(node, Operation::Call(call), outputs));
        Ok(())
    }

    /// Adds a copy of each tensor that the operator writes, and returns the names of the copies.
    fn add_copies(
        &mut self,
        node: &Node,
        named: &[NamedArgument],
        results: &[Argument],
    ) -> Result<Vec<String>, NodeProblem> {
        let bases = match find(named, "_all_bases") {
            Some(Argument::AsTensors(bases)) => bases.as_slice(),
            Some(other) => return Err(wrong("_all_bases", "Tensor[]", other)),
            None => &[],
        };
        let mut copies = Vec::with_capacity(bases.len());
        for (at, base) in bases.iter().enumerate() {
            let name = match results.get(at) {
                Some(Argument::AsTensor(result)) => result.name.clone(),
                _ => format!("{}::base_{at}", node_name(node)),
            };
            let base = Argument::AsTensor(base.clone());
            self.add_call(node, "aten::clone", &[("self", &base)], &name)?;
            copies.push(name);
        }
        Ok(copies)
    }

    /// Adds the views of a written argument, and returns the argument.
    fn written_argument(
        &mut self,
        views: &Views<'_>,
        described: &'static schema::Argument,
    ) -> Result<Argument, NodeProblem> {
        let name = &described.name;
        if !matches!(described.ty.without_optional().kind, schema::TypeKind::List(..)) {
            return Ok(match self.add_view(views, &format!("_{name}"))? {
                Some(tensor) => Argument::AsTensor(tensor),
                None => Argument::AsNone(true),
            });
        }
        let length = match find(views.named, &format!("_{name}_length")) {
            Some(Argument::AsInt(length)) => *length,
            Some(Argument::AsNone(_)) => return Ok(Argument::AsNone(true)),
            Some(other) => return Err(wrong(name, "int", other)),
            None => return Err(NodeProblem::MissingArgument { argument: name.clone() }),
        };
        let elements = (0..length).map(|at| {
            let view = self.add_view(views, &format!("_{name}_{at}"))?;
            Ok(view.map_or(OptionalTensor::None(true), OptionalTensor::Tensor))
        });
        let elements = elements.collect::<Result<Vec<_>, NodeProblem>>()?;
        let all: Option<Vec<TensorName>> = elements.iter().map(|element| element.tensor().cloned()).collect();
        Ok(all.map_or_else(|| Argument::AsOptionalTensors(elements), Argument::AsTensors))
    }

    /// Adds the view with this prefix of its arguments, and returns its name. `None` is no tensor.
    fn add_view(&mut self, views: &Views<'_>, prefix: &str) -> Result<Option<TensorName>, NodeProblem> {
        let argument = |suffix: &str| find(views.named, &format!("{prefix}_{suffix}"));
        let base = match argument("base_index") {
            Some(Argument::AsNone(_)) => return Ok(None),
            Some(Argument::AsInt(at)) => usize::try_from(*at).ok().and_then(|at| views.bases.get(at)),
            Some(other) => return Err(wrong(prefix, "int", other)),
            None => return Err(NodeProblem::MissingArgument { argument: format!("{prefix}_base_index") }),
        };
        let Some(base) = base else {
            return Err(NodeProblem::Other(format!("`{prefix}_base_index` is no place in `_all_bases`")));
        };
        let base = TensorName { name: base.clone() };
        let own = Argument::AsTensor(base.clone());
        let (operator, arguments) = if let (Some(size), Some(stride), Some(offset)) =
            (argument("size"), argument("stride"), argument("storage_offset"))
        {
            let arguments = vec![("self", &own), ("size", size), ("stride", stride), ("storage_offset", offset)];
            ("aten::as_strided", arguments)
        } else if let (Some(dim), Some(start), Some(end)) =
            (argument("slice_dim"), argument("slice_start"), argument("slice_end"))
        {
            ("aten::slice.Tensor", vec![("self", &own), ("dim", dim), ("start", start), ("end", end)])
        } else {
            return Ok(Some(base));
        };
        let name = format!("{}::{prefix}", node_name(views.node));
        self.add_call(views.node, operator, &arguments, &name)?;
        Ok(Some(TensorName { name }))
    }

    /// Adds a call of an operator with one result.
    fn add_call(
        &mut self,
        node: &Node,
        operator: &str,
        arguments: &[(&str, &Argument)],
        result: &str,
    ) -> Result<(), NodeProblem> {
        let operator = Operator::find(operator).map_err(|error| NodeProblem::Other(error.to_string()))?;
        let call = prepare_call_with(operator, arguments.iter().copied(), 1, &self.definitions)?;
        let slot = self.definitions.define(result).map_err(|value| NodeProblem::DefinedTwice { value })?;
        self.instructions.push(Instruction::new(node, Operation::Call(call), vec![Output::Value(slot)]));
        Ok(())
    }
}

/// The description of a node's views.
struct Views<'n> {
    node: &'n Node,
    named: &'n [NamedArgument],
    /// The names of the copies.
    bases: Vec<String>,
}

fn find<'n>(named: &'n [NamedArgument], name: &str) -> Option<&'n Argument> {
    named.iter().find(|argument| argument.name == name).map(|argument| &argument.arg)
}

#[cold]
fn wrong(argument: &str, expected: &str, found: &Argument) -> NodeProblem {
    NodeProblem::WrongArgument { argument: argument.to_owned(), expected: expected.to_owned(), found: found.kind() }
}
