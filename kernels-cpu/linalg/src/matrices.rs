//! Batches of column-major matrices: the memory of operands and results, and loops over the matrices.

use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{Result, Spec, Tensor};
use engine::allocation::to_usize;
use engine::data_movement::{broadcast_to_contiguous, copy_elements, strided_view};
use engine::thread_pool;

use crate::number::Number;

/// The fewest multiply-adds that are worth a thread: a few microseconds.
const GRAIN_SIZE: usize = 1 << 14;

/// Returns the sizes of the last two dimensions.
pub(crate) fn matrix_sizes(tensor: &Tensor) -> [usize; 2] {
    match tensor.sizes() {
        [.., rows, columns] => [to_usize(*rows), to_usize(*columns)],
        _ => [0, 0],
    }
}

/// Returns a view with the last two dimensions exchanged.
pub(crate) fn transposed(tensor: &Tensor) -> Result<Tensor> {
    let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
    let rank = sizes.len();
    sizes.swap(rank - 2, rank - 1);
    strides.swap(rank - 2, rank - 1);
    strided_view(tensor, &sizes, &strides, tensor.geometry().offset())
}

/// Returns a contiguous tensor whose matrices are the transposed ones of a batch, so that its elements are those of the batch in
/// column-major order. It is a copy unless the batch has this order.
pub(crate) fn column_major(tensor: &Tensor) -> Result<Tensor> {
    let view = transposed(tensor)?;
    let sizes = view.sizes().to_vec();
    if view.geometry().is_contiguous() {
        return Ok(view);
    }
    broadcast_to_contiguous("A", &view, tensor.dtype(), &sizes)
}

/// Returns a tensor as [`column_major`] does, of square matrices whose batch dimensions are broadcast to those of another tensor.
pub(crate) fn column_major_expanded(tensor: &Tensor, like: &Tensor) -> Result<Tensor> {
    let (sizes, batch) = (tensor.sizes(), &like.sizes()[..like.sizes().len() - 2]);
    if sizes[..sizes.len() - 2] == *batch {
        return column_major(tensor);
    }
    let sizes = [batch, &sizes[sizes.len() - 2..]].concat();
    broadcast_to_contiguous("A", &transposed(tensor)?, tensor.dtype(), &sizes)
}

/// Copies `initial`, which broadcasts to `out`, to `out`, and calls `work` with the elements of `out` in column-major order. It is not
/// called for an empty tensor, whose other sizes can be arbitrarily large.
pub(crate) fn update_columns<T: Number>(
    out: &mut Tensor,
    initial: &Tensor,
    work: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<()> {
    with_columns(out, Some(initial), work)
}

/// Calls `work` to write all elements of `out` in column-major order, as [`update_columns`] does. They have arbitrary values before.
pub(crate) fn write_columns<T: Number>(out: &mut Tensor, work: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
    with_columns(out, None, work)
}

fn with_columns<T: Number>(
    out: &mut Tensor,
    initial: Option<&Tensor>,
    work: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let mut columns = transposed(out)?;
    let is_direct = columns.geometry().is_contiguous();
    if !is_direct {
        columns = Spec::contiguous(out.dtype(), columns.sizes()).on(out.device())?;
    }
    if let Some(initial) = initial {
        copy_elements(&mut transposed(&columns)?, initial)?;
    }
    work(&mut columns.write::<T>()?)?;
    if is_direct { Ok(()) } else { copy_elements(out, &transposed(&columns)?) }
}

/// Makes a square column-major matrix the identity.
pub(crate) fn write_identity<T: Number>(matrix: &mut [T], rows: usize) {
    matrix.fill(T::ZERO);
    matrix.iter_mut().step_by(rows + 1).for_each(|x| *x = T::ONE);
}

/// Returns the number of matrices of a piece of a batch, if each needs `work` multiply-adds. It is the whole batch if that has fewer matrices
/// than there are threads: then threads divide each matrix.
pub(crate) fn matrices_per_piece(count: usize, work: usize) -> usize {
    let threads = thread_pool::region_thread_count();
    if threads == 1 || count < threads {
        return count.max(1);
    }
    let pieces = (count.saturating_mul(work) / GRAIN_SIZE).clamp(1, 4 * threads);
    count.div_ceil(pieces)
}

/// Runs `job` on every piece, in parallel.
pub(crate) fn for_each_piece<P: Send>(pieces: impl IntoIterator<Item = P>, job: impl Fn(P) + Sync) {
    let mut pieces = pieces.into_iter();
    let Some(first) = pieces.next() else { return };
    let Some(second) = pieces.next() else { return job(first) };
    let pieces: Vec<_> = [first, second].into_iter().chain(pieces).map(|piece| Mutex::new(Some(piece))).collect();
    thread_pool::parallel_each(pieces.len(), |index| {
        let piece = pieces[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(piece) = piece {
            job(piece);
        }
    });
}
