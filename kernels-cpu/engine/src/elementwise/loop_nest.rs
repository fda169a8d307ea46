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
            let operand_size = geometry.sizes().iter().rev();
            let fits = operand_size
                .zip(sizes.iter().rev())
                .all(|(operand_size, size)| operand_size == size || *operand_size == 1);
            assert!(
                fits && geometry.rank() <= sizes.len(),
                "sizes {:?} do not broadcast to {sizes:?}",
                geometry.sizes()
            );
        }
        if sizes.contains(&0) {
            // The other sizes can be arbitrarily large, as a tensor without elements needs no memory.
            return Self { dims: smallvec![(0, operands.map(|(_, element)| to_isize(element)))] };
        }
        let strides = operands.map(|(geometry, element)| (broadcast_strides(geometry, sizes), to_i64(element)));
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
                Some((inner, inner_steps)) if (0..M).all(|i| inner_steps[i] * to_isize(*inner) == steps[i]) => {
                    *inner *= size;
                }
                _ => dims.push((size, steps)),
            }
        }
        if dims.is_empty() {
            dims.push((1, operands.map(|(_, element)| to_isize(element))));
        }
        Self { dims }
    }

    /// Returns the number of elements that the nest visits.
    pub fn element_count(&self) -> usize {
        self.dims.iter().map(|(size, _)| size).product()
    }

    /// Returns the innermost dimension, along which a row lies: its size, and every operand's stride in bytes.
    pub fn innermost_dim(&self) -> (usize, [isize; M]) {
        self.dims[0]
    }

    /// Returns the dimensions from innermost to outermost, each with its size and every operand's stride.
    pub fn dims(&self) -> &[(usize, [isize; M])] {
        &self.dims
    }

    /// Returns the size of the dimension outside the rows, and every operand's stride along it; `None` if there is only one row.
    pub fn second_dim(&self) -> Option<(usize, [isize; M])> {
        self.dims.get(1).copied()
    }

    /// Visits the rows that contain the elements `start..end`. `visit` gets each operand's byte offset from its first element, and the
    /// number of elements.
    pub fn visit_rows(&self, start: usize, end: usize, mut visit: impl FnMut([isize; M], usize)) {
        let (row, row_steps) = self.dims[0];
        let mut positions: SmallVec<[usize; 5]> = SmallVec::new();
        let mut offsets = [0; M];
        let mut rest = start;
        for (size, steps) in &self.dims {
            let position = rest % size;
            rest /= size;
            positions.push(position);
            (0..M).for_each(|i| offsets[i] += steps[i] * to_isize(position));
        }
        let mut done = start;
        while done < end {
            let count = (row - positions[0]).min(end - done);
            visit(offsets, count);
            done += count;
            (0..M).for_each(|i| offsets[i] -= row_steps[i] * to_isize(positions[0]));
            positions[0] = 0;
            for (position, (size, steps)) in positions.iter_mut().zip(&self.dims).skip(1) {
                *position += 1;
                (0..M).for_each(|i| offsets[i] += steps[i]);
                if *position < *size {
                    break;
                }
                (0..M).for_each(|i| offsets[i] -= steps[i] * to_isize(*size));
                *position = 0;
            }
        }
    }
}

fn to_i64(element: usize) -> i64 {
    i64::try_from(element).unwrap_or(i64::MAX)
}

/// Converts a size or an index to `isize`. Both fit, as they lie inside a block of memory.
pub fn to_isize(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strided_geometry(sizes: &[i64], strides: &[i64]) -> Geometry {
        Geometry::strided(sizes, strides, 0).unwrap()
    }

    #[test]
    fn contiguous_operands_are_one_row() {
        let plain = Geometry::contiguous(&[2, 3, 4]);
        assert_eq!(LoopNest::new(&[2, 3, 4], [(&plain, 4), (&plain, 8)]).innermost_dim(), (24, [4, 8]));
        let transposed = strided_geometry(&[4, 3], &[1, 4]);
        assert_eq!(LoopNest::new(&[4, 3], [(&transposed, 4)]).innermost_dim(), (12, [4]));
    }

    proptest! {
        #[test]
        fn every_element_is_visited_once_for_any_division(
            sizes in prop::collection::vec(1_i64..5, 0..4), rotation in any::<u64>(), cut in any::<prop::sample::Index>(),
        ) {
            let mut order: Vec<usize> = (0..sizes.len()).collect();
            if !order.is_empty() {
                let by = usize::try_from(rotation).unwrap_or(0) % order.len();
                order.rotate_left(by);
            }
            let out = Geometry::contiguous(&sizes);
            let input = Geometry::dense(&sizes, order).unwrap();
            let nest = LoopNest::new(&sizes, [(&out, 1), (&input, 1)]);
            let mut pairs = Vec::new();
            let (_, steps) = nest.innermost_dim();
            let mut visit = |offsets: [isize; 2], count: usize| {
                for i in 0..isize::try_from(count).unwrap() {
                    pairs.push([offsets[0] + steps[0] * i, offsets[1] + steps[1] * i]);
                }
            };
            let cut = cut.index(nest.element_count() + 1);
            nest.visit_rows(0, cut, &mut visit);
            nest.visit_rows(cut, nest.element_count(), &mut visit);
            pairs.sort_unstable();
            // The offsets of each position, computed from the strides.
            let mut expected = Vec::new();
            let mut position = vec![0_i64; sizes.len()];
            for _ in 0..nest.element_count() {
                let place = |strides: &[i64]| isize::try_from(position.iter().zip(strides).map(|(a, s)| a * s).sum::<i64>()).unwrap();
                expected.push([place(out.strides()), place(input.strides())]);
                for dim in (0..sizes.len()).rev() {
                    position[dim] += 1;
                    if position[dim] < sizes[dim] {
                        break;
                    }
                    position[dim] = 0;
                }
            }
            expected.sort_unstable();
            prop_assert_eq!(pairs, expected);
        }
    }
}
