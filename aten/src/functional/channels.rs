//! Normalization by norms and by neighbouring channels, and channels that are left out.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::prelude::*;
use crate::{avg_pool2d, avg_pool3d, constant_pad_nd, feature_dropout};

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

/// The input divided by `(k + alpha * mean)^beta`, where the mean is of the squares in `size` channels around each.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let same = aten::functional::local_response_norm(&Tensor::ones(&[1, 3, 2], ())?, 2, 0.0, 0.75, 1.0)?;
/// assert_eq!(same.to_vec::<f32>()?, [1.0; 6]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Where the input has fewer than three dimensions.
pub fn local_response_norm(input: &Tensor, size: i64, alpha: f64, beta: f64, k: f64) -> Result<Tensor> {
    if size < 1 {
        return Err(BadArgument::value("size", size, "one or more").into());
    }
    let (before, behind) = (size / 2, (size - 1) / 2);
    let squares = (input * input)?;
    let means = match *input.sizes() {
        [] | [_] | [_, _] => return Err(BadArgument::rank("input", input.sizes().len(), "at least 3").into()),
        _ if input.geometry().count() == 0 => return Ok(input.clone()),
        [_, _, _] => {
            let padded = constant_pad_nd(&squares.unsqueeze(1)?, &[0, 0, before, behind], 0.into())?;
            avg_pool2d(&padded, &[size, 1], &[1], &[0], false, true, None)?.squeeze_dim(1)?
        }
        [items, channels, height, ..] => {
            let volumes = squares.reshape(&[items, 1, channels, height, -1])?;
            let padded = constant_pad_nd(&volumes, &[0, 0, 0, 0, before, behind], 0.into())?;
            avg_pool3d(&padded, &[size, 1, 1], &[1], &[0], false, true, None)?.reshape(input.sizes())?
        }
    };
    input / ((means * alpha)? + k)?.pow_tensor_scalar(beta)?
}

/// Leaves whole channels of sequences out, each with the chance `p`, while training. The batch may be missing.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let gone = aten::functional::dropout1d(&Tensor::ones(&[2, 3], ())?, 1.0, true)?;
/// assert_eq!(gone.to_vec::<f32>()?, [0.0; 6]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Where the input is no such sequence, or `p` is no chance.
pub fn dropout1d(input: &Tensor, p: f64, training: bool) -> Result<Tensor> {
    match input.sizes().len() {
        2 => feature_dropout(&input.unsqueeze(0)?, p, training)?.squeeze_dim(0),
        3 => feature_dropout(input, p, training),
        rank => Err(BadArgument::rank("input", rank, "2 or 3").into()),
    }
}

/// Leaves whole channels of images out, each with the chance `p`, while training.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let images = Tensor::ones(&[2, 3, 1, 1], ())?;
/// assert_eq!(aten::functional::dropout2d(&images, 0.5, false)?.to_vec::<f32>()?, [1.0; 6]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Where the input has no channels, or `p` is no chance.
pub fn dropout2d(input: &Tensor, p: f64, training: bool) -> Result<Tensor> {
    feature_dropout(input, p, training)
}

/// Leaves whole channels of volumes out, each with the chance `p`, while training. The batch may be missing.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let volume = Tensor::ones(&[3, 1, 1, 2], ())?;
/// assert_eq!(aten::functional::dropout3d(&volume, 0.5, false)?.sizes(), [3, 1, 1, 2]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Where the input is no such volume, or `p` is no chance.
pub fn dropout3d(input: &Tensor, p: f64, training: bool) -> Result<Tensor> {
    match input.sizes().len() {
        4 => feature_dropout(&input.unsqueeze(0)?, p, training)?.squeeze_dim(0),
        5 => feature_dropout(input, p, training),
        rank => Err(BadArgument::rank("input", rank, "4 or 5").into()),
    }
}
