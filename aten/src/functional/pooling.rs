//! Norms under a sliding window.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected};

use crate::prelude::*;
use crate::{avg_pool1d, avg_pool2d, avg_pool3d, expand_list_to_rank, max_pool1d, max_pool2d, max_pool3d};

macro_rules! define_lp_pools {
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
                return Err(BadArgument::number("norm_type", norm_type, Expected::Not(0.into())).into());
            }
            if norm_type == f64::INFINITY {
                return largest(&input.abs()?);
            }
            if norm_type == f64::NEG_INFINITY {
                let smallest: Tensor = largest(&(-input.abs()?)?)?;
                return -smallest;
            }
            let powers = input.pow(norm_type)?;
            let means = $avg(&powers, kernel_size, stride, &[0], ceil_mode, true $(, $divisor)?)?;
            let count = dispatch_runtime::element_count(&expand_list_to_rank("kernel_size", kernel_size, $rank, 1)?);
            // The gradient of a root is infinite at 0. The ReLU replaces it by 0.
            let means = (means.sign()? * means.abs()?.relu()?)?;
            (means * count)?.pow(norm_type.recip())
        }
    )*};
}

define_lp_pools! {
    /// Computes the `norm_type`-norms of the elements under a window along the last dimension. An empty `stride` means the window's size.
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
    /// Returns an error if the window does not fit, or if `norm_type` is zero.
    lp_pool1d 1 max_pool1d avg_pool1d();
    /// Computes the `norm_type`-norms of the elements under a window in images, as [`lp_pool1d`] in one dimension.
    ///
    /// # Errors
    ///
    /// Returns an error if the window does not fit, or if `norm_type` is zero.
    lp_pool2d 2 max_pool2d avg_pool2d(None);
    /// Computes the `norm_type`-norms of the elements under a window in volumes, as [`lp_pool1d`] in one dimension.
    ///
    /// # Errors
    ///
    /// Returns an error if the window does not fit, or if `norm_type` is zero.
    lp_pool3d 3 max_pool3d avg_pool3d(None);
}
