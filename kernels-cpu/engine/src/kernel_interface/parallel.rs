//! Slices that threads fill in pieces.

use crate::thread_pool::DisjointLines;

/// Calls `f` with each chunk of `length` elements and its index, in parallel. The last chunk is shorter if the length does not divide the
/// number of elements. At least `grain` chunks are worth a thread.
///
/// ```
/// let mut squares = [0_usize; 5];
/// kernels_cpu::engine::parallel_chunks(&mut squares, 2, 1, |chunk, elements| {
///     for (i, element) in elements.iter_mut().enumerate() {
///         *element = (2 * chunk + i) * (2 * chunk + i);
///     }
/// });
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// If `length` is 0, there are no chunks.
///
/// # Panics
///
/// Panics if `f` panics.
pub fn parallel_chunks<T: Send>(elements: &mut [T], length: usize, grain: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let Some(whole) = elements.len().checked_div(length) else { return };
    let (chunks, rest) = elements.split_at_mut(whole * length);
    DisjointLines::new(chunks, length).for_each(grain, &f);
    if !rest.is_empty() {
        f(whole, rest);
    }
}
