//! How far vectors are from each other.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec, broadcast};

use crate::{
    add_scalar, cat, check_devices, clamp_min, div, linalg_vector_norm, matmul, mul, mul_scalar, ones_like,
    pow_tensor_scalar, sqrt, sub, sum_dim_intlist, to_device, to_dtype, transpose_int,
};

/// The norm of the difference.
#[op_def("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", out = "out")]
pub fn dist(this: &Tensor, other: &Tensor, p: Scalar) -> Result<Tensor> {
    linalg_vector_norm(&sub(this, other, Scalar::Int(1))?, p, None, false, None)
}

/// The norm of the difference of each pair of rows; `eps` is added to the difference.
#[op_def(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor"
)]
pub fn pairwise_distance(x1: &Tensor, x2: &Tensor, p: f64, eps: f64, keepdim: bool) -> Result<Tensor> {
    let apart = add_scalar(&sub(x1, x2, Scalar::Int(1))?, eps.into(), Scalar::Int(1))?;
    linalg_vector_norm(&apart, p.into(), Some(&[-1]), keepdim, None)
}

/// The cosine of the angle between vectors along a dimension, none of them taken to be shorter than `eps`.
#[op_def("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")]
pub fn cosine_similarity(x1: &Tensor, x2: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
    let dtype = x1.dtype().promote(x2.dtype());
    if !dtype.is_floating() {
        let expected = format!("floating, as {dtype} in common is not");
        return Err(BadArgument::dtype("x1", x1.dtype(), expected).into());
    }
    let sizes = broadcast([x1.sizes(), x2.sizes()]).map_err(|error| BadArgument::new("x2", error.problem))?;
    check_devices([("x1", x1), ("x2", x2)])?;
    // One without dimensions may be on another device, but not once it is stretched.
    let device = if x1.sizes().is_empty() { x2.device() } else { x1.device() };
    let unit = |x: &Tensor| {
        let x = &if x.device() == device { x.clone() } else { to_device(x, device, x.dtype(), false, false, None)? };
        let x = if x.dtype().is_floating() { x.clone() } else { to_dtype(x, dtype, false, false, None)? };
        let x = crate::expand(&x, &sizes, false)?;
        let length = linalg_vector_norm(&x, 2.into(), Some(&[dim]), true, None)?;
        div(&x, &clamp_min(&length, eps.into())?)
    };
    sum_dim_intlist(&mul(&unit(x1)?, &unit(x2)?)?, Some(&[dim]), false, None)
}

/// The distance of every row of one matrix from every row of another.
#[op_def("cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor")]
pub fn cdist(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
    if by_product(&cdist_spec(x1, x2, p, compute_mode)?, p, compute_mode) {
        // By the product it can be differentiated again and again.
        return _euclidean_dist(x1, x2);
    }
    _cdist_forward(x1, x2, p, compute_mode)
}

/// The distance of every row of one matrix from every row of another.
#[op_def("_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", out = "out")]
pub fn _cdist_forward(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor>;

#[op_meta(_cdist_forward)]
fn _cdist_forward_meta(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
    cdist_spec(x1, x2, p, compute_mode)?.on(Device::META)
}

/// The gradient of [`_cdist_forward`] for `x1`, stretched to the batches of both.
#[op_def("_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor", out = "out")]
pub fn _cdist_backward(grad: &Tensor, x1: &Tensor, x2: &Tensor, p: f64, cdist: &Tensor) -> Result<Tensor>;

#[op_meta(_cdist_backward)]
fn _cdist_backward_meta(grad: &Tensor, x1: &Tensor, x2: &Tensor, p: f64, cdist: &Tensor) -> Result<Tensor> {
    cdist_gradient_spec(grad, x1, x2, p, cdist)?.on(Device::META)
}

/// The same for `p` 2 by one product of matrices: `|a - b|^2 = |a|^2 + |b|^2 - 2ab`
#[op_def("_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", out = "out")]
pub fn _euclidean_dist(x1: &Tensor, x2: &Tensor) -> Result<Tensor>;

#[op_impl(_euclidean_dist, CompositeExplicitAutograd)]
fn _euclidean_dist_any(x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
    cdist_spec(x1, x2, 2.0, None)?;
    let length = |x: &Tensor| sum_dim_intlist(&pow_tensor_scalar(x, 2.into())?, Some(&[-1]), true, None);
    let one = |x: &Tensor| ones_like(x, None, None, None, None, None);
    let (first, second) = (length(x1)?, length(x2)?);
    let (beside_first, beside_second) = (one(&first)?, one(&second)?);
    let rows = cat(&[mul_scalar(x1, (-2).into())?, first, beside_first], -1)?;
    let columns = cat(&[x2.clone(), beside_second, second], -1)?;
    sqrt(&clamp_min(&matmul(&rows, &transpose_int(&columns, -2, -1)?)?, 0.into())?)
}

#[op_meta(_euclidean_dist)]
fn _euclidean_dist_meta(x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
    cdist_spec(x1, x2, 2.0, None)?.on(Device::META)
}

/// The distance of every row from those behind it, one after the other.
#[op_def("pdist(Tensor self, float p=2.) -> Tensor")]
pub fn pdist(this: &Tensor, p: f64) -> Result<Tensor> {
    _pdist_forward(this, p)
}

/// The distance of every row from those behind it, one after the other.
#[op_def("_pdist_forward(Tensor self, float p=2.) -> Tensor", out = "out")]
pub fn _pdist_forward(this: &Tensor, p: f64) -> Result<Tensor>;

#[op_meta(_pdist_forward)]
fn _pdist_forward_meta(this: &Tensor, p: f64) -> Result<Tensor> {
    pdist_spec(this, p)?.on(Device::META)
}

/// The gradient of [`_pdist_forward`].
#[op_def("_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor", out = "out")]
pub fn _pdist_backward(grad: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<Tensor>;

#[op_meta(_pdist_backward)]
fn _pdist_backward_meta(grad: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<Tensor> {
    pdist_gradient_spec(grad, this, p, pdist)?.on(Device::META)
}

/// Refuses what has no lengths.
fn check_vectors(argument: &'static str, x: &Tensor) -> Result<(), BadArgument> {
    if x.dtype().is_floating() { Ok(()) } else { Err(BadArgument::dtype(argument, x.dtype(), "floating")) }
}

fn check_power(p: f64) -> Result<(), BadArgument> {
    if p >= 0.0 { Ok(()) } else { Err(BadArgument::value("p", p, "no negative number")) }
}

/// What [`_cdist_forward`] makes.
///
/// # Errors
///
/// Where rows are not of one length and dtype, batches do not broadcast, or `p` is negative.
pub fn cdist_spec(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Spec, BadArgument> {
    check_devices([("x1", x1), ("x2", x2)])?;
    check_vectors("x1", x1)?;
    check_power(p)?;
    if let Some(mode) = compute_mode.filter(|mode| !(0..=2).contains(mode)) {
        return Err(BadArgument::value("compute_mode", mode, "0, 1 or 2"));
    }
    if x2.dtype() != x1.dtype() {
        return Err(BadArgument::dtype("x2", x2.dtype(), format!("{}, as `x1` is", x1.dtype())));
    }
    let [outer1 @ .., rows, width] = x1.sizes() else {
        return Err(BadArgument::rank("x1", x1.sizes().len(), "at least 2"));
    };
    let [outer2 @ .., columns, other] = x2.sizes() else {
        return Err(BadArgument::rank("x2", x2.sizes().len(), "at least 2"));
    };
    if width != other {
        return Err(BadArgument::sizes("x2", x2.sizes(), format!("rows of {width}, as `x1` has")));
    }
    let mut sizes = broadcast([outer1, outer2]).map_err(|error| BadArgument::new("x2", error.problem))?;
    sizes.extend([*rows, *columns]);
    Ok(Spec::contiguous(x1.dtype(), &sizes))
}

/// Whether distances are computed by a product of matrices: where there are many, unless `compute_mode` says.
#[must_use]
pub fn by_product(spec: &Spec, p: f64, compute_mode: Option<i64>) -> bool {
    const MANY: i64 = 25;
    let many = spec.geometry.sizes().iter().rev().take(2).any(|&count| count > MANY);
    (p - 2.0).abs() < f64::EPSILON
        && match compute_mode {
            Some(1) => true,
            Some(2) => false,
            _ => many,
        }
}

/// What [`_cdist_backward`] makes.
///
/// # Errors
///
/// As [`cdist_spec`], and where the gradient or the distances are not of its result's sizes.
pub fn cdist_gradient_spec(
    grad: &Tensor,
    x1: &Tensor,
    x2: &Tensor,
    p: f64,
    cdist: &Tensor,
) -> Result<Spec, BadArgument> {
    let spec = cdist_spec(x1, x2, p, None)?;
    check_result([("grad", grad), ("cdist", cdist)], &spec)?;
    let mut sizes = Dims::from_slice(spec.geometry.sizes());
    if let (Some(last), Some(&width)) = (sizes.last_mut(), x1.sizes().last()) {
        *last = width;
    }
    Ok(Spec::contiguous(x1.dtype(), &sizes))
}

fn check_result(tensors: [(&'static str, &Tensor); 2], spec: &Spec) -> Result<(), BadArgument> {
    for (name, tensor) in tensors {
        if tensor.sizes() != spec.geometry.sizes() {
            let expected = format!("{:?}, the sizes of the result", spec.geometry.sizes());
            return Err(BadArgument::sizes(name, tensor.sizes(), expected));
        }
        if tensor.dtype() != spec.dtype {
            return Err(BadArgument::dtype(name, tensor.dtype(), spec.dtype.to_string()));
        }
    }
    Ok(())
}

/// What [`_pdist_forward`] makes.
///
/// # Errors
///
/// Where the tensor is no matrix, has no fraction, or `p` is negative.
pub fn pdist_spec(this: &Tensor, p: f64) -> Result<Spec, BadArgument> {
    let &[rows, _] = this.sizes() else {
        return Err(BadArgument::rank("self", this.sizes().len(), "2"));
    };
    check_vectors("self", this)?;
    check_power(p)?;
    let pairs = i128::from(rows) * (i128::from(rows) - 1).max(0) / 2;
    Ok(Spec::contiguous(this.dtype(), &[i64::try_from(pairs).unwrap_or(i64::MAX)]))
}

/// What [`_pdist_backward`] makes.
///
/// # Errors
///
/// As [`pdist_spec`], and where the gradient or the distances are not of its result's sizes.
pub fn pdist_gradient_spec(grad: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<Spec, BadArgument> {
    check_result([("grad", grad), ("pdist", pdist)], &pdist_spec(this, p)?)?;
    Ok(Spec::contiguous(this.dtype(), this.sizes()))
}
