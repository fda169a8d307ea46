//! Normalization by neighbouring channels.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::prelude::*;
use crate::{avg_pool2d, avg_pool3d, constant_pad_nd};

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
        return Err(BadArgument::number("size", size, 1..).into());
    }
    let (before, behind) = (size / 2, (size - 1) / 2);
    let squares = (input * input)?;
    let means = match *input.sizes() {
        [] | [_] | [_, _] => return Err(BadArgument::rank("input", input.sizes().len(), 3..).into()),
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
