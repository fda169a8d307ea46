//! Computing again instead of remembering.

use std::sync::atomic::{AtomicBool, Ordering};

use dispatch_runtime::guard::{self, ThreadState};
use dispatch_runtime::{Generator, Result, Tensor};
use dispatch_transform::calling_state;

use crate::differentiation::Differentiation;
use crate::error::GradientError;
use crate::function::Backward;
use crate::record::record;
use crate::tensor::Differentiable;

/// Calls `f` and remembers nothing of what it computes: a backward calls it again, with the same random numbers, and goes back through
/// that.
///
/// Leaves that `f` captures gather their gradients in a `backward`; `grad` finds those that are among the inputs.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Differentiable, checkpoint};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([1.0, 2.0]).requires_grad_(true)?;
/// let block = |inputs: &[Tensor]| Ok(vec![inputs[0].exp()?.sin()?]);
/// checkpoint(block, &[&x])?[0].sum()?.backward()?;
/// assert!((x.grad().unwrap().to_vec::<f64>()?[0] - 1f64.exp() * 1f64.exp().cos()).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Where `f` fails, now or in a backward.
pub fn checkpoint(
    f: impl Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync + 'static,
    inputs: &[&Tensor],
) -> Result<Vec<Tensor>> {
    let kept: Vec<Tensor> = inputs.iter().map(|&input| input.clone()).collect();
    let random = inputs.first().map(|input| {
        let generator = Generator::of(input.device());
        (generator.clone(), generator.seed(), generator.position())
    });
    let outputs = {
        let _unrecorded = guard::no_grad();
        f(&kept)?
    };
    let versions = kept.iter().map(|input| input.storage().version()).collect();
    let state = calling_state();
    record(
        inputs,
        outputs,
        Again { f: Box::new(f), inputs: kept, versions, random, state, freed: AtomicBool::new(false) },
    )
}

type Block = Box<dyn Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync>;

struct Again {
    f: Block,
    inputs: Vec<Tensor>,
    versions: Vec<u64>,
    /// Where random numbers came from, the seed, and the place in its stream.
    random: Option<(Generator, u64, u64)>,
    state: ThreadState,
    freed: AtomicBool,
}

impl Again {
    /// What the function gives for these inputs, as the first time.
    fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let now = self.random.as_ref().map(|(generator, seed, position)| {
            let now = (generator.seed(), generator.position());
            generator.set_seed(*seed);
            generator.seek(*position);
            now
        });
        let outputs = {
            let _as_before = self.state.enter();
            (self.f)(inputs)
        };
        if let (Some((generator, ..)), Some((seed, position))) = (&self.random, now) {
            generator.set_seed(seed);
            generator.seek(position);
        }
        outputs
    }

    fn check_inputs(&self) -> Result<()> {
        if self.freed.load(Ordering::Acquire) {
            return Err(GradientError::Freed { operator: self.name() }.into());
        }
        for (i, (input, &version)) in self.inputs.iter().zip(&self.versions).enumerate() {
            let found = input.storage().version();
            if found != version {
                return Err(GradientError::Modified {
                    operator: self.name(),
                    saved: format!("input {i}"),
                    sizes: input.sizes().to_vec(),
                    dtype: input.dtype(),
                    version,
                    found,
                }
                .into());
            }
        }
        Ok(())
    }
}

impl Backward for Again {
    fn name(&self) -> String {
        "checkpoint".to_owned()
    }

    fn backward(&self, gradients: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>> {
        self.check_inputs()?;
        let create_graph = guard::is_grad_enabled();
        // Gradients that are to be differentiated themselves must know where the inputs came from; others end at them.
        let inputs: Vec<Tensor> = self
            .inputs
            .iter()
            .zip(needs)
            .map(|(input, &needed)| match (create_graph, needed) {
                (true, _) => Ok(input.clone()),
                (false, needed) => {
                    let input = aten::detach(input)?;
                    if needed { input.requires_grad_(true) } else { Ok(input) }
                }
            })
            .collect::<Result<_>>()?;
        let outputs = {
            let _recorded = guard::enable_grad();
            self.run(&inputs)?
        };
        let differentiated: Vec<(&Tensor, &Tensor)> = outputs
            .iter()
            .zip(gradients)
            .filter_map(|(output, gradient)| Some((output, gradient.as_ref()?)))
            .filter(|(output, _)| output.requires_grad())
            .collect();
        let (outputs, seeds): (Vec<&Tensor>, Vec<&Tensor>) = differentiated.into_iter().unzip();
        let task = Differentiation::of(&outputs).seeded(&seeds);
        if !create_graph {
            task.backward()?;
            return Ok(inputs.iter().map(Differentiable::grad).collect());
        }
        let wanted: Vec<&Tensor> =
            inputs.iter().zip(needs).filter(|(_, needed)| **needed).map(|(input, _)| input).collect();
        let mut found = task.create_graph().allow_unused().grad(&wanted)?.into_iter();
        Ok(needs.iter().map(|&needed| if needed { found.next().flatten() } else { None }).collect())
    }

    fn release(&self) {
        self.freed.store(true, Ordering::Release);
    }
}
