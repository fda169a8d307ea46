//! Runs a call or a graph under a layer: autocast, autograd or vmap.

use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::{DType, Result, Tensor, manual_seed};
use dispatch_vmap::{SlowLoops, vmap};

use crate::batches;
use crate::gradients::cosine_cotangent;
use crate::tensors::HOST_DEVICE;
use crate::verdict::{CallError, catch_panics};

/// A call or a graph as a function of the tensors in its arguments.
pub(super) type TensorFunction<'a> = dyn Fn(&[Tensor]) -> Result<Vec<Tensor>> + 'a;

/// The tensors of a run: the inputs, and the results.
pub(super) struct RunOutcome {
    pub(super) given: Vec<Tensor>,
    pub(super) results: Vec<Tensor>,
}

#[derive(Clone, Copy)]
pub(super) enum Layer {
    None,
    Autocast,
    Autograd,
    Vmap,
}

impl Layer {
    pub(super) const CHECKED_LAYERS: [(Self, &'static str); 3] = [
        (Self::Autocast, "run under autocast"),
        (Self::Autograd, "run under autograd"),
        (Self::Vmap, "run under vmap"),
    ];

    /// Runs a function on tensors under the layer. Vmap gets the batch of `given` and `others`.
    pub(super) fn run(
        self,
        f: &TensorFunction<'_>,
        given: Vec<Tensor>,
        others: &[Tensor],
        is_written: impl Fn(usize) -> bool,
    ) -> Result<RunOutcome, CallError> {
        manual_seed(1);
        match self {
            Self::None => {
                let results = catch_panics(|| f(&given))?;
                Ok(RunOutcome { given, results })
            }
            Self::Autocast => {
                let results = catch_panics(|| {
                    let device = given.first().map_or(HOST_DEVICE, Tensor::device);
                    let _cast = dispatch_autocast::enable(device, DType::BF16)?;
                    f(&given)
                })?;
                Ok(RunOutcome { given, results })
            }
            Self::Autograd => run_with_gradients(f, given, is_written),
            Self::Vmap => {
                let _slow = batches::lock_slow_loops(SlowLoops::Allow);
                let batch = |(one, other): (&Tensor, &Tensor)| aten::stack(&[one.clone(), other.clone()], 0);
                let given = catch_panics(|| given.iter().zip(others).map(batch).collect::<Result<Vec<_>>>())?;
                let results = catch_panics(|| vmap(|slices: &Vec<Tensor>| f(slices), &given[..]))?;
                Ok(RunOutcome { given, results })
            }
        }
    }
}

/// Runs a function under autograd. Returns its results, and then the gradients with respect to its leaves.
fn run_with_gradients(
    f: &TensorFunction<'_>,
    given: Vec<Tensor>,
    is_written: impl Fn(usize) -> bool,
) -> Result<RunOutcome, CallError> {
    let leaf = |(at, tensor): (usize, Tensor)| {
        let is_leaf = matches!(tensor.dtype(), DType::F32 | DType::F64) && !is_written(at);
        if is_leaf { tensor.requires_grad_(true) } else { Ok(tensor) }
    };
    let given = catch_panics(|| given.into_iter().enumerate().map(leaf).collect::<Result<Vec<_>>>())?;
    let mut results = catch_panics(|| f(&given))?;
    let of: Vec<&Tensor> =
        results.iter().filter(|tensor| tensor.dtype().is_floating() && tensor.requires_grad()).collect();
    let leaves: Vec<&Tensor> = given.iter().filter(|tensor| tensor.requires_grad() && tensor.is_leaf()).collect();
    if !of.is_empty() {
        let seeds = of.iter().map(|tensor| result_cotangent(tensor)).collect::<Result<Vec<_>, CallError>>()?;
        let seeds: Vec<&Tensor> = seeds.iter().collect();
        let gradients =
            catch_panics(|| Differentiation::of_outputs(&of).with_seeds(&seeds).allow_unused().grad(&leaves))?;
        results.extend(gradients.into_iter().flatten());
    }
    Ok(RunOutcome { given, results })
}

/// Returns the cotangent of a result.
fn result_cotangent(tensor: &Tensor) -> Result<Tensor, CallError> {
    let seed = crate::tensors::to_tensor(&cosine_cotangent(tensor), tensor.device())?;
    catch_panics(|| aten::to_dtype(&seed, tensor.dtype(), false, false, None))
}
