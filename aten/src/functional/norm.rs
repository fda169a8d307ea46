//! Normalization by norms.

use dispatch_runtime::prelude::*;

use crate::prelude::*;

/// The input divided by its `p`-norms along a dimension, or by `eps` where these are smaller.
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
/// Where there is no such dimension, or the dtype has no fraction.
pub fn normalize(input: &Tensor, p: f64, dim: i64, eps: f64) -> Result<Tensor> {
    let norms = input.norm_scalaropt_dim(Some(p.into()), &[dim], true)?;
    input / norms.clamp_min(eps)?
}
