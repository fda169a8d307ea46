//! The Meta kernel of every operator with a plan.

use dispatch_schema::TypeKind;

use super::allocate_all_on;
use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::key::{Device, KeySet};
use crate::operator::{Operator, too_few_arguments_error};
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// Checks the arguments with the operator's plan, and makes results without memory.
pub fn planned_meta_kernel(operator: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    let count = operator.argument_count();
    let Some(arguments) = stack.top_mut(count) else {
        return Err(too_few_arguments_error(operator, stack.len()));
    };
    let results = meta_results(operator, arguments).map_err(|error| error.in_operator(operator.name()))?;
    stack.drop_top(count);
    for result in results {
        stack.push(result);
    }
    Ok(())
}

fn meta_results(operator: &Operator, arguments: &mut [Value]) -> Result<Vec<Value>> {
    check_arguments_on_meta(operator, arguments)?;
    let result_specs = operator.result_specs_fn().ok_or_else(|| no_shape_inference_error(operator))?;
    let specs = result_specs(arguments)?;
    if operator.is_data_dependent() {
        return Err(ErrorKind::DataDependent { operator: operator.name() }.into());
    }
    let schema = operator.schema();
    let mut specs = specs.into_iter();
    let mut results = Vec::with_capacity(schema.returns.len());
    for (place, result) in schema.returns.iter().enumerate() {
        results.push(match (schema.written_argument_of_return(place), &result.ty.kind) {
            (Some(argument), _) => arguments[argument].clone(),
            (None, TypeKind::List(..)) => allocate_all_on(specs.by_ref().collect(), Device::META)?.into(),
            (None, _) => specs.next().ok_or_else(|| no_shape_inference_error(operator))?.on(Device::META)?.into(),
        });
    }
    Ok(results)
}

fn no_shape_inference_error(operator: &Operator) -> Error {
    ErrorKind::NoShapeInference { operator: operator.name() }.into()
}

pub(crate) fn check_arguments_on_meta(operator: &Operator, arguments: &[Value]) -> Result<(), BadArgument> {
    for (position, argument) in arguments.iter().enumerate() {
        for tensor in argument.tensors() {
            check_tensor_on_meta(tensor)
                .map_err(|problem| BadArgument::new(operator.argument_name(position), problem))?;
        }
    }
    Ok(())
}

/// Checks that a tensor can be used on Meta: it is on Meta, or is a single element that could be a number.
pub(crate) fn check_tensor_on_meta(tensor: &Tensor) -> Result<(), Problem> {
    if tensor.device() == Device::META || tensor.geometry().rank() == 0 {
        Ok(())
    } else {
        Err(Problem::Device { found: tensor.device(), expected: Device::META })
    }
}
