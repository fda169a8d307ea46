//! The loop over slices: one call per slice, whose results are stacked. It is correct for every operator, and slow.
//!
//! If all slices are alike, one call is enough. That is so on Meta, for empty tensors, and if the batch dimension has stride 0.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use aten::is_random;
use dispatch_runtime::{Device, Generator, Operator, Result, Tensor, Value};

use crate::batch::{Batch, Mapped};
use crate::call::wrap_call_results;
use crate::error::VmapError;
use crate::views::returns_views_of_arguments;

/// The treatment of operators without a batch rule: a loop over slices, with or without a warning, or an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SlowLoops {
    /// Loops over slices, and prints a warning once per operator. This is the default.
    #[default]
    Warn,
    /// Loops over slices without a warning.
    Allow,
    /// Returns an error instead of a loop over slices.
    Refuse,
}

#[derive(Default)]
struct SlowLoopState {
    slow: SlowLoops,
    warned_operators: HashSet<String>,
}

static SLOW_LOOP_STATE: LazyLock<Mutex<SlowLoopState>> = LazyLock::new(Mutex::default);

/// Sets the treatment of operators without a batch rule, for the whole program. Returns the previous treatment.
///
/// ```
/// use dispatch_vmap::{SlowLoops, set_slow_loops};
/// let before = set_slow_loops(SlowLoops::Allow);
/// println!("it was {before:?}");
/// ```
pub fn set_slow_loops(slow: SlowLoops) -> SlowLoops {
    std::mem::replace(&mut SLOW_LOOP_STATE.lock().unwrap_or_else(PoisonError::into_inner).slow, slow)
}

/// Loops over slices, with the warning or error that [`set_slow_loops`] has set.
pub(crate) fn loop_with_warning(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    check_loop_allowed(operator)?;
    {
        let mut state = SLOW_LOOP_STATE.lock().unwrap_or_else(PoisonError::into_inner);
        let slow = state.slow;
        match slow {
            SlowLoops::Refuse => return Err(VmapError::SlowLoopRefused { operator: operator.to_string() }.into()),
            SlowLoops::Warn if state.warned_operators.insert(operator.to_string()) => eprintln!(
                "warning: `{operator}` has no batch rule and is called once for each slice, which is slow; define a rule with `#[op_vmap]`"
            ),
            _ => {}
        }
    }
    loop_over_slices(batch, operator, arguments)
}

pub(crate) fn check_loop_allowed(operator: &Operator) -> Result<()> {
    let schema = operator.schema();
    let name = || operator.to_string();
    if schema.returns.iter().any(|returned| !returned.ty.is_tensor_like()) {
        return Err(VmapError::NonTensorResult { operator: name() }.into());
    }
    if operator.is_data_dependent() {
        return Err(VmapError::DataDependent { operator: name() }.into());
    }
    if returns_views_of_arguments(operator) {
        return Err(VmapError::ViewWithoutRule { operator: name() }.into());
    }
    Ok(())
}

/// Calls the operator once for each slice, and stacks the results.
pub(crate) fn loop_over_slices(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    loop_over_slices_with(batch, operator, arguments, |values| operator.call(values))
}

/// Loops over slices with the same random numbers for each: each slice restarts one fork of the generator.
pub(crate) fn loop_with_same_randomness(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    let given = arguments.iter().find_map(|value| if let Value::Generator(given) = value { Some(given) } else { None });
    let device = arguments.iter().find_map(|value| value.as_tensor().map(Tensor::device)).unwrap_or(Device::CPU);
    let fork = given.cloned().unwrap_or_else(|| Generator::default_for(device)).fork();
    loop_over_slices_with(batch, operator, arguments, |mut values| {
        let own = Generator::new(fork.device(), fork.seed());
        for value in &mut values {
            if let Value::Generator(given) = value {
                *given = own.clone();
            }
        }
        let _own = own.make_default();
        operator.call(values)
    })
}

fn loop_over_slices_with(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
    call: impl Fn(Vec<Value>) -> Result<Vec<Value>>,
) -> Result<Vec<Value>> {
    let schema = operator.schema();
    let mut columns: Vec<Vec<Value>> = vec![Vec::new(); schema.returns.len()];
    let have_no_readable_elements =
        |values: &[Value]| values.iter().flat_map(Value::tensors).all(has_no_readable_elements);
    let are_arguments_alike = schema.arguments.iter().zip(arguments).all(|(argument, value)| {
        let mut tensors = value.tensors().map(|tensor| batch.unwrap_tensor(tensor));
        tensors.all(|mapped| {
            if argument.is_written() { has_no_readable_elements(&mapped.tensor) } else { are_slices_alike(&mapped) }
        })
    });
    let is_drawn = is_random(operator);
    let mut calls_made = 0;
    while calls_made < batch.size {
        let values = arguments.iter().map(|value| slice_value(batch, value, calls_made)).collect::<Result<Vec<_>>>()?;
        let before_call = values.clone();
        let results = call(values)?;
        if results.len() != columns.len() {
            return Err(VmapError::UnexpectedResults { operator: operator.to_string() }.into());
        }
        // Random results differ between slices, unless they have no elements.
        let are_all_alike = are_arguments_alike && (!is_drawn || have_no_readable_elements(&results));
        for (at, (column, result)) in columns.iter_mut().zip(results).enumerate() {
            // A returned handle with other sizes is bound to another tensor, which a write through the slice cannot change.
            if let (Some(written), Value::Tensor(now)) = (schema.written_argument_of_return(at), &result)
                && before_call[written].as_tensor().is_some_and(|before| before.sizes() != now.sizes())
            {
                return Err(VmapError::ViewWithoutRule { operator: operator.to_string() }.into());
            }
            column.push(result);
        }
        calls_made += 1;
        if are_all_alike {
            break;
        }
    }
    let stacked = columns.iter().enumerate().map(|(at, column)| {
        if schema.written_argument_of_return(at).is_some() {
            return Ok(Value::None);
        }
        let mut stacked = stack_results(operator, column)?;
        if calls_made < batch.size {
            stacked.tensors_mut().try_for_each(|tensor| repeat_only_slice(tensor, batch.size))?;
        }
        Ok(stacked)
    });
    let stacked = stacked.collect::<Result<Vec<_>>>()?;
    wrap_call_results(batch, operator, arguments, stacked)
}

/// Whether a tensor has no elements that a call could read.
fn has_no_readable_elements(tensor: &Tensor) -> bool {
    tensor.device() == Device::META || tensor.geometry().count() == 0
}

/// Whether all slices of a tensor are the same.
fn are_slices_alike(mapped: &Mapped) -> bool {
    mapped
        .dim
        .is_none_or(|dim| has_no_readable_elements(&mapped.tensor) || mapped.tensor.geometry().strides()[dim] == 0)
}

fn slice_value(batch: &Batch, value: &Value, i: i64) -> Result<Value> {
    let of = |tensor: &Tensor| {
        let mapped = batch.unwrap_tensor(tensor);
        match mapped.dim.and_then(|dim| i64::try_from(dim).ok()) {
            Some(dim) => aten::select_int(&mapped.tensor, dim, i),
            None => Ok(mapped.tensor),
        }
    };
    Ok(match value {
        Value::Tensor(tensor) => of(tensor)?.into(),
        Value::Tensors(tensors) => tensors.iter().map(of).collect::<Result<Vec<_>>>()?.into(),
        Value::OptionalTensors(tensors) => {
            let slices = tensors.iter().map(|tensor| tensor.as_ref().map(of).transpose());
            slices.collect::<Result<Vec<_>>>()?.into()
        }
        other => other.clone(),
    })
}

/// Repeats the only slice of a tensor `count` times.
fn repeat_only_slice(tensor: &mut Tensor, count: i64) -> Result<()> {
    let mut repeats = vec![1; tensor.sizes().len()];
    repeats[0] = count;
    *tensor = aten::repeat(tensor, &repeats)?;
    Ok(())
}

/// Stacks one result of all slices.
fn stack_results(operator: &Operator, column: &[Value]) -> Result<Value> {
    let wrong = || VmapError::UnexpectedResults { operator: operator.to_string() };
    if let Some(Value::Tensors(first)) = column.first() {
        let at = |i: usize| {
            let each = column.iter().map(|value| match value {
                Value::Tensors(tensors) => tensors.get(i).cloned().ok_or_else(wrong),
                _ => Err(wrong()),
            });
            aten::stack(&each.collect::<Result<Vec<_>, _>>()?, 0)
        };
        return Ok((0..first.len()).map(at).collect::<Result<Vec<_>>>()?.into());
    }
    if column.iter().all(|value| matches!(value, Value::None)) {
        return Ok(Value::None);
    }
    let each: Option<Vec<Tensor>> = column.iter().map(|value| value.as_tensor().cloned()).collect();
    Ok(aten::stack(&each.ok_or_else(wrong)?, 0)?.into())
}
