//! Asking for gradients.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor};

use crate::engine::{self, Task};
use crate::error::GradientError;
use crate::graph::history;
use crate::graph::node::{Edge, fit};

/// What gradients are wanted of, and how.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Differentiable, Differentiation};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from(2.0).requires_grad_(true)?;
/// let y = (&(&x * &x)? * &x)?;
/// let first = Differentiation::of(&[&y]).create_graph().grad(&[&x])?;
/// let second = Differentiation::of(&[first[0].as_ref().unwrap()]).grad(&[&x])?;
/// assert_eq!(second[0].as_ref().unwrap().item::<f64>()?, 12.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `backward` or `grad`"]
pub struct Differentiation<'a> {
    outputs: &'a [&'a Tensor],
    seeds: Option<&'a [&'a Tensor]>,
    retain_graph: bool,
    create_graph: bool,
    allow_unused: bool,
}

impl<'a> Differentiation<'a> {
    /// Of these tensors, or rather of the sum of their elements, each of which must be one unless there are [seeds](Self::seeded).
    pub const fn of(outputs: &'a [&'a Tensor]) -> Self {
        Self { outputs, seeds: None, retain_graph: false, create_graph: false, allow_unused: false }
    }

    /// Begins with these gradients, one for each tensor.
    pub const fn seeded(mut self, seeds: &'a [&'a Tensor]) -> Self {
        self.seeds = Some(seeds);
        self
    }

    /// Keeps saved tensors for another time.
    pub const fn retain_graph(mut self) -> Self {
        self.retain_graph = true;
        self
    }

    /// Records the way back too, so that gradients have gradients. The graph is retained.
    pub const fn create_graph(mut self) -> Self {
        self.create_graph = true;
        self.retain_graph = true;
        self
    }

    /// Gives `None` for inputs that have no part in the outputs.
    pub const fn allow_unused(mut self) -> Self {
        self.allow_unused = true;
        self
    }

    /// Adds gradients to those of the leaves.
    ///
    /// # Errors
    ///
    /// As [`Differentiable::backward`](crate::Differentiable::backward).
    pub fn backward(self) -> Result<()> {
        engine::run(&self.task(None)?).map(drop)
    }

    /// Gives the gradients by these tensors, and leaves those of the leaves alone.
    ///
    /// # Errors
    ///
    /// As [`backward`](Self::backward), and where an input has no part in the outputs.
    pub fn grad(self, inputs: &[&Tensor]) -> Result<Vec<Option<Tensor>>> {
        let edges = inputs
            .iter()
            .enumerate()
            .map(|(position, input)| history::edge(input)?.ok_or_else(|| GradientError::NoGraph { position }.into()));
        let edges: Vec<Edge> = edges.collect::<Result<_>>()?;
        let gradients = engine::run(&self.task(Some(&edges))?)?;
        match gradients.iter().position(Option::is_none) {
            Some(position) if !self.allow_unused => Err(GradientError::Unused { position }.into()),
            _ => Ok(gradients),
        }
    }

    /// Gives the gradients that arrive at these edges, beyond which nothing is looked at, or changed by hooks.
    pub(crate) fn up_to(self, ends: &[Edge]) -> Result<Vec<Option<Tensor>>> {
        engine::run(&Task { ends_at_inputs: true, ..self.task(Some(ends))? })
    }

    fn task<'b>(&self, inputs: Option<&'b [Edge]>) -> Result<Task<'b>> {
        if let Some(seeds) = self.seeds
            && seeds.len() != self.outputs.len()
        {
            return Err(GradientError::SeedCount { tensors: self.outputs.len(), seeds: seeds.len() }.into());
        }
        let roots = self.outputs.iter().enumerate().map(|(position, output)| {
            let edge = history::edge(output)?.ok_or(GradientError::NoGraph { position })?;
            let seed = match self.seeds {
                Some(seeds) => {
                    let seed = seeds[position];
                    if seed.sizes() != output.sizes() {
                        let (found, expected) = (seed.sizes().to_vec(), output.sizes().to_vec());
                        let from = format!("seed {position}");
                        return Err(GradientError::WrongGradient { from, found, expected }.into());
                    }
                    fit(seed.clone(), output.sizes(), output.dtype(), &String::new)?
                }
                None if output.geometry().count() == 1 && !output.dtype().is_complex() => {
                    Tensor::ones(output.sizes(), (output.dtype(), output.device()))?
                }
                None => {
                    let (sizes, dtype) = (output.sizes().to_vec(), output.dtype());
                    return Err(GradientError::NotScalar { sizes, dtype }.into());
                }
            };
            Ok((edge, seed))
        });
        let (retain_graph, create_graph) = (self.retain_graph, self.create_graph);
        Ok(Task { roots: roots.collect::<Result<_>>()?, retain_graph, create_graph, inputs, ends_at_inputs: false })
    }
}

/// The gradients of these one-element tensors' sum by these inputs.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Differentiable, grad};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from(3.0).requires_grad_(true)?;
/// let gradients = grad(&[&(&x * &x)?], &[&x])?;
/// assert_eq!(gradients[0].as_ref().unwrap().item::<f64>()?, 6.0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`Differentiation::grad`].
pub fn grad(outputs: &[&Tensor], inputs: &[&Tensor]) -> Result<Vec<Option<Tensor>>> {
    Differentiation::of(outputs).grad(inputs)
}
