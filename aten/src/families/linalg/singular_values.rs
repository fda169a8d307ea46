//! Singular values and singular vectors.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::checks::{check_matrices, column_major, sizes_of_vectors, with_matrix_sizes};
use crate::prelude::*;

/// Computes the singular values of matrices in descending order, the left singular vectors as columns of `U`, and the conjugates of the
/// right ones as rows of `Vh`. Without `full_matrices`, `U` has as many columns and `Vh` as many rows as there are singular values. Without
/// `compute_uv`, `U` and `Vh` have no elements. PyTorch's `driver` selects an algorithm for CUDA, and must be `None`.
#[op_def(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    plan,
    out = "U"(U, S, Vh)
)]
pub fn _linalg_svd(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(_linalg_svd)]
fn svd_plan(_: ...) -> Result<Plan<(), 3>, BadArgument> {
    let [rows, columns] = check_matrices("A", A)?;
    check_no_driver(driver)?;
    let (dtype, count) = (A.dtype(), rows.min(columns));
    let values = Spec::contiguous(dtype.to_real(), &sizes_of_vectors(A.sizes()));
    if !compute_uv {
        let none = Spec::contiguous(dtype, &[0]);
        return Ok(Plan::new((), [none.clone(), values, none]));
    }
    let [left, right] = if full_matrices { [rows, columns] } else { [count; 2] };
    let [left, right] = [[rows, left], [right, columns]].map(|matrix| with_matrix_sizes(A.sizes(), matrix));
    let [left, right] = [column_major(dtype, &left), column_major(dtype, &right)];
    Ok(Plan::new((), [left, values, right]))
}

/// Checks that no algorithm is selected.
fn check_no_driver(driver: Option<&str>) -> Result<(), BadArgument> {
    driver.map_or(Ok(()), |driver| {
        Err(BadArgument::value("driver", format_args!("{driver:?}"), "None").because("drivers are algorithms for CUDA"))
    })
}

/// Computes the singular values of matrices in descending order, the left singular vectors as columns of `U`, and the conjugates of the
/// right ones as rows of `Vh`. Without `full_matrices`, there are only as many vectors as singular values.
#[op_def(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    out = "U"(U, S, Vh)
)]
pub fn linalg_svd(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    _linalg_svd(A, full_matrices, true, driver)
}

/// Computes the singular values of matrices in descending order.
#[op_def("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", out = "out")]
pub fn linalg_svdvals(A: &Tensor, driver: Option<&str>) -> Result<Tensor> {
    Ok(_linalg_svd(A, false, false, driver)?.1)
}

/// Computes the singular values of matrices in descending order, and the singular vectors as columns of `U` and `V`. With `some`, there are
/// only as many vectors as singular values. Without `compute_uv`, `U` and `V` are square matrices of zeros.
#[op_def(
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    out = "U"(U, S, V)
)]
pub fn svd(this: &Tensor, some: bool, compute_uv: bool) -> Result<(Tensor, Tensor, Tensor)> {
    let [rows, columns] = check_matrices("self", this)?;
    if compute_uv {
        let (left, values, right) = _linalg_svd(this, !some, true, None)?;
        return Ok((left, values, crate::adjoint(&right)?));
    }
    let values = linalg_svdvals(this, None)?;
    let zeros =
        |size: i64| crate::new_zeros(this, &with_matrix_sizes(this.sizes(), [size, size]), None, None, None, None);
    Ok((zeros(rows)?, values, zeros(columns)?.mT()?))
}
