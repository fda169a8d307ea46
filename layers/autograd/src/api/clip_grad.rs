//! Gradient clipping by norm.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor, guard};

use crate::api::differentiable::Differentiable;

/// Scales the gradients of these tensors so that their total norm is at most `max_norm`, and returns the norm before. `norm` is the order
/// of the norm: 2 is Euclidean, infinity is the largest absolute element.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Differentiable, clip_grad_norm_};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([3.0, 4.0]).requires_grad_(true)?;
/// (&x * &x)?.sum()?.backward()?;
/// assert_eq!(clip_grad_norm_(&[&x], 1.0, 2.0)?.item::<f64>()?, 10.0);
/// assert!((x.grad().unwrap().to_vec::<f64>()?[1] - 0.8).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of a called operator.
pub fn clip_grad_norm_(tensors: &[&Tensor], max_norm: f64, norm: f64) -> Result<Tensor> {
    let _unrecorded = guard::no_grad();
    let mut gradients: Vec<Tensor> = tensors.iter().filter_map(|tensor| tensor.grad()).collect();
    if gradients.is_empty() {
        return Tensor::zeros((), ());
    }
    let of = |tensor: &Tensor| aten::linalg_vector_norm(tensor, norm.into(), None, false, None);
    let norms: Vec<Tensor> = gradients.iter().map(of).collect::<Result<_>>()?;
    let total = of(&aten::stack(&norms, 0)?)?;
    let factor = aten::clamp_max(&(max_norm / (&total + 1e-6)?)?, 1.0.into())?;
    for gradient in &mut gradients {
        aten::mul_(gradient, &factor)?;
    }
    Ok(total)
}
