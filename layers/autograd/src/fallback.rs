//! What this layer does for operators that it has no kernel for: whose call it is, and, where autograd is switched off, views and versions.

use dispatch_runtime::schema::{Argument, Schema};
use dispatch_runtime::{Error, KeySet, Operator, Result, Stack, Tensor, Value, guard, keys, op_fallback};

use crate::derivative::Derivative;
use crate::error::GradientError;
use crate::history::{self, Origin};
use crate::in_place::{self, versions};
use crate::record::below;
use crate::unknown::without_derivative;
use crate::views::{self, tie_to};
use crate::writes::{call_that_writes_beside, in_place_call};

macro_rules! at_every_backend {
    ($($name:ident $key:ident)*) => {$(
        #[op_fallback($key, marked(REQUIRES_GRAD, VIEW))]
        fn $name(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
            autograd(operator, keys, stack)
        }
    )*};
}

at_every_backend! {
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

fn autograd(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let on = keys.below(keys::AutogradOther);
    let count = operator.argument_count();
    let Some(arguments) = stack.top(count) else { return operator.redispatch_boxed(on, stack) };
    let schema = operator.schema();
    let concerned = guard::is_grad_enabled()
        && arguments.iter().zip(&schema.arguments).try_fold(false, |any, (value, argument)| {
            Ok::<_, Error>(any || requires_grad(value)? || (argument.is_written() && shows_recorded(value)))
        })?;
    if !concerned {
        return operator.redispatch_boxed(on, stack);
    }
    let rule = operator.rule::<Derivative>();
    let form_of = operator.functional().and_then(Operator::rule::<Derivative>);
    let written: Vec<usize> = (0..count).filter(|&i| schema.arguments[i].is_written()).collect();
    if schema.arguments.iter().any(Argument::is_out) {
        return refuse_out(operator, arguments);
    }
    match (&written[..], rule, form_of) {
        (&[at], Some(rule), _) | (&[at], None, Some(rule)) if written_is_returned(schema, at) => {
            in_place_call(operator, rule, at, keys, stack)
        }
        (&[_, ..], Some(rule), _) if (0..schema.returns.len()).all(|i| schema.written_return(i).is_none()) => {
            call_that_writes_beside(operator, rule, &written, keys, stack)
        }
        (_, Some(_), _) if written.is_empty() => {
            // Its own kernel records; what comes here was registered at run time or has none on this key.
            operator.redispatch_boxed(on, stack)
        }
        _ => without_derivative(operator, &written, keys, stack),
    }
}

fn written_is_returned(schema: &Schema, at: usize) -> bool {
    schema.returns.is_empty() || (schema.returns.len() == 1 && schema.written_return(0) == Some(at))
}

fn requires_grad(value: &Value) -> Result<bool> {
    value.tensors().try_fold(false, |any, tensor| Ok(any || history::requires_grad(tensor)?))
}

/// Whether a tensor is a view of one that requires gradients, although it may not itself: it was made while nothing was recorded.
fn shows_recorded(value: &Value) -> bool {
    value.tensors().any(|tensor| tensor.base().is_some_and(Tensor::requires_grad))
}

fn refuse_out(operator: &Operator, arguments: &[Value]) -> Result<()> {
    let schema = operator.schema();
    let mut argument = String::new();
    for (value, described) in arguments.iter().zip(&schema.arguments) {
        if requires_grad(value)? {
            argument.clone_from(&described.name);
            break;
        }
    }
    Err(GradientError::OutRequiresGrad { operator: operator.name().to_string(), argument }.into())
}

/// Views and versions where autograd does not look: under a guard, and for tensors that require no gradients.
#[op_fallback(ADInplaceOrView, aliasing, marked(INFERENCE, FOREIGN))]
fn in_place_or_view(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    let written: Vec<usize> = (0..arguments.len()).filter(|&i| schema.arguments[i].is_written()).collect();
    let mut versions = versions(operator, &written, &arguments, &|_, _| Ok(()))?;
    operator.redispatch_boxed(below(keys), stack)?;
    let Some(results) = stack.top_mut(schema.returns.len()) else { return Ok(()) };
    for (i, result) in results.iter_mut().enumerate() {
        // A handle whose metadata changed is bound to a view of what it was.
        if let (Some(at), Value::Tensor(now)) = (schema.written_return(i), result)
            && let Value::Tensor(before) = &arguments[at]
            && !now.same(before)
        {
            versions.retain(|(tensor, _)| !tensor.same(before));
            views::tie(now, before, Origin::Plain);
        }
    }
    for (tensor, version) in &versions {
        in_place::count_version(tensor, *version);
    }
    for view in schema.views() {
        match &mut results[view.ret] {
            Value::Tensor(tensor) => tie_to(&arguments[view.argument], std::slice::from_mut(tensor)),
            Value::Tensors(tensors) => tie_to(&arguments[view.argument], tensors),
            _ => {}
        }
    }
    Ok(())
}
