//! Pseudoinverses and ranks: the singular values above a tolerance count.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use super::checks::{check_matrices, check_square_matrices};
use crate::prelude::*;
use crate::{
    _linalg_eigh, _linalg_svd, linalg_eigvalsh, linalg_svdvals, scalar_tensor, where_scalarother, where_scalarself,
};

/// Computes the pseudoinverses of matrices. Singular values up to the larger of `atol` and `rtol` times the largest one count as zero. If
/// both are `None`, `rtol` is the relative rounding error times the larger size of a matrix. With `hermitian`, the eigenvalues of the
/// lower triangle are used.
#[op_def(
    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
    out = "atol_rtol_tensor_out",
    body = CompositeExplicitAutograd
)]
pub fn linalg_pinv_atol_rtol_tensor(_: ...) -> Result<Tensor> {
    check_matrices_for(hermitian, "self", this)?;
    let tolerances = Tolerances::from_tensors(this, atol, rtol)?;
    if this.geometry().count() == 0 {
        let mut sizes = this.sizes().to_vec();
        let last = sizes.len() - 1;
        sizes.swap(last - 1, last);
        return crate::new_zeros(this, &sizes, None, None, None, None);
    }
    let (left, values, right) = if hermitian {
        let (values, vectors) = _linalg_eigh(this, "L", true)?;
        (vectors.clone(), values, crate::adjoint(&vectors)?)
    } else {
        _linalg_svd(this, false, true, None)?
    };
    let is_counted = tolerances.exceeded_by(&values.abs()?)?;
    let reciprocals = where_scalarother(&is_counted, &values.reciprocal()?, 0.into())?.to(this.dtype())?;
    (crate::adjoint(&right)? * reciprocals.unsqueeze(-2)?)?.matmul(&crate::adjoint(&left)?)
}

/// Computes the pseudoinverses of matrices. Singular values up to the larger of `atol` and `rtol` times the largest one count as zero. If
/// both are `None`, `rtol` is the relative rounding error times the larger size of a matrix. With `hermitian`, the eigenvalues of the
/// lower triangle are used.
#[op_def(
    "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    out = "atol_rtol_float_out"
)]
pub fn linalg_pinv_atol_rtol_float(_: ...) -> Result<Tensor> {
    check_matrices_for(hermitian, "self", this)?;
    let Tolerances { absolute, relative } = Tolerances::from_numbers(this, atol, rtol)?;
    linalg_pinv_atol_rtol_tensor(this, Some(&absolute), Some(&relative), hermitian)
}

/// Computes the pseudoinverses of matrices. Singular values up to `rcond` times the largest one count as zero.
#[op_def("linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", out = "out")]
pub fn linalg_pinv(_: ...) -> Result<Tensor> {
    linalg_pinv_atol_rtol_float(this, Some(0.0), Some(rcond), hermitian)
}

/// Computes the pseudoinverses of matrices. Singular values up to `rcond` times the largest one count as zero.
#[op_def(
    "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
    out = "out_rcond_tensor"
)]
pub fn linalg_pinv_rcond_tensor(_: ...) -> Result<Tensor> {
    linalg_pinv_atol_rtol_tensor(this, None, Some(rcond), hermitian)
}

/// Computes the pseudoinverses of matrices. Singular values up to `rcond` times the largest one count as zero.
#[op_def("pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor")]
pub fn pinverse(this: &Tensor, rcond: f64) -> Result<Tensor> {
    linalg_pinv(this, rcond, false)
}

/// Counts the singular values of matrices that exceed the larger of `atol` and `rtol` times the largest one. If both are `None`, `rtol` is
/// the relative rounding error times the larger size of a matrix. With `hermitian`, the eigenvalues of the lower triangle are counted.
#[op_def(
    "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
    out = "atol_rtol_tensor_out"
)]
pub fn linalg_matrix_rank_atol_rtol_tensor(_: ...) -> Result<Tensor> {
    check_matrices_for(hermitian, "input", input)?;
    count_above(&Tolerances::from_tensors(input, atol, rtol)?, input, hermitian)
}

/// Counts the singular values of matrices that exceed the larger of `atol` and `rtol` times the largest one. If both are `None`, `rtol` is
/// the relative rounding error times the larger size of a matrix. With `hermitian`, the eigenvalues of the lower triangle are counted.
#[op_def(
    "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    out = "atol_rtol_float_out"
)]
pub fn linalg_matrix_rank_atol_rtol_float(_: ...) -> Result<Tensor> {
    check_matrices_for(hermitian, "self", this)?;
    count_above(&Tolerances::from_numbers(this, atol, rtol)?, this, hermitian)
}

/// Counts the singular values of matrices that exceed `tol`. With `hermitian`, the eigenvalues of the lower triangle are counted.
#[op_def("linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor", out = "out")]
pub fn linalg_matrix_rank(_: ...) -> Result<Tensor> {
    linalg_matrix_rank_atol_rtol_float(this, Some(tol), Some(0.0), hermitian)
}

/// Counts the singular values of matrices that exceed `tol`. With `hermitian`, the eigenvalues of the lower triangle are counted.
#[op_def(
    "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
    out = "out_tol_tensor"
)]
pub fn linalg_matrix_rank_tol_tensor(_: ...) -> Result<Tensor> {
    linalg_matrix_rank_atol_rtol_tensor(input, Some(tol), Some(&number(input, 0.0)?), hermitian)
}

fn check_matrices_for(hermitian: bool, argument: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    if hermitian {
        check_square_matrices(argument, tensor).map(drop)
    } else {
        check_matrices(argument, tensor).map(drop)
    }
}

/// Counts the singular values, or the magnitudes of the eigenvalues, that exceed tolerances.
fn count_above(tolerances: &Tolerances, matrices: &Tensor, hermitian: bool) -> Result<Tensor> {
    let values = if hermitian { linalg_eigvalsh(matrices, "L")?.abs()? } else { linalg_svdvals(matrices, None)? };
    if values.sizes().last() == Some(&0) {
        return values.sum_dims(-1)?.to(DType::I64);
    }
    tolerances.exceeded_by(&values)?.sum_dims(-1)
}

/// The tolerances below which singular values count as zero, with the sizes of the batch or of a part of it.
struct Tolerances {
    absolute: Tensor,
    relative: Tensor,
}

impl Tolerances {
    fn from_tensors(matrices: &Tensor, absolute: Option<&Tensor>, relative: Option<&Tensor>) -> Result<Self> {
        for (name, tensor) in [("atol", absolute), ("rtol", relative)] {
            if let Some(tensor) = tensor.filter(|tensor| tensor.dtype().is_complex()) {
                return Err(BadArgument::dtype(name, tensor.dtype(), DTypes::Real).into());
            }
        }
        let relative = match (absolute, relative) {
            (_, Some(relative)) => relative.clone(),
            (Some(absolute), None) => {
                let default = number(matrices, default_relative_tolerance(matrices))?;
                where_scalarself(&absolute.gt(0)?, 0.0.into(), &default)?
            }
            (None, None) => number(matrices, default_relative_tolerance(matrices))?,
        };
        Ok(Self { absolute: absolute.map_or_else(|| number(matrices, 0.0), |given| Ok(given.clone()))?, relative })
    }

    fn from_numbers(matrices: &Tensor, absolute: Option<f64>, relative: Option<f64>) -> Result<Self> {
        let default =
            if absolute.is_some_and(|given| given > 0.0) { 0.0 } else { default_relative_tolerance(matrices) };
        Ok(Self {
            absolute: number(matrices, absolute.unwrap_or(0.0))?,
            relative: number(matrices, relative.unwrap_or(default))?,
        })
    }

    /// Whether each value exceeds the tolerance of its matrix.
    fn exceeded_by(&self, values: &Tensor) -> Result<Tensor> {
        let largest = values.amax_keepdim(-1)?;
        let relative = (self.relative.unsqueeze(-1)? * largest)?;
        values.gt(&self.absolute.unsqueeze(-1)?.maximum(&relative)?)
    }
}

/// Returns a tensor of one number in double precision, on the device of the matrices.
fn number(matrices: &Tensor, value: f64) -> Result<Tensor> {
    scalar_tensor(value.into(), Some(DType::F64), None, Some(matrices.device()), None)
}

#[expect(clippy::cast_precision_loss, reason = "a size is below 2^53")]
fn default_relative_tolerance(matrices: &Tensor) -> f64 {
    let epsilon = if matrices.dtype().to_real() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let inner = matrices.sizes().iter().rev().take(2).max();
    epsilon * inner.copied().unwrap_or(0) as f64
}
