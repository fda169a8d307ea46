//! Fallbacks of autograd: the choice of how to record a call, and views and versions of calls that autograd does not see.

use dispatch_runtime::schema::{Argument, Schema};
use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, Value, guard, keys, op_fallback};

use crate::derivative::Derivative;
use crate::forward::in_place::{check_writes, redispatch_below_autograd};
use crate::forward::missing_derivative::call_without_derivative;
use crate::forward::writing_calls::{record_call_with_side_writes, record_in_place_call};
use crate::graph::history;
use crate::graph::views::mark_views;

macro_rules! define_backend_fallbacks {
    ($($name:ident $key:ident)*) => {$(
        #[op_fallback($key, marked(REQUIRES_GRAD, VIEW))]
        fn $name(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
            autograd_fallback(operator, keys, stack)
        }
    )*};
}

define_backend_fallbacks! {
    other AutogradOther
    cpu AutogradCPU
    cuda AutogradCUDA
    hip AutogradHIP
    xla AutogradXLA
    mps AutogradMPS
    ipu AutogradIPU
    xpu AutogradXPU
    hpu AutogradHPU
    ve AutogradVE
    lazy AutogradLazy
    mtia AutogradMTIA
    maia AutogradMAIA
    private1 AutogradPrivateUse1
    private2 AutogradPrivateUse2
    private3 AutogradPrivateUse3
    meta AutogradMeta
}

fn autograd_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default();
    if !must_record(schema, arguments)? {
        return operator.redispatch_boxed(keys.below(keys::AutogradOther), stack);
    }
    let rule = operator.rule::<Derivative>();
    let functional_rule = operator.functional().and_then(Operator::rule::<Derivative>);
    let mut written = (0..arguments.len()).filter(|&i| schema.arguments[i].is_written());
    match (written.next(), written.next(), rule, functional_rule) {
        (Some(at), None, Some(rule), _) | (Some(at), None, None, Some(rule))
            if returns_only_written_argument(schema, at) && matches!(arguments[at], Value::Tensor(_)) =>
        {
            record_in_place_call(operator, rule, at, keys, stack)
        }
        (Some(_), _, Some(rule), _)
            if (0..schema.returns.len()).all(|i| schema.written_argument_of_return(i).is_none()) =>
        {
            record_call_with_side_writes(operator, rule, keys, stack)
        }
        // The operator's generated kernel at `Autograd` records calls that write no argument. Only operators that are registered at run
        // time, or have no such kernel on this key, come here, and they are not recorded.
        (None, _, Some(_), _) => operator.redispatch_boxed(keys.below(keys::AutogradOther), stack),
        _ => call_without_derivative(operator, keys, stack),
    }
}

/// Whether a call is recorded: gradients are enabled, and an argument requires them or is a written view of a tensor that does.
fn must_record(schema: &Schema, arguments: &[Value]) -> Result<bool> {
    let or_requires_grad = |any: bool, (value, argument): (&Value, &Argument)| -> Result<bool> {
        Ok(any
            || history::any_requires_grad(value)?
            || (argument.is_written() && is_view_of_base_requiring_grad(value)))
    };
    Ok(guard::is_grad_enabled() && arguments.iter().zip(&schema.arguments).try_fold(false, or_requires_grad)?)
}

fn returns_only_written_argument(schema: &Schema, at: usize) -> bool {
    schema.returns.is_empty() || (schema.returns.len() == 1 && schema.written_argument_of_return(0) == Some(at))
}

/// Whether a tensor is a view of a base that requires gradients. The view itself may not require them, if it was made while nothing was
/// recorded.
fn is_view_of_base_requiring_grad(value: &Value) -> bool {
    value.tensors().any(|tensor| tensor.base().is_some_and(Tensor::requires_grad))
}

/// Marks views and counts versions for calls that skip autograd: under a guard, or with tensors that require no gradients.
#[op_fallback(ADInplaceOrView, aliasing, marked(INFERENCE, NOT_ON_HOST))]
fn in_place_or_view_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    let mut writes = check_writes(operator, &arguments, false)?;
    redispatch_below_autograd(operator, keys, stack, &mut writes)?;
    let results = stack.top_mut(schema.returns.len()).unwrap_or_default();
    for view in schema.views() {
        match results.get_mut(view.ret) {
            Some(Value::Tensor(tensor)) => mark_views(&arguments[view.argument], std::slice::from_mut(tensor)),
            Some(Value::Tensors(tensors)) => mark_views(&arguments[view.argument], tensors),
            _ => {}
        }
    }
    Ok(())
}
