//! Calls of operators without a declared derivative.

use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, Value};

use crate::error::GradientError;
use crate::forward::in_place::{check_writes, rebase_history, redispatch_below_autograd};
use crate::forward::record::{copy_result_if_shared, replace_view_if_shared};
use crate::graph::custom_function::{Backward, BackwardContext};
use crate::graph::function::BackwardFunction;
use crate::graph::history;
use crate::graph::node::{Edges, Node};
use crate::graph::outline;
use crate::graph::saved::SavedValues;
use crate::graph::views::mark_views;

/// Computes a call of an operator without a declared derivative. A backward pass through its results is an error.
pub(crate) fn call_without_derivative(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    let mut writes = check_writes(operator, &arguments, true)?;
    let mut edges = Edges::new();
    for tensor in arguments.iter().flat_map(Value::tensors) {
        edges.push(history::gradient_edge(tensor)?);
    }
    redispatch_below_autograd(operator, keys, stack, &mut writes)?;
    let viewed = schema.views();
    let missing_node = |edges: &Edges, tensor: &Tensor| {
        let function = BackwardFunction::from_custom(
            MissingDerivativeBackward(operator.name().to_string()),
            SavedValues::default(),
        );
        Node::with_one_result(tensor, function, edges.clone())
    };
    for (i, result) in stack.top_mut(schema.returns.len()).unwrap_or_default().iter_mut().enumerate() {
        if let Some(at) = schema.written_argument_of_return(i) {
            if let (Value::Tensor(now), Value::Tensor(before)) = (&mut *result, &arguments[at])
                && !now.same(before)
            {
                history::set_node(now, missing_node(&edges, now), 0);
            }
            continue;
        }
        let tensors = match result {
            Value::Tensor(tensor) => std::slice::from_mut(tensor),
            Value::Tensors(tensors) => &mut tensors[..],
            _ => continue,
        };
        let is_view = viewed.iter().any(|view| view.ret == i);
        tensors.iter_mut().try_for_each(if is_view { replace_view_if_shared } else { copy_result_if_shared })?;
        for view in viewed.iter().filter(|view| view.ret == i) {
            mark_views(&arguments[view.argument], tensors);
        }
        for tensor in tensors.iter_mut().filter(|tensor| outline::is_differentiable(tensor.dtype())) {
            history::set_node(tensor, missing_node(&edges, tensor), 0);
        }
    }
    let written = writes.tensors.iter().map(|written| &written.tensor);
    written
        .filter(|tensor| outline::is_differentiable(tensor.dtype()))
        .try_for_each(|tensor| rebase_history(tensor, missing_node(&edges, tensor), None))
}

struct MissingDerivativeBackward(String);

impl Backward for MissingDerivativeBackward {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn backward(&self, _: &BackwardContext<'_>, _: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        Err(GradientError::NoDerivative { operator: self.0.clone() }.into())
    }
}
