//! Other uses of softmax.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected};

use crate::prelude::*;

/// Softmax of the negated input: the smallest element weighs most.
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
/// Where there is no such dimension.
pub fn softmin(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    input.neg()?.softmax_int(dim, dtype)
}

/// Softmax along a dimension of random logits around these, at the temperature `tau`: samples that have gradients.
///
/// `hard` ones are all in one place, with the gradients of those that are not.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let choice = aten::functional::gumbel_softmax(&Tensor::zeros(&[8], DType::F64)?, 1.0, true, -1)?;
/// assert_eq!(choice.sum()?.item::<f64>()?, 1.0);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Where there is no such dimension, or `tau` is zero.
#[cfg(feature = "random")]
pub fn gumbel_softmax(logits: &Tensor, tau: f64, hard: bool, dim: i64) -> Result<Tensor> {
    if tau == 0.0 {
        return Err(BadArgument::number("tau", tau, Expected::Not(0.into())).into());
    }
    let mut noise = logits.detach()?.empty_like()?;
    noise.exponential_(1.0)?;
    let soft = ((logits - noise.log()?)? / tau)?.softmax_int(dim, None)?;
    if !hard {
        return Ok(soft);
    }
    let (_, chosen) = soft.max_dim(dim, true)?;
    let whole = logits.detach()?.zeros_like()?.scatter_value(dim, &chosen, 1)?;
    (whole - soft.detach()?)? + soft
}
