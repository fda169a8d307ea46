//! `im2col` and `col2im`: the windows of an image as columns of a matrix, and back.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use crate::{Window, expand_list_to_rank};

/// The elements under each position of a sliding window over an image, as a column of a matrix.
#[op_def(
    "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    plan,
    out = "out"
)]
pub fn im2col(_: ...) -> Result<Tensor>;

/// The image that sums overlapping windows, given as the columns of [`im2col`]. It is the gradient of [`im2col`].
#[op_def(
    "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    plan,
    out = "out"
)]
pub fn col2im(_: ...) -> Result<Tensor>;

#[op_plan(im2col)]
fn im2col_plan(_: ...) -> Result<Plan<Window>, BadArgument> {
    let sizes = this.sizes();
    let ([channels, height, width] | [_, channels, height, width]) = sizes else {
        return Err(BadArgument::rank("self", sizes.len(), &[3, 4]));
    };
    let window = Window::new(2, ("kernel_size", kernel_size), stride, padding, dilation)?;
    let counts = window.position_count(0, *height).zip(window.position_count(1, *width));
    let Some((down, across)) = counts else {
        return Err(BadArgument::sizes("self", sizes, "large enough sizes for the kernel"));
    };
    let area = window.kernel[0].saturating_mul(window.kernel[1]);
    let mut result = Dims::from_slice(&sizes[..sizes.len() - 3]);
    result.extend([channels.saturating_mul(area), down.saturating_mul(across)]);
    Ok(Plan::new(window, [Spec::contiguous(this.dtype(), &result)]))
}

#[op_plan(col2im)]
fn col2im_plan(_: ...) -> Result<Plan<Window>, BadArgument> {
    let sizes = this.sizes();
    let ([rows, count] | [_, rows, count]) = sizes else {
        return Err(BadArgument::rank("self", sizes.len(), &[2, 3]));
    };
    let window = Window::new(2, ("kernel_size", kernel_size), stride, padding, dilation)?;
    let output_size = expand_list_to_rank("output_size", output_size, 2, 0)?;
    let area = window.kernel[0].saturating_mul(window.kernel[1]);
    let counts = window.position_count(0, output_size[0]).zip(window.position_count(1, output_size[1]));
    if rows % area != 0 || counts.is_none_or(|(down, across)| down.saturating_mul(across) != *count) {
        let expected = format!("the columns of an image of sizes {:?}", &output_size[..]);
        return Err(BadArgument::sizes("self", sizes, expected));
    }
    let mut result = Dims::from_slice(&sizes[..sizes.len() - 2]);
    result.extend([rows / area, output_size[0], output_size[1]]);
    Ok(Plan::new(window, [Spec::contiguous(this.dtype(), &result)]))
}
