//! What a tensor can do once it may have gradients.

use std::sync::Arc;

use dispatch_runtime::{Marks, Result, Shared, Tensor};

use crate::api::differentiation::Differentiation;
use crate::error::GradientError;
use crate::graph::history;
use crate::graph::hooks::{self, HookHandle};
use crate::graph::node::{Edge, Node};
use crate::graph::outline;
use crate::graph::retain_grad;

/// Tensors that gradients are computed of and by.
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
    /// Says whether what is computed from this leaf is recorded, on all handles at once, and gives it back.
    ///
    /// # Errors
    ///
    /// Where the dtype has no gradients, and where a computed tensor is told not to require them.
    fn requires_grad_(self, requires_grad: bool) -> Result<Self>;

    /// Computes the gradients of this tensor, which has one element, by all leaves that it was computed from, and adds each to the leaf's own.
    ///
    /// [`Differentiation`] has more to choose from.
    ///
    /// # Errors
    ///
    /// Where nothing requires gradients, the tensor has several elements, a saved tensor was written to or freed, or a derivative fails.
    fn backward(&self) -> Result<()>;

    /// The gradient that was gathered, if any. As long as somebody holds this handle it stays as it is: a later backward then gives the
    /// leaf the sum as another tensor.
    fn grad(&self) -> Option<Tensor>;

    /// Replaces the gradient that was gathered.
    ///
    /// # Errors
    ///
    /// Where it is of other sizes, another dtype or another device.
    fn set_grad(&self, gradient: Option<Tensor>) -> Result<()>;

    /// Forgets the gradient that was gathered.
    fn zero_grad(&self);

    /// The node that computed this tensor; none for a leaf.
    fn grad_fn(&self) -> Option<Shared<Node>>;

    /// Keeps the gradient of a computed tensor too, when it is gone through.
    ///
    /// # Errors
    ///
    /// Where the tensor does not require gradients.
    fn retain_grad(&self) -> Result<()>;

    /// Calls `hook` with the gradient of this tensor as soon as it is complete. What the hook gives takes its place.
    ///
    /// # Errors
    ///
    /// Where the tensor does not require gradients.
    fn register_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Result<HookHandle>;

    /// Calls `hook` with this leaf whenever a gradient was added to its own.
    ///
    /// # Errors
    ///
    /// Where this is no leaf that requires gradients.
    fn register_post_accumulate_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookHandle>;
}

impl Differentiable for Tensor {
    fn requires_grad_(self, requires_grad: bool) -> Result<Self> {
        if requires_grad {
            if !outline::is_differentiable(self.dtype()) {
                return Err(GradientError::NotContinuous { dtype: self.dtype() }.into());
            }
            if dispatch_transform::depth() > 0 {
                return Err(GradientError::InsideTransform.into());
            }
            self.mark(Marks::REQUIRES_GRAD);
        } else if history::edge(&self)?.is_some() && !self.is_leaf() {
            return Err(GradientError::NotALeaf.into());
        } else {
            self.unmark(Marks::REQUIRES_GRAD);
        }
        Ok(self)
    }

    fn backward(&self) -> Result<()> {
        Differentiation::of(&[self]).backward()
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
            return Err(GradientError::UnlikeTensor { found: of(gradient), expected: of(self) }.into());
        }
        drop(history::update(self, |state| state.replace_gradient(gradient)));
        Ok(())
    }

    fn zero_grad(&self) {
        drop(history::with_state(self, |state| state.replace_gradient(None)));
    }

    fn grad_fn(&self) -> Option<Shared<Node>> {
        match history::edge(self) {
            Ok(Some(Edge::Node(node, _))) => Some(node),
            _ => None,
        }
    }

    fn retain_grad(&self) -> Result<()> {
        // A leaf keeps its gradient anyway.
        if let edge @ Edge::Node(..) = found(self)? {
            retain_grad::retain(self, edge);
        }
        Ok(())
    }

    fn register_hook(
        &self,
        hook: impl Fn(&Self) -> Result<Option<Self>> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        Ok(hooks::on_tensor(found(self)?, Arc::new(hook)))
    }

    fn register_post_accumulate_hook(
        &self,
        hook: impl Fn(&Self) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        match found(self)? {
            Edge::Leaf(leaf) => Ok(hooks::after_accumulation(&leaf, hook)),
            Edge::Node(..) => Err(GradientError::NotALeaf.into()),
        }
    }
}

fn found(tensor: &Tensor) -> Result<Edge> {
    history::edge(tensor)?.ok_or_else(|| GradientError::NoGraph { position: 0 }.into())
}
