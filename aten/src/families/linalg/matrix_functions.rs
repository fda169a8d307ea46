//! Functions of square matrices: exponentials, and square roots; and the polar decomposition.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::checks::{check_matrices, check_square_matrices};
use crate::prelude::*;
use crate::{_linalg_eigh, _linalg_svd};

/// Computes the exponentials of square matrices.
#[op_def("linalg_matrix_exp(Tensor self) -> Tensor", plan, out = "out")]
pub fn linalg_matrix_exp(_: ...) -> Result<Tensor>;

#[op_plan(linalg_matrix_exp)]
fn matrix_exp_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    match (this.dtype(), this.sizes()) {
        // Halves are computed in double precision, too.
        (DType::F16 | DType::BF16, [.., rows, columns]) if rows == columns => {}
        _ => _ = check_square_matrices("self", this)?,
    }
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())]))
}

/// Computes the exponentials of square matrices.
#[op_def("matrix_exp(Tensor self) -> Tensor")]
pub fn matrix_exp(this: &Tensor) -> Result<Tensor> {
    linalg_matrix_exp(this)
}

/// Computes the gradient of [`matrix_exp`] for the gradient `grad` of its result.
///
/// The exponential of a block matrix with `X` on its diagonal and `G` above has the derivative at `X` in direction `G` above its diagonal. The
/// gradient is the derivative at the adjoint of `self`.
#[op_def("matrix_exp_backward(Tensor self, Tensor grad) -> Tensor")]
pub fn matrix_exp_backward(this: &Tensor, grad: &Tensor) -> Result<Tensor> {
    let n = check_square_matrices("self", this)?;
    crate::check_same_dtype([("self", Some(this)), ("grad", Some(grad))])?;
    if grad.sizes() != this.sizes() {
        return Err(BadArgument::sizes("grad", grad.sizes(), this.sizes()).like("self").into());
    }
    let adjoint = crate::adjoint(this)?;
    let above = crate::cat(&[adjoint.clone(), grad.clone()], -1)?;
    let below = crate::cat(&[adjoint.zeros_like()?, adjoint], -1)?;
    linalg_matrix_exp(&crate::cat(&[above, below], -2)?)?.narrow(-2, 0, n)?.narrow(-1, n, n)
}

/// Computes linear combinations of the slices of `input`, with one row of `coefficients` for each.
#[op_def(
    "_compute_linear_combination(Tensor input, Tensor coefficients) -> Tensor",
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn _compute_linear_combination(input: &Tensor, coefficients: &Tensor) -> Result<Tensor> {
    let [count, slices @ ..] = input.sizes() else { return Err(BadArgument::rank("input", 0, 1..).into()) };
    if coefficients.sizes().len() != 2 {
        return Err(BadArgument::rank("coefficients", coefficients.sizes().len(), 2).into());
    }
    if coefficients.sizes()[1] != *count {
        return Err(BadArgument::size("coefficients", coefficients.sizes(), 1, *count).like_dim("input", 0).into());
    }
    if coefficients.dtype() != input.dtype() && coefficients.dtype() != input.dtype().to_real() {
        return Err(BadArgument::dtype("coefficients", coefficients.dtype(), input.dtype()).like("input").into());
    }
    let combined = coefficients.to(input.dtype())?.matmul(&input.reshape([*count, slices.iter().product()])?)?;
    combined.reshape([&coefficients.sizes()[..1], slices].concat())
}

/// Computes the Hermitian square roots of Hermitian matrices, of which only the lower triangle is read. Negative eigenvalues count as zero.
#[op_def("linalg_matrix_sqrth(Tensor self) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn linalg_matrix_sqrth(this: &Tensor) -> Result<Tensor> {
    check_square_matrices("self", this)?;
    let (values, vectors) = _linalg_eigh(this, "L", true)?;
    let roots = values.clamp_min(0)?.sqrt()?;
    (&vectors * roots.unsqueeze(-2)?)?.matmul(&crate::adjoint(&vectors)?)
}

/// Decomposes matrices into the product of a matrix `U` with orthonormal columns and a positive-semidefinite matrix `H`. A matrix must have
/// at least as many rows as columns.
#[op_def(
    "linalg_polar(Tensor A) -> (Tensor U, Tensor H)",
    out = "out"(U, H),
    body = CompositeExplicitAutograd
)]
pub fn linalg_polar(_: ...) -> Result<(Tensor, Tensor)> {
    let [rows, columns] = check_matrices("A", A)?;
    if rows < columns {
        let dim = A.sizes().len() - 2;
        return Err(BadArgument::size("A", A.sizes(), dim, columns..).because("it has more columns than rows").into());
    }
    let (left, values, right) = _linalg_svd(A, false, true, None)?;
    let scaled = (crate::adjoint(&right)? * values.unsqueeze(-2)?)?;
    Ok((left.matmul(&right)?, scaled.matmul(&right)?))
}
