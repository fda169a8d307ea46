//! Clipping of gradients.

use std::borrow::Borrow;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_runtime::{Device, Result, Tensor, guard};

use crate::error::OptimError;

/// Scales the gradients so that their total norm is at most `max_norm`, and returns the norm before.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_optim::clip_grad_norm_;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([3.0, 4.0]).requires_grad_(true)?;
/// (&x * &x)?.sum()?.backward()?;
/// assert_eq!(clip_grad_norm_(&[&x], 1.0)?.item::<f64>()?, 10.0);
/// assert!((x.grad().unwrap().to_vec::<f64>()?[1] - 0.8).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of a called operator.
pub fn clip_grad_norm_<T: Borrow<Tensor>>(params: &[T], max_norm: f64) -> Result<Tensor> {
    clip_grad_norm_with(params, max_norm, ClipGradNormOptions::default())
}

/// The options of [`clip_grad_norm_with`].
///
/// ```
/// use dispatch_optim::ClipGradNormOptions;
/// assert_eq!(ClipGradNormOptions::default().norm_type, 2.0);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipGradNormOptions {
    /// The order of the norm: 2 is Euclidean, infinity is the largest absolute element.
    pub norm_type: f64,
    /// Whether a norm that is infinite or NaN is an error.
    pub error_if_nonfinite: bool,
}

impl Default for ClipGradNormOptions {
    fn default() -> Self {
        Self { norm_type: 2.0, error_if_nonfinite: false }
    }
}

/// [`clip_grad_norm_`] with options.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_optim::{ClipGradNormOptions, clip_grad_norm_with};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([3.0, 4.0]).requires_grad_(true)?;
/// (&x * f64::INFINITY)?.sum()?.backward()?;
/// let options = ClipGradNormOptions { error_if_nonfinite: true, ..ClipGradNormOptions::default() };
/// assert!(clip_grad_norm_with(&[&x], 1.0, options).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`OptimError::NonFiniteNorm`] if the norm is infinite or NaN and the options ask for this error. The gradients are then unchanged.
pub fn clip_grad_norm_with<T: Borrow<Tensor>>(
    params: &[T],
    max_norm: f64,
    options: ClipGradNormOptions,
) -> Result<Tensor> {
    let _unrecorded = guard::no_grad();
    let mut by_device = grads_by_device(params);
    let Some(first) = by_device.first().map(|(device, _)| *device) else {
        return Tensor::zeros((), ());
    };
    let mut norms = Vec::with_capacity(params.len());
    for (_, grads) in &by_device {
        for norm in aten::_foreach_norm_scalar(grads, options.norm_type.into(), None)? {
            norms.push(norm.to(first)?);
        }
    }
    let total = aten::linalg_vector_norm(&aten::stack(&norms, 0)?, options.norm_type.into(), None, false, None)?;
    if options.error_if_nonfinite && !total.isfinite()?.item::<bool>()? {
        return Err(OptimError::NonFiniteNorm { norm_type: options.norm_type.to_string() }.into());
    }
    let factor = (max_norm / (&total + 1e-6)?)?.clamp_max(1.0)?;
    for (device, grads) in &mut by_device {
        aten::_foreach_mul_(grads, &factor.to(*device)?)?;
    }
    Ok(total)
}

/// Sets each element of the gradients that is below `-clip_value` or above `clip_value` to this bound.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_optim::clip_grad_value_;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([-3.0, 0.25]).requires_grad_(true)?;
/// (&x * &x)?.sum()?.backward()?;
/// clip_grad_value_(&[&x], 1.0)?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [-1.0, 0.5]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of a called operator.
pub fn clip_grad_value_<T: Borrow<Tensor>>(params: &[T], clip_value: f64) -> Result<()> {
    let _unrecorded = guard::no_grad();
    for (_, grads) in &mut grads_by_device(params) {
        aten::_foreach_clamp_min__scalar(grads, (-clip_value).into())?;
        aten::_foreach_clamp_max__scalar(grads, clip_value.into())?;
    }
    Ok(())
}

/// Returns the gradients of the tensors that have one, for each device.
pub(crate) fn grads_by_device<T: Borrow<Tensor>>(params: &[T]) -> Vec<(Device, Vec<Tensor>)> {
    let mut by_device: Vec<(Device, Vec<Tensor>)> = Vec::new();
    for grad in params.iter().filter_map(|param| param.borrow().grad()) {
        match by_device.iter_mut().find(|(device, _)| *device == grad.device()) {
            Some((_, grads)) => grads.push(grad),
            None => by_device.push((grad.device(), vec![grad])),
        }
    }
    by_device
}
