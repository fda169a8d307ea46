//! Calls that write to a tensor which somebody may differentiate by, or whose views or base somebody may.

use dispatch_runtime::{KeySet, Operator, Result, Shared, Stack, Tensor, Value, guard};

use crate::error::GradientError;
use crate::history::{self, Origin};
use crate::node::{Edge, Node};
use crate::record::{below, computing};
use crate::views::Writing;

/// Refuses to write to a tensor where the gradient could not follow.
pub(crate) fn check(tensor: &Tensor, operator: &Operator, argument: &str) -> Result<()> {
    let (operator, argument) = (operator.name().to_string(), argument.to_owned());
    if let Some(base) = tensor.base() {
        let because = match history::origin(tensor) {
            Origin::Plain => None,
            Origin::OneOfMany => Some("is one of several that one call gave"),
            Origin::Unrecorded => Some("was made while nothing was recorded"),
            Origin::Reinterpreted => Some("shows its memory as another dtype"),
        };
        if let Some(because) = because {
            return Err(GradientError::ViewWritten { operator, argument, because }.into());
        }
        if base.requires_grad() && base.is_leaf() {
            return Err(GradientError::ViewOfLeafWritten { operator, argument }.into());
        }
    }
    if tensor.requires_grad() && tensor.is_leaf() {
        return Err(GradientError::LeafWritten { operator, argument }.into());
    }
    Ok(())
}

/// Makes a tensor that a recorded call wrote to the result of that call; `own` is the call's edge to the tensor as it was before.
pub(crate) fn rebase(tensor: &Tensor, call: Shared<Node>, own: Option<usize>) -> Result<()> {
    match tensor.base() {
        Some(base) => history::rewrite(base, Writing::node(base, tensor, call, own)?),
        None => history::rewrite(tensor, call),
    }
    Ok(())
}

/// A copy of a tensor as it is before it is written to, with its history.
pub(crate) fn before(tensor: &Tensor, edge: Option<&Edge>) -> Result<Tensor> {
    let mut copy = {
        let _unseen = computing();
        aten::clone(tensor, None)?
    };
    match edge {
        Some(Edge::Node(node, result)) => history::set(&mut copy, node.clone(), *result),
        // A leaf is not written to while anything is recorded.
        Some(Edge::Leaf(_)) | None => {}
    }
    Ok(copy)
}

/// Counts writes that no guard saw.
pub(crate) fn count_version(tensor: &Tensor, before: u64) {
    if tensor.storage().version() == before {
        tensor.storage().bump_version();
    }
}

/// Refuses to write to a tensor that counts no versions.
pub(crate) fn check_inference(tensor: &Tensor, operator: &Operator, argument: &str) -> Result<()> {
    if tensor.is_inference() && !guard::is_inference_mode() {
        let (operator, argument) = (operator.name().to_string(), argument.to_owned());
        return Err(GradientError::InferenceWritten { operator, argument }.into());
    }
    Ok(())
}

/// Refuses a call that writes where it must not, and gives the tensors that it will write to, with their versions.
pub(crate) fn versions(
    operator: &Operator,
    written: &[usize],
    arguments: &[Value],
    check: &dyn Fn(&Tensor, &str) -> Result<()>,
) -> Result<Vec<(Tensor, u64)>> {
    let mut versions = Vec::new();
    for &at in written {
        let name = &operator.schema().arguments[at].name;
        for tensor in arguments[at].tensors() {
            check_inference(tensor, operator, name)?;
            check(tensor, name)?;
            versions.push((tensor.clone(), tensor.storage().version()));
        }
    }
    Ok(versions)
}

/// Lets the layers below do what a recorded call is to do.
pub(crate) fn compute(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let _computing = computing();
    operator.redispatch_boxed(below(keys), stack)
}

/// Every place for a tensor in an argument.
pub(crate) fn each_place(value: &Value, f: &mut dyn FnMut(Option<&Tensor>) -> Result<()>) -> Result<()> {
    match value {
        Value::Tensor(tensor) => f(Some(tensor)),
        Value::Tensors(tensors) => tensors.iter().try_for_each(|tensor| f(Some(tensor))),
        Value::OptionalTensors(tensors) => tensors.iter().try_for_each(|tensor| f(tensor.as_ref())),
        _ => Ok(()),
    }
}
