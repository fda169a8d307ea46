//! Norms under a window, and windows as columns.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::prelude::*;
use crate::{avg_pool1d, avg_pool2d, avg_pool3d, col2im, im2col, max_pool1d, max_pool2d, max_pool3d, spread};

macro_rules! norm_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal $max:ident $avg:ident($($divisor:expr)?);)*) => {$(
        $(#[$doc])*
        pub fn $name(
            input: &Tensor,
            norm_type: f64,
            kernel_size: &[i64],
            stride: &[i64],
            ceil_mode: bool,
        ) -> Result<Tensor> {
            let largest = |input: &Tensor| $max(input, kernel_size, stride, &[0], &[1], ceil_mode);
            if norm_type == 0.0 {
                return Err(BadArgument::value("norm_type", norm_type, "other than zero").into());
            }
            if norm_type == f64::INFINITY {
                return largest(&input.abs()?);
            }
            if norm_type == f64::NEG_INFINITY {
                return largest(&input.abs()?.neg()?)?.neg();
            }
            let powers = input.pow_tensor_scalar(norm_type)?;
            let means = $avg(&powers, kernel_size, stride, &[0], ceil_mode, true $(, $divisor)?)?;
            let count = dispatch_runtime::element_count(&spread("kernel_size", kernel_size, $rank, 1)?);
            // Of sums below zero there is no root.
            (means.relu()? * count)?.pow_tensor_scalar(norm_type.recip())
        }
    )*};
}

norm_pools! {
    /// The `norm_type`-norms of the elements under a window over lines. Without a stride the window moves by its size.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # use aten::prelude::*;
    /// # use dispatch_runtime::prelude::*;
    /// let norms = aten::functional::lp_pool1d(&Tensor::from([[3.0, 4.0]]), 2.0, &[2], &[], false)?;
    /// assert_eq!(norms.to_vec::<f64>()?, [5.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Where the window does not fit, or `norm_type` is zero.
    lp_pool1d 1 max_pool1d avg_pool1d();
    /// [`lp_pool1d`] over images.
    ///
    /// # Errors
    ///
    /// As there.
    lp_pool2d 2 max_pool2d avg_pool2d(None);
    /// [`lp_pool1d`] over volumes.
    ///
    /// # Errors
    ///
    /// As there.
    lp_pool3d 3 max_pool3d avg_pool3d(None);
}

/// What is under a window at each of its places in an image, as columns: [`im2col`], as layers call it.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let columns = aten::functional::unfold(&Tensor::ones(&[1, 2, 3, 3], ())?, &[2], &[1], &[0], &[1])?;
/// assert_eq!(columns.sizes(), [1, 8, 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Where the window does not fit.
pub fn unfold(
    input: &Tensor,
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    let [kernel_size, dilation, stride] = pairs(kernel_size, dilation, stride)?;
    im2col(input, &kernel_size, &dilation, &spread("padding", padding, 2, 0)?, &stride)
}

/// An image whose every element is the sum of those that [`unfold`] would have put into columns.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let image = aten::functional::fold(&Tensor::ones(&[1, 4, 1], ())?, &[2, 2], &[2], &[1], &[0], &[1])?;
/// assert_eq!(image.to_vec::<f32>()?, [1.0; 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Where the columns are not those of such an image.
pub fn fold(
    input: &Tensor,
    output_size: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    let [kernel_size, dilation, stride] = pairs(kernel_size, dilation, stride)?;
    let (output_size, padding) = (spread("output_size", output_size, 2, 1)?, spread("padding", padding, 2, 0)?);
    col2im(input, &output_size, &kernel_size, &dilation, &padding, &stride)
}

fn pairs(kernel_size: &[i64], dilation: &[i64], stride: &[i64]) -> Result<[dispatch_runtime::Dims; 3]> {
    let two = |name, list| spread(name, list, 2, 1);
    Ok([two("kernel_size", kernel_size)?, two("dilation", dilation)?, two("stride", stride)?])
}
