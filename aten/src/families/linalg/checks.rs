//! Checks of matrices, and the specs of results, that several operators of this family share.

use dispatch_runtime::{BadArgument, DType, Dims, Geometry, Spec, Tensor, broadcast};

/// Refuses a dtype in which no decomposition is computed.
pub(super) fn check_number_dtype(name: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    match tensor.dtype() {
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => Ok(()),
        found => Err(BadArgument::dtype(name, found, "float32, float64, complex64 or complex128")),
    }
}

/// Refuses a tensor that is no batch of matrices of numbers, and returns the sizes of a matrix.
pub(super) fn check_matrices(name: &'static str, tensor: &Tensor) -> Result<[i64; 2], BadArgument> {
    let [.., rows, columns] = tensor.sizes() else {
        return Err(BadArgument::rank(name, tensor.sizes().len(), 2..));
    };
    check_number_dtype(name, tensor)?;
    Ok([*rows, *columns])
}

/// Refuses a tensor that is no batch of square matrices of numbers, and returns the size of a matrix.
pub(super) fn check_square_matrices(name: &'static str, tensor: &Tensor) -> Result<i64, BadArgument> {
    let [rows, columns] = check_matrices(name, tensor)?;
    if rows == columns {
        Ok(rows)
    } else {
        Err(BadArgument::sizes(name, tensor.sizes(), "square matrices in the last two dimensions"))
    }
}

/// Refuses a tensor whose dtype is not that of the first one.
pub(super) fn check_dtype_like(
    (name, tensor): (&'static str, &Tensor),
    (other, like): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    if tensor.dtype() == like.dtype() {
        Ok(())
    } else {
        Err(BadArgument::dtype(name, tensor.dtype(), like.dtype()).like(other))
    }
}

/// Refuses matrices that have another number of rows, or of columns if not `left`, than the square matrices of a system.
pub(super) fn check_system(
    (name, matrices): (&'static str, &Tensor),
    (other, size): (&'static str, i64),
    left: bool,
) -> Result<(), BadArgument> {
    let sizes = matrices.sizes();
    if sizes.len() < 2 {
        return Err(BadArgument::rank(name, sizes.len(), 2..));
    }
    let dim = sizes.len() - if left { 2 } else { 1 };
    if sizes[dim] == size { Ok(()) } else { Err(BadArgument::size(name, sizes, dim, size).like(other)) }
}

/// Returns the sizes of `matrices` with its batch dimensions broadcast to those of another tensor.
pub(super) fn broadcast_batch((name, matrices): (&'static str, &[i64]), other: &[i64]) -> Result<Dims, BadArgument> {
    let (batch, matrix) = matrices.split_at(matrices.len() - 2);
    let batches = [batch, &other[..other.len() - 2]];
    let mut sizes = broadcast(batches).map_err(|error| BadArgument::new(name, error.problem))?;
    sizes.extend_from_slice(matrix);
    Ok(sizes)
}

/// Refuses matrices whose sizes do not fit the 32-bit pivots of LAPACK.
pub(super) fn check_pivots_fit(name: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    let sizes = tensor.sizes();
    for (dim, &size) in sizes.iter().enumerate().skip(sizes.len() - 2) {
        if size > i64::from(i32::MAX) {
            return Err(BadArgument::size(name, sizes, dim, ..=i64::from(i32::MAX)));
        }
    }
    Ok(())
}

/// Refuses pivots that are not those of the decomposition of a tensor.
pub(super) fn check_pivots(
    (name, pivots): (&'static str, &Tensor),
    (other, factors): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    if pivots.dtype() != DType::I32 {
        return Err(BadArgument::dtype(name, pivots.dtype(), DType::I32));
    }
    let sizes = sizes_of_vectors(factors.sizes());
    if *pivots.sizes() == *sizes {
        Ok(())
    } else {
        Err(BadArgument::sizes(name, pivots.sizes(), &sizes[..]).like(other))
    }
}

/// Returns the batch dimensions of matrices.
pub(super) fn batch_sizes(sizes: &[i64]) -> &[i64] {
    &sizes[..sizes.len() - 2]
}

/// Returns the sizes of a batch with a vector for each matrix, which has an element for each diagonal element.
pub(super) fn sizes_of_vectors(sizes: &[i64]) -> Dims {
    let mut vectors = Dims::from_slice(batch_sizes(sizes));
    vectors.push(sizes[sizes.len() - 2].min(sizes[sizes.len() - 1]));
    vectors
}

/// Returns the sizes of a batch with matrices of other sizes.
pub(super) fn with_matrix_sizes(sizes: &[i64], matrix: [i64; 2]) -> Dims {
    let mut sizes = Dims::from_slice(batch_sizes(sizes));
    sizes.extend(matrix);
    sizes
}

/// Returns the spec of a batch of matrices whose columns are contiguous.
pub(super) fn column_major(dtype: DType, sizes: &[i64]) -> Spec {
    let contiguous = Spec::contiguous(dtype, sizes);
    if sizes.len() < 2 {
        return contiguous;
    }
    let mut strides = Dims::from_slice(contiguous.geometry.strides());
    let rank = sizes.len();
    strides[rank - 2] = 1;
    strides[rank - 1] = sizes[rank - 2].max(1);
    match Geometry::strided(sizes, &strides, 0) {
        Some(geometry) => Spec { dtype, geometry },
        None => contiguous,
    }
}
