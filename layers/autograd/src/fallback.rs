//! What this layer does for operators without a derivative of their own: forms that write, operators that nobody said anything about,
//! and, where autograd is switched off, views and versions.

use dispatch_runtime::schema::{Argument, Schema};
use dispatch_runtime::{Error, KeySet, Operator, Result, Stack, Tensor, Value, keys, op_fallback};

use crate::derivative::{Derivative, Source};
use crate::error::GradientError;
use crate::function::{Backward, Function};
use crate::history::{self, Origin};
use crate::in_place;
use crate::node::{Edges, Node};
use crate::outline::{self, Outline};
use crate::record::{Recording, below, computing, own};
use crate::views;

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
    let concerned = dispatch_runtime::guard::is_grad_enabled()
        && arguments.iter().try_fold(false, |any, value| Ok::<_, Error>(any || requires_grad(value)?))?;
    if !concerned {
        return operator.redispatch_boxed(on, stack);
    }
    let schema = operator.schema();
    let rule = operator.rule::<Derivative>();
    let form_of = operator.functional().and_then(Operator::rule::<Derivative>);
    let written: Vec<usize> = (0..count).filter(|&i| schema.arguments[i].is_written()).collect();
    if let Some(out) = schema.arguments.iter().find(|argument| argument.is_out()) {
        return refuse_out(operator, out, arguments);
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
    let mut any = false;
    each_tensor(value, &mut |tensor| {
        any = any || history::requires_grad(tensor)?;
        Ok(())
    })?;
    Ok(any)
}

fn each_tensor(value: &Value, f: &mut dyn FnMut(&Tensor) -> Result<()>) -> Result<()> {
    match value {
        Value::Tensor(tensor) => f(tensor),
        Value::Tensors(tensors) => tensors.iter().try_for_each(f),
        Value::OptionalTensors(tensors) => tensors.iter().flatten().try_for_each(f),
        _ => Ok(()),
    }
}

fn refuse_out(operator: &Operator, _: &Argument, arguments: &[Value]) -> Result<()> {
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

/// A call that writes to its argument `at` and gives it back, recorded by the derivative of the operator or of its functional form.
fn in_place_call(
    operator: &Operator,
    rule: &'static Derivative,
    at: usize,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let count = operator.argument_count();
    let name = &operator.schema().arguments[at].name;
    let arguments = stack.top(count).unwrap_or_default();
    let Value::Tensor(tensor) = &arguments[at] else { return operator.redispatch_boxed(below(keys), stack) };
    let tensor = tensor.clone();
    in_place::check_inference(&tensor, operator, name)?;
    in_place::check(&tensor, operator, name)?;
    let edges = edges(rule, arguments)?;
    let Some(mut recording) = Recording::with_edges(rule, edges.clone()) else {
        // Only what the derivative says nothing about requires gradients: what was written has none any more.
        return overwritten(operator, &tensor, keys, stack);
    };
    save(&mut recording, rule, arguments, |i| as_before(&arguments[i], &tensor, &edges, rule, i))?;
    let version = tensor.storage().version();
    {
        let _computing = computing();
        operator.redispatch_boxed(below(keys), stack)?;
    }
    let mut now = rebound(stack, operator, &tensor);
    if !now.same(&tensor) {
        // Its metadata changed: the handle is now a view of what it was, and nothing was written.
        views::tie(&now, &tensor, Origin::Plain);
        return recording.finish(&mut [(&mut now, true)]);
    }
    in_place::count_version(&tensor, version);
    let node = recording.into_node(&mut [(&mut now, true)])?;
    in_place::rebase(&tensor, node, rule.inputs.iter().position(|&input| input == at))
}

/// A call that gives tensors of their own, and writes to others beside: to running statistics. These are saved as they were before.
fn call_that_writes_beside(
    operator: &Operator,
    rule: &'static Derivative,
    written: &[usize],
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    let mut versions = Vec::new();
    for &at in written {
        each_tensor(&arguments[at], &mut |tensor| {
            in_place::check_inference(tensor, operator, &schema.arguments[at].name)?;
            in_place::check(tensor, operator, &schema.arguments[at].name)?;
            versions.push((tensor.clone(), tensor.storage().version()));
            Ok(())
        })?;
    }
    let mut recording = Recording::with_edges(rule, edges(rule, &arguments)?);
    if let Some(recording) = &mut recording {
        save(recording, rule, &arguments, |i| match &arguments[i] {
            Value::Tensor(tensor) if written.contains(&i) => Ok(Value::Tensor(in_place::before(tensor, None)?)),
            value => Ok(value.clone()),
        })?;
    }
    {
        let _computing = computing();
        operator.redispatch_boxed(below(keys), stack)?;
    }
    for (tensor, version) in &versions {
        in_place::count_version(tensor, *version);
    }
    let (Some(recording), Some(results)) = (recording, stack.top_mut(schema.returns.len())) else { return Ok(()) };
    let results =
        results.iter_mut().filter_map(|result| if let Value::Tensor(tensor) = result { Some(tensor) } else { None });
    let mut results: Vec<_> = results.zip(rule.results.iter().copied()).collect();
    results.iter_mut().try_for_each(|(tensor, _)| own(tensor))?;
    recording.finish(&mut results)
}

/// Saves what a derivative needs of the arguments.
fn save(
    recording: &mut Recording,
    rule: &Derivative,
    arguments: &[Value],
    value: impl Fn(usize) -> Result<Value>,
) -> Result<()> {
    for source in rule.saved {
        match *source {
            Source::Argument(i) => recording.save_value(value(i)?)?,
            Source::OutlineOf(i) => match &arguments[i] {
                Value::Tensor(tensor) => recording.save_outline(tensor),
                Value::Tensors(tensors) => recording.save_outlines(tensors),
                _ => {}
            },
            Source::Result(_) | Source::OutlineOfResult(_) => {}
        }
    }
    Ok(())
}

/// The tensor that the written argument is bound to after the call.
fn rebound(stack: &Stack, operator: &Operator, before: &Tensor) -> Tensor {
    match stack.top(operator.schema().returns.len()) {
        Some([Value::Tensor(tensor)]) => tensor.clone(),
        _ => before.clone(),
    }
}

/// An argument as it was before the call: what shares memory with the written tensor is copied.
fn as_before(value: &Value, written: &Tensor, edges: &Edges, rule: &Derivative, argument: usize) -> Result<Value> {
    let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
    if !tensor.storage().same(written.storage()) {
        return Ok(value.clone());
    }
    // Lists come last where there are any, so an input's place is that of its edge.
    let edge = rule.inputs.iter().position(|&input| input == argument).and_then(|at| edges.get(at));
    Ok(Value::Tensor(in_place::before(tensor, edge.and_then(Option::as_ref))?))
}

fn edges(rule: &Derivative, arguments: &[Value]) -> Result<Edges> {
    let mut edges = Edges::new();
    for &input in rule.inputs {
        match &arguments[input] {
            Value::Tensors(tensors) => {
                for tensor in tensors.iter() {
                    edges.push(history::edge(tensor)?);
                }
            }
            Value::OptionalTensors(tensors) => {
                for tensor in tensors.iter() {
                    edges.push(tensor.as_ref().map(history::edge).transpose()?.flatten());
                }
            }
            Value::Tensor(tensor) => edges.push(history::edge(tensor)?),
            _ => edges.push(None),
        }
    }
    Ok(edges)
}

/// A write whose derivative is zero for everything.
fn overwritten(operator: &Operator, tensor: &Tensor, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let version = tensor.storage().version();
    {
        let _computing = computing();
        operator.redispatch_boxed(below(keys), stack)?;
    }
    in_place::count_version(tensor, version);
    if !history::requires_grad(tensor)? {
        return Ok(());
    }
    let edges: Edges = [history::edge(tensor)?].into_iter().collect();
    let nothing = Function::Own(Box::new(Nothing(operator.name().to_string())));
    let outlines = [Outline::of(tensor)].into_iter().collect();
    let node = Node::new(nothing, edges, outlines);
    in_place::rebase(tensor, node, Some(0))
}

/// No gradient goes back: what was there before has no part in what is there now.
struct Nothing(String);

impl Backward for Nothing {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn backward(&self, _: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![None; needs.len()])
    }
}

/// A call that nobody said anything about. It is computed, and a backward through it is an error.
fn without_derivative(operator: &Operator, written: &[usize], keys: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    let count = operator.argument_count();
    let arguments = stack.top(count).unwrap_or_default().to_vec();
    let mut edges = Edges::new();
    for argument in &arguments {
        each_tensor(argument, &mut |tensor| {
            edges.push(history::edge(tensor)?);
            Ok(())
        })?;
    }
    let mut versions = Vec::new();
    for &at in written {
        each_tensor(&arguments[at], &mut |tensor| {
            in_place::check_inference(tensor, operator, &schema.arguments[at].name)?;
            in_place::check(tensor, operator, &schema.arguments[at].name)?;
            versions.push((tensor.clone(), tensor.storage().version()));
            Ok(())
        })?;
    }
    {
        let _computing = computing();
        operator.redispatch_boxed(below(keys), stack)?;
    }
    let viewed = schema.views();
    let missing = |edges: &Edges, tensor: &Tensor| {
        let unknown = Function::Own(Box::new(Unknown(operator.name().to_string())));
        let outlines = [Outline::of(tensor)].into_iter().collect();
        Node::new(unknown, edges.clone(), outlines)
    };
    let returns = schema.returns.len();
    let Some(results) = stack.top_mut(returns) else { return Ok(()) };
    for (i, result) in results.iter_mut().enumerate() {
        if let Some(at) = schema.written_return(i) {
            if let (Value::Tensor(now), Value::Tensor(before)) = (&*result, &arguments[at])
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
        tensors.iter_mut().try_for_each(own)?;
        for view in viewed.iter().filter(|view| view.ret == i) {
            tie_to(&arguments[view.argument], tensors);
        }
        for tensor in tensors.iter().filter(|tensor| outline::is_differentiable(tensor.dtype())) {
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

fn tie_to(source: &Value, views: &[Tensor]) {
    let Value::Tensor(source) = source else { return };
    let origin = if views.len() == 1 { Origin::Plain } else { Origin::OneOfMany };
    views.iter().for_each(|view| views::tie(view, source, origin));
}

struct Unknown(String);

impl Backward for Unknown {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn backward(&self, _: &[Option<Tensor>], _: &[bool]) -> Result<Vec<Option<Tensor>>> {
        Err(GradientError::NoDerivative { operator: self.0.clone() }.into())
    }
}

/// Views and versions where autograd does not look: under a guard, and for tensors that require no gradients.
#[op_fallback(ADInplaceOrView, aliasing, marked(INFERENCE, FOREIGN))]
fn in_place_or_view(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    let mut versions = Vec::new();
    for (value, argument) in arguments.iter().zip(&schema.arguments).filter(|(_, argument)| argument.is_written()) {
        each_tensor(value, &mut |tensor| {
            in_place::check_inference(tensor, operator, &argument.name)?;
            versions.push((tensor.clone(), tensor.storage().version()));
            Ok(())
        })?;
    }
    operator.redispatch_boxed(below(keys), stack)?;
    let Some(results) = stack.top_mut(schema.returns.len()) else { return Ok(()) };
    for (i, result) in results.iter().enumerate() {
        // A handle whose metadata changed is bound to a view of what it was.
        if let (Some(at), Value::Tensor(now)) = (schema.written_return(i), &*result)
            && let Value::Tensor(before) = &arguments[at]
            && !now.same(before)
        {
            versions.retain(|(tensor, _)| !tensor.same(before));
            views::tie(now, before, Origin::Plain);
        }
    }
    versions.iter().for_each(|(tensor, version)| in_place::count_version(tensor, *version));
    for view in schema.views() {
        match &mut results[view.ret] {
            Value::Tensor(tensor) => tie_to(&arguments[view.argument], std::slice::from_ref(tensor)),
            Value::Tensors(tensors) => tie_to(&arguments[view.argument], tensors),
            _ => {}
        }
    }
    Ok(())
}
