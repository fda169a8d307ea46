//! Condition numbers of matrices.

use dispatch_runtime::prelude::*;

use super::checks::{batch_sizes, check_matrices, check_square_matrices};
use super::matrix_norms::{Extreme, MatrixNorm};
use crate::prelude::*;
use crate::{linalg_inv_ex, linalg_svdvals};

/// Computes the condition numbers of matrices: the norm of a matrix times the norm of its inverse. `p` is the order of the norm, 2 if it is
/// `None`. The condition number of a singular matrix is infinite.
#[op_def("linalg_cond(Tensor self, Scalar? p=None) -> Tensor", out = "out")]
pub fn linalg_cond(this: &Tensor, p: Option<Scalar>) -> Result<Tensor> {
    let norm = MatrixNorm::from_number("p", p.unwrap_or(Scalar::Int(2)))?;
    let MatrixNorm::SingularValue(extreme) = norm else { return condition_number(this, norm) };
    check_matrices("self", this)?;
    let values = linalg_svdvals(this, None)?;
    if values.sizes().last() == Some(&0) {
        return crate::new_zeros(this, batch_sizes(this.sizes()), None, None, None, None)?.to(this.dtype().to_real());
    }
    let [largest, smallest] = [values.select(-1, 0)?, values.select(-1, -1)?];
    match extreme {
        Extreme::Largest => largest / smallest,
        Extreme::Smallest => smallest / largest,
    }
}

/// Computes the condition numbers of matrices by the norm `fro` or `nuc`. The condition number of a singular matrix is infinite.
#[op_def("linalg_cond.p_str(Tensor self, str p) -> Tensor", out = "p_str_out")]
pub fn linalg_cond_p_str(this: &Tensor, p: &str) -> Result<Tensor> {
    let norm = MatrixNorm::from_name("p", p)?;
    if !matches!(norm, MatrixNorm::Nuclear) {
        return condition_number(this, norm);
    }
    check_square_matrices("self", this)?;
    let values = linalg_svdvals(this, None)?;
    let [sum, inverse_sum] = [&values, &values.reciprocal()?].map(|values| values.sum_dims(-1));
    infinite_if_undefined(&(sum? * inverse_sum?)?, this)
}

/// Replaces NaN by infinity, unless the matrix has NaN: zero times infinity is the condition number of a singular matrix.
fn infinite_if_undefined(numbers: &Tensor, matrices: &Tensor) -> Result<Tensor> {
    let has_nan = matrices.isnan()?.any_dims([-2, -1])?;
    numbers.masked_fill(&numbers.isnan()?.logical_and(&has_nan.logical_not()?)?, f64::INFINITY)
}

/// Computes the norm of matrices times the norm of their inverses.
fn condition_number(matrices: &Tensor, norm: MatrixNorm) -> Result<Tensor> {
    check_square_matrices("self", matrices)?;
    if matrices.geometry().count() == 0 {
        return crate::new_zeros(matrices, batch_sizes(matrices.sizes()), None, None, None, None)?
            .to(matrices.dtype().to_real());
    }
    let (inverse, info) = linalg_inv_ex(matrices, false)?;
    let is_singular = info.gt(0)?.unsqueeze(-1)?.unsqueeze(-1)?;
    let inverse = inverse.masked_fill(&is_singular, f64::INFINITY)?;
    let [norm, inverse_norm] = [matrices, &inverse].map(|matrices| norm.compute(matrices, &[-2, -1], false, None));
    infinite_if_undefined(&(norm? * inverse_norm?)?, matrices)
}
