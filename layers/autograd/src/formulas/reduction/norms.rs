//! Gradient formulas of vector norms and `renorm`.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::wrap_dim;

use super::sums::restore_dims;
use crate::complex::{conj, real};
use crate::op_grad;

#[op_grad(aten::linalg_vector_norm)]
#[expect(clippy::float_cmp, reason = "these orders are exact")]
fn linalg_vector_norm(grad: &Tensor, result: &Tensor, _: ...) -> Result<Tensor> {
    let dims = dim.unwrap_or_default();
    let grad = restore_dims(grad, this.sizes(), dims, keepdim)?;
    let norm = restore_dims(result, this.sizes(), dims, keepdim)?;
    let ord = ord.to_f64().unwrap_or(f64::NAN);
    if ord == 0.0 {
        return this.zeros_like();
    }
    if ord == 1.0 {
        return grad * this.sgn()?;
    }
    if ord.is_infinite() {
        let reaches = is_extreme(&this.abs()?, ord, dims)?;
        let sharers = reaches.sum_keepdim(dims)?;
        return (this.sgn()? * reaches)? * (grad / sharers)?;
    }
    let zero = norm.eq(0)?;
    if ord == 2.0 {
        return this * (grad / &norm)?.masked_fill(&zero, 0)?;
    }
    // x * |x|^(p - 2), written so that it is defined at zero.
    let powers = if ord < 2.0 {
        (this.sgn()? * this.abs()?.pow(ord - 1.0)?)?.masked_fill(&this.eq(0)?, 0)?
    } else {
        (this * this.abs()?.pow(ord - 2.0)?)?
    };
    powers * (grad * norm.pow(1.0 - ord)?)?.masked_fill(&zero, 0)?
}

#[op_grad(aten::renorm)]
fn renorm(grad: &Tensor, this: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Tensor> {
    let rank = this.sizes().len();
    let at = i64::try_from(wrap_dim("dim", dim, rank)?).unwrap_or(0);
    let others: Vec<i64> = (0..).take(rank).filter(|&other| other != at).collect();
    let wide = matches!(this.dtype(), DType::F16 | DType::BF16).then_some(DType::F32);
    let norm = aten::linalg_vector_norm(this, p, Some(&others), true, wide)?;
    let inverse = (&norm + (1e-7))?.reciprocal()?;
    let along = real(&(conj(this)? * grad)?)?.sum_keepdim(&others)?;
    let through_norm = (along * &norm_gradient(this, &norm, p.to_f64().unwrap_or(2.0), &others)?)?;
    let scaled = (((grad - (&inverse * through_norm)?)? * &inverse)? * maxnorm)?;
    aten::where_self(&norm.gt(maxnorm)?, &scaled, grad)
}

/// Returns the derivative of the norm with respect to each element, if the norm is not zero.
fn norm_gradient(this: &Tensor, norm: &Tensor, p: f64, dims: &[i64]) -> Result<Tensor> {
    let (size, sign) = (this.abs()?, this.sgn()?);
    if p.is_infinite() {
        let reaches = is_extreme(&size, p, dims)?;
        let count = reaches.sum_keepdim(dims)?;
        return (sign * reaches)? / count;
    }
    sign * (size / norm)?.pow(p - 1.0)?
}

/// Returns whether each size is the largest one, or the smallest one if the order is negative. A norm may be rounded in another way.
fn is_extreme(sizes: &Tensor, ord: f64, dims: &[i64]) -> Result<Tensor> {
    let extreme = if ord > 0.0 { sizes.amax_keepdim(dims)? } else { sizes.amin_keepdim(dims)? };
    sizes.eq(&extreme)?.logical_or(&sizes.isnan()?.logical_and(&extreme.isnan()?)?)
}
