//! The trait `Differentiable`: gradients as methods of tensors.

use std::sync::Arc;

use dispatch_runtime::{Marks, Result, Shared, Tensor};

use crate::api::differentiation::Differentiation;
use crate::error::GradientError;
use crate::graph::history;
use crate::graph::hooks::{self, HookHandle};
use crate::graph::node::{Edge, Node};
use crate::graph::outline;
use crate::graph::retain_grad;

/// The autograd methods of a tensor: `requires_grad_`, `backward`, `grad`, hooks.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([1.0, 2.0, 3.0]).requires_grad_(true)?;
/// (&x * &x)?.sum()?.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [2.0, 4.0, 6.0]);
/// x.zero_grad();
/// assert!(x.grad().is_none());
/// # Ok(())
/// # }
/// ```
pub trait Differentiable: Sized {
    /// Sets whether calls with this leaf are recorded. Affects all handles of the tensor, and returns this one.
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::NotDifferentiableDType`] if the dtype has no gradients, [`GradientError::RequiresGradInsideTransform`] if a
    /// function transform runs, and [`GradientError::NotALeaf`] if `requires_grad` is false and the tensor was computed from others.
    fn requires_grad_(self, requires_grad: bool) -> Result<Self>;

    /// Computes the gradients of this one-element tensor with respect to all leaves that it was computed from, and adds each to the
    /// gradient that the leaf has accumulated.
    ///
    /// [`Differentiation`] has more options.
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::NoGraph`] if nothing requires gradients, [`GradientError::NotScalar`] if the tensor does not have exactly
    /// one real element, [`GradientError::SavedTensorModified`] or [`GradientError::SavedTensorsFreed`] if a saved tensor was written to or
    /// freed, and the error of a derivative.
    fn backward(&self) -> Result<()>;

    /// Returns the accumulated gradient, if any. While this handle lives the returned tensor does not change: a later backward stores the
    /// sum in a new tensor.
    fn grad(&self) -> Option<Tensor>;

    /// Replaces the accumulated gradient.
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::SetGradientMismatch`] if the gradient has other sizes, another dtype or another device.
    fn set_grad(&self, gradient: Option<Tensor>) -> Result<()>;

    /// Removes the accumulated gradient.
    fn zero_grad(&self);

    /// Returns the node that computed this tensor. `None` for a leaf.
    fn grad_fn(&self) -> Option<Shared<Node>>;

    /// Retains the gradient of a computed tensor in later backward passes. Leaves always retain theirs.
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::NoGraph`] if the tensor does not require gradients.
    fn retain_grad(&self) -> Result<()>;

    /// Registers a hook that is called with the complete gradient of this tensor. A returned tensor replaces the gradient.
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::NoGraph`] if the tensor does not require gradients.
    fn register_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Result<HookHandle>;

    /// Registers a hook that is called with this leaf after each accumulation into its gradient.
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::NoGraph`] if the tensor does not require gradients, and [`GradientError::NotALeaf`] if it is not a leaf.
    fn register_post_accumulate_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookHandle>;
}

impl Differentiable for Tensor {
    fn requires_grad_(self, requires_grad: bool) -> Result<Self> {
        if requires_grad {
            if !outline::is_differentiable(self.dtype()) {
                return Err(GradientError::NotDifferentiableDType { dtype: self.dtype() }.into());
            }
            if dispatch_transform::depth() > 0 {
                return Err(GradientError::RequiresGradInsideTransform.into());
            }
            self.mark(Marks::REQUIRES_GRAD);
        } else if history::gradient_edge(&self)?.is_some() && !self.is_leaf() {
            return Err(GradientError::NotALeaf.into());
        } else {
            self.unmark(Marks::REQUIRES_GRAD);
        }
        Ok(self)
    }

    fn backward(&self) -> Result<()> {
        Differentiation::of_outputs(&[self]).backward()
    }

    fn grad(&self) -> Option<Tensor> {
        history::with_state(self, |state| state.gradient()).flatten()
    }

    fn set_grad(&self, gradient: Option<Tensor>) -> Result<()> {
        if let Some(gradient) = &gradient
            && (gradient.sizes() != self.sizes()
                || gradient.dtype() != self.dtype()
                || gradient.device() != self.device())
        {
            let of = |tensor: &Self| (tensor.sizes().to_vec(), tensor.dtype(), tensor.device());
            return Err(GradientError::SetGradientMismatch { found: of(gradient), expected: of(self) }.into());
        }
        drop(history::update_state(self, |state| state.replace_gradient(gradient)));
        Ok(())
    }

    fn zero_grad(&self) {
        drop(history::with_state(self, |state| state.replace_gradient(None)));
    }

    fn grad_fn(&self) -> Option<Shared<Node>> {
        match history::gradient_edge(self) {
            Ok(Some(Edge::Node(node, _))) => Some(node),
            _ => None,
        }
    }

    fn retain_grad(&self) -> Result<()> {
        // A leaf always retains its gradient.
        if let edge @ Edge::Node(..) = gradient_edge_or_error(self)? {
            retain_grad::retain_gradient(self, edge);
        }
        Ok(())
    }

    fn register_hook(
        &self,
        hook: impl Fn(&Self) -> Result<Option<Self>> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        Ok(hooks::register_tensor_hook(gradient_edge_or_error(self)?, Arc::new(hook)))
    }

    fn register_post_accumulate_hook(
        &self,
        hook: impl Fn(&Self) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        match gradient_edge_or_error(self)? {
            Edge::Leaf(leaf) => Ok(hooks::register_post_accumulate_hook(&leaf, hook)),
            Edge::Node(..) => Err(GradientError::NotALeaf.into()),
        }
    }
}

fn gradient_edge_or_error(tensor: &Tensor) -> Result<Edge> {
    history::gradient_edge(tensor)?.ok_or_else(|| GradientError::NoGraph { position: 0 }.into())
}
