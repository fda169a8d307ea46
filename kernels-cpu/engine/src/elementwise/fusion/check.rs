//! What a chain must be, to be compiled.
//!
//! Anyone can write a chain, and a pass goes through memory as its chain says. So all that is said of sizes, numbers of values and devices
//! is looked at once, here; dtypes are compared with those of the kernels' loops when these are bound, and inputs with what was said of
//! them at each run.

use dispatch_runtime::{Chain, Device, Given, Step, Tensor, broadcast};

/// Whether each call uses values that there are by then, and gives a shape of the sizes to which these broadcast, the same for all calls;
/// and whether the results are values that calls give, each asked for once.
pub(super) fn is_sound(chain: &Chain) -> bool {
    let known = chain.inputs.len();
    let all = known + chain.steps.len();
    let mut wanted = vec![false; chain.steps.len()];
    let is_new =
        |&result: &usize| (known..all).contains(&result) && !std::mem::replace(&mut wanted[result - known], true);
    let mut steps = chain.steps.iter().enumerate();
    !chain.results.is_empty()
        && chain.results.iter().all(is_new)
        && chain.inputs.iter().all(is_shape)
        && steps.all(|(at, step)| is_shape(&step.result) && gives_what_it_says(chain, at, step))
}

fn is_shape(tensor: &Tensor) -> bool {
    tensor.device() == Device::META && !tensor.is_number()
}

/// Whether the sizes of the result are those to which the arguments broadcast, and those of the first call.
fn gives_what_it_says(chain: &Chain, at: usize, step: &Step) -> bool {
    let sizes = step.arguments.iter().filter_map(|given| match given {
        Given::Value(value) => Some(value_before(chain, at, *value).map(Tensor::sizes)),
        Given::Fixed(value) => value.as_tensor().map(|tensor| Some(tensor.sizes())),
    });
    let Some(sizes) = sizes.collect::<Option<Vec<_>>>() else { return false };
    step.result.sizes() == chain.steps[0].result.sizes()
        && broadcast(sizes).is_ok_and(|sizes| sizes[..] == *step.result.sizes())
}

/// A value that a call can use: an input, or what an earlier call gives.
fn value_before(chain: &Chain, at: usize, value: usize) -> Option<&Tensor> {
    match value.checked_sub(chain.inputs.len()) {
        None => chain.inputs.get(value),
        Some(step) if step < at => Some(&chain.steps[step].result),
        Some(_) => None,
    }
}
