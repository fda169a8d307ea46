//! What the pieces of a region write apart from each other.
#![expect(unsafe_code, reason = "a caller's closure runs on other threads while the caller waits")]

use std::marker::PhantomData;
use std::ops::Range;

/// A slice in lines of one length, each of which one piece writes.
pub struct Lines<'a, T> {
    start: *mut T,
    length: usize,
    count: usize,
    lent: PhantomData<&'a mut [T]>,
}

// SAFETY: whoever takes a line promises to be the only one who has it, so this is a slice that is split between threads.
unsafe impl<T: Send> Sync for Lines<'_, T> {}

impl<'a, T> Lines<'a, T> {
    /// As many lines as there are in `elements`.
    pub fn new(elements: &'a mut [T], length: usize) -> Self {
        let count = elements.len().checked_div(length).unwrap_or(0);
        Self { start: elements.as_mut_ptr(), length, count, lent: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Runs `job` on each of them, with its number. Only as many as `grain` are worth a thread.
    pub fn each(self, grain: usize, job: impl Fn(usize, &mut [T]) + Sync)
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

    /// One of them.
    ///
    /// # Safety
    ///
    /// Nobody else has it at the same time.
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    pub unsafe fn get(&self, line: usize) -> &mut [T] {
        assert!(line < self.count, "line {line} of {}", self.count);
        // SAFETY: the line is inside of the slice that this was made of, and the caller says that nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(line * self.length), self.length) }
    }
}

/// Elements of which each piece writes others.
pub struct DisjointSlices<'a, T> {
    start: *mut T,
    lent: PhantomData<&'a mut [T]>,
}

// SAFETY: as for lines, of elements.
unsafe impl<T: Send> Sync for DisjointSlices<'_, T> {}

impl<'a, T> DisjointSlices<'a, T> {
    /// All elements of a slice.
    pub fn new(elements: &'a mut [T]) -> Self {
        Self { start: elements.as_mut_ptr(), lent: PhantomData }
    }

    /// # Safety
    ///
    /// The elements are there, and nobody else has them.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    pub unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_slice() {
        let mut elements = [1, 2, 3, 4, 5, 6];
        Lines::new(&mut elements, 2).each(1, |line, elements| {
            elements.reverse();
            elements[0] += line;
        });
        assert_eq!(elements, [2, 1, 5, 3, 8, 5]);
    }
}
