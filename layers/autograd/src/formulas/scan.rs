//! Sums, products and extremes of all elements so far.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{Outline, op_grad};

/// Computes from the end.
fn backwards(tensor: &Tensor, dim: i64, scan: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if tensor.sizes().is_empty() {
        return scan(tensor);
    }
    scan(&tensor.flip(&[dim])?)?.flip(&[dim])
}

fn sum_from_here(tensor: &Tensor, dim: i64) -> Result<Tensor> {
    backwards(tensor, dim, |tensor| tensor.cumsum(dim))
}

#[op_grad(aten::cumsum)]
fn cumsum(grad: &Tensor, dim: i64) -> Result<Tensor> {
    sum_from_here(grad, dim)
}

/// What comes before the first zero is divided out of the products that it is part of. The first zero is left out of them, and what
/// follows it has no part in anything.
#[op_grad(aten::cumprod)]
fn cumprod(grad: &Tensor, this: &Tensor, dim: i64, result: &Tensor) -> Result<Tensor> {
    let zero = this.eq_scalar(0)?;
    let zeros = zero.cumsum(dim)?;
    let first = zero.logical_and(&zeros.eq_scalar(1)?)?;
    let without = this.masked_fill_scalar(&first, 1)?;
    let of_first = sum_from_here(&(grad * conj(&without.cumprod(dim)?)?)?, dim)?;
    let of_others = (sum_from_here(&(grad * conj(result)?)?, dim)? / conj(&this.masked_fill_scalar(&zero, 1)?)?)?;
    aten::where_self(&first, &of_first, &of_others.masked_fill_scalar(&zeros.gt_scalar(0)?, 0)?)
}

#[op_grad(aten::logcumsumexp)]
fn logcumsumexp(grad: &Tensor, this: &Tensor, dim: i64, result: &Tensor) -> Result<Tensor> {
    // Logarithms of gradients have no sign, so each sign goes by itself.
    let of = |grad: &Tensor| {
        let none = grad.le_scalar(0)?;
        let logarithm = grad.masked_fill_scalar(&none, 1)?.log()?.masked_fill_scalar(&none, f64::NEG_INFINITY)?;
        let from_here = backwards(&(logarithm - result)?, dim, |terms| terms.logcumsumexp(dim))?;
        (from_here + this)?.exp()
    };
    of(grad)? - of(&(-grad)?)?
}

#[op_grad(aten::cummax, not_differentiable(indices))]
fn cummax(grad: &Tensor, this: &Outline, dim: i64, indices: &Tensor) -> Result<Tensor> {
    Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, indices, grad)
}

#[op_grad(aten::cummin, not_differentiable(indices))]
fn cummin(grad: &Tensor, this: &Outline, dim: i64, indices: &Tensor) -> Result<Tensor> {
    Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, indices, grad)
}
