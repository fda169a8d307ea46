//! Targets of nodes: operators of the registry, operators of Python's numbers, and higher-order operators.

use std::collections::HashMap;

use dispatch_runtime::{ErrorKind, Name, Operator};

use super::node_name;
use super::python_operator::PythonOperator;
use crate::error::{NodeProblem, UnknownOperator};
use crate::format::Node;

/// What a node calls.
pub(super) enum Target<'n> {
    Operator(&'static Operator),
    Python(PythonOperator),
    HigherOrder(&'n str),
    /// The operator is unknown. The linker has a note of it.
    Unknown,
}

/// Finds the targets of a program's nodes, and collects the unknown ones.
#[derive(Default)]
pub(super) struct Linker {
    operators: HashMap<String, Option<&'static Operator>>,
    unknown: Vec<UnknownOperator>,
}

impl Linker {
    pub(super) fn link<'n>(&mut self, node: &'n Node) -> Result<Target<'n>, NodeProblem> {
        let target = node.target.as_str();
        if let Some(name) = target.strip_prefix("torch.ops.higher_order.") {
            return Ok(Target::HigherOrder(name));
        }
        if let Some(operator) = PythonOperator::from_target(target) {
            return Ok(Target::Python(operator));
        }
        if target.starts_with("torch._functorch.") {
            return Err(NodeProblem::Other(
                "derivatives inside of a program (`torch.func`) are not supported; call `run_decompositions()` on the exported program \
                 before you save it"
                    .to_owned(),
            ));
        }
        let operator = if let Some(operator) = self.operators.get(target) {
            *operator
        } else {
            let operator = self.find(node);
            self.operators.insert(target.to_owned(), operator);
            operator
        };
        Ok(operator.map_or(Target::Unknown, Target::Operator))
    }

    /// Finds an operator by the target of a node, or takes a note of the unknown operator.
    pub(super) fn find(&mut self, node: &Node) -> Option<&'static Operator> {
        self.find_target(&node.target, node)
    }

    /// Finds the operator that a node names in its target or in an argument.
    pub(super) fn find_target(&mut self, target: &str, node: &Node) -> Option<&'static Operator> {
        let name = operator_name(target).unwrap_or_else(|| target.to_owned());
        let error = match Operator::find(&name) {
            Ok(operator) => return Some(operator),
            Err(error) => error,
        };
        let (mut overloads, mut suggestion, mut feature) = (Vec::new(), None, None);
        if let ErrorKind::UnknownOperator { overloads: found, suggestion: similar, feature: disabled, .. } =
            error.kind()
        {
            overloads.clone_from(found);
            suggestion.clone_from(similar);
            feature = *disabled;
        }
        if overloads.is_empty() {
            overloads = other_overloads(&name);
        }
        let unknown = UnknownOperator {
            target: target.to_owned(),
            node: node_name(node).to_owned(),
            module: node.metadata.module_path().to_owned(),
            overloads,
            suggestion,
            feature,
        };
        if self.unknown.iter().all(|known| known.target != unknown.target) {
            self.unknown.push(unknown);
        }
        None
    }

    /// Returns the unknown operators, in the order of their first uses.
    pub(super) fn into_unknown(self) -> Vec<UnknownOperator> {
        self.unknown
    }
}

/// Returns the names of the operator's overloads, if an operator has the name before the overload's.
fn other_overloads(name: &str) -> Vec<String> {
    let base = Name::parse(name.split_once('.').map_or(name, |(base, _)| base));
    let is_overload =
        |known: &Name<'_>| base.is_some_and(|base| (known.namespace, known.base) == (base.namespace, base.base));
    let names = Operator::all().into_iter().map(Operator::name).filter(is_overload);
    names.map(|name| name.to_string()).collect()
}

/// Returns the registry's name for `torch.ops.NAMESPACE.NAME.OVERLOAD`.
fn operator_name(target: &str) -> Option<String> {
    let (namespace, rest) = target.strip_prefix("torch.ops.")?.split_once('.')?;
    let (base, overload) = rest.split_once('.')?;
    Some(if overload == "default" { format!("{namespace}::{base}") } else { format!("{namespace}::{base}.{overload}") })
}
