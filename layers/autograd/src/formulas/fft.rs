//! Gradient formulas of Fourier transforms. The adjoint of a transform is the transform in the other direction, without its normalisation.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Dims, wrap_dim};

use crate::TensorOutline;
use aten::prelude::*;

derivatives! {
    _fft_c2c(grad; dim: &[i64], normalization: i64, forward: bool) => aten::_fft_c2c(grad, dim, normalization, !forward);
    _fft_r2c(grad; this: &TensorOutline, dim: &[i64], normalization: i64, onesided: bool) => {
        if onesided {
            let half = grad * inner_weights(grad, dim, this.sizes(), 0.5)?;
            aten::_fft_c2r(&half?, dim, normalization, last_size(this.sizes(), dim)?)
        } else {
            aten::_fft_c2c(grad, dim, normalization, false)?.real()
        }
    };
    _fft_c2r(grad; dim: &[i64], normalization: i64) => {
        let half = aten::_fft_r2c(grad, dim, normalization, true)?;
        &half * inner_weights(&half, dim, grad.sizes(), 2.0)?
    };
}

/// Returns the size of the last transformed dimension.
fn last_size(sizes: &[i64], dim: &[i64]) -> Result<i64> {
    let Some(&last) = dim.last() else { return Ok(1) };
    Ok(sizes[wrap_dim("dim", last, sizes.len())?])
}

/// Returns weights for one half of the frequencies of a real tensor of these sizes: `weight` for each frequency that also has a conjugate in
/// the other half, and 1 for the others.
fn inner_weights(half: &Tensor, dim: &[i64], sizes: &[i64], weight: f64) -> Result<Tensor> {
    let rank = sizes.len();
    let Some(&last) = dim.last() else { return Tensor::ones((), (half.dtype().to_real(), half.device())) };
    let at = wrap_dim("dim", last, rank)?;
    let count = half.sizes()[at];
    let mut weights = Tensor::ones(count, (half.dtype().to_real(), half.device()))?;
    weights.narrow(0, 1, sizes[at] - count)?.fill_(weight)?;
    let mut shape = Dims::from_elem(1, rank);
    shape[at] = count;
    weights = weights.view(&shape)?;
    Ok(weights)
}
