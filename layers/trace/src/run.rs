//! Execution of a graph.

use dispatch_runtime::{Result, Tensor, Value, guard};

use crate::argument::{Argument, ValueId};
use crate::error::TraceError;
use crate::graph::{Graph, Node, ValueInfo};
use crate::print::TensorTypeText;

/// The tensors of the values during a run; `None` before the definition and after the last use.
pub(crate) type RunValues = Vec<Option<Tensor>>;

impl Graph {
    /// Runs all calls again, on these inputs, and returns the results.
    ///
    /// The calls go through the whole dispatcher, so all active layers see them: a run can be differentiated, cast, or traced again. A
    /// value is dropped after its last use.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_autograd::Differentiable;
    /// use dispatch_runtime::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let graph = dispatch_trace::trace(|x| Ok([aten::sum(&aten::mul(&x[0], &x[0])?, None)?]), &[Tensor::from([0.0, 0.0])])?;
    /// let x = Tensor::from([1.0, 3.0]).requires_grad_(true)?;
    /// graph.run(std::slice::from_ref(&x))?[0].backward()?;
    /// assert_eq!(&*x.grad().unwrap().read::<f64>()?, [2.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`TraceError::WrongInputCount`] or [`TraceError::InputMismatch`] if the number, the dtypes or the sizes of the inputs differ
    /// from the trace. Returns [`TraceError::ResultMismatch`] if an operator returns other sizes than in the trace. Returns the errors of
    /// the operators.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut values = self.check_and_bind_inputs(inputs)?;
        let last = self.last_uses(self.nodes.iter().map(Node::all_values));
        for (at, node) in self.nodes.iter().enumerate() {
            self.run_node(at, &mut values)?;
            for id in node.all_values().filter(|id| last[id.0] == Some(at)) {
                values[id.0] = None;
            }
        }
        self.collect_results(&values)
    }

    /// Checks the inputs, and returns the values before the first call: inputs and constants.
    pub(crate) fn check_and_bind_inputs(&self, inputs: &[Tensor]) -> Result<RunValues> {
        if inputs.len() != self.inputs {
            return Err(TraceError::WrongInputCount { expected: self.inputs, found: inputs.len() }.into());
        }
        for (input, (tensor, info)) in inputs.iter().zip(&self.values).enumerate() {
            if !matches_value_info(info, tensor) {
                let (expected, found) = (
                    TensorTypeText::from_value_info(info).to_string(),
                    TensorTypeText::from_tensor(tensor).to_string(),
                );
                return Err(TraceError::InputMismatch { input, expected, found }.into());
            }
        }
        let mut values: RunValues = vec![None; self.values.len()];
        for (slot, tensor) in values.iter_mut().zip(inputs.iter().chain(&self.constants)) {
            *slot = Some(tensor.clone());
        }
        Ok(values)
    }

    /// Runs the call of the node at index `at`.
    pub(crate) fn run_node(&self, at: usize, values: &mut RunValues) -> Result<()> {
        let node = &self.nodes[at];
        let arguments = node_arguments(at, node, &mut |id: ValueId| values.get(id.0).cloned().flatten())?;
        let _mode = node.grad_mode.map(|on| if on { guard::enable_grad() } else { guard::no_grad() });
        let results = node.operator.call(arguments)?;
        for (output, value) in node.outputs.iter().zip(results) {
            store_result(output, value, values);
        }
        self.check_result_sizes(node, values)?;
        Ok(())
    }

    /// Returns the results of the function.
    pub(crate) fn collect_results(&self, values: &RunValues) -> Result<Vec<Tensor>> {
        let result = |id: &ValueId| {
            values[id.0].clone().ok_or_else(|| undefined_value_error(self.nodes.len(), "the results", *id))
        };
        Ok(self.outputs.iter().map(result).collect::<Result<_, _>>()?)
    }

    /// Returns an error if the result of a node differs in sizes from the trace, because sizes after it were recorded, too. The dtype may
    /// differ: layers may change it.
    fn check_result_sizes(&self, node: &Node, values: &RunValues) -> Result<(), TraceError> {
        for id in node.result_values() {
            let info = &self.values[id.0];
            if let Some(tensor) = values[id.0].as_ref().filter(|tensor| tensor.sizes() != info.geometry.sizes()) {
                return Err(self.result_mismatch_error(node, id, tensor));
            }
        }
        Ok(())
    }

    /// Returns the error of a node whose result differs from the graph.
    pub(crate) fn result_mismatch_error(&self, node: &Node, id: ValueId, tensor: &Tensor) -> TraceError {
        let (expected, found) = (
            TensorTypeText::from_value_info(&self.values[id.0]).to_string(),
            TensorTypeText::from_tensor(tensor).to_string(),
        );
        TraceError::ResultMismatch {
            operator: node.operator.name().to_string(),
            value: id.to_string(),
            expected,
            found,
        }
    }

    /// Returns, for each value, the index of the last of `steps` that touches it; `None` if it is a result of the graph.
    pub(crate) fn last_uses<T: Iterator<Item = ValueId>>(&self, steps: impl Iterator<Item = T>) -> Vec<Option<usize>> {
        let mut last = vec![None; self.values.len()];
        for (at, used) in steps.enumerate() {
            used.for_each(|id| last[id.0] = Some(at));
        }
        self.outputs.iter().for_each(|id| last[id.0] = None);
        last
    }
}

/// Returns whether a tensor has the dtype and the sizes of a value.
pub(crate) fn matches_value_info(info: &ValueInfo, tensor: &Tensor) -> bool {
    info.dtype == tensor.dtype() && info.geometry.sizes() == tensor.sizes()
}

/// Returns the arguments of a node's call, including the default values of those that the node leaves out.
pub(crate) fn node_arguments(
    at: usize,
    node: &Node,
    tensor: &mut impl FnMut(ValueId) -> Option<Tensor>,
) -> Result<Vec<Value>, TraceError> {
    let operator = node.operator.name().to_string();
    let schema = node.schema();
    let wrong = |problem| TraceError::InvalidNode { node: at, operator: operator.clone(), problem };
    if let Some(unknown) = node.inputs.iter().find(|input| schema.argument(&input.name).is_none()) {
        return Err(wrong(format!("it has no argument `{}`", unknown.name)));
    }
    let mut values = Vec::with_capacity(schema.arguments.len());
    for described in &schema.arguments {
        let given = node.inputs.iter().find(|input| input.name == described.name).map(|input| input.arg.clone());
        let arg = given
            .or_else(|| Argument::schema_default(described))
            .ok_or_else(|| wrong(format!("its argument `{}` is missing", described.name)))?;
        if arg == Argument::None && !described.ty.accepts_none() {
            return Err(wrong(format!("its argument `{}` is a {}, and cannot be none", described.name, described.ty)));
        }
        let mut undefined = None;
        let value = arg.to_value(&described.ty, &mut |id| {
            let found = tensor(id);
            if found.is_none() {
                undefined.get_or_insert(id);
            }
            found
        });
        let value = value.ok_or_else(|| match undefined {
            Some(id) => undefined_value_error(at, &operator, id),
            None => wrong(format!("its argument `{}` is a {}, not {}", described.name, described.ty, arg.kind())),
        })?;
        values.push(value);
    }
    Ok(values)
}

fn undefined_value_error(node: usize, operator: &str, id: ValueId) -> TraceError {
    TraceError::InvalidNode {
        node,
        operator: operator.to_owned(),
        problem: format!("{id} is used before it is defined"),
    }
}

pub(crate) fn store_result(output: &Argument, value: Value, values: &mut RunValues) {
    match (output, value) {
        (Argument::Tensor(id), Value::Tensor(tensor)) => values[id.0] = Some(tensor),
        (Argument::Tensors(ids), Value::Tensors(tensors)) => {
            ids.iter().zip(*tensors).for_each(|(id, tensor)| values[id.0] = Some(tensor));
        }
        (Argument::OptionalTensors(ids), Value::OptionalTensors(tensors)) => {
            ids.iter().zip(*tensors).for_each(|(id, tensor)| {
                if let Some(id) = id {
                    values[id.0] = tensor;
                }
            });
        }
        _ => {}
    }
}
