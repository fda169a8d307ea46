//! Kernels of QR decompositions, and of products with their reflectors.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Spec};
use engine::reduce::with_compute_type;

use crate::matrices::{
    column_major, for_each_piece, matrices_per_piece, matrix_sizes, transposed, update_columns, write_columns,
};
use crate::number::Number;
use crate::reflectors::{apply_reflectors, triangularize};

#[op_impl(aten::geqrf, CPU)]
fn geqrf(_plan: &(), out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    let [a, tau] = out;
    let [rows, columns] = matrix_sizes(this);
    let size = rows.min(columns);
    with_compute_type!(aten::geqrf, a.dtype(), T: [f32, f64, Complex32, Complex64] => {
        update_columns::<T>(a, this, |matrices| {
            let mut tau = tau.write::<T>()?;
            let step = matrices_per_piece(tau.len() / size, rows * columns * size);
            let pieces = matrices.chunks_mut(step * rows * columns).zip(tau.chunks_mut(step * size));
            for_each_piece(pieces, |(matrices, tau)| {
                for (matrix, tau) in matrices.chunks_exact_mut(rows * columns).zip(tau.chunks_exact_mut(size)) {
                    triangularize(matrix, [rows, columns], tau);
                }
            });
            Ok(())
        })
    })
}

#[op_impl(aten::linalg_qr, CPU)]
fn linalg_qr(_plan: &(), out: [&mut Tensor; 2], _: ...) -> Result<()> {
    let [q, r] = out;
    let (factors, tau) = aten::geqrf(A)?;
    let [rows, columns] = matrix_sizes(A);
    with_compute_type!(aten::linalg_qr, A.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let height = matrix_sizes(r)[0];
        if factors.geometry().count() > 0 {
            let view = transposed(&factors)?;
            let elements = view.read::<T>()?;
            write_columns::<T>(r, |r| {
                for (matrix, r) in elements.chunks_exact(rows * columns).zip(r.chunks_exact_mut(height * columns)) {
                    write_upper_triangle(matrix, rows, r, height);
                }
                Ok(())
            })?;
        }
        if mode == "r" { Ok(()) } else { write_product::<T>(&factors, &tau, q) }
    })
}

/// Writes the upper triangle of a matrix, with zeros below it.
fn write_upper_triangle<T: Number>(matrix: &[T], rows: usize, out: &mut [T], height: usize) {
    for (index, (column, out)) in matrix.chunks_exact(rows).zip(out.chunks_exact_mut(height)).enumerate() {
        let count = height.min(index + 1);
        out[..count].copy_from_slice(&column[..count]);
        out[count..].fill(T::ZERO);
    }
}

#[op_impl(aten::linalg_householder_product, CPU)]
fn linalg_householder_product(_plan: &(), out: &mut Tensor, input: &Tensor, tau: &Tensor) -> Result<()> {
    with_compute_type!(aten::linalg_householder_product, out.dtype(), T: [f32, f64, Complex32, Complex64] => {
        write_product::<T>(input, tau, out)
    })
}

/// Writes the first columns of the product of the reflectors of every matrix of a batch.
fn write_product<T: Number>(reflectors: &Tensor, tau: &Tensor, out: &mut Tensor) -> Result<()> {
    let [rows, columns] = matrix_sizes(out);
    write_columns::<T>(out, |out| {
        for matrix in out.chunks_exact_mut(rows * columns) {
            matrix.fill(T::ZERO);
            matrix.iter_mut().step_by(rows + 1).take(columns).for_each(|x| *x = T::ONE);
        }
        apply_to_batch(reflectors, tau, false, out, rows * columns, true)
    })
}

#[op_impl(aten::ormqr, CPU)]
fn ormqr(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let [rows, columns] = matrix_sizes(out);
    with_compute_type!(aten::ormqr, out.dtype(), T: [f32, f64, Complex32, Complex64] => {
        if left {
            return update_columns::<T>(out, input3, |out| apply_to_batch(this, input2, transpose, out, rows * columns, false));
        }
        // `C Q` is the adjoint of `Q^H C^H`.
        let mut adjoint = transposed(&Spec::contiguous(out.dtype(), out.sizes()).on(out.device())?)?;
        update_columns::<T>(&mut adjoint, &transposed(input3)?, |adjoint| {
            for x in adjoint.iter_mut() {
                *x = x.conjugate();
            }
            apply_to_batch(this, input2, !transpose, adjoint, rows * columns, false)?;
            for x in adjoint.iter_mut() {
                *x = x.conjugate();
            }
            Ok(())
        })?;
        engine::data_movement::copy_elements(out, &transposed(&adjoint)?)
    })
}

/// Multiplies every matrix of a batch by the product of its reflectors, or by the adjoint of that. A matrix has `length` elements.
fn apply_to_batch<T: Number>(
    reflectors: &Tensor,
    tau: &Tensor,
    adjoint: bool,
    matrices: &mut [T],
    length: usize,
    is_identity: bool,
) -> Result<()> {
    let [rows, columns] = matrix_sizes(reflectors);
    let count = tau.sizes().last().map_or(0, |&count| engine::allocation::to_usize(count));
    if count == 0 {
        return Ok(());
    }
    let reflectors = column_major(reflectors)?;
    let reflectors = reflectors.read::<T>()?;
    let tau = engine::contiguous::contiguous_elements::<T>(tau)?;
    let step = matrices_per_piece(tau.len() / count, 2 * length * count);
    let pieces =
        matrices.chunks_mut(step * length).zip(reflectors.chunks(step * rows * columns)).zip(tau.chunks(step * count));
    for_each_piece(pieces, |((matrices, reflectors), tau)| {
        let reflectors = reflectors.chunks_exact(rows * columns).zip(tau.chunks_exact(count));
        for (matrix, (reflectors, tau)) in matrices.chunks_exact_mut(length).zip(reflectors) {
            apply_reflectors(reflectors, rows, tau, adjoint, matrix, is_identity);
        }
    });
    Ok(())
}
