//! Norms beside [`linalg_vector_norm`](crate::linalg_vector_norm), and weights that are a direction and a length.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, wrap_dim};

use crate::linalg_vector_norm;
use crate::prelude::*;

/// The roots of the sums of squares over at most two dimensions; over all without any.
#[op_def("frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", out = "out")]
pub fn frobenius_norm_dim(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    if dim.len() > 2 {
        return Err(BadArgument::length("dim", dim.len(), ..=2).into());
    }
    linalg_vector_norm(this, Scalar::Int(2), Some(dim), keepdim, None)
}

/// The norms over all dimensions but one, or over all where that is -1.
#[op_def("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor")]
pub fn norm_except_dim(v: &Tensor, pow: i64, dim: i64) -> Result<Tensor> {
    if dim == -1 {
        return linalg_vector_norm(v, Scalar::Int(pow), None, false, None);
    }
    match &others(v, dim)?[..] {
        // No dimension listed would mean all.
        [] => linalg_vector_norm(&v.unsqueeze(-1)?, Scalar::Int(pow), Some(&[-1]), false, None),
        others => linalg_vector_norm(v, Scalar::Int(pow), Some(others), true, None),
    }
}

/// All dimensions but one.
fn others(v: &Tensor, dim: i64) -> Result<Vec<i64>> {
    let at = wrap_dim("dim", dim, v.sizes().len())?;
    Ok((0..).zip(v.sizes()).map(|(other, _)| other).filter(|&other| usize::try_from(other) != Ok(at)).collect())
}

/// Refuses norms that are not one for each place along the dimension.
fn check_norms(v: &Tensor, g: &Tensor, dim: i64) -> Result<(), BadArgument> {
    let mut sizes = vec![1; v.sizes().len()];
    if dim != -1 {
        let at = wrap_dim("dim", dim, v.sizes().len())?;
        sizes.iter_mut().zip(v.sizes()).skip(at).take(1).for_each(|(one, size)| *one = *size);
    }
    if dispatch_runtime::broadcast([g.sizes(), &sizes, v.sizes()]).is_ok() {
        return Ok(());
    }
    Err(BadArgument::sizes(
        "g",
        g.sizes(),
        format!("sizes that broadcast with {sizes:?}, as `v` has sizes {:?}", v.sizes()),
    ))
}

/// `v` with the norms `g` along a dimension, or with one norm where that is -1.
#[op_def("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", check = check_norms(v, g, dim))]
pub fn _weight_norm(v: &Tensor, g: &Tensor, dim: i64) -> Result<Tensor> {
    v * (g / norm_except_dim(v, 2, dim)?)?
}

/// [`_weight_norm`], and the norms that `v` has.
#[op_def("_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", out = "out", check = check_norms(v, g, dim))]
pub fn _weight_norm_interface(v: &Tensor, g: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let norms = norm_except_dim(v, 2, dim)?;
    Ok(((v * (g / &norms)?)?, norms))
}

/// The gradients for `v` and `g`, given that for what [`_weight_norm_interface`] makes of them.
#[op_def(
    "_weight_norm_differentiable_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)"
)]
pub fn _weight_norm_differentiable_backward(_: ...) -> Result<(Tensor, Tensor)> {
    let along = (grad_w * saved_v)?;
    let along = match &others(saved_v, dim)?[..] {
        [] => along,
        others => along.sum_dim_intlist(Some(others), true)?,
    };
    let across = (grad_w - (saved_v * (&along / (saved_norms * saved_norms)?)?)?)?;
    Ok((((saved_g / saved_norms)? * across)?, (along / saved_norms)?))
}

/// [`_weight_norm_differentiable_backward`], as it is called elsewhere.
#[op_def(
    "_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)",
    out = "out"
)]
pub fn _weight_norm_interface_backward(_: ...) -> Result<(Tensor, Tensor)> {
    _weight_norm_differentiable_backward(grad_w, saved_v, saved_g, saved_norms, dim)
}
