//! Calls with batched tensors, after the level is taken off the stack.

use aten::is_random;
use dispatch_runtime::{Operator, Result, ShapeWord, Tensor, Value};

use crate::batch::Batch;
use crate::error::VmapError;
use crate::rule::BatchRule;
use crate::strategy::{Strategy, shape_word};
use crate::vmap::Randomness;
use crate::{check_slice, shape_words, slice_loop, views};

/// Whether a call must be batched: an argument is batched, or a random operator may not draw the same numbers for all slices.
pub(crate) fn needs_batching(batch: &Batch, operator: &Operator, arguments: &[Value]) -> bool {
    arguments.iter().any(|value| batch.has_batched_tensor(value))
        || (is_random(operator) && batch.randomness != Randomness::Same)
}

/// Calls an operator for the batch and returns its results as the mapped function sees them.
pub(crate) fn call_batched(batch: &Batch, operator: &Operator, arguments: &mut [Value]) -> Result<Vec<Value>> {
    check_written_tensors_are_batched(batch, operator, arguments)?;
    let strategy = Strategy::without_decomposition(operator);
    // The slices are checked before the call, because a batch rule would not notice invalid slices. A call by shape word reports its own
    // errors, unless it writes to an argument.
    if matches!(strategy, Strategy::Rule | Strategy::ViaFunctional)
        || strategy == Strategy::ShapeWord && operator.functional().is_some()
    {
        check_slice::check_slice(operator, arguments)?;
    }
    match strategy {
        Strategy::Random => call_random_operator(batch, operator, arguments),
        Strategy::View => views::call_view(batch, operator, arguments),
        Strategy::Rule => call_batch_rule(batch, operator, arguments),
        // If the call fails, the error of one slice is returned: it names the sizes that the function sees.
        Strategy::ShapeWord => match call_by_shape_word(batch, operator, arguments)
            .map_err(|error| check_slice::check_slice(operator, arguments).err().unwrap_or(error))?
        {
            Some(results) => wrap_call_results(batch, operator, arguments, results),
            None => call_functional_or_loop(batch, operator, arguments),
        },
        _ => call_functional_or_loop(batch, operator, arguments),
    }
}

fn call_random_operator(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    match batch.randomness {
        Randomness::Error => Err(VmapError::RandomnessNotChosen { operator: operator.to_string() }.into()),
        Randomness::Same => slice_loop::loop_with_same_randomness(batch, operator, arguments),
        Randomness::Different => slice_loop::loop_over_slices(batch, operator, arguments),
    }
}

fn call_batch_rule(batch: &Batch, operator: &Operator, arguments: &mut [Value]) -> Result<Vec<Value>> {
    let results = operator.rule::<BatchRule>().map(|rule| (rule.run)(batch, arguments)).transpose()?;
    let Some(results) = results.flatten() else { return slice_loop::loop_with_warning(batch, operator, arguments) };
    match results.iter().find_map(|result| batch.find_tensor_with_wrong_batch_size(result)) {
        None => Ok(results),
        Some((tensor, dim)) => {
            let (operator, sizes) = (operator.to_string(), tensor.sizes().to_vec());
            Err(VmapError::WrongRuleBatchDim { operator, sizes, dim, expected: batch.size }.into())
        }
    }
}

fn call_by_shape_word(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    match shape_word(operator) {
        Some(ShapeWord::Pointwise { operands, dtype, .. }) => {
            shape_words::call_pointwise(batch, operator, operands, dtype, arguments)
        }
        Some(ShapeWord::Reduce { dims: Some(dims), keepdim, .. }) => {
            shape_words::call_reduction(batch, operator, dims, keepdim, arguments)
        }
        Some(ShapeWord::Product { letters }) => shape_words::call_product(batch, operator, letters, arguments),
        _ => Ok(None),
    }
}

/// Calls the functional operator and copies its result, or loops over slices if there is none.
fn call_functional_or_loop(batch: &Batch, operator: &Operator, arguments: &mut [Value]) -> Result<Vec<Value>> {
    match operator.functional().filter(|functional| functional.argument_count() <= arguments.len()) {
        Some(functional) => call_functional_and_copy(batch, operator, functional, arguments),
        None => slice_loop::loop_with_warning(batch, operator, arguments),
    }
}

/// Wraps the results of a call, whose batch dimension is 0, as the mapped function sees them. A written argument is returned as it was
/// passed.
pub(crate) fn wrap_call_results(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
    results: Vec<Value>,
) -> Result<Vec<Value>> {
    let schema = operator.schema();
    let results = results.into_iter().enumerate().map(|(i, result)| match schema.written_argument_of_return(i) {
        Some(at) => Ok(vec![arguments[at].clone()]),
        None => batch.wrap_batch_first_results(operator, vec![result]),
    });
    Ok(results.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Calls the functional operator of an in-place operator, and copies its result to the written argument.
fn call_functional_and_copy(
    batch: &Batch,
    operator: &Operator,
    functional: &'static Operator,
    arguments: &mut [Value],
) -> Result<Vec<Value>> {
    let schema = operator.schema();
    let written: Vec<usize> = (0..arguments.len()).filter(|&at| schema.arguments[at].is_written()).collect();
    let named = functional.schema().arguments.iter().map(|argument| schema.argument(&argument.name));
    let positions: Option<Vec<usize>> = named.map(|found| found.map(|(at, _)| at)).collect();
    let (&[at], Some(positions)) = (&written[..], positions) else {
        return slice_loop::loop_with_warning(batch, operator, arguments);
    };
    let mut given: Vec<Value> = positions.iter().map(|&at| arguments[at].clone()).collect();
    let results = if needs_batching(batch, functional, &given) {
        call_batched(batch, functional, &mut given)?
    } else {
        functional.call(given)?
    };
    let (Some(Value::Tensor(target)), [Value::Tensor(result)]) = (arguments.get(at), &results[..]) else {
        return Err(VmapError::UnexpectedResults { operator: functional.to_string() }.into());
    };
    check_result_fits_target(operator, &schema.arguments[at].name, target, result)?;
    let target = batch.unwrap_tensor(target);
    aten::copy_(&mut target.batch_first()?, &batch.expand_batch_first(&batch.unwrap_tensor(result))?, false)?;
    Ok(if schema.returns.is_empty() { Vec::new() } else { vec![arguments[at].clone()] })
}

fn check_result_fits_target(operator: &Operator, argument: &str, target: &Tensor, result: &Tensor) -> Result<()> {
    use dispatch_runtime::{BadArgument, DTypes, Error};
    let bad = if target.sizes() != result.sizes() {
        BadArgument::sizes(argument.to_owned(), target.sizes(), result.sizes()).because("the result has")
    } else if !result.dtype().can_cast(target.dtype()) {
        BadArgument::dtype(argument.to_owned(), target.dtype(), DTypes::CastableFrom(result.dtype()))
            .because("the result is")
    } else {
        return Ok(());
    };
    Err(Error::from(bad).in_operator(operator.name()))
}

/// Returns an error if the call writes to a tensor that is the same for all slices.
fn check_written_tensors_are_batched(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<()> {
    for (value, argument) in arguments.iter().zip(&operator.schema().arguments) {
        let is_written = argument.is_written() || is_running_statistic_written(operator, arguments, &argument.name);
        if is_written && batch.has_unbatched_tensor(value) {
            let (operator, argument) = (operator.to_string(), argument.name.clone());
            return Err(VmapError::WriteToUnbatched { operator, argument }.into());
        }
    }
    Ok(())
}

/// Whether a call writes to running statistics, which the schema does not declare.
fn is_running_statistic_written(operator: &Operator, arguments: &[Value], argument: &str) -> bool {
    let trains = || operator.schema().argument("training").map(|(at, _)| &arguments[at]);
    matches!(operator.name().base, "native_batch_norm" | "_batch_norm_impl_index" | "batch_norm_update_stats")
        && matches!(argument, "running_mean" | "running_var")
        && !matches!(trains(), Some(Value::Bool(false)))
}
