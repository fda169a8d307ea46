//! Norms, and scaling of tensors to given norms.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, DimFlags, Expected, MemoryFormat, ReductionDims, wrap_dim};

use super::min_max::reduces_empty_dim;
use crate::prelude::*;

/// Computes `sum(|self|^ord)^(1/ord)` over dimensions, or its limit.
#[op_def(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn linalg_vector_norm(_: ...) -> Result<Tensor>;

/// Computes `sum(|self|^ord)` over dimensions.
#[op_def(
    "linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "out"
)]
pub fn linalg__powsum(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let computed = dtype.unwrap_or_else(|| this.dtype());
    if !computed.is_floating() && !computed.is_complex() {
        let argument = if dtype.is_some() { "dtype" } else { "self" };
        return Err(BadArgument::dtype(argument, computed, DTypes::FloatingOrComplex).into());
    }
    if ord.to_f64().is_none() {
        return Err(BadArgument::value("ord", "complex", "a real number").into());
    }
    // A complex number in a real dtype is its magnitude, not its real part.
    let magnitude =
        if computed.is_complex() { crate::abs(&this.to(computed)?)? } else { crate::abs(this)?.to(computed)? };
    crate::sum_dim_intlist(&crate::pow_tensor_scalar(&magnitude, ord)?, dim, keepdim, None)
}

/// The plan of a norm over dimensions.
pub struct VectorNormPlan {
    /// Whether each dimension is reduced.
    pub reduced_dims: DimFlags,
    /// The dtype to compute in.
    pub compute_dtype: DType,
    /// The order of the norm. It is infinite if each norm is of one element, because that norm is the magnitude for any order and no power
    /// can overflow. An order that the dtype cannot represent is infinite too.
    pub order: f64,
}

/// Returns the dtype in which a norm is computed: that of the tensor, or `dtype`, which must be of the same kind and hold each element.
pub(crate) fn check_norm_dtype(this: &Tensor, dtype: Option<DType>) -> Result<DType, BadArgument> {
    let is_floating_or_complex = |dtype: DType| dtype.is_floating() || dtype.is_complex();
    if !is_floating_or_complex(this.dtype()) {
        return Err(
            BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrComplex).because("a norm has a fraction")
        );
    }
    let computed = dtype.unwrap_or_else(|| this.dtype());
    if !is_floating_or_complex(computed) || computed.is_complex() != this.dtype().is_complex() {
        return Err(BadArgument::dtype(
            "dtype",
            computed,
            format!("of the same kind as `self`, which is of {}", this.dtype()),
        ));
    }
    if this.dtype().promote(computed) != computed {
        let expected = format!("a dtype that holds each {} without rounding", this.dtype());
        return Err(BadArgument::dtype("dtype", computed, expected));
    }
    Ok(computed)
}

#[op_plan(linalg_vector_norm)]
fn vector_norm_plan(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Plan<VectorNormPlan>, BadArgument> {
    let computed = check_norm_dtype(this, dtype)?;
    let Some(order) = ord.to_f64() else { return Err(BadArgument::value("ord", "complex", "a real number")) };
    let Plan { value: ReductionDims { is_reduced }, outputs } =
        ReductionDims::plan(this, dim.unwrap_or(&[]), keepdim, computed.to_real())?;
    let is_of_nothing = reduces_empty_dim(this, &is_reduced);
    if is_of_nothing && (order < 0.0 || order == f64::INFINITY) && outputs[0].geometry.count() != 0 {
        return Err(
            BadArgument::element_count("self", this.sizes(), 1..).because("this norm of no elements is undefined")
        );
    }
    // A sum without elements is zero, and so is its root of any order.
    let order = if order.is_nan() && is_of_nothing { 1.0 } else { order };
    let is_representable = computed.to_real() == DType::F64 || order.abs() <= f64::from(f32::MAX);
    let order = if is_representable { order } else { order.signum() * f64::INFINITY };
    let has_one_element_each = this.sizes().iter().zip(&is_reduced).all(|(&size, &reduced)| !reduced || size == 1);
    let order = if has_one_element_each && order != 0.0 { f64::INFINITY } else { order };
    Ok(Plan::new(VectorNormPlan { reduced_dims: is_reduced, compute_dtype: computed, order }, outputs))
}

/// Computes the norms over dimensions.
#[op_def("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", out = "out")]
pub fn norm_scalaropt_dim(this: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let order = p.unwrap_or(Scalar::Int(2));
    vector_norm_plan(this, order, Some(dim), keepdim, None)?;
    linalg_vector_norm(this, order, Some(dim), keepdim, None)
}

/// Computes the norm of all elements.
#[op_def("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", out = "Scalar_out")]
pub fn norm_scalar(this: &Tensor, p: Scalar) -> Result<Tensor> {
    linalg_vector_norm(this, p, None, false, None)
}

/// Computes the norms over dimensions in `dtype`.
#[op_def(
    "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
    out = "dtype_out"
)]
pub fn norm_scalaropt_dim_dtype(_: ...) -> Result<Tensor> {
    linalg_vector_norm(this, p.unwrap_or(Scalar::Int(2)), Some(dim), keepdim, Some(dtype))
}

/// Computes the norm of all elements in `dtype`.
#[op_def("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", out = "ScalarOpt_dtype_out")]
pub fn norm_scalaropt_dtype(this: &Tensor, p: Option<Scalar>, dtype: DType) -> Result<Tensor> {
    linalg_vector_norm(this, p.unwrap_or(Scalar::Int(2)), None, false, Some(dtype))
}

/// Computes the roots of the sums of squares over at most two dimensions, or over all if `dim` is empty.
#[op_def("frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", out = "out")]
pub fn frobenius_norm_dim(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    if dim.len() > 2 {
        return Err(BadArgument::length("dim", dim.len(), ..=2).into());
    }
    linalg_vector_norm(this, Scalar::Int(2), Some(dim), keepdim, None)
}

/// Computes the norms over all dimensions except `dim`, or over all dimensions if `dim` is -1.
#[op_def("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor")]
pub fn norm_except_dim(v: &Tensor, pow: i64, dim: i64) -> Result<Tensor> {
    if dim == -1 {
        return linalg_vector_norm(v, Scalar::Int(pow), None, false, None);
    }
    match &dims_except(v, dim)?[..] {
        // An empty list would reduce all dimensions.
        [] => linalg_vector_norm(&v.unsqueeze(-1)?, Scalar::Int(pow), Some(&[-1]), false, None),
        others => linalg_vector_norm(v, Scalar::Int(pow), Some(others), true, None),
    }
}

/// Returns all dimensions except `dim`.
fn dims_except(v: &Tensor, dim: i64) -> Result<Vec<i64>> {
    let at = wrap_dim("dim", dim, v.sizes().len())?;
    Ok((0..).zip(v.sizes()).map(|(other, _)| other).filter(|&other| usize::try_from(other) != Ok(at)).collect())
}

/// Checks that `g` broadcasts with norms of `v`: one for each index along `dim`.
fn check_weight_norm(v: &Tensor, g: &Tensor, dim: i64) -> Result<(), BadArgument> {
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

/// Scales each slice of `v` along `dim` to the norm in `g`, or all of `v` if `dim` is -1.
#[op_def("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", check = check_weight_norm(v, g, dim))]
pub fn _weight_norm(v: &Tensor, g: &Tensor, dim: i64) -> Result<Tensor> {
    v * (g / norm_except_dim(v, 2, dim)?)?
}

/// Computes [`_weight_norm`]. Also returns the norms of `v`.
#[op_def("_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", out = "out", check = check_weight_norm(v, g, dim))]
pub fn _weight_norm_interface(v: &Tensor, g: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let norms = norm_except_dim(v, 2, dim)?;
    Ok(((v * (g / &norms)?)?, norms))
}

/// Computes the gradients of [`_weight_norm_interface`] for `v` and `g`, by differentiable operators.
#[op_def(
    "_weight_norm_differentiable_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)"
)]
pub fn _weight_norm_differentiable_backward(_: ...) -> Result<(Tensor, Tensor)> {
    let along = (grad_w * saved_v)?;
    let along = match &dims_except(saved_v, dim)?[..] {
        [] => along,
        others => along.sum_keepdim(others)?,
    };
    let across = (grad_w - (saved_v * (&along / (saved_norms * saved_norms)?)?)?)?;
    Ok((((saved_g / saved_norms)? * across)?, (along / saved_norms)?))
}

/// Another name of [`_weight_norm_differentiable_backward`].
#[op_def(
    "_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)",
    out = "out"
)]
pub fn _weight_norm_interface_backward(_: ...) -> Result<(Tensor, Tensor)> {
    _weight_norm_differentiable_backward(grad_w, saved_v, saved_g, saved_norms, dim)
}

/// Scales down each slice along a dimension whose norm exceeds `maxnorm`, to this norm.
#[op_def(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    inplace, out = "out", body = CompositeExplicitAutograd
)]
pub fn renorm(_: ...) -> Result<Tensor> {
    let rank = this.sizes().len();
    let real = |argument, number: Scalar, fits: fn(f64) -> bool, expected: Expected<Scalar>| match number.to_f64() {
        Some(value) if fits(value) => Ok(value),
        _ => Err(BadArgument::number(argument, number, expected)),
    };
    let p = real("p", p, |p| p > 0.0, Expected::Above(0.into()))?;
    let max = real("maxnorm", maxnorm, |max| max >= 0.0, (0..).into())?;
    if rank < 2 {
        return Err(BadArgument::rank("self", rank, 2..).into());
    }
    if !this.dtype().is_floating() && !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrComplex).into());
    }
    let at = wrap_dim("dim", dim, rank)?;
    let others: Vec<i64> =
        (0..rank).filter(|other| *other != at).map(|other| i64::try_from(other).unwrap_or(0)).collect();
    crate::mul(&crate::contiguous(this, MemoryFormat::Contiguous)?, &max_norm_factors(this, p, &others, max)?)
}

/// Returns factors that scale norms over dimensions down to at most `max`, in the tensor's dtype.
pub(crate) fn max_norm_factors(this: &Tensor, p: f64, dims: &[i64], max: f64) -> Result<Tensor> {
    let compute_dtype = match this.dtype() {
        DType::F16 | DType::BF16 => Some(DType::F32),
        _ => None,
    };
    let norm = linalg_vector_norm(this, p.into(), Some(dims), true, compute_dtype)?;
    let exceeds = crate::gt_scalar(&norm, max.into())?;
    let shrink = crate::mul_scalar(&crate::reciprocal(&crate::add_scalar(&norm, 1e-7.into(), 1.into())?)?, max.into())?;
    let scale = crate::where_scalarother(&exceeds, &shrink, 1.0.into())?;
    crate::to_dtype(&scale, this.dtype(), false, false, None)
}
