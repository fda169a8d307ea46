//! The loop over slices: one call per slice, whose results are stacked. It is correct for every operator, and slow.
//!
//! If all slices are alike, one call is enough. That is so on Meta, for empty tensors, and if the batch dimension has stride 0.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use aten::is_random;
use dispatch_runtime::{Device, Generator, Operator, Result, Tensor, Value};

use crate::batch::{Batch, Mapped};
use crate::call::finish;
use crate::error::VmapError;
use crate::views::gives_views;

/// The treatment of operators without a batch rule: a loop over slices, with or without a warning, or an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Slow {
    /// Loops, and prints a warning once per operator. This is the default.
    #[default]
    Warn,
    /// Loops without a warning.
    Allow,
    /// Returns an error.
    Refuse,
}

#[derive(Default)]
struct Told {
    slow: Slow,
    operators: HashSet<String>,
}

static TOLD: LazyLock<Mutex<Told>> = LazyLock::new(Mutex::default);

/// Sets the treatment of operators without a batch rule, for the whole program.
///
/// ```
/// use dispatch_vmap::{Slow, set_slow};
/// set_slow(Slow::Allow);
/// ```
pub fn set_slow(slow: Slow) {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).slow = slow;
}

/// Loops over slices, with the warning or error that [`set_slow`] has set.
pub(crate) fn loop_with_warning(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    check(operator)?;
    {
        let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
        let slow = told.slow;
        match slow {
            Slow::Refuse => return Err(VmapError::Slow { operator: operator.to_string() }.into()),
            Slow::Warn if told.operators.insert(operator.to_string()) => eprintln!(
                "warning: `{operator}` has no rule for batches and is called once for each slice, which is slow; `#[op_vmap]` gives it one"
            ),
            _ => {}
        }
    }
    loop_over_slices(batch, operator, arguments)
}

pub(crate) fn check(operator: &Operator) -> Result<()> {
    let schema = operator.schema();
    let name = || operator.to_string();
    if schema.returns.iter().any(|returned| !returned.ty.is_tensor_like()) {
        return Err(VmapError::NotATensor { operator: name() }.into());
    }
    if operator.is_data_dependent() {
        return Err(VmapError::DataDependent { operator: name() }.into());
    }
    if gives_views(operator) {
        return Err(VmapError::View { operator: name() }.into());
    }
    Ok(())
}

/// Loops over slices.
pub(crate) fn loop_over_slices(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    looped(batch, operator, arguments, |values| operator.call(values))
}

/// Loops over slices with the same random numbers for each: each slice restarts one fork of the generator.
pub(crate) fn loop_with_same_random_numbers(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
) -> Result<Vec<Value>> {
    let given = arguments.iter().find_map(|value| if let Value::Generator(given) = value { Some(given) } else { None });
    let device = arguments.iter().find_map(|value| value.as_tensor().map(Tensor::device)).unwrap_or(Device::CPU);
    let fork = given.cloned().unwrap_or_else(|| Generator::default_for(device)).fork();
    looped(batch, operator, arguments, |mut values| {
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

fn looped(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
    call: impl Fn(Vec<Value>) -> Result<Vec<Value>>,
) -> Result<Vec<Value>> {
    let schema = operator.schema();
    let mut columns: Vec<Vec<Value>> = vec![Vec::new(); schema.returns.len()];
    let are_bare = |values: &[Value]| values.iter().flat_map(Value::tensors).all(is_bare);
    let are_arguments_alike = schema.arguments.iter().zip(arguments).all(|(argument, value)| {
        let mut tensors = value.tensors().map(|tensor| batch.mapped(tensor));
        tensors.all(|mapped| if argument.is_written() { is_bare(&mapped.tensor) } else { are_slices_alike(&mapped) })
    });
    let is_drawn = is_random(operator);
    let mut made = 0;
    while made < batch.size {
        let values = arguments.iter().map(|value| slice(batch, value, made)).collect::<Result<Vec<_>>>()?;
        let before_call = values.clone();
        let results = call(values)?;
        if results.len() != columns.len() {
            return Err(VmapError::Results { operator: operator.to_string() }.into());
        }
        // Random results differ between slices, unless they have no elements.
        let are_all_alike = are_arguments_alike && (!is_drawn || are_bare(&results));
        for (at, (column, result)) in columns.iter_mut().zip(results).enumerate() {
            // A returned handle with other sizes is bound to another tensor, which a write through the slice cannot change.
            if let (Some(written), Value::Tensor(now)) = (schema.written_return(at), &result)
                && before_call[written].as_tensor().is_some_and(|before| before.sizes() != now.sizes())
            {
                return Err(VmapError::View { operator: operator.to_string() }.into());
            }
            column.push(result);
        }
        made += 1;
        if are_all_alike {
            break;
        }
    }
    let stacked = columns.iter().enumerate().map(|(at, column)| {
        if schema.written_return(at).is_some() {
            return Ok(Value::None);
        }
        let mut stacked = stack(operator, column)?;
        if made < batch.size {
            stacked.tensors_mut().try_for_each(|tensor| repeated(tensor, batch.size))?;
        }
        Ok(stacked)
    });
    let stacked = stacked.collect::<Result<Vec<_>>>()?;
    finish(batch, operator, arguments, stacked)
}

/// Whether a tensor has no elements that a call could read.
fn is_bare(tensor: &Tensor) -> bool {
    tensor.device() == Device::META || tensor.geometry().count() == 0
}

/// Whether all slices of a tensor are the same.
fn are_slices_alike(mapped: &Mapped) -> bool {
    mapped.dim.is_none_or(|dim| is_bare(&mapped.tensor) || mapped.tensor.geometry().strides()[dim] == 0)
}

fn slice(batch: &Batch, value: &Value, i: i64) -> Result<Value> {
    let of = |tensor: &Tensor| {
        let mapped = batch.mapped(tensor);
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
fn repeated(tensor: &mut Tensor, count: i64) -> Result<()> {
    let mut repeats = vec![1; tensor.sizes().len()];
    repeats[0] = count;
    *tensor = aten::repeat(tensor, &repeats)?;
    Ok(())
}

/// Stacks one result of all slices.
fn stack(operator: &Operator, column: &[Value]) -> Result<Value> {
    let wrong = || VmapError::Results { operator: operator.to_string() };
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
