//! Walks: the iteration of kernels over several tensors with different strides.

use dispatch_runtime::{broadcast_strides, dims_by_stride};
use smallvec::SmallVec;

use crate::prelude::*;

const MAX_WALK_RANK: usize = 8;
const MAX_OPERANDS: usize = 6;

define_parameters! {
    /// The kernels' `struct Walk`: the sizes, and each operand's byte strides.
    #[derive(Debug)]
    pub(crate) struct Walk {
        rank: u32,
        sizes: [FastDivisor; MAX_WALK_RANK],
        strides: [[i32; MAX_OPERANDS]; MAX_WALK_RANK],
    }

    /// The kernels' `struct Divisor`: an integer division as a multiplication and a shift.
    #[derive(Default, Debug)]
    pub(crate) struct FastDivisor {
        value: u32,
        factor: u32,
        shift: u32,
    }
}

impl FastDivisor {
    /// Creates a divisor for dividends of up to 31 bits. Zero counts as one.
    #[expect(clippy::cast_possible_truncation, reason = "the factor is less than two to the 32nd")]
    pub(crate) const fn new(by: u32) -> Self {
        let by = if by == 0 { 1 } else { by };
        let shift = if by == 1 { 0 } else { (by - 1).ilog2() + 1 };
        let factor = ((1_u64 << 32) * ((1_u64 << shift) - by as u64) / by as u64 + 1) as u32;
        Self { value: by, factor, shift }
    }
}

/// A part of a walk that 32-bit integers can index: the walk, its number of elements, and each operand's byte offset.
pub(crate) type WalkPart = (Walk, u32, [u64; MAX_OPERANDS]);

/// The dimensions of a walk, innermost first, with sizes and each operand's byte stride. Dimensions that all operands step through
/// contiguously are merged.
pub(crate) struct WalkDims(pub(crate) WalkDimList);

pub(crate) type WalkDimList = SmallVec<[(u64, [i64; MAX_OPERANDS]); MAX_WALK_RANK]>;

/// Returns the size of a tensor's elements in bytes.
pub(crate) fn element_size(tensor: &Tensor) -> i64 {
    i64::try_from(tensor.dtype().size()).unwrap_or(1)
}

/// Returns the byte strides of a tensor that is broadcast to these sizes.
pub(crate) fn broadcast_byte_strides(tensor: &Tensor, sizes: &[i64]) -> Dims {
    let mut steps = broadcast_strides(tensor.geometry(), sizes);
    steps.iter_mut().for_each(|step| *step = step.saturating_mul(element_size(tensor)));
    steps
}

impl WalkDims {
    /// Creates the dimensions of a walk over the elements of `out`, to which the inputs broadcast.
    pub(crate) fn for_output(out: &Tensor, inputs: &[&Tensor]) -> Self {
        let sizes = out.sizes();
        let all: SmallVec<[_; MAX_OPERANDS]> =
            std::iter::once(&out).chain(inputs).map(|tensor| broadcast_byte_strides(tensor, sizes)).collect();
        Self::new(sizes, &all)
    }

    /// Creates the dimensions of a walk from the operands' byte strides through these sizes.
    pub(crate) fn new(sizes: &[i64], operands: &[Dims]) -> Self {
        let mut dims = WalkDimList::new();
        for dim in dims_by_stride(sizes, operands.iter().map(|steps| (&steps[..], 1))) {
            let size = sizes[dim].unsigned_abs();
            if size == 1 {
                continue;
            }
            let mut steps = [0; MAX_OPERANDS];
            for (step, operand) in steps.iter_mut().zip(operands) {
                *step = operand[dim];
            }
            match dims.last_mut() {
                Some((inner, inner_steps))
                    if (0..MAX_OPERANDS).all(|k| inner_steps[k].saturating_mul(inner.cast_signed()) == steps[k]) =>
                {
                    *inner *= size;
                }
                _ => dims.push((size, steps)),
            }
        }
        Self(dims)
    }

    /// Merges adjacent elements of the first two operands into words, if possible, and returns the size of a word in bytes. An element has
    /// `element` bytes. A word's size divides `addresses`, the bitwise or of addresses and other offsets.
    pub(crate) fn merge_into_words(&mut self, element: usize, addresses: u64) -> usize {
        let Some(((size, inner), outer)) = self.0.split_first_mut() else { return element };
        let own = element as u64;
        if inner[..2].iter().any(|step| step.unsigned_abs() != own || *step < 0) || inner[2..] != [0; MAX_OPERANDS - 2]
        {
            return element;
        }
        let bytes = *size * own;
        let all = outer.iter().fold(bytes | addresses, |all, (_, steps)| all | (steps[0] | steps[1]).unsigned_abs());
        let word = (1 << all.trailing_zeros().min(4)).max(own);
        (*size, inner[0], inner[1]) = (bytes / word, word.cast_signed(), word.cast_signed());
        usize::try_from(word).unwrap_or(element)
    }

    /// Divides the innermost dimension into packs of `pack` elements, if possible, and returns whether it did. It is possible if each
    /// operand's elements are adjacent there and aligned for packs, or if its stride is 0; the first operand's elements must be adjacent.
    pub(crate) fn divide_into_packs(
        &mut self,
        pack: usize,
        operands: impl Iterator<Item = (DevicePointer, DType)>,
    ) -> bool {
        let pack = pack as u64;
        let Some(((size, inner), outer)) = self.0.split_first_mut() else { return false };
        let fits = |(k, (pointer, dtype)): (usize, (DevicePointer, DType))| {
            let (element, bytes) = (dtype.size() as u64, dtype.size() as u64 * pack);
            let aligned =
                pointer.is_aligned_to(bytes) && outer.iter().all(|(_, steps)| steps[k].unsigned_abs() % bytes == 0);
            inner[k] == 0 && k > 0 || inner[k] == element.cast_signed() && aligned
        };
        let packed = *size % pack == 0 && operands.enumerate().all(fits);
        if packed {
            *size /= pack;
            for step in inner.iter_mut() {
                *step *= pack.cast_signed();
            }
        }
        packed
    }

    /// Returns the walk as parts that 32-bit integers can index.
    pub(crate) fn split_for_32_bits(mut self) -> SmallVec<[WalkPart; 1]> {
        let mut parts = SmallVec::new();
        split_walk(&mut self.0, [0; MAX_OPERANDS], &mut parts);
        parts
    }
}

/// Splits a walk along its outermost dimension until 32-bit integers can index each part.
fn split_walk(dims: &mut WalkDimList, offsets: [u64; MAX_OPERANDS], parts: &mut SmallVec<[WalkPart; 1]>) {
    let count: u64 = dims.iter().map(|(size, _)| size).product();
    let reach =
        |k: usize| dims.iter().map(|(size, steps)| (size - 1).saturating_mul(steps[k].unsigned_abs())).sum::<u64>();
    let limit = u64::from(i32::MAX.unsigned_abs());
    let small = dims.len() <= MAX_WALK_RANK && count <= limit && (0..MAX_OPERANDS).all(|k| reach(k) <= limit);
    if small {
        let mut walk = Walk {
            rank: 0,
            sizes: [FastDivisor::default(); MAX_WALK_RANK],
            strides: [[0; MAX_OPERANDS]; MAX_WALK_RANK],
        };
        for (at, (size, steps)) in dims.iter().enumerate() {
            walk.rank += 1;
            walk.sizes[at] = FastDivisor::new(u32::try_from(*size).unwrap_or(u32::MAX));
            walk.strides[at] = steps.map(|step| i32::try_from(step).unwrap_or(0));
        }
        parts.push((walk, u32::try_from(count).unwrap_or(0), offsets));
        return;
    }
    let Some((size, steps)) = dims.pop() else { return };
    let further = |offsets: [u64; MAX_OPERANDS], by: u64| {
        let mut moved = offsets;
        for (offset, step) in moved.iter_mut().zip(steps) {
            *offset = offset.wrapping_add(step.cast_unsigned().wrapping_mul(by));
        }
        moved
    };
    if size <= 2 || dims.len() >= MAX_WALK_RANK {
        for at in 0..size {
            split_walk(dims, further(offsets, at), parts);
        }
    } else {
        for (start, size) in [(0, size / 2), (size / 2, size - size / 2)] {
            dims.push((size, steps));
            split_walk(dims, further(offsets, start), parts);
            dims.pop();
        }
    }
    dims.push((size, steps));
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::{Device, Geometry, Spec};

    #[test]
    fn a_divisor_divides_as_integer_division() {
        for by in [1_u32, 2, 3, 5, 7, 10, 127, 128, 641, 65_535, 65_536, 1_000_003, i32::MAX as u32] {
            let divisor = FastDivisor::new(by);
            for x in [0, 1, by - 1, by, by + 1, 2 * (by / 2) + 1, 12_345_678, i32::MAX as u32] {
                let x = x & i32::MAX as u32;
                let high = ((u64::from(x) * u64::from(divisor.factor)) >> 32) as u32;
                assert_eq!((high + x) >> divisor.shift, x / by, "{x} / {by}");
            }
        }
    }

    #[test]
    fn dimensions_contiguous_for_all_operands_are_merged() {
        let meta = |sizes: &[i64]| Spec::contiguous(DType::F32, sizes).on(Device::META).unwrap();
        let (out, row) = (meta(&[4, 5, 6]), meta(&[6]));
        let dims = |tensors: [&Tensor; 2]| {
            WalkDims::new(&[4, 5, 6], &tensors.map(|tensor| broadcast_byte_strides(tensor, &[4, 5, 6]))).0
        };
        assert_eq!(dims([&out, &out])[..], [(120, [4, 4, 0, 0, 0, 0])]);
        assert_eq!(dims([&out, &row])[..], [(6, [4, 4, 0, 0, 0, 0]), (20, [24, 0, 0, 0, 0, 0])]);
    }

    #[test]
    fn elements_are_merged_into_the_largest_aligned_words() {
        let steps = |row: i64| WalkDims::new(&[6, 8], &[smallvec::smallvec![16, 2], smallvec::smallvec![row, 2]]);
        assert_eq!(steps(16).merge_into_words(2, 0), 16);
        assert_eq!(steps(20).merge_into_words(2, 0), 4);
        assert_eq!(steps(16).merge_into_words(2, 24), 8);
        assert_eq!(steps(-16).merge_into_words(2, 32), 16);
    }

    #[test]
    fn packs_need_adjacent_elements_or_stride_zero() {
        let pointer = |at: u64| DevicePointer::NULL.offset(at);
        let packed = |row: i64, column: i64, at: u64| {
            let operands: [Dims; 3] =
                [smallvec::smallvec![32, 4], smallvec::smallvec![row, 4], smallvec::smallvec![4, column]];
            let mut steps = WalkDims::new(&[6, 8], &operands);
            let operands = [(pointer(256), DType::F32), (pointer(at), DType::F32), (pointer(4), DType::F32)];
            steps.divide_into_packs(4, operands.into_iter()).then(|| steps.0[0])
        };
        assert_eq!(packed(0, 0, 512), Some((2, [16, 16, 0, 0, 0, 0])));
        assert_eq!(packed(48, 0, 512), Some((2, [16, 16, 0, 0, 0, 0])));
        assert_eq!(packed(40, 0, 512), None, "rows that are not aligned");
        assert_eq!(packed(0, 0, 520), None, "an address that is not aligned");
        assert_eq!(packed(0, 8, 512), None, "steps over elements");
    }

    #[test]
    fn a_large_walk_is_split_into_parts_that_cover_it() {
        let out = Spec::contiguous(DType::F32, &[3, 1 << 31]).on(Device::META).unwrap();
        let parts = WalkDims::for_output(&out, &[&out]).split_for_32_bits();
        assert!(parts.len() > 1);
        assert_eq!(parts.iter().map(|(_, count, _)| u64::from(*count)).sum::<u64>(), 3 << 31);
        let mut next = 0;
        for (_, count, offsets) in parts {
            assert_eq!(offsets[0], next);
            next += u64::from(count) * 4;
        }
    }

    #[test]
    fn a_walk_of_many_dimensions_is_split_into_parts_of_at_most_eight() {
        let sizes = [2; 12];
        let strides: Vec<i64> = (0..12).map(|dim| 3_i64.pow(dim)).collect();
        let geometry = Geometry::strided(&sizes, &strides, 0).unwrap();
        let out = Spec { dtype: DType::U8, geometry }.on(Device::META).unwrap();
        let parts = WalkDims::for_output(&out, &[]).split_for_32_bits();
        assert_eq!(parts.iter().map(|(_, count, _)| *count).sum::<u32>(), 1 << 12);
        assert!(parts.iter().all(|(walk, ..)| walk.rank <= 8));
    }
}
