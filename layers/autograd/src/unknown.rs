//! Calls of operators whose derivative nobody said anything about.

use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, Value};

use crate::custom::{Backward, BackwardContext};
use crate::error::GradientError;
use crate::function::Function;
use crate::history::{self, Origin};
use crate::in_place::{self, compute, versions};
use crate::node::{Edges, Node};
use crate::outline;
use crate::record::{fresh, own};
use crate::saved::Saved;
use crate::views::{self, tie_to};

/// A call that nobody said anything about. It is computed, and a backward through it is an error.
pub(crate) fn without_derivative(
    operator: &Operator,
    written: &[usize],
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let schema = operator.schema();
    let count = operator.argument_count();
    let arguments = stack.top(count).unwrap_or_default().to_vec();
    let mut edges = Edges::new();
    for tensor in arguments.iter().flat_map(Value::tensors) {
        edges.push(history::edge(tensor)?);
    }
    let mut versions =
        versions(operator, written, &arguments, &|tensor, name| in_place::check(tensor, operator, name))?;
    compute(operator, keys, stack)?;
    let viewed = schema.views();
    let missing = |edges: &Edges, tensor: &Tensor| {
        let unknown = Function::custom(Unknown(operator.name().to_string()), Saved::default());
        Node::of_one(tensor, unknown, edges.clone())
    };
    let returns = schema.returns.len();
    let Some(results) = stack.top_mut(returns) else { return Ok(()) };
    for (i, result) in results.iter_mut().enumerate() {
        if let Some(at) = schema.written_return(i) {
            if let (Value::Tensor(now), Value::Tensor(before)) = (&mut *result, &arguments[at])
                && !now.same(before)
            {
                versions.retain(|(tensor, _)| !tensor.same(before));
                views::tie(now, before, Origin::Plain);
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
            tie_to(&arguments[view.argument], tensors);
        }
        for tensor in tensors.iter_mut().filter(|tensor| outline::is_differentiable(tensor.dtype())) {
            history::set(tensor, missing(&edges, tensor), 0);
        }
    }
    for (tensor, version) in versions {
        in_place::count_version(&tensor, version);
        if outline::is_differentiable(tensor.dtype()) {
            in_place::rebase(&tensor, missing(&edges, &tensor), None)?;
        }
    }
    Ok(())
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
