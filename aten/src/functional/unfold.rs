//! Sliding windows as columns: `unfold`, and its adjoint `fold`.

use dispatch_runtime::prelude::*;

use crate::{col2im, expand_list_to_rank, im2col};

/// Copies the elements under a window at each of its positions in an image to columns, by [`im2col`].
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let columns = aten::functional::unfold(&Tensor::ones([1, 2, 3, 3], ())?, &[2], &[1], &[0], &[1])?;
/// assert_eq!(columns.sizes(), [1, 8, 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the window does not fit.
pub fn unfold(
    input: &Tensor,
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    let [kernel_size, dilation, stride] = expand_lists_to_two_dims(kernel_size, dilation, stride)?;
    im2col(input, &kernel_size, &dilation, &expand_list_to_rank("padding", padding, 2, 0)?, &stride)
}

/// Sums columns into an image: each element is the sum of its copies in the columns of [`unfold`].
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let image = aten::functional::fold(&Tensor::ones([1, 4, 1], ())?, &[2, 2], &[2], &[1], &[0], &[1])?;
/// assert_eq!(image.to_vec::<f32>()?, [1.0; 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the columns do not have the sizes that [`unfold`] returns for such an image.
pub fn fold(
    input: &Tensor,
    output_size: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    let [kernel_size, dilation, stride] = expand_lists_to_two_dims(kernel_size, dilation, stride)?;
    let (output_size, padding) =
        (expand_list_to_rank("output_size", output_size, 2, 1)?, expand_list_to_rank("padding", padding, 2, 0)?);
    col2im(input, &output_size, &kernel_size, &dilation, &padding, &stride)
}

/// Expands each list to two values, one for each dimension of an image.
fn expand_lists_to_two_dims(
    kernel_size: &[i64],
    dilation: &[i64],
    stride: &[i64],
) -> Result<[dispatch_runtime::Dims; 3]> {
    let two = |name, list| expand_list_to_rank(name, list, 2, 1);
    Ok([two("kernel_size", kernel_size)?, two("dilation", dilation)?, two("stride", stride)?])
}
