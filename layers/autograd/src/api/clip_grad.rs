//! Keeping gradients within bounds.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor, guard};

use crate::api::differentiable::Differentiable;

/// Scales the gradients of these tensors, as if they were one, so that their norm is at most `max_norm`, and gives the norm that they had.
/// `norm` says which: 2 is Euclid's, infinity is the largest element.
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
/// Where an operator fails.
pub fn clip_grad_norm_(tensors: &[&Tensor], max_norm: f64, norm: f64) -> Result<Tensor> {
    let _unrecorded = guard::no_grad();
    let mut gradients: Vec<Tensor> = tensors.iter().filter_map(|tensor| tensor.grad()).collect();
    if gradients.is_empty() {
        return Tensor::zeros(&[], ());
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
