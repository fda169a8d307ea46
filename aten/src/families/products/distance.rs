//! Distances between vectors: `dist`, `cdist`, `pdist` and `cosine_similarity`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec, broadcast, guard, wrap_dim};

use crate::{
    add_scalar, cat, check_same_device, clamp_min, clamp_min_, div, linalg_vector_norm, matmul, mul, mul_scalar,
    ones_like, pow_tensor_scalar, sqrt_out, sub, sum_dim_intlist, to_device, to_dtype, transpose_int,
};

/// The `p`-norm of the difference of two tensors.
#[op_def(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    out = "out",
    check = crate::check_broadcast([("self", this), ("other", other)])
)]
pub fn dist(this: &Tensor, other: &Tensor, p: Scalar) -> Result<Tensor> {
    linalg_vector_norm(&sub(this, other, Scalar::Int(1))?, p, None, false, None)
}

/// The `p`-norm of `x1 - x2 + eps` over the last dimension.
#[op_def(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
    check = crate::check_broadcast([("x1", x1), ("x2", x2)])
)]
pub fn pairwise_distance(x1: &Tensor, x2: &Tensor, p: f64, eps: f64, keepdim: bool) -> Result<Tensor> {
    let difference = add_scalar(&sub(x1, x2, Scalar::Int(1))?, eps.into(), Scalar::Int(1))?;
    linalg_vector_norm(&difference, p.into(), Some(&[-1]), keepdim, None)
}

/// The cosine of the angle between vectors along the dimension `dim`. The length of a vector counts as `eps` if it is smaller.
#[op_def(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    check = wrap_dim("dim", dim, x1.sizes().len().max(x2.sizes().len()))
)]
pub fn cosine_similarity(x1: &Tensor, x2: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
    let dtype = x1.dtype().promote(x2.dtype());
    if !dtype.is_floating() {
        return Err(BadArgument::dtype("x1", x1.dtype(), DTypes::Floating)
            .because(format!("the common dtype {dtype} is not"))
            .into());
    }
    let sizes = broadcast([x1.sizes(), x2.sizes()]).map_err(|error| BadArgument::new("x2", error.problem))?;
    check_same_device([("x1", x1), ("x2", x2)])?;
    // A tensor without dimensions may be on another device, but its expanded form may not. So it is copied first.
    let device = if x1.sizes().is_empty() { x2.device() } else { x1.device() };
    let unit = |x: &Tensor| {
        let x = &if x.device() == device { x.clone() } else { to_device(x, device, x.dtype(), false, false, None)? };
        let x = if x.dtype().is_floating() { x.clone() } else { to_dtype(x, dtype, false, false, None)? };
        let x = crate::expand(&x, &sizes, false)?;
        let mut length = crate::clone(&linalg_vector_norm(&x, 2.into(), Some(&[dim]), true, None)?, None)?;
        {
            // No gradient of the clamp: the gradient of a short vector is that of a vector of length `eps`.
            let _no_grad = guard::no_grad();
            clamp_min_(&mut length, eps.into())?;
        }
        div(&x, &length)
    };
    sum_dim_intlist(&mul(&unit(x1)?, &unit(x2)?)?, Some(&[dim]), false, None)
}

/// The `p`-norm distances between each row of one matrix and each row of another.
#[op_def("cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor")]
pub fn cdist(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
    if _cdist_forward::plan(x1, x2, p, compute_mode)?.value.use_matmul {
        // This composition of a matrix product has derivatives of every order.
        return _euclidean_dist(x1, x2);
    }
    _cdist_forward(x1, x2, p, compute_mode)
}

/// The `p`-norm distances between each row of one matrix and each row of another, by a kernel.
#[op_def("_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", plan, out = "out")]
pub fn _cdist_forward(_: ...) -> Result<Tensor>;

/// The plan of [`_cdist_forward`].
pub struct CdistPlan {
    /// Whether a matrix product computes the distances. This needs `p` 2 and, unless `compute_mode` decides, more than 25 rows.
    pub use_matmul: bool,
}

#[op_plan(_cdist_forward)]
fn cdist_plan(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Plan<CdistPlan>, BadArgument> {
    const MAX_ROWS_WITHOUT_MATMUL: i64 = 25;
    if let Some(mode) = compute_mode.filter(|mode| !(0..=2).contains(mode)) {
        return Err(BadArgument::number("compute_mode", mode, 0..=2));
    }
    let spec = cdist_spec(x1, x2, p)?;
    let is_matmul_allowed = match compute_mode {
        Some(1) => true,
        Some(2) => false,
        _ => spec.geometry.sizes().iter().rev().take(2).any(|&count| count > MAX_ROWS_WITHOUT_MATMUL),
    };
    Ok(Plan::new(CdistPlan { use_matmul: is_matmul_allowed && (p - 2.0).abs() < f64::EPSILON }, [spec]))
}

/// The gradient of [`_cdist_forward`] for `x1`, expanded to the batch dimensions of both.
#[op_def("_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor", plan, out = "out")]
pub fn _cdist_backward(_: ...) -> Result<Tensor>;

#[op_plan(_cdist_backward)]
fn cdist_backward_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    let spec = cdist_spec(x1, x2, p)?;
    check_matches_spec([("grad", grad), ("cdist", cdist)], &spec)?;
    let mut sizes = Dims::from_slice(spec.geometry.sizes());
    if let (Some(last), Some(&width)) = (sizes.last_mut(), x1.sizes().last()) {
        *last = width;
    }
    Ok(Plan::new((), [Spec::contiguous(x1.dtype(), &sizes)]))
}

/// The Euclidean distances between the rows of two matrices, by one matrix product: `|a - b|^2 = |a|^2 + |b|^2 - 2ab`
#[op_def("_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", plan, out = "out")]
pub fn _euclidean_dist(_: ...) -> Result<Tensor>;

#[op_plan(_euclidean_dist)]
fn euclidean_dist_plan(x1: &Tensor, x2: &Tensor) -> Result<Plan<()>, BadArgument> {
    Ok(Plan::new((), [cdist_spec(x1, x2, 2.0)?]))
}

#[op_impl(_euclidean_dist, CompositeExplicitAutograd)]
fn _euclidean_dist_composite(_plan: &(), out: &mut Tensor, x1: &Tensor, x2: &Tensor) -> Result<()> {
    let length = |x: &Tensor| sum_dim_intlist(&pow_tensor_scalar(x, 2.into())?, Some(&[-1]), true, None);
    let one = |x: &Tensor| ones_like(x, None, None, None, None, None);
    let (first, second) = (length(x1)?, length(x2)?);
    let (ones_like_first, ones_like_second) = (one(&first)?, one(&second)?);
    let rows = cat(&[mul_scalar(x1, (-2).into())?, first, ones_like_first], -1)?;
    let columns = cat(&[x2.clone(), ones_like_second, second], -1)?;
    sqrt_out(&clamp_min(&matmul(&rows, &transpose_int(&columns, -2, -1)?)?, 0.into())?, out)
}

/// The `p`-norm distances between all pairs of rows of a matrix, as a vector: each row with the rows after it.
#[op_def("pdist(Tensor self, float p=2.) -> Tensor")]
pub fn pdist(this: &Tensor, p: f64) -> Result<Tensor> {
    _pdist_forward(this, p)
}

/// The `p`-norm distances between all pairs of rows of a matrix, as a vector: each row with the rows after it.
#[op_def("_pdist_forward(Tensor self, float p=2.) -> Tensor", plan, out = "out")]
pub fn _pdist_forward(_: ...) -> Result<Tensor>;

#[op_plan(_pdist_forward)]
fn pdist_plan(this: &Tensor, p: f64) -> Result<Plan<()>, BadArgument> {
    Ok(Plan::new((), [pdist_spec(this, p)?]))
}

/// The gradient of [`_pdist_forward`].
#[op_def("_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor", plan, out = "out")]
pub fn _pdist_backward(_: ...) -> Result<Tensor>;

#[op_plan(_pdist_backward)]
fn pdist_backward_plan(grad: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_matches_spec([("grad", grad), ("pdist", pdist)], &pdist_spec(this, p)?)?;
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())]))
}

/// Refuses dtypes that are not floating-point.
fn check_is_floating(argument: &'static str, x: &Tensor) -> Result<(), BadArgument> {
    if x.dtype().is_floating() { Ok(()) } else { Err(BadArgument::dtype(argument, x.dtype(), DTypes::Floating)) }
}

fn check_norm_order(p: f64) -> Result<(), BadArgument> {
    if p >= 0.0 { Ok(()) } else { Err(BadArgument::number("p", p, 0..)) }
}

/// Checks the arguments of distances between the rows of two matrices, and returns the spec of the result.
fn cdist_spec(x1: &Tensor, x2: &Tensor, p: f64) -> Result<Spec, BadArgument> {
    check_same_device([("x1", x1), ("x2", x2)])?;
    check_is_floating("x1", x1)?;
    check_norm_order(p)?;
    if x2.dtype() != x1.dtype() {
        return Err(BadArgument::dtype("x2", x2.dtype(), x1.dtype()).like("x1"));
    }
    let [outer1 @ .., rows, width] = x1.sizes() else {
        return Err(BadArgument::rank("x1", x1.sizes().len(), 2..));
    };
    let [outer2 @ .., columns, other] = x2.sizes() else {
        return Err(BadArgument::rank("x2", x2.sizes().len(), 2..));
    };
    if width != other {
        return Err(BadArgument::size("x2", x2.sizes(), outer2.len() + 1, *width).like_dim("x1", outer1.len() + 1));
    }
    let mut sizes = broadcast([outer1, outer2]).map_err(|error| BadArgument::new("x2", error.problem))?;
    sizes.extend([*rows, *columns]);
    Ok(Spec::contiguous(x1.dtype(), &sizes))
}

fn check_matches_spec(tensors: [(&'static str, &Tensor); 2], spec: &Spec) -> Result<(), BadArgument> {
    for (name, tensor) in tensors {
        if tensor.sizes() != spec.geometry.sizes() {
            return Err(BadArgument::sizes(name, tensor.sizes(), spec.geometry.sizes()).because("the result has"));
        }
        if tensor.dtype() != spec.dtype {
            return Err(BadArgument::dtype(name, tensor.dtype(), spec.dtype));
        }
    }
    Ok(())
}

/// Checks the arguments of [`pdist`], and returns the spec of its result.
fn pdist_spec(this: &Tensor, p: f64) -> Result<Spec, BadArgument> {
    let &[rows, _] = this.sizes() else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2));
    };
    check_is_floating("self", this)?;
    check_norm_order(p)?;
    let pairs = i128::from(rows) * (i128::from(rows) - 1).max(0) / 2;
    Ok(Spec::contiguous(this.dtype(), &[i64::try_from(pairs).unwrap_or(i64::MAX)]))
}
