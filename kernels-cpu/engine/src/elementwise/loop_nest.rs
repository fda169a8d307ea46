//! Loop nests over several tensors at once.
//!
//! Dimensions are nested in the memory order of the result. Adjacent dimensions are merged if the strides of all operands allow it, so most
//! calls become a single row.

use dispatch_runtime::{Geometry, broadcast_strides, dims_by_stride};
use smallvec::{SmallVec, smallvec};

/// A loop nest: dimensions from innermost to outermost, each with its size and every operand's stride in bytes. The result is operand 0.
pub struct LoopNest<const M: usize> {
    dims: SmallVec<[(usize, [isize; M]); 5]>,
}

impl<const M: usize> LoopNest<M> {
    /// Returns the loop nest over `sizes`. The operands are broadcast to `sizes`, and the nest stays inside their elements.
    ///
    /// # Panics
    ///
    /// Panics if an operand does not broadcast to `sizes`.
    pub fn new(sizes: &[i64], operands: [(&Geometry, usize); M]) -> Self {
        for (geometry, _) in operands {
            let own = geometry.sizes().iter().rev();
            let fits = own.zip(sizes.iter().rev()).all(|(own, size)| own == size || *own == 1);
            assert!(fits && geometry.rank() <= sizes.len(), "{:?} do not broadcast to {sizes:?}", geometry.sizes());
        }
        if sizes.contains(&0) {
            // The other sizes can be arbitrarily large, as a tensor without elements needs no memory.
            return Self { dims: smallvec![(0, operands.map(|(_, element)| bytes_of(element)))] };
        }
        let strides = operands.map(|(geometry, element)| (broadcast_strides(geometry, sizes), bytes(element)));
        let order = dims_by_stride(sizes, strides.iter().map(|(strides, element)| (&strides[..], *element)));
        let mut dims: SmallVec<[(usize, [isize; M]); 5]> = SmallVec::new();
        for dim in order {
            let size = usize::try_from(sizes[dim]).unwrap_or(0);
            if size == 1 {
                continue;
            }
            let steps =
                strides.each_ref().map(|(strides, element)| isize::try_from(strides[dim] * element).unwrap_or(0));
            match dims.last_mut() {
                Some((inner, inner_steps)) if (0..M).all(|i| inner_steps[i] * bytes_of(*inner) == steps[i]) => {
                    *inner *= size;
                }
                _ => dims.push((size, steps)),
            }
        }
        if dims.is_empty() {
            dims.push((1, operands.map(|(_, element)| bytes_of(element))));
        }
        Self { dims }
    }

    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.dims.iter().map(|(size, _)| size).product()
    }

    /// Returns the length of a row, and every operand's stride along it.
    pub fn row(&self) -> (usize, [isize; M]) {
        self.dims[0]
    }

    /// Returns the dimensions from innermost to outermost, each with its size and every operand's stride.
    pub fn dims(&self) -> &[(usize, [isize; M])] {
        &self.dims
    }

    /// Returns the size of the dimension outside the rows, and every operand's stride along it; `None` if there is only one row.
    pub fn across(&self) -> Option<(usize, [isize; M])> {
        self.dims.get(1).copied()
    }

    /// Visits the rows that contain the elements `start..end`. `visit` gets each operand's byte offset from its first element, and the
    /// number of elements.
    pub fn rows(&self, start: usize, end: usize, mut visit: impl FnMut([isize; M], usize)) {
        let (row, row_steps) = self.dims[0];
        let mut at: SmallVec<[usize; 5]> = SmallVec::new();
        let mut offsets = [0; M];
        let mut rest = start;
        for (size, steps) in &self.dims {
            let position = rest % size;
            rest /= size;
            at.push(position);
            (0..M).for_each(|i| offsets[i] += steps[i] * bytes_of(position));
        }
        let mut done = start;
        while done < end {
            let count = (row - at[0]).min(end - done);
            visit(offsets, count);
            done += count;
            (0..M).for_each(|i| offsets[i] -= row_steps[i] * bytes_of(at[0]));
            at[0] = 0;
            for (position, (size, steps)) in at.iter_mut().zip(&self.dims).skip(1) {
                *position += 1;
                (0..M).for_each(|i| offsets[i] += steps[i]);
                if *position < *size {
                    break;
                }
                (0..M).for_each(|i| offsets[i] -= steps[i] * bytes_of(*size));
                *position = 0;
            }
        }
    }
}

fn bytes(element: usize) -> i64 {
    i64::try_from(element).unwrap_or(i64::MAX)
}

/// Converts a size or an index to `isize`. Both fit, as they lie inside a block of memory.
pub fn bytes_of(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn geometry(sizes: &[i64], strides: &[i64]) -> Geometry {
        Geometry::strided(sizes, strides, 0).unwrap()
    }

    #[test]
    fn contiguous_operands_are_one_row() {
        let plain = Geometry::contiguous(&[2, 3, 4]);
        assert_eq!(LoopNest::new(&[2, 3, 4], [(&plain, 4), (&plain, 8)]).row(), (24, [4, 8]));
        let transposed = geometry(&[4, 3], &[1, 4]);
        assert_eq!(LoopNest::new(&[4, 3], [(&transposed, 4)]).row(), (12, [4]));
    }

    proptest! {
        #[test]
        fn every_element_is_visited_once_whatever_the_parts(
            sizes in prop::collection::vec(1_i64..5, 0..4), shuffle in any::<u64>(), cut in any::<prop::sample::Index>(),
        ) {
            let mut order: Vec<usize> = (0..sizes.len()).collect();
            if !order.is_empty() {
                let by = usize::try_from(shuffle).unwrap_or(0) % order.len();
                order.rotate_left(by);
            }
            let out = Geometry::contiguous(&sizes);
            let input = Geometry::dense(&sizes, order).unwrap();
            let nest = LoopNest::new(&sizes, [(&out, 1), (&input, 1)]);
            let mut pairs = Vec::new();
            let (_, steps) = nest.row();
            let mut visit = |offsets: [isize; 2], count: usize| {
                for i in 0..isize::try_from(count).unwrap() {
                    pairs.push([offsets[0] + steps[0] * i, offsets[1] + steps[1] * i]);
                }
            };
            let cut = cut.index(nest.count() + 1);
            nest.rows(0, cut, &mut visit);
            nest.rows(cut, nest.count(), &mut visit);
            pairs.sort_unstable();
            // The offsets of each position, computed from the strides.
            let mut expected = Vec::new();
            let mut at = vec![0_i64; sizes.len()];
            for _ in 0..nest.count() {
                let place = |strides: &[i64]| isize::try_from(at.iter().zip(strides).map(|(a, s)| a * s).sum::<i64>()).unwrap();
                expected.push([place(out.strides()), place(input.strides())]);
                for dim in (0..sizes.len()).rev() {
                    at[dim] += 1;
                    if at[dim] < sizes[dim] {
                        break;
                    }
                    at[dim] = 0;
                }
            }
            expected.sort_unstable();
            prop_assert_eq!(pairs, expected);
        }
    }
}
