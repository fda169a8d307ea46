//! Slices that the pieces of a region write in disjoint parts.
#![expect(unsafe_code, reason = "a caller's closure runs on other threads while the caller waits")]

use std::marker::PhantomData;
use std::ops::Range;

/// A slice divided into lines of equal length, each of which is written by one piece.
pub struct DisjointLines<'a, T> {
    start: *mut T,
    length: usize,
    count: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: a caller of `get` promises exclusive use of the line, so this is a slice that is split between threads.
unsafe impl<T: Send> Sync for DisjointLines<'_, T> {}

impl<'a, T> DisjointLines<'a, T> {
    /// Divides a slice into lines of `length` elements.
    pub fn new(elements: &'a mut [T], length: usize) -> Self {
        let count = elements.len().checked_div(length).unwrap_or(0);
        Self { start: elements.as_mut_ptr(), length, count, lifetime: PhantomData }
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Runs `job` on every line with its index, in parallel. At least `grain` lines are worth a thread.
    pub fn for_each(self, grain: usize, job: impl Fn(usize, &mut [T]) + Sync)
    where
        T: Send,
    {
        super::parallel_for(0..self.count, grain, |range| {
            for line in range {
                // SAFETY: every line is in one piece.
                job(line, unsafe { self.get(line) });
            }
        });
    }

    /// Returns a line.
    ///
    /// # Safety
    ///
    /// No other code uses the line at the same time.
    #[expect(clippy::mut_from_ref, reason = "the caller guarantees exclusive use")]
    pub unsafe fn get(&self, line: usize) -> &mut [T] {
        assert!(line < self.count, "line {line} of {}", self.count);
        // SAFETY: the line is inside the slice that this was made of, and the caller guarantees exclusive use.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(line * self.length), self.length) }
    }
}

/// A slice whose elements are written by the pieces of a region, each its own.
pub struct DisjointSlices<'a, T> {
    start: *mut T,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: a caller of `slice` promises exclusive use of the elements, so this is a slice that is split between threads.
unsafe impl<T: Send> Sync for DisjointSlices<'_, T> {}

impl<'a, T> DisjointSlices<'a, T> {
    /// Makes all elements of a slice available to pieces.
    pub fn new(elements: &'a mut [T]) -> Self {
        Self { start: elements.as_mut_ptr(), lifetime: PhantomData }
    }

    /// # Safety
    ///
    /// The range is inside the slice, and no other code uses its elements at the same time.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "the caller guarantees exclusive use")]
    pub unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: guaranteed by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cover_the_slice() {
        let mut elements = [1, 2, 3, 4, 5, 6];
        DisjointLines::new(&mut elements, 2).for_each(1, |line, elements| {
            elements.reverse();
            elements[0] += line;
        });
        assert_eq!(elements, [2, 1, 5, 3, 8, 5]);
    }
}
