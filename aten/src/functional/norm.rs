//! Normalisation by norms and by neighbouring channels, and variants of softmax.

#[cfg(any(feature = "pooling", all(feature = "norm", feature = "random")))]
use dispatch_runtime::BadArgument;
#[cfg(all(feature = "norm", feature = "random"))]
use dispatch_runtime::Expected;
use dispatch_runtime::prelude::*;

use crate::prelude::*;
#[cfg(feature = "pooling")]
use crate::{avg_pool2d, avg_pool3d, constant_pad_nd};

/// Divides the input by its `p`-norms along a dimension, or by `eps` where a norm is smaller.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let unit = aten::functional::normalize(&Tensor::from([[3.0, 4.0]]), 2.0, 1, 1e-12)?;
/// assert_eq!(unit.to_vec::<f64>()?, [0.6, 0.8]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if there is no such dimension, or if the dtype is not floating or complex.
pub fn normalize(input: &Tensor, p: f64, dim: i64, eps: f64) -> Result<Tensor> {
    let norms = crate::norm_scalaropt_dim(input, Some(p.into()), &[dim], true)?;
    input / norms.clamp_min(eps)?
}

/// Divides the input by `(k + alpha * mean)^beta`, where `mean` is the mean of the squares in `size` channels around each.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let same = aten::functional::local_response_norm(&Tensor::ones([1, 3, 2], ())?, 2, 0.0, 0.75, 1.0)?;
/// assert_eq!(same.to_vec::<f32>()?, [1.0; 6]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the input has fewer than three dimensions, or if `size` is not positive.
#[cfg(feature = "pooling")]
pub fn local_response_norm(input: &Tensor, size: i64, alpha: f64, beta: f64, k: f64) -> Result<Tensor> {
    if size < 1 {
        return Err(BadArgument::number("size", size, 1..).into());
    }
    let (before, after) = (size / 2, (size - 1) / 2);
    let squares = (input * input)?;
    let means = match *input.sizes() {
        [] | [_] | [_, _] => return Err(BadArgument::rank("input", input.sizes().len(), 3..).into()),
        _ if input.geometry().count() == 0 => return Ok(input.clone()),
        [_, _, _] => {
            let padded = constant_pad_nd(&squares.unsqueeze(1)?, &[0, 0, before, after], 0.into())?;
            avg_pool2d(&padded, &[size, 1], &[1], &[0], false, true, None)?.squeeze_dims(1)?
        }
        [items, channels, height, ..] => {
            let volumes = squares.reshape([items, 1, channels, height, -1])?;
            let padded = constant_pad_nd(&volumes, &[0, 0, 0, 0, before, after], 0.into())?;
            avg_pool3d(&padded, &[size, 1, 1], &[1], &[0], false, true, None)?.reshape(input.sizes())?
        }
    };
    input / ((means * alpha)? + k)?.pow(beta)?
}

/// Computes the softmax of the negated input: the smallest element gets the largest weight.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let shares = aten::functional::softmin(&Tensor::from([1.0, 1.0]), 0, None)?;
/// assert_eq!(shares.to_vec::<f64>()?, [0.5, 0.5]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if there is no such dimension.
#[cfg(feature = "norm")]
pub fn softmin(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    crate::softmax_int(&(-input)?, dim, dtype)
}

/// Samples from categorical distributions: softmax of logits plus Gumbel noise, at the temperature `tau`.
///
/// The samples are differentiable. `hard` samples are one-hot and have the gradients of the soft samples.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let choice = aten::functional::gumbel_softmax(&Tensor::zeros(8, DType::F64)?, 1.0, true, -1)?;
/// assert_eq!(choice.sum()?.item::<f64>()?, 1.0);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if there is no such dimension, or if `tau` is zero.
#[cfg(all(feature = "norm", feature = "random"))]
pub fn gumbel_softmax(logits: &Tensor, tau: f64, hard: bool, dim: i64) -> Result<Tensor> {
    if tau == 0.0 {
        return Err(BadArgument::number("tau", tau, Expected::Not(0.into())).into());
    }
    let noise = logits.detach()?.empty_like()?;
    noise.exponential_(1.0)?;
    let soft = ((logits - noise.log()?)? / tau)?.softmax(dim)?;
    if !hard {
        return Ok(soft);
    }
    let (_, chosen) = soft.max_keepdim(dim)?;
    let one_hot = logits.detach()?.zeros_like()?.scatter(dim, &chosen, 1)?;
    (one_hot - soft.detach()?)? + soft
}
