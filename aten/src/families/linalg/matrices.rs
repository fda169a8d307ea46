//! Checks of matrices, and specs of column-major results.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Geometry, Spec};

/// Checks that a tensor is a batch of matrices with elements that decompositions compute with. Returns the numbers of rows and columns.
pub(super) fn check_matrices(argument: &'static str, tensor: &Tensor) -> Result<[i64; 2], BadArgument> {
    let is_computed = matches!(tensor.dtype(), DType::F32 | DType::F64 | DType::C64 | DType::C128);
    if !is_computed {
        let expected = if tensor.dtype().is_floating() || tensor.dtype().is_complex() {
            "float32, float64, complex64 or complex128".into()
        } else {
            DTypes::FloatingOrComplex
        };
        return Err(BadArgument::dtype(argument, tensor.dtype(), expected));
    }
    match *tensor.sizes() {
        [.., rows, columns] => Ok([rows, columns]),
        _ => {
            Err(BadArgument::rank(argument, tensor.sizes().len(), 2..).because("its last two dimensions are a matrix"))
        }
    }
}

/// Checks that a tensor is a batch of square matrices with elements that decompositions compute with. Returns the number of rows.
pub(super) fn check_square_matrices(argument: &'static str, tensor: &Tensor) -> Result<i64, BadArgument> {
    let [rows, columns] = check_matrices(argument, tensor)?;
    if rows != columns {
        return Err(BadArgument::size(argument, tensor.sizes(), tensor.sizes().len() - 1, rows)
            .because("the matrices must be square"));
    }
    Ok(rows)
}

/// Returns the sizes of the batch of a tensor of matrices.
pub(super) fn batch_sizes(tensor: &Tensor) -> &[i64] {
    &tensor.sizes()[..tensor.sizes().len().saturating_sub(2)]
}

/// Returns the spec of a batch of column-major matrices.
pub(super) fn column_major_spec(dtype: DType, batch: &[i64], rows: i64, columns: i64) -> Spec {
    let sizes = [batch, &[rows, columns]].concat();
    let contiguous = Spec::contiguous(dtype, &sizes);
    let mut strides = contiguous.geometry.strides().to_vec();
    let inner = strides.len() - 2;
    strides[inner..].copy_from_slice(&[1, rows.max(1)]);
    Geometry::strided(&sizes, &strides, 0).map_or(contiguous, |geometry| Spec { dtype, geometry })
}

/// Returns the spec of a batch of vectors.
pub(super) fn vectors_spec(dtype: DType, batch: &[i64], count: i64) -> Spec {
    Spec::contiguous(dtype, &[batch, &[count]].concat())
}
