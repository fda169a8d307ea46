//! Calls that write to tensors, in three steps: the check that the write is allowed, the redispatch, and the new history of the written
//! tensors.

use dispatch_runtime::schema::Argument;
use dispatch_runtime::{KeySet, Operator, Result, Shared, Stack, Tensor, Value, guard};
use smallvec::SmallVec;

use crate::error::GradientError;
use crate::forward::record::{below_autograd_guard, keys_below_autograd};
use crate::graph::history::{self, ViewOrigin};
use crate::graph::node::Node;
use crate::graph::views::{self, CopySlices};

/// The tensors that a call writes to.
pub(crate) struct WrittenTensors {
    pub(crate) tensors: SmallVec<[WrittenTensor; 1]>,
    is_recorded: bool,
}

/// A tensor that a call writes to, and its version before the call.
pub(crate) struct WrittenTensor {
    pub(crate) tensor: Tensor,
    argument: usize,
    version: u64,
}

/// Checks the tensors that a call writes to. Returns an error if a gradient could not follow the write, or if the tensor counts no
/// versions. For a call that is not recorded, only the second condition is checked.
pub(crate) fn check_writes(operator: &Operator, arguments: &[Value], is_recorded: bool) -> Result<WrittenTensors> {
    let schema = operator.schema();
    if is_recorded && schema.arguments.iter().any(Argument::is_out) {
        return Err(out_requires_grad_error(operator, arguments)?.into());
    }
    let mut tensors = SmallVec::new();
    for (argument, described) in schema.arguments.iter().enumerate().filter(|(_, described)| described.is_written()) {
        for tensor in arguments.get(argument).into_iter().flat_map(Value::tensors) {
            check_tensor_write(tensor, operator, &described.name, is_recorded)?;
            tensors.push(WrittenTensor { tensor: tensor.clone(), argument, version: tensor.storage().version() });
        }
    }
    Ok(WrittenTensors { tensors, is_recorded })
}

/// Redispatches below autograd, and increments the version of each written tensor if the call did not. A returned tensor with new metadata
/// becomes a view of the argument, which then does not count as written.
pub(crate) fn redispatch_below_autograd(
    operator: &Operator,
    keys: KeySet,
    stack: &mut Stack,
    writes: &mut WrittenTensors,
) -> Result<()> {
    {
        let _guard = writes.is_recorded.then(below_autograd_guard);
        operator.redispatch_boxed(keys_below_autograd(keys), stack)?;
    }
    let schema = operator.schema();
    for (i, result) in stack.top_mut(schema.returns.len()).unwrap_or_default().iter_mut().enumerate() {
        let (Value::Tensor(now), Some(argument)) = (result, schema.written_argument_of_return(i)) else { continue };
        let is_rebound = |written: &&WrittenTensor| written.argument == argument && !written.tensor.same(now);
        if let Some(before) = writes.tensors.iter().find(is_rebound).map(|written| written.tensor.clone()) {
            views::mark_view(now, &before, ViewOrigin::Plain);
            writes.tensors.retain(|written| !written.tensor.same(&before));
        }
    }
    for WrittenTensor { tensor, version, .. } in &writes.tensors {
        if tensor.storage().version() == *version {
            tensor.storage().bump_version();
        }
    }
    Ok(())
}

/// Makes a written tensor the result of the recorded call. `written_edge` is the call's edge to the tensor before the write.
pub(crate) fn rebase_history(written: &Tensor, call: Shared<Node>, written_edge: Option<usize>) -> Result<()> {
    match written.base() {
        Some(base) => {
            history::set_node_after_write(base, CopySlices::node_after_write(base, written, call, written_edge)?);
        }
        None => history::set_node_after_write(written, call),
    }
    Ok(())
}

fn check_tensor_write(tensor: &Tensor, operator: &Operator, argument: &str, is_recorded: bool) -> Result<()> {
    let (operator, argument) = (|| operator.name().to_string(), || argument.to_owned());
    let is_leaf = |tensor: &Tensor| tensor.requires_grad() && tensor.is_leaf();
    let base = tensor.base().filter(|_| is_recorded);
    let error = if tensor.is_inference() && !guard::is_inference_mode() {
        GradientError::InferenceTensorWritten { operator: operator(), argument: argument() }
    } else if let Some(reason) = base.and_then(|_| history::view_origin(tensor).reason_not_writable()) {
        GradientError::ViewWritten { operator: operator(), argument: argument(), reason }
    } else if base.is_some_and(is_leaf) {
        GradientError::ViewOfLeafWritten { operator: operator(), argument: argument() }
    } else if is_recorded && is_leaf(tensor) {
        GradientError::LeafWritten { operator: operator(), argument: argument() }
    } else {
        return Ok(());
    };
    Err(error.into())
}

fn out_requires_grad_error(operator: &Operator, arguments: &[Value]) -> Result<GradientError> {
    let names = arguments.iter().zip(&operator.schema().arguments).find_map(|(value, argument)| {
        history::any_requires_grad(value).map(|any| any.then(|| argument.name.clone())).transpose()
    });
    let argument = names.transpose()?.unwrap_or_default();
    Ok(GradientError::OutRequiresGrad { operator: operator.name().to_string(), argument })
}
