//! Execution of boxed kernels, and checks of the results that they leave on the stack.

use crate::error::{Error, ErrorKind, Result};
use crate::key::KeySet;
use crate::operator::{BoxedFn, BoxedKernel, Operator, too_few_arguments_error};
use crate::value::{Stack, Value, kind_of_type};

impl BoxedKernel {
    /// Runs the kernel. Returns `None` if its closure is no longer the one of this generation.
    pub(crate) fn call_if_generation(
        &self,
        generation: usize,
        operator: &Operator,
        keys: KeySet,
        stack: &mut Stack,
    ) -> Option<Result<()>> {
        match self {
            Self::Function(kernel) => Some(run_function_and_check_results(operator, *kernel, keys, stack)),
            Self::Closure(kernel) => {
                kernel.with_generation(generation, |kernel| run_and_check_results(&**kernel, operator, keys, stack))
            }
        }
    }

    /// Runs the kernel, or returns `None` if it was removed in the meantime.
    #[inline]
    pub(crate) fn call(&self, operator: &Operator, keys: KeySet, stack: &mut Stack) -> Option<Result<()>> {
        match self {
            Self::Function(kernel) => Some(run_function_and_check_results(operator, *kernel, keys, stack)),
            Self::Closure(kernel) => kernel.with(|kernel| run_and_check_results(&**kernel, operator, keys, stack)),
        }
    }
}

/// Runs a boxed kernel on a stack with only its arguments, and checks the results that it leaves.
#[inline]
pub(crate) fn run_and_check_results(
    kernel: &(impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + ?Sized),
    operator: &Operator,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    if !stack.has_len(operator.argument_count()) {
        return run_on_separate_stack(&mut |own| kernel(operator, keys, own), operator, keys, stack);
    }
    kernel(operator, keys, stack).map_err(|error| error.with_boxed_caller(operator))?;
    check_results(operator, keys, stack)
}

/// Runs a boxed function and checks its results. It is out of line, because most boxed calls end at a typed kernel. The parameters have the
/// order of those of `run_typed`, so a caller has each in one register for both.
#[inline(never)]
pub(crate) fn run_function_and_check_results(
    operator: &Operator,
    kernel: BoxedFn,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    run_and_check_results(&kernel, operator, keys, stack)
}

/// Runs a kernel on a separate stack, because there are values below its arguments.
#[cold]
#[inline(never)]
fn run_on_separate_stack(
    kernel: &mut dyn FnMut(&mut Stack) -> Result<()>,
    operator: &Operator,
    keys: KeySet,
    stack: &mut Stack,
) -> Result<()> {
    let mut own =
        stack.split_top(operator.argument_count()).map_err(|found| too_few_arguments_error(operator, found))?;
    kernel(&mut own).map_err(|error| error.with_boxed_caller(operator))?;
    check_results(operator, keys, &own)?;
    own.into_values().into_iter().for_each(|result| stack.push(result));
    Ok(())
}

#[inline]
fn check_results(operator: &Operator, keys: KeySet, stack: &Stack) -> Result<()> {
    if stack.has_only_tensors(operator.result_count_if_all_tensors()) {
        Ok(())
    } else {
        check_results_by_schema(operator, keys, stack.values())
    }
}

#[inline(never)]
fn check_results_by_schema(operator: &Operator, keys: KeySet, results: &[Value]) -> Result<()> {
    let (name, returns) = (operator.name(), &operator.schema().returns);
    let (expected, found) = (returns.len(), results.len());
    if found > expected {
        let surplus = ErrorKind::SurplusResults { operator: name, expected, found, kernel: None };
        return Err(Error::from(surplus).with_faulty_kernel(operator, keys));
    }
    for (i, ret) in returns.iter().enumerate() {
        let result = results.get(i);
        if !result.is_some_and(|value| value.has_schema_type(&ret.ty)) {
            let (expected, found) = (kind_of_type(&ret.ty).unwrap_or("a value"), result.map(Value::kind));
            let wrong = ErrorKind::WrongResult { operator: name, expected, found, kernel: None };
            return Err(Error::from(wrong).with_faulty_kernel(operator, keys));
        }
    }
    Ok(())
}
