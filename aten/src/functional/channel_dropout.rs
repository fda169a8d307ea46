//! Dropout of whole channels.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::feature_dropout;
use crate::prelude::*;

/// Sets whole channels of sequences to zero with probability `p` while training. The batch dimension is optional.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let gone = aten::functional::dropout1d(&Tensor::ones([2, 3], ())?, 1.0, true)?;
/// assert_eq!(gone.to_vec::<f32>()?, [0.0; 6]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the input does not have two or three dimensions, or if `p` is not between 0 and 1.
pub fn dropout1d(input: &Tensor, p: f64, training: bool) -> Result<Tensor> {
    match input.sizes().len() {
        2 => feature_dropout(&input.unsqueeze(0)?, p, training)?.squeeze_dims(0),
        3 => feature_dropout(input, p, training),
        rank => Err(BadArgument::rank("input", rank, &[2, 3]).into()),
    }
}

/// Sets whole channels of images to zero with probability `p` while training.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let images = Tensor::ones([2, 3, 1, 1], ())?;
/// assert_eq!(aten::functional::dropout2d(&images, 0.5, false)?.to_vec::<f32>()?, [1.0; 6]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the input has fewer than two dimensions, or if `p` is not between 0 and 1.
pub fn dropout2d(input: &Tensor, p: f64, training: bool) -> Result<Tensor> {
    feature_dropout(input, p, training)
}

/// Sets whole channels of volumes to zero with probability `p` while training. The batch dimension is optional.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let volume = Tensor::ones([3, 1, 1, 2], ())?;
/// assert_eq!(aten::functional::dropout3d(&volume, 0.5, false)?.sizes(), [3, 1, 1, 2]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the input does not have four or five dimensions, or if `p` is not between 0 and 1.
pub fn dropout3d(input: &Tensor, p: f64, training: bool) -> Result<Tensor> {
    match input.sizes().len() {
        4 => feature_dropout(&input.unsqueeze(0)?, p, training)?.squeeze_dims(0),
        5 => feature_dropout(input, p, training),
        rank => Err(BadArgument::rank("input", rank, &[4, 5]).into()),
    }
}
