//! Gradient formulas of scans: cumulative sums, products and extremes.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{TensorOutline, op_grad};

/// Runs a scan from the end of a dimension.
fn reverse_scan(tensor: &Tensor, dim: i64, scan: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if tensor.sizes().is_empty() {
        return scan(tensor);
    }
    scan(&tensor.flip(dim)?)?.flip(dim)
}

derivatives! {
    cumsum(grad; dim: i64) => reverse_scan(grad, dim, |grad| grad.cumsum(dim));
    cumprod(grad, this, result; dim: i64) => aten::cumprod_backward(grad, this, dim, result);
    cummax(grad; this: &TensorOutline, dim: i64, indices: &Tensor), not_differentiable(indices) =>
        Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, indices, grad);
    cummin(grad; this: &TensorOutline, dim: i64, indices: &Tensor), not_differentiable(indices) =>
        Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, indices, grad);
}

#[op_grad(aten::logcumsumexp)]
fn logcumsumexp(grad: &Tensor, this: &Tensor, dim: i64, result: &Tensor) -> Result<Tensor> {
    // Logarithms of gradients have no sign, so positive and negative gradients are scanned separately. A zero gradient becomes the smallest
    // finite number, because infinity would make its own gradient NaN.
    if this.dtype().is_complex() {
        // The logarithm of a complex number includes its sign.
        let reversed = reverse_scan(&(conj(grad)?.log()? - result)?, dim, |terms| terms.logcumsumexp(dim))?;
        return conj(&(reversed + this)?.exp()?);
    }
    let of_zero = if this.dtype() == DType::F64 { f64::MIN } else { f32::MIN.into() };
    let of = |grad: &Tensor| {
        let not_positive = grad.le(0)?;
        let logarithm = grad.masked_fill(&not_positive, 1)?.log()?.masked_fill(&not_positive, of_zero)?;
        let reversed = reverse_scan(&(logarithm - result)?, dim, |terms| terms.logcumsumexp(dim))?;
        (reversed + this)?.exp()
    };
    of(grad)? - of(&(-grad)?)?
}
