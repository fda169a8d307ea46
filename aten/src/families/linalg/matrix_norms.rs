//! Norms of matrices, and products of vectors.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, wrap_dim};

use crate::prelude::*;
use crate::{check_norm_dtype, linalg_svdvals, linalg_vector_norm};

/// Computes the norm of order `ord` over two dimensions: 2 or -2 for the largest or smallest singular value, 1 or -1 for the largest or
/// smallest sum of a column's magnitudes, and an infinity for that of a row's.
#[op_def(
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "out"
)]
pub fn linalg_matrix_norm(_: ...) -> Result<Tensor> {
    MatrixNorm::from_number("ord", ord)?.compute(this, dim, keepdim, dtype)
}

/// Computes a norm over two dimensions: `fro`, the root of the sum of squares, or `nuc`, the sum of the singular values.
#[op_def(
    r#"linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"#,
    out = "str_ord_out"
)]
pub fn linalg_matrix_norm_str_ord(_: ...) -> Result<Tensor> {
    MatrixNorm::from_name("ord", ord)?.compute(this, dim, keepdim, dtype)
}

/// Computes a norm of a vector over one dimension or of a matrix over two. Without `dim`, all elements are one vector, unless `ord` is given:
/// then the tensor must be a vector or a matrix.
#[op_def(
    "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "out"
)]
pub fn linalg_norm(_: ...) -> Result<Tensor> {
    let rank = this.sizes().len();
    match (ord, dim) {
        (Some(ord), Some(&[row, column])) => linalg_matrix_norm(this, ord, &[row, column], keepdim, dtype),
        (Some(ord), None) if rank == 2 => linalg_matrix_norm(this, ord, &[0, 1], keepdim, dtype),
        (Some(_), Some(dims)) if dims.len() != 1 => Err(BadArgument::length("dim", dims.len(), 1..=2).into()),
        (Some(_), None) if rank != 1 => {
            Err(BadArgument::rank("self", rank, 1..=2).because("`ord` is given without `dim`").into())
        }
        _ => linalg_vector_norm(this, ord.unwrap_or(Scalar::Int(2)), dim, keepdim, dtype),
    }
}

/// Computes a norm over two dimensions: `fro`, the root of the sum of squares, or `nuc`, the sum of the singular values. Without `dim`, the
/// tensor must be a matrix.
#[op_def(
    "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "ord_str_out"
)]
pub fn linalg_norm_ord_str(_: ...) -> Result<Tensor> {
    if dim.is_none() && this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2).because("`dim` is not given").into());
    }
    linalg_matrix_norm_str_ord(this, ord, dim.unwrap_or(&[0, 1]), keepdim, dtype)
}

/// Computes the sum of the singular values of a matrix.
#[op_def("nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", out = "out")]
pub fn nuclear_norm(this: &Tensor, keepdim: bool) -> Result<Tensor> {
    if this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2).into());
    }
    nuclear_norm_dim(this, &[0, 1], keepdim)
}

/// Computes the sum of the singular values over two dimensions.
#[op_def("nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", out = "dim_out")]
pub fn nuclear_norm_dim(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    MatrixNorm::Nuclear.compute(this, dim, keepdim, None)
}

/// Computes the products of vectors along `dim`, with the conjugates of those in `x`. Other dimensions broadcast.
#[op_def("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", out = "out")]
pub fn linalg_vecdot(x: &Tensor, y: &Tensor, dim: i64) -> Result<Tensor> {
    if !x.dtype().is_floating() && !x.dtype().is_complex() {
        return Err(BadArgument::dtype("x", x.dtype(), DTypes::FloatingOrComplex).into());
    }
    crate::check_same_dtype([("x", Some(x)), ("y", Some(y))])?;
    crate::check_broadcast([("x", x), ("y", y)])?;
    if let ([_], [_]) = (x.sizes(), y.sizes()) {
        wrap_dim("dim", dim, 1)?;
        return crate::vdot(x, y);
    }
    (x.conj()? * y)?.sum_dims(dim)
}

/// A norm of matrices.
#[derive(Clone, Copy)]
pub(super) enum MatrixNorm {
    /// The root of the sum of squares.
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
    SingularValue(Extreme),
    /// The extreme sum of the magnitudes of a column.
    ColumnSum(Extreme),
    /// The extreme sum of the magnitudes of a row.
    RowSum(Extreme),
}

#[derive(Clone, Copy)]
pub(super) enum Extreme {
    Largest,
    Smallest,
}

impl Extreme {
    fn reduce(self, values: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
        let at = wrap_dim("dim", dim, values.sizes().len())?;
        match self {
            // The largest of no magnitudes is zero, and the smallest is undefined.
            Self::Largest if values.sizes()[at] == 0 => crate::sum_dim_intlist(values, Some(&[dim]), keepdim, None),
            Self::Largest => crate::amax(values, &[dim], keepdim),
            Self::Smallest => crate::amin(values, &[dim], keepdim),
        }
    }
}

impl MatrixNorm {
    pub(super) fn from_number(argument: &'static str, order: Scalar) -> Result<Self, BadArgument> {
        let number = order.to_f64().unwrap_or(f64::NAN);
        let extreme = if number > 0.0 { Extreme::Largest } else { Extreme::Smallest };
        match number.abs() {
            1.0 => Ok(Self::ColumnSum(extreme)),
            2.0 => Ok(Self::SingularValue(extreme)),
            f64::INFINITY => Ok(Self::RowSum(extreme)),
            _ => Err(BadArgument::value(argument, order, "1, -1, 2, -2, infinity or -infinity")),
        }
    }

    pub(super) fn from_name(argument: &'static str, name: &str) -> Result<Self, BadArgument> {
        match name {
            "fro" => Ok(Self::Frobenius),
            "nuc" => Ok(Self::Nuclear),
            _ => Err(BadArgument::keyword(argument, name, &["fro", "nuc"])),
        }
    }

    /// Computes the norm over two dimensions, in `dtype` if it is given.
    pub(super) fn compute(self, matrices: &Tensor, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
        let [row, column] = matrix_dims(matrices, dim)?;
        let matrices = &matrices.to(check_norm_dtype(matrices, dtype)?)?;
        let (norms, has_dims) = match self {
            Self::Frobenius => return linalg_vector_norm(matrices, 2.into(), Some(&[row, column]), keepdim, None),
            Self::ColumnSum(extreme) => (extreme.reduce(&magnitude_sums(matrices, row)?, column, true)?, true),
            Self::RowSum(extreme) => (extreme.reduce(&magnitude_sums(matrices, column)?, row, true)?, true),
            Self::Nuclear => (singular_values(matrices, [row, column])?.sum_dims(-1)?, false),
            Self::SingularValue(extreme) => {
                (extreme.reduce(&singular_values(matrices, [row, column])?, -1, false)?, false)
            }
        };
        let (first, second) = (row.min(column), row.max(column));
        match (has_dims, keepdim) {
            (false, true) => norms.unsqueeze(-1)?.unsqueeze(-1)?.movedim([-2, -1], [first, second]),
            (true, false) => norms.squeeze_dims(second)?.squeeze_dims(first),
            _ => Ok(norms),
        }
    }
}

/// Checks the two dimensions of a norm, and returns them as non-negative numbers.
fn matrix_dims(matrices: &Tensor, dim: &[i64]) -> Result<[i64; 2], BadArgument> {
    let rank = matrices.sizes().len();
    if rank < 2 {
        return Err(BadArgument::rank("self", rank, 2..));
    }
    let &[row, column] = dim else { return Err(BadArgument::length("dim", dim.len(), 2)) };
    let [row, column] = [wrap_dim("dim", row, rank)?, wrap_dim("dim", column, rank)?];
    if row == column {
        return Err(BadArgument::value("dim", format_args!("{dim:?}"), "two different dimensions"));
    }
    Ok([row, column].map(|dim| i64::try_from(dim).unwrap_or(i64::MAX)))
}

/// Sums the magnitudes along a dimension, which is kept.
fn magnitude_sums(matrices: &Tensor, dim: i64) -> Result<Tensor> {
    linalg_vector_norm(matrices, 1.into(), Some(&[dim]), true, None)
}

fn singular_values(matrices: &Tensor, dims: [i64; 2]) -> Result<Tensor> {
    linalg_svdvals(&matrices.movedim(dims, [-2, -1])?, None)
}
