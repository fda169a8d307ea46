//! Slices whose norm is kept small.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::wrap_dim;

use crate::complex::{conj, real};
use crate::op_grad;

#[op_grad(aten::renorm)]
fn renorm(grad: &Tensor, this: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Tensor> {
    let rank = this.sizes().len();
    let at = i64::try_from(wrap_dim("dim", dim, rank)?).unwrap_or(0);
    let others: Vec<i64> = (0..).take(rank).filter(|&other| other != at).collect();
    let wide = matches!(this.dtype(), DType::F16 | DType::BF16).then_some(DType::F32);
    let norm = aten::linalg_vector_norm(this, p, Some(&others), true, wide)?;
    let inverse = norm.add_scalar(1e-7, 1)?.reciprocal()?;
    let along = real(&(conj(this)? * grad)?)?.sum_dim_intlist(Some(&others), true)?;
    let through_norm = (along * &norm_gradient(this, &norm, p.to_f64().unwrap_or(2.0), &others)?)?;
    let scaled = ((grad - (&inverse * through_norm)?)? * &inverse)?.mul_scalar(maxnorm)?;
    aten::where_self(&norm.gt_scalar(maxnorm)?, &scaled, grad)
}

/// The derivative of the norm by each element, where the norm is not zero.
fn norm_gradient(this: &Tensor, norm: &Tensor, p: f64, dims: &[i64]) -> Result<Tensor> {
    let (size, sign) = (this.abs()?, this.sgn()?);
    if p.is_infinite() {
        let reaches = size.eq(norm)?;
        let count = reaches.sum_dim_intlist(Some(dims), true)?;
        return (sign * reaches)? / count;
    }
    sign * (size / norm)?.pow_tensor_scalar(p - 1.0)?
}
