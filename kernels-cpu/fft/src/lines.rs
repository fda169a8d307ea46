//! Lines of complex numbers: contiguous ones, and the columns of a matrix.
#![expect(unsafe_code, reason = "chunks of lines of one result, each written by one thread")]

use std::array;
use std::ops::Range;
use std::sync::OnceLock;

use dispatch_runtime::OutOfMemory;
use engine::allocation::filled_vec;
use engine::thread_pool::{self, DisjointSlices};
use rustfft::num_complex::Complex;

use crate::line_transform::{FftFloat, LineTransform};

/// The number of elements that are transformed and then scaled while they are in the first-level cache.
const CHUNK_LENGTH: usize = 1 << 11;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 1 << 14;

/// Returns the number of lines of a chunk.
pub(crate) fn lines_per_chunk(line_length: usize) -> usize {
    (CHUNK_LENGTH / line_length.max(1)).max(1)
}

/// Runs `job` on all chunks of lines of `to`, in parallel. It receives the lines' numbers, the chunk, and scratch memory of its thread.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if there is no scratch memory. Then some chunks are not written.
pub(crate) fn for_each_chunk<T: FftFloat, U: Send>(
    to: &mut [U],
    line_length: usize,
    lines_per_chunk: usize,
    scratch_length: usize,
    job: impl Fn(Range<usize>, &mut [U], &mut [Complex<T>]) + Sync,
) -> Result<(), OutOfMemory> {
    let line_count = to.len() / line_length;
    let to = DisjointSlices::new(to);
    let grain = GRAIN_SIZE.div_ceil(lines_per_chunk * line_length);
    for_each_piece(line_count.div_ceil(lines_per_chunk), grain, scratch_length, |chunk, scratch| {
        let lines = chunk * lines_per_chunk..line_count.min((chunk + 1) * lines_per_chunk);
        // SAFETY: the lines are inside of `to`, and every chunk is in one piece.
        let part = unsafe { to.slice(lines.start * line_length..lines.end * line_length) };
        job(lines, part, scratch);
    })
}

/// Runs `job` for all numbers below `count`, in parallel, with scratch memory of its thread.
fn for_each_piece<T: FftFloat>(
    count: usize,
    grain: usize,
    scratch_length: usize,
    job: impl Fn(usize, &mut [Complex<T>]) + Sync,
) -> Result<(), OutOfMemory> {
    let failure = OnceLock::new();
    thread_pool::parallel_for(0..count, grain, |range| {
        match filled_vec(Complex::new(T::zero(), T::zero()), scratch_length) {
            Ok(mut scratch) => range.for_each(|number| job(number, &mut scratch)),
            Err(error) => _ = failure.set(error),
        }
    });
    failure.into_inner().map_or(Ok(()), Err)
}

/// Transforms contiguous lines of `from`.
pub(crate) fn transform_lines<T: FftFloat>(
    transform: &LineTransform<T>,
    from: &[Complex<T>],
    to: &mut [Complex<T>],
    scale: T,
) -> Result<(), OutOfMemory> {
    let (length, fft) = (transform.kind.length, &transform.complex);
    let scratch_length = fft.get_immutable_scratch_len();
    for_each_chunk(to, length, lines_per_chunk(length), scratch_length, |lines, to, scratch| {
        fft.process_immutable_with_scratch(&from[lines.start * length..lines.end * length], to, scratch);
        multiply(to, scale);
    })
}

/// Transforms contiguous lines in place.
pub(crate) fn transform_lines_in_place<T: FftFloat>(
    transform: &LineTransform<T>,
    lines: &mut [Complex<T>],
    scale: T,
) -> Result<(), OutOfMemory> {
    let length = transform.kind.length;
    for_each_chunk(lines, length, lines_per_chunk(length), transform.scratch_in_place(), |_, lines, scratch| {
        transform.complex.process_with_scratch(lines, scratch);
        multiply(lines, scale);
    })
}

fn multiply<T: FftFloat>(elements: &mut [Complex<T>], scale: T) {
    if scale != T::one() {
        for element in elements {
            *element = *element * scale;
        }
    }
}

/// The most columns that are transformed together: whole cache lines, which stay in the second-level cache.
const MAX_COLUMNS: usize = 64;
const MIN_COLUMNS: usize = 8;
const BLOCK_LENGTH: usize = 1 << 14;

/// The number of rows of a tile that is transposed at once, so that the cache keeps its lines until they are used up.
const TILE_ROWS: usize = 8;

/// Transforms the columns of matrices in place. A matrix has as many rows as the transform's length, and `columns` columns.
pub(crate) fn transform_columns<T: FftFloat>(
    transform: &LineTransform<T>,
    matrices: &mut [Complex<T>],
    columns: usize,
) -> Result<(), OutOfMemory> {
    let rows = transform.kind.length;
    let width = (BLOCK_LENGTH / rows).clamp(MIN_COLUMNS, MAX_COLUMNS).min(columns);
    let blocks = columns.div_ceil(width);
    let count = matrices.len() / (rows * columns) * blocks;
    let scratch_length = rows * width + transform.scratch_in_place();
    let elements = DisjointSlices::new(matrices);
    for_each_piece(count, GRAIN_SIZE.div_ceil(rows * width), scratch_length, |block, scratch| {
        let (matrix, first) = (block / blocks, block % blocks * width);
        let width = width.min(columns - first);
        // SAFETY: the row of the block is inside of the matrix, no two rows and no two blocks share elements, and the slices of one tile
        // are dropped before those of the next.
        let row = |row| unsafe {
            let start = (matrix * rows + row) * columns + first;
            elements.slice(start..start + width)
        };
        let (lines, scratch) = scratch.split_at_mut(rows * width);
        for_each_tile(rows, row, |row, column, element| lines[column * rows + row] = *element);
        transform.complex.process_with_scratch(&mut lines[..rows * width], scratch);
        for_each_tile(rows, row, |row, column, element| *element = lines[column * rows + row]);
    })
}

/// Calls `visit` for each element of a block, tile by tile, with its row and its column.
#[inline(always)]
fn for_each_tile<'a, T: FftFloat>(
    rows: usize,
    row: impl Fn(usize) -> &'a mut [Complex<T>],
    mut visit: impl FnMut(usize, usize, &mut Complex<T>),
) {
    let whole = rows - rows % TILE_ROWS;
    for first in (0..whole).step_by(TILE_ROWS) {
        let mut tile: [_; TILE_ROWS] = array::from_fn(|at| row(first + at));
        for column in 0..tile[0].len() {
            for (at, row) in tile.iter_mut().enumerate() {
                visit(first + at, column, &mut row[column]);
            }
        }
    }
    for at in whole..rows {
        for (column, element) in row(at).iter_mut().enumerate() {
            visit(at, column, element);
        }
    }
}
