//! The graph: values, nodes, inputs and outputs.

use dispatch_runtime::schema::{Schema, ValuePosition};
use dispatch_runtime::{DType, Geometry, Operator, Tensor};

use crate::argument::{Argument, ValueId};

/// The calls that a function made, in the order in which they were made.
///
/// Values are numbered in the order of their definition: the inputs, then the constants, then the results of the nodes. A clone of a graph
/// shares the tensors of the constants.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([1.0_f32, -2.0]);
/// let graph = dispatch_trace::trace(|x| Ok([aten::relu(&x[0])?]), std::slice::from_ref(&x))?;
/// assert_eq!((graph.inputs().count(), graph.nodes().len(), graph.outputs().len()), (1, 1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) inputs: usize,
    pub(crate) constants: Vec<Tensor>,
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<ValueId>,
}

/// The dtype, the geometry and the memory of a value, known before a run.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_runtime::prelude::*;
/// # fn main() -> Result<()> {
/// let graph = dispatch_trace::trace(|x| Ok([aten::t(&x[0])?]), &[Tensor::from([[1.0_f32, 2.0]])])?;
/// let turned = graph.value(graph.outputs()[0]);
/// assert_eq!((turned.dtype, turned.geometry.sizes()), (DType::F32, &[2, 1][..]));
/// assert_eq!(turned.shares_memory_with, graph.inputs().next());       // a view: the same memory
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct ValueInfo {
    /// The dtype of the value.
    pub dtype: DType,
    /// The sizes and strides of the value. The offset is not kept.
    pub geometry: Geometry,
    /// The first value with the same memory, or `None` if this is the first.
    pub shares_memory_with: Option<ValueId>,
}

/// One call of an operator.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_runtime::prelude::*;
/// # fn main() -> Result<()> {
/// let x = Tensor::from([1.0_f32, 2.0]);
/// let graph = dispatch_trace::trace(|x| Ok([aten::add(&x[0], &x[0], 2.into())?]), &[x])?;
/// let node = &graph.nodes()[0];
/// assert_eq!(node.target(), "torch.ops.aten.add.Tensor");
/// assert_eq!(node.inputs[2].name, "alpha");
/// assert!(node.inputs[2].keyword && !node.has_effects());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Node {
    /// The called operator.
    pub operator: &'static Operator,
    /// The arguments with their names in the schema, without those that have the default value.
    pub inputs: Vec<NamedArgument>,
    /// The results of the call: for each, the value that it defines or the written argument that it returns.
    pub outputs: Vec<Argument>,
    /// The effects of the call beside its results.
    pub effects: Effects,
    /// Whether autograd records the call, if the function itself set it with `guard::no_grad()` or `guard::enable_grad()`.
    pub grad_mode: Option<bool>,
}

/// An argument with its name.
///
/// ```
/// use dispatch_trace::{Argument, NamedArgument};
/// let input = NamedArgument { name: "alpha".to_owned(), arg: Argument::Int(2), keyword: true };
/// assert_eq!(input.arg.kind(), "as_int");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct NamedArgument {
    /// The name of the argument in the schema.
    pub name: String,
    /// The value of the argument.
    pub arg: Argument,
    /// Whether the argument is keyword-only.
    pub keyword: bool,
}

/// The effects of a node beside its results.
///
/// ```
/// assert!(!dispatch_trace::Effects::default().random);
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Effects {
    /// Whether the node draws random numbers.
    pub random: bool,
    /// The values to which the node writes, even if the schema does not say so.
    pub writes: Vec<ValueId>,
}

impl Node {
    /// Returns the name of the operator in PyTorch.
    #[must_use]
    pub fn target(&self) -> String {
        let name = self.operator.name();
        let overload = if name.overload.is_empty() { "default" } else { name.overload };
        format!("torch.ops.{}.{}.{overload}", name.namespace, name.base)
    }

    /// Returns whether the node must run, once and in its position, even if its results are not used.
    #[must_use]
    pub fn has_effects(&self) -> bool {
        self.effects.random || !self.effects.writes.is_empty() || self.schema().returns.is_empty()
    }

    pub(crate) fn schema(&self) -> &'static Schema {
        self.operator.schema()
    }

    /// Returns the values of the arguments.
    pub(crate) fn used_values(&self) -> impl Iterator<Item = ValueId> {
        self.inputs.iter().flat_map(|input| input.arg.value_ids())
    }

    /// Returns the values of the results, which may be new values or arguments.
    pub(crate) fn result_values(&self) -> impl Iterator<Item = ValueId> {
        self.outputs.iter().flat_map(Argument::value_ids)
    }

    /// Returns the ids of all values that the node uses and of those that it results in.
    pub(crate) fn all_values(&self) -> impl Iterator<Item = ValueId> {
        self.used_values().chain(self.result_values())
    }

    /// Returns the written argument's values if the schema says that the result at index `result` is a written argument.
    pub(crate) fn written_values_of_result(&self, result: usize) -> Vec<ValueId> {
        let schema = self.schema();
        let written = schema.written_argument_of_return(result).and_then(|at| schema.arguments.get(at));
        let input = written.and_then(|written| self.inputs.iter().find(|input| input.name == written.name));
        input.map_or_else(Vec::new, |input| input.arg.value_ids())
    }

    /// Returns the values whose memory the result may share, according to the schema.
    pub(crate) fn possible_aliases(&self, result: usize) -> Vec<ValueId> {
        let schema = self.schema();
        if !schema.is_aliasing() {
            return Vec::new();
        }
        let may_contain = |at| schema.may_contain_alias(ValuePosition::Argument(at), ValuePosition::Return(result));
        let may_alias = |input: &&NamedArgument| schema.argument(&input.name).is_some_and(|(at, _)| may_contain(at));
        self.inputs.iter().filter(may_alias).flat_map(|input| input.arg.value_ids()).collect()
    }

    pub(crate) fn map_value_ids(&mut self, mut new: impl FnMut(ValueId) -> ValueId) {
        self.inputs.iter_mut().for_each(|input| input.arg.map_value_ids(&mut new));
        self.outputs.iter_mut().for_each(|output| output.map_value_ids(&mut new));
        self.effects.writes.iter_mut().for_each(|id| *id = new(*id));
    }

    /// Returns the values to which the node writes, according to the schema.
    pub(crate) fn values_written_by_schema(&self) -> Vec<ValueId> {
        let schema = self.schema();
        let written =
            |input: &&NamedArgument| schema.argument(&input.name).is_some_and(|(_, argument)| argument.is_written());
        self.inputs.iter().filter(written).flat_map(|input| input.arg.value_ids()).collect()
    }
}

impl Graph {
    /// Returns the values of the inputs of [`run`](Self::run).
    pub fn inputs(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.inputs).map(ValueId)
    }

    /// Returns the tensors from outside of the function. Their values follow those of the inputs.
    #[must_use]
    pub fn constants(&self) -> &[Tensor] {
        &self.constants
    }

    /// Returns the calls, in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the values of the function's results.
    #[must_use]
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// Returns all values, in the order of their definition.
    #[must_use]
    pub fn values(&self) -> &[ValueInfo] {
        &self.values
    }

    /// Returns the value `id`.
    ///
    /// # Panics
    ///
    /// Panics if the graph has no value `id`.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &ValueInfo {
        &self.values[id.0]
    }

    /// Returns the first value with the same memory.
    pub(crate) fn memory_root(&self, id: ValueId) -> ValueId {
        self.values[id.0].shares_memory_with.unwrap_or(id)
    }
}

/// Compares calls, arguments and results, and the constants by their identity.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &Tensor, b: &Tensor| a.same(b);
        self.inputs == other.inputs
            && self.constants.len() == other.constants.len()
            && self.constants.iter().zip(&other.constants).all(|(a, b)| same(a, b))
            && self.values == other.values
            && self.outputs == other.outputs
            && self.nodes == other.nodes
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.operator.name() == other.operator.name()
            && self.inputs == other.inputs
            && self.outputs == other.outputs
            && self.effects == other.effects
            && self.grad_mode == other.grad_mode
    }
}

/// A graph under construction. Values get their final numbers in `finish`.
#[derive(Default)]
pub(crate) struct GraphBuilder {
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) constants: Vec<(ValueId, Tensor)>,
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<ValueId>,
}

impl GraphBuilder {
    pub(crate) fn add_value(&mut self, info: ValueInfo) -> ValueId {
        self.values.push(info);
        ValueId(self.values.len() - 1)
    }

    /// Numbers the values in the order of their definition, removes unused constants, and returns the graph.
    pub(crate) fn finish(mut self) -> Graph {
        let mut used = vec![false; self.values.len()];
        let ids = self.nodes.iter().flat_map(Node::used_values).chain(self.outputs.iter().copied());
        ids.for_each(|id| used[id.0] = true);
        self.constants.retain(|(id, _)| used[id.0]);
        let mut order: Vec<ValueId> = Vec::new();
        let mut new = vec![None; self.values.len()];
        let constants = self.constants.iter().map(|(id, _)| *id);
        for id in self.inputs.iter().copied().chain(constants).chain(self.nodes.iter().flat_map(Node::result_values)) {
            if new[id.0].is_none() {
                new[id.0] = Some(ValueId(order.len()));
                order.push(id);
            }
        }
        // Memory is identified by the first remaining value that shares it.
        let mut first = vec![None; self.values.len()];
        let mut values = Vec::with_capacity(order.len());
        for (at, old) in order.iter().enumerate() {
            let info = &self.values[old.0];
            let root = info.shares_memory_with.unwrap_or(*old);
            let shares_memory_with = first[root.0];
            first[root.0].get_or_insert(ValueId(at));
            values.push(ValueInfo { shares_memory_with, ..info.clone() });
        }
        let rename = |id: ValueId| new[id.0].unwrap_or(id);
        self.nodes.iter_mut().for_each(|node| node.map_value_ids(rename));
        Graph {
            inputs: self.inputs.len(),
            constants: self.constants.into_iter().map(|(_, tensor)| tensor).collect(),
            values,
            nodes: self.nodes,
            outputs: self.outputs.into_iter().map(rename).collect(),
        }
    }
}

impl From<Graph> for GraphBuilder {
    fn from(graph: Graph) -> Self {
        let inputs = (0..graph.inputs).map(ValueId).collect();
        let constants = graph.constants.into_iter().enumerate();
        Self {
            inputs,
            constants: constants.map(|(at, tensor)| (ValueId(graph.inputs + at), tensor)).collect(),
            values: graph.values,
            nodes: graph.nodes,
            outputs: graph.outputs,
        }
    }
}
