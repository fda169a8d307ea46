//! The inputs and nodes of a program, as lists for readers.

use super::{InputRole, Program};
use crate::prepare::{Instruction, Operation, Output, PreparedGraph};
use crate::recorded::RecordedValue;

/// A node of a program: a call of an operator.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_pt2::Program;
///
/// let program = Program::load("tests/programs/mlp.pt2")?;
/// let node = &program.nodes()[0];
/// assert_eq!((node.target, node.module), ("torch.ops.aten.linear.default", "hidden"));
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ProgramNode<'p> {
    /// The name of the node.
    pub name: &'p str,
    /// What the node calls, such as `torch.ops.aten.linear.default`.
    pub target: &'p str,
    /// The path of the module that makes the call, such as `layers.0.attention`. It is empty for the outermost module.
    pub module: &'p str,
    /// The number of nodes that this one is inside of. A node inside of a higher-order operator follows that operator.
    pub depth: usize,
    /// The results, without those that nothing uses.
    pub results: Vec<ProgramValue<'p>>,
}

/// A value of a program: an input, or a result of a node.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_pt2::Program;
///
/// let program = Program::load("tests/programs/mlp.pt2")?;
/// let result = &program.nodes()[0].results[0];
/// assert_eq!((result.name, &*result.recorded.to_string()), ("linear", "float32[s77, 8]"));
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ProgramValue<'p> {
    /// The name of the value in its graph.
    pub name: &'p str,
    /// The dtype and the sizes that torch.export recorded.
    pub recorded: &'p RecordedValue,
}

impl Program {
    /// Returns the inputs that a call passes, in order.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_pt2::Program;
    ///
    /// let program = Program::load("tests/programs/mlp.pt2")?;
    /// let inputs = program.inputs();
    /// assert_eq!((inputs[0].name, &*inputs[0].recorded.to_string()), ("x", "float32[s77, 4]"));
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    #[must_use]
    pub fn inputs(&self) -> Vec<ProgramValue<'_>> {
        let graph = &self.layout.graph;
        let slots = self.layout.inputs.iter().zip(&graph.inputs);
        let user = slots.filter(|(role, _)| matches!(role, InputRole::User(_)));
        let values = user.zip(self.input_names()).map(|((_, slot), name)| {
            let recorded = slot.and_then(|slot| graph.recorded.get(slot));
            ProgramValue { name, recorded: recorded.unwrap_or(&RecordedValue::Absent) }
        });
        values.collect()
    }

    /// Returns the nodes in the order of their calls. The nodes of a graph inside of a node follow that node.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_pt2::Program;
    ///
    /// let program = Program::load("tests/programs/mlp.pt2")?;
    /// let targets: Vec<&str> = program.nodes().iter().map(|node| node.target).collect();
    /// assert_eq!(targets, ["torch.ops.aten.linear.default", "torch.ops.aten.relu.default", "torch.ops.aten.linear.default"]);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    #[must_use]
    pub fn nodes(&self) -> Vec<ProgramNode<'_>> {
        let mut nodes = Vec::new();
        append_nodes(&self.layout.graph, 0, "", &mut nodes);
        nodes
    }
}

/// Appends the nodes of a graph. The nodes of inner graphs have no modules in the file, so they have the module of the outer node.
fn append_nodes<'p>(graph: &'p PreparedGraph, depth: usize, outer: &'p str, nodes: &mut Vec<ProgramNode<'p>>) {
    for instruction in &graph.instructions {
        let Instruction { name, target, module, operation, outputs, .. } = instruction;
        let module = if module.is_empty() { outer } else { module };
        nodes.push(ProgramNode { name, target, module, depth, results: results(graph, outputs) });
        if let Operation::HigherOrder(operation) = operation {
            operation.graphs().into_iter().for_each(|inner| append_nodes(inner, depth + 1, module, nodes));
        }
    }
}

fn results<'p>(graph: &'p PreparedGraph, outputs: &[Output]) -> Vec<ProgramValue<'p>> {
    let mut results = Vec::new();
    for output in outputs {
        output.for_each_slot(|slot| {
            let found = graph.slot_names.get(slot).zip(graph.recorded.get(slot));
            results.extend(found.map(|(name, recorded)| ProgramValue { name, recorded }));
        });
    }
    results
}
