//! Calls of operators without a declared derivative.

use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, Value};

use crate::error::GradientError;
use crate::forward::in_place::{check_allowed, rebase_history, run_below};
use crate::forward::record::{fresh, own};
use crate::graph::custom_function::{Backward, BackwardContext};
use crate::graph::function::Function;
use crate::graph::history;
use crate::graph::node::{Edges, Node};
use crate::graph::outline;
use crate::graph::saved::Saved;
use crate::graph::views::mark_views;

/// Computes a call of an operator without a declared derivative. A backward pass through its results is an error.
pub(crate) fn without_derivative(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    let mut writes = check_allowed(operator, &arguments, true)?;
    let mut edges = Edges::new();
    for tensor in arguments.iter().flat_map(Value::tensors) {
        edges.push(history::edge(tensor)?);
    }
    run_below(operator, keys, stack, &mut writes)?;
    let viewed = schema.views();
    let missing = |edges: &Edges, tensor: &Tensor| {
        let unknown = Function::custom(Unknown(operator.name().to_string()), Saved::default());
        Node::of_one(tensor, unknown, edges.clone())
    };
    for (i, result) in stack.top_mut(schema.returns.len()).unwrap_or_default().iter_mut().enumerate() {
        if let Some(at) = schema.written_return(i) {
            if let (Value::Tensor(now), Value::Tensor(before)) = (&mut *result, &arguments[at])
                && !now.same(before)
            {
                history::set(now, missing(&edges, now), 0);
            }
            continue;
        }
        let tensors = match result {
            Value::Tensor(tensor) => std::slice::from_mut(tensor),
            Value::Tensors(tensors) => &mut tensors[..],
            _ => continue,
        };
        let is_view = viewed.iter().any(|view| view.ret == i);
        tensors.iter_mut().try_for_each(if is_view { own } else { fresh })?;
        for view in viewed.iter().filter(|view| view.ret == i) {
            mark_views(&arguments[view.argument], tensors);
        }
        for tensor in tensors.iter_mut().filter(|tensor| outline::is_differentiable(tensor.dtype())) {
            history::set(tensor, missing(&edges, tensor), 0);
        }
    }
    let written = writes.tensors.iter().map(|written| &written.tensor);
    written
        .filter(|tensor| outline::is_differentiable(tensor.dtype()))
        .try_for_each(|tensor| rebase_history(tensor, missing(&edges, tensor), None))
}

struct Unknown(String);

impl Backward for Unknown {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn backward(&self, _: &BackwardContext<'_>, _: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        Err(GradientError::NoDerivative { operator: self.0.clone() }.into())
    }
}
