//! Gradient formulas of scans: cumulative sums, products and extremes.

use aten::prelude::*;
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{TensorOutline, op_grad};

/// Runs a scan from the end of a dimension.
fn reverse_scan(tensor: &Tensor, dim: i64, scan: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if tensor.sizes().is_empty() {
        return scan(tensor);
    }
    scan(&tensor.flip(&[dim])?)?.flip(&[dim])
}

fn reverse_cumsum(tensor: &Tensor, dim: i64) -> Result<Tensor> {
    reverse_scan(tensor, dim, |tensor| tensor.cumsum(dim))
}

derivatives! {
    cumsum(grad; dim: i64) => reverse_cumsum(grad, dim);
    cummax(grad; this: &TensorOutline, dim: i64, indices: &Tensor), not_differentiable(indices) =>
        Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, indices, grad);
    cummin(grad; this: &TensorOutline, dim: i64, indices: &Tensor), not_differentiable(indices) =>
        Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, indices, grad);
}

/// Gradient of `cumprod`. Elements before the first zero are divided out of the products that contain them. The first zero is left out of
/// its products. Elements after it have gradient zero.
#[op_grad(aten::cumprod)]
fn cumprod(grad: &Tensor, this: &Tensor, dim: i64, result: &Tensor) -> Result<Tensor> {
    if guard::is_grad_enabled() && !this.sizes().is_empty() {
        return cumprod_gradient_without_division(grad, this, dim);
    }
    let zero = this.eq_scalar(0)?;
    let zeros = zero.cumsum(dim)?;
    let first = zero.logical_and(&zeros.eq_scalar(1)?)?;
    let without = this.masked_fill_scalar(&first, 1)?;
    let of_first = reverse_cumsum(&(grad * conj(&without.cumprod(dim)?)?)?, dim)?;
    let of_others = (reverse_cumsum(&(grad * conj(result)?)?, dim)? / conj(&this.masked_fill_scalar(&zero, 1)?)?)?;
    aten::where_self(&first, &of_first, &of_others.masked_fill_scalar(&zeros.gt_scalar(0)?, 0)?)
}

/// Returns the gradient of `cumprod` without a division, so that it is differentiable even at zeros. It takes one product per element.
fn cumprod_gradient_without_division(grad: &Tensor, this: &Tensor, dim: i64) -> Result<Tensor> {
    let length = aten::size_int(this, dim)?;
    if this.geometry().count() == 0 {
        return Ok(grad.clone());
    }
    aten::check_call_count("self", length)?;
    let part = |k: i64| {
        let before = this.narrow(dim, 0, k)?.prod_dim_int(dim, true)?;
        let after = this.narrow(dim, k + 1, length - k - 1)?.cumprod(dim)?;
        let without = (&before * &aten::cat(&[before.ones_like()?, after], dim)?)?;
        (grad.narrow(dim, k, length - k)? * conj(&without)?)?.sum_dim_intlist(Some(&[dim]), true)
    };
    let parts = (0..length).map(part).collect::<Result<Vec<Tensor>>>()?;
    aten::cat(&parts, dim)
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
        let not_positive = grad.le_scalar(0)?;
        let logarithm = grad.masked_fill_scalar(&not_positive, 1)?.log()?.masked_fill_scalar(&not_positive, of_zero)?;
        let reversed = reverse_scan(&(logarithm - result)?, dim, |terms| terms.logcumsumexp(dim))?;
        (reversed + this)?.exp()
    };
    of(grad)? - of(&(-grad)?)?
}
