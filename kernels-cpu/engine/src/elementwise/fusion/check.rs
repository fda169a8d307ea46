//! Validation of a chain before it is compiled.
//!
//! Any crate can build a chain, and a pass reads and writes memory as its chain says. So sizes, value numbers and devices are checked once,
//! here. Dtypes are compared with those of the kernels' loops when the loops are bound. Inputs are compared with their specs at each run.

use dispatch_runtime::{Device, FusionGroup, FusionStep, StepArgument, Tensor, broadcast};

/// Returns whether a chain of calls can be compiled. Each call uses only earlier values, and its result has the sizes to which its
/// arguments broadcast, which are equal for all calls. The chain's results are distinct results of calls.
pub(super) fn is_valid_chain(chain: &FusionGroup) -> bool {
    let known = chain.inputs.len();
    let all = known + chain.steps.len();
    let mut is_result = vec![false; chain.steps.len()];
    let is_new =
        |&result: &usize| (known..all).contains(&result) && !std::mem::replace(&mut is_result[result - known], true);
    let mut steps = chain.steps.iter().enumerate();
    !chain.results.is_empty()
        && chain.results.iter().all(is_new)
        && chain.inputs.iter().all(is_meta)
        && steps.all(|(at, step)| is_meta(&step.result) && has_broadcast_sizes(chain, at, step))
}

fn is_meta(tensor: &Tensor) -> bool {
    tensor.device() == Device::META && !tensor.is_number()
}

/// Returns whether a step's result has the sizes to which its arguments broadcast, and those of the first step's result.
fn has_broadcast_sizes(chain: &FusionGroup, at: usize, step: &FusionStep) -> bool {
    let sizes = step.arguments.iter().filter_map(|given| match given {
        StepArgument::Value(value) => Some(earlier_value(chain, at, *value).map(Tensor::sizes)),
        StepArgument::Constant(value) => value.as_tensor().map(|tensor| Some(tensor.sizes())),
    });
    let Some(sizes) = sizes.collect::<Option<Vec<_>>>() else { return false };
    step.result.sizes() == chain.steps[0].result.sizes()
        && broadcast(sizes).is_ok_and(|sizes| sizes[..] == *step.result.sizes())
}

/// Returns a value that a step can use: an input, or the result of an earlier step.
fn earlier_value(chain: &FusionGroup, at: usize, value: usize) -> Option<&Tensor> {
    match value.checked_sub(chain.inputs.len()) {
        None => chain.inputs.get(value),
        Some(step) if step < at => Some(&chain.steps[step].result),
        Some(_) => None,
    }
}
