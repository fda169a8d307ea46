//! Kernels that run in-place and `out=` forms through the functional operator.

use super::meta::check_arguments_on_meta;
use crate::error::{BadArgument, DTypes, Error, ErrorKind, Problem, Result};
use crate::key::{Device, KeySet};
use crate::operator::{Operator, too_few_arguments_error};
use crate::registration::assign_elements;
use crate::spec::Spec;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

impl Spec {
    /// Checks that a result with this spec may be written to `tensor`, the caller's argument `argument`. An empty tensor is bound to a new
    /// one with the right sizes. Any other tensor must have these sizes.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes differ, if the tensor's dtype cannot hold the result, or if the result is real and `self` is complex.
    #[inline]
    pub fn fit_output(&self, argument: &str, tensor: &mut Tensor) -> Result<()> {
        if tensor.dtype() != self.dtype && !self.dtype.can_cast(tensor.dtype()) {
            return Err(BadArgument::dtype(argument.to_owned(), tensor.dtype(), DTypes::CastableFrom(self.dtype))
                .because("the result has this dtype")
                .into());
        }
        let is_in_place = argument == "self";
        if is_in_place && tensor.dtype().is_complex() && self.dtype.is_floating() {
            return Err(BadArgument::dtype("self", tensor.dtype(), DTypes::Real).because("the result is real").into());
        }
        if tensor.sizes() == self.geometry.sizes() {
            return Ok(());
        }
        if tensor.geometry().count() == 0 && tensor.geometry().rank() <= 1 && !is_in_place {
            *tensor = Self { dtype: tensor.dtype(), geometry: self.geometry.clone() }.on(tensor.device())?;
            return Ok(());
        }
        Err(BadArgument::sizes(argument.to_owned(), tensor.sizes(), self.geometry.sizes())
            .because("the result has")
            .into())
    }
}

/// Runs the Meta kernel of in-place and `out=` forms, and of operators whose results depend on elements.
#[doc(hidden)]
pub fn form_meta_kernel(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let depends = |operator: &Operator| operator.result_specs_fn().is_none() && operator.is_data_dependent();
    if depends(operator.functional().unwrap_or(operator)) {
        let count = operator.argument_count();
        let arguments = stack.top(count).ok_or_else(|| too_few_arguments_error(operator, stack.len()))?;
        check_arguments_on_meta(operator, arguments)
            .map_err(|error| Error::from(error).in_operator(operator.name()))?;
        return Err(ErrorKind::DataDependent { operator: operator.name() }.into());
    }
    form_kernel(operator, keys, stack)
}

/// Runs an in-place or `out=` form that has no kernel of its own: calls the functional operator and copies its result.
#[doc(hidden)]
pub fn form_kernel(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    run_through_functional(operator, keys, stack).map_err(|error| error.in_operator(operator.name()))
}

fn run_through_functional(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let count = operator.argument_count();
    let Some(arguments) = stack.top(count) else {
        return Err(too_few_arguments_error(operator, stack.len()));
    };
    let mut arguments = arguments.to_vec();
    stack.drop_top(count);
    for tensor in copy_functional_results(operator, keys, &mut arguments)? {
        stack.push(tensor);
    }
    Ok(())
}

fn copy_functional_results(operator: &Operator, keys: KeySet, arguments: &mut [Value]) -> Result<Vec<Tensor>> {
    let Some(functional) = operator.functional() else {
        return Err(ErrorKind::NoShapeInference { operator: operator.name() }.into());
    };
    let written = operator.schema().arguments.iter().enumerate().filter(|(_, argument)| argument.is_written());
    let written: Vec<(usize, &str)> = written.map(|(i, argument)| (i, argument.name.as_str())).collect();
    for &(at, argument) in &written {
        check_written_disjoint(operator, arguments, at, argument)?;
    }
    let mut own: Stack = functional_arguments(operator, functional, arguments).into_iter().collect();
    let output = written.first().map_or("self", |&(_, argument)| argument);
    functional
        .redispatch_boxed(keys, &mut own)
        .map_err(|error| error.into_form_error(functional.name(), operator, output))?;
    let mut returned = Vec::new();
    for ((at, argument), result) in written.into_iter().zip(own.into_values()) {
        match (std::mem::take(&mut arguments[at]), result) {
            (Value::Tensor(mut tensor), Value::Tensor(result)) => {
                write_result(argument, &mut tensor, &result)?;
                returned.push(tensor);
            }
            (Value::Tensors(mut tensors), Value::Tensors(results)) => write_results(argument, &mut tensors, &results)?,
            _ => return Err(ErrorKind::NoShapeInference { operator: operator.name() }.into()),
        }
    }
    Ok(returned)
}

/// Returns the functional operator's arguments. The form may lack `dtype` and `device`; they come from the tensor that it writes.
fn functional_arguments(operator: &Operator, functional: &Operator, arguments: &[Value]) -> Vec<Value> {
    let (schema, count) = (operator.schema(), functional.argument_count());
    let mut outs = schema.arguments.iter().enumerate().filter(|(_, argument)| argument.is_out()).peekable();
    let out = outs.peek().and_then(|&(at, _)| arguments[at].as_tensor());
    if count + outs.count() == arguments.len() {
        return arguments[..count].to_vec();
    }
    let value = |argument: &dispatch_schema::Argument| match (schema.argument(&argument.name), out) {
        (Some((at, _)), _) => arguments[at].clone(),
        (None, Some(out)) if argument.name == "dtype" => out.dtype().into(),
        (None, Some(out)) if argument.name == "device" => out.device().into(),
        _ => Value::None,
    };
    functional.schema().arguments.iter().map(value).collect()
}

fn write_result(argument: &str, tensor: &mut Tensor, result: &Tensor) -> Result<()> {
    Spec { dtype: result.dtype(), geometry: result.geometry().clone().with_offset(0) }.fit_output(argument, tensor)?;
    if tensor.device() == Device::META && result.device() == Device::META {
        tensor.storage().bump_version();
        return Ok(());
    }
    assign_elements(tensor, result)
}

/// Writes results to the tensors of a list. The list is not returned, so its tensors cannot be bound to others and must have the right
/// sizes.
fn write_results(argument: &str, tensors: &mut [Tensor], results: &[Tensor]) -> Result<()> {
    if tensors.len() != results.len() {
        return Err(BadArgument::length(argument.to_owned(), tensors.len(), results.len())
            .because("each result needs one tensor")
            .into());
    }
    for (tensor, result) in tensors.iter_mut().zip(results) {
        if tensor.sizes() != result.sizes() {
            return Err(BadArgument::sizes(argument.to_owned(), tensor.sizes(), result.sizes())
                .because("the result has")
                .into());
        }
        write_result(argument, tensor, result)?;
    }
    Ok(())
}

/// Checks that no argument shares memory with a written one, unless it has exactly the same elements.
fn check_written_disjoint(
    operator: &Operator,
    arguments: &[Value],
    written: usize,
    argument: &str,
) -> Result<(), BadArgument> {
    let Some(tensor) = arguments[written].as_tensor() else { return Ok(()) };
    for (i, other) in arguments.iter().enumerate().filter(|(i, _)| *i != written) {
        let others = match other {
            Value::Tensor(other) => std::slice::from_ref(other),
            Value::Tensors(others) => &others[..],
            _ => &[],
        };
        if others.iter().any(|other| !other.is_disjoint_or_same_elements(tensor)) {
            return Err(BadArgument::new(
                argument.to_owned(),
                Problem::Overlap { with: operator.argument_name(i).into() },
            ));
        }
    }
    Ok(())
}
