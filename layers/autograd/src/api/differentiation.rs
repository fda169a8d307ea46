//! Requests for gradients: `Differentiation` and `grad`.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor};

use crate::engine::{self, GraphTask};
use crate::error::GradientError;
use crate::graph::history;
use crate::graph::node::{Edge, reduce_and_cast};

/// A request for the gradients of some outputs, with its options.
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
/// let first = Differentiation::of_outputs(&[&y]).create_graph().grad(&[&x])?;
/// let second = Differentiation::of_outputs(&[first[0].as_ref().unwrap()]).grad(&[&x])?;
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
    /// Requests the gradients of these tensors. Without [seeds](Self::with_seeds) each must have one real element, and the gradients are
    /// those of their sum.
    pub const fn of_outputs(outputs: &'a [&'a Tensor]) -> Self {
        Self { outputs, seeds: None, retain_graph: false, create_graph: false, allow_unused: false }
    }

    /// Sets the seed gradients with which the backward pass starts, one for each output.
    pub const fn with_seeds(mut self, seeds: &'a [&'a Tensor]) -> Self {
        self.seeds = Some(seeds);
        self
    }

    /// Keeps the saved tensors for another backward pass.
    pub const fn retain_graph(mut self) -> Self {
        self.retain_graph = true;
        self
    }

    /// Records the backward pass itself, so that gradients have gradients. The graph is retained.
    pub const fn create_graph(mut self) -> Self {
        self.create_graph = true;
        self.retain_graph = true;
        self
    }

    /// Allows inputs that have no path to the outputs: their gradient is `None`, not an error.
    pub const fn allow_unused(mut self) -> Self {
        self.allow_unused = true;
        self
    }

    /// Computes the gradients of all leaves and adds them to the gradients that the leaves have accumulated.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Differentiable::backward`](crate::Differentiable::backward). Returns [`GradientError::WrongSeedCount`] or
    /// [`GradientError::WrongGradientSizes`] if the seeds do not match the outputs.
    pub fn backward(self) -> Result<()> {
        engine::run_backward(&self.to_graph_task(None)?).map(drop)
    }

    /// Returns the gradients with respect to these inputs. The gradients of leaves do not change.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`backward`](Self::backward), and [`GradientError::UnusedInput`] if an input has no path to the outputs.
    pub fn grad(self, inputs: &[&Tensor]) -> Result<Vec<Option<Tensor>>> {
        let edges = inputs.iter().enumerate().map(|(position, input)| {
            history::gradient_edge(input)?.ok_or_else(|| GradientError::NoGraph { position }.into())
        });
        let edges: Vec<Edge> = edges.collect::<Result<_>>()?;
        let gradients = engine::run_backward(&self.to_graph_task(Some(&edges))?)?;
        match gradients.iter().position(Option::is_none) {
            Some(position) if !self.allow_unused => Err(GradientError::UnusedInput { position }.into()),
            _ => Ok(gradients),
        }
    }

    /// Returns the gradients that arrive at these edges. The walk stops there, and no hooks are called on them.
    pub(crate) fn grad_at_edges(self, edges: &[Edge]) -> Result<Vec<Option<Tensor>>> {
        engine::run_backward(&GraphTask { stops_at_inputs: true, ..self.to_graph_task(Some(edges))? })
    }

    fn to_graph_task<'b>(&self, inputs: Option<&'b [Edge]>) -> Result<GraphTask<'b>> {
        if let Some(seeds) = self.seeds
            && seeds.len() != self.outputs.len()
        {
            return Err(GradientError::WrongSeedCount { tensors: self.outputs.len(), seeds: seeds.len() }.into());
        }
        let roots = self.outputs.iter().enumerate().map(|(position, output)| {
            let edge = history::gradient_edge(output)?.ok_or(GradientError::NoGraph { position })?;
            let seed = match self.seeds {
                Some(seeds) => {
                    let seed = seeds[position];
                    if seed.sizes() != output.sizes() {
                        let (found, expected) = (seed.sizes().to_vec(), output.sizes().to_vec());
                        let from = format!("seed {position}");
                        return Err(GradientError::WrongGradientSizes { from, found, expected }.into());
                    }
                    reduce_and_cast(seed.clone(), output.sizes(), output.dtype(), &String::new)?
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
        Ok(GraphTask {
            roots: roots.collect::<Result<_>>()?,
            retain_graph,
            create_graph,
            inputs,
            stops_at_inputs: false,
        })
    }
}

/// Returns the gradients of the sum of these one-element tensors with respect to the inputs.
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
/// Returns the errors of [`Differentiation::grad`].
pub fn grad(outputs: &[&Tensor], inputs: &[&Tensor]) -> Result<Vec<Option<Tensor>>> {
    Differentiation::of_outputs(outputs).grad(inputs)
}
