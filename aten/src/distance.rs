//! Norms of differences, and tensors brought to a norm.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, wrap_dim};

use crate::{add_scalar, gt_scalar, linalg_vector_norm, mul, mul_scalar, reciprocal, sub, to_dtype, where_scalarother};

/// The norm of the difference.
#[op_def("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", out = "out")]
pub fn dist(this: &Tensor, other: &Tensor, p: Scalar) -> Result<Tensor> {
    linalg_vector_norm(&sub(this, other, Scalar::Int(1))?, p, None, false, None)
}

/// Slices along a dimension, those of a larger norm brought down to `maxnorm`.
#[op_def("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", inplace, out = "out")]
pub fn renorm(this: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Tensor> {
    let rank = this.sizes().len();
    if rank < 2 {
        return Err(BadArgument::rank("self", rank, "at least 2").into());
    }
    if !p.to_f64().is_some_and(|p| p > 0.0) {
        return Err(BadArgument::value("p", p, "positive").into());
    }
    if !maxnorm.to_f64().is_some_and(|norm| norm >= 0.0) {
        return Err(BadArgument::value("maxnorm", maxnorm, "zero or more").into());
    }
    let kept = wrap_dim("dim", dim, rank)?;
    let gone: Vec<i64> = (0..).zip(0..rank).filter(|&(_, at)| at != kept).map(|(dim, _)| dim).collect();
    let wide = matches!(this.dtype(), DType::F16 | DType::BF16).then_some(DType::F32);
    let norm = linalg_vector_norm(this, p, Some(&gone), true, wide)?;
    let shrunk = mul_scalar(&reciprocal(&add_scalar(&norm, Scalar::Float(1e-7), Scalar::Int(1))?)?, maxnorm)?;
    let factor = where_scalarother(&gt_scalar(&norm, maxnorm)?, &shrunk, Scalar::Int(1))?;
    mul(this, &to_dtype(&factor, this.dtype(), false, false, None)?)
}

/// The rows at these positions, those of a larger norm brought down to `max_norm`.
#[op_def("embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)")]
pub fn embedding_renorm_(this: &mut Tensor, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<()>;

#[op_meta(embedding_renorm_)]
fn embedding_renorm_meta(this: &mut Tensor, indices: &Tensor, _max_norm: f64, _norm_type: f64) -> Result<()> {
    check_embedding(this, indices)?;
    this.storage().bump_version();
    Ok(())
}

#[op_impl(embedding_renorm_, CompositeExplicitAutograd)]
fn embedding_renorm_any(this: &mut Tensor, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<()> {
    check_embedding(this, indices)?;
    let (positions, _, _) = crate::_unique2(&to_dtype(indices, DType::I64, false, false, None)?, true, false, false)?;
    let rows = crate::index_select(this, 0, &positions)?;
    let rows = renorm(&rows, Scalar::Float(norm_type), 0, Scalar::Float(max_norm))?;
    crate::index_copy_(this, 0, &positions, &rows)
}

fn check_embedding(this: &Tensor, indices: &Tensor) -> Result<(), BadArgument> {
    if this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), "2"));
    }
    crate::check_index("indices", indices)
}
