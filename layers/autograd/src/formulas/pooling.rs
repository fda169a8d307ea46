//! Gradient formulas of pooling.
//!
//! Backward operators read only the sizes of the input, so the input is not saved.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::TensorOutline;

macro_rules! max_pool_derivatives {
    ($($pool:ident $backward:ident;)*) => { derivatives! {$(
        $pool(grad; this: &TensorOutline, result1: &Tensor, _: ...), not_differentiable(result1) =>
            aten::$backward(grad, &this.expanded_zero()?, kernel_size, stride, padding, dilation, ceil_mode, result1);
    )*} };
}

max_pool_derivatives! {
    max_pool2d_with_indices max_pool2d_with_indices_backward;
    max_pool3d_with_indices max_pool3d_with_indices_backward;
}

macro_rules! avg_pool_derivatives {
    ($($pool:ident $backward:ident;)*) => { derivatives! {$(
        $pool(grad; this: &TensorOutline, _: ...) => {
            let image = this.expanded_zero()?;
            aten::$backward(grad, &image, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        };
        $backward(grad; _: ...), not_differentiable(this) =>
            aten::$pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
    )*} };
}

avg_pool_derivatives! {
    avg_pool2d avg_pool2d_backward;
    avg_pool3d avg_pool3d_backward;
}

macro_rules! adaptive_pool_derivatives {
    ($($rank:literal $avg:ident $avg_backward:ident $max:ident $max_backward:ident;)*) => { derivatives! {$(
        $avg(grad; this: &TensorOutline) => aten::$avg_backward(grad, &this.expanded_zero()?);
        $avg_backward(grad; grad_output: &TensorOutline), not_differentiable(this) =>
            aten::$avg(grad, &grad_output.sizes()[grad_output.rank() - $rank..]);
        $max(grad; this: &TensorOutline, result1: &Tensor), not_differentiable(result1) =>
            aten::$max_backward(grad, &this.expanded_zero()?, result1);
    )*} };
}

adaptive_pool_derivatives! {
    2 _adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward;
    3 _adaptive_avg_pool3d _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward;
}

derivatives! {
    max_unpool2d(grad, indices), not_differentiable(indices) => gather_at_flat_positions(grad, indices, 2);
    max_unpool3d(grad, indices), not_differentiable(indices) => gather_at_flat_positions(grad, indices, 3);
    fractional_max_pool2d(grad; this: &TensorOutline, kernel_size: &[i64], output_size: &[i64], result1: &Tensor),
        not_differentiable(random_samples, result1) =>
        aten::fractional_max_pool2d_backward(grad, &this.expanded_zero()?, kernel_size, output_size, result1);
    fractional_max_pool3d(grad; this: &TensorOutline, kernel_size: &[i64], output_size: &[i64], result1: &Tensor),
        not_differentiable(random_samples, result1) =>
        aten::fractional_max_pool3d_backward(grad, &this.expanded_zero()?, kernel_size, output_size, result1);
    max_pool2d_with_indices_backward(grad, indices), not_differentiable(this, indices) => gather_at_flat_positions(grad, indices, 2);
    adaptive_max_pool2d_backward(grad, indices), not_differentiable(this, indices) => gather_at_flat_positions(grad, indices, 2);
    fractional_max_pool2d_backward(grad, indices), not_differentiable(this, indices) => gather_at_flat_positions(grad, indices, 2);
    max_pool3d_with_indices_backward(grad, indices), not_differentiable(this, indices) => gather_at_flat_positions(grad, indices, 3);
    adaptive_max_pool3d_backward(grad, indices), not_differentiable(this, indices) => gather_at_flat_positions(grad, indices, 3);
    fractional_max_pool3d_backward(grad, indices), not_differentiable(this, indices) => gather_at_flat_positions(grad, indices, 3);
}

/// Gathers the elements of an image at flat indices into its last `rank` dimensions.
fn gather_at_flat_positions(image: &Tensor, positions: &Tensor, rank: usize) -> Result<Tensor> {
    let lines = |tensor: &Tensor| {
        let sizes = tensor.sizes();
        let mut flat = sizes[..sizes.len() - rank].to_vec();
        flat.push(dispatch_runtime::element_count(&sizes[sizes.len() - rank..]));
        tensor.reshape(&flat)
    };
    lines(image)?.gather(-1, &lines(positions)?)?.reshape(positions.sizes())
}
