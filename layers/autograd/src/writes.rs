//! Recorded calls that write: to the argument that they give back, or to others beside.

use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, Value};

use crate::derivative::{Derivative, Source};
use crate::function::Function;
use crate::history::{self, Origin};
use crate::in_place::{self, compute, each_place, versions};
use crate::node::{Edges, Node};
use crate::outline;
use crate::record::{Recording, below, fresh};
use crate::views;

/// A call that writes to its argument `at` and gives it back, recorded by the derivative of the operator or of its functional form.
pub(crate) fn in_place_call(
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
    if !outline::is_differentiable(tensor.dtype()) {
        return compute_counted(operator, &tensor, keys, stack);
    }
    let edges = edges(rule, arguments)?;
    let Some(mut recording) = Recording::with_edges(rule, edges.clone()) else {
        // Only what the derivative says nothing about requires gradients: what was written has none any more.
        return overwritten(operator, &tensor, keys, stack);
    };
    save(&mut recording, rule, arguments, |i| as_before(&arguments[i], &tensor, &edges, rule, i))?;
    let version = tensor.storage().version();
    compute(operator, keys, stack)?;
    let mut now = rebound(stack, operator, &tensor);
    if !now.same(&tensor) {
        // Its metadata changed: the handle is now a view of what it was, and nothing was written.
        views::tie(&mut now, &tensor, Origin::Plain);
        return recording.finish(&mut [(&mut now, true)]);
    }
    in_place::count_version(&tensor, version);
    let node = recording.into_node(&mut [(&mut now, true)])?;
    in_place::rebase(&tensor, node, rule.inputs.iter().position(|&input| input == at))
}

/// A call that gives tensors of their own, and writes to others beside: to running statistics. These are saved as they were before.
pub(crate) fn call_that_writes_beside(
    operator: &Operator,
    rule: &'static Derivative,
    written: &[usize],
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let schema = operator.schema();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    let versions = versions(operator, written, &arguments, &|tensor, name| in_place::check(tensor, operator, name))?;
    let mut recording = Recording::with_edges(rule, edges(rule, &arguments)?);
    if let Some(recording) = &mut recording {
        save(recording, rule, &arguments, |i| match &arguments[i] {
            Value::Tensor(tensor) if written.contains(&i) => Ok(Value::Tensor(in_place::before(tensor, None)?)),
            value => Ok(value.clone()),
        })?;
    }
    compute(operator, keys, stack)?;
    for (tensor, version) in &versions {
        in_place::count_version(tensor, *version);
    }
    let (Some(recording), Some(results)) = (recording, stack.top_mut(schema.returns.len())) else { return Ok(()) };
    let results =
        results.iter_mut().filter_map(|result| if let Value::Tensor(tensor) = result { Some(tensor) } else { None });
    let mut results: Vec<_> = results.zip(rule.results.iter().copied()).collect();
    results.iter_mut().try_for_each(|(tensor, _)| fresh(tensor))?;
    recording.finish(&mut results)
}

/// A write of which nothing is recorded.
fn compute_counted(operator: &Operator, tensor: &Tensor, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let version = tensor.storage().version();
    compute(operator, keys, stack)?;
    in_place::count_version(tensor, version);
    Ok(())
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
            Source::Argument(i, inputs) => recording.save_value_for(inputs, || value(i))?,
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
            // An optional tensor that was not given has its place too.
            Value::None => edges.push(None),
            value => each_place(value, &mut |tensor| {
                edges.push(tensor.map(history::edge).transpose()?.flatten());
                Ok(())
            })?,
        }
    }
    Ok(edges)
}

/// A write whose derivative is zero for everything.
fn overwritten(operator: &Operator, tensor: &Tensor, keys: KeySet, stack: &mut Stack) -> Result<()> {
    compute_counted(operator, tensor, keys, stack)?;
    if !history::requires_grad(tensor)? {
        return Ok(());
    }
    let edges: Edges = [history::edge(tensor)?].into_iter().collect();
    let node = Node::of_one(tensor, Function::Overwriting(operator.name().to_string()), edges);
    in_place::rebase(tensor, node, Some(0))
}
