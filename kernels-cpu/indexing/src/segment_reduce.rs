//! Kernels that reduce segments of a dimension, each to one element.

use std::ops::Range;

use aten::{ReductionType, SegmentReducePlan};
use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::index::index_to_vec;
use engine::allocation::to_usize;
use engine::compute::{ComputeType, RealFloat};
use engine::contiguous::{contiguous_elements, with_compute_type, write_contiguous};
use engine::thread_pool::DisjointLines;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 1 << 14;

/// Returns the ranges of rows of all segments, for every position of the dimensions before the axis.
fn segment_ranges(segments: &SegmentReducePlan<'_>, data: &Tensor, partial: bool) -> Result<Vec<Range<usize>>> {
    let (boundaries, are_offsets) = segments.boundaries;
    let (size, numbers) = (data.sizes()[segments.axis], index_to_vec(boundaries)?);
    let mut ranges = Vec::new();
    let each = to_usize(segments.count) + usize::from(are_offsets);
    if each == 0 && data.geometry().count() > 0 && !partial {
        return Err(
            BadArgument::sizes("lengths", boundaries.sizes(), format!("segments of a dimension of {size}")).into()
        );
    }
    for (line, numbers) in numbers.chunks(each.max(1)).enumerate() {
        let mut ends = if are_offsets { numbers.to_vec() } else { vec![0] };
        if !are_offsets {
            ends.extend(numbers.iter().scan(0_i64, |sum, &length| {
                *sum = sum.saturating_add(length);
                Some(*sum)
            }));
        }
        let inside = ends.windows(2).all(|pair| pair[0] <= pair[1]) && ends.iter().all(|end| (0..=size).contains(end));
        if !inside || !(are_offsets || partial || ends.last() == Some(&size)) {
            let name = if are_offsets { "offsets" } else { "lengths" };
            let expected = format!("segments of a dimension of {size}, in ascending order");
            return Err(BadArgument::value(name, format!("{numbers:?}"), expected).into());
        }
        let first = line * to_usize(size);
        ranges.extend(ends.windows(2).map(|pair| first + to_usize(pair[0])..first + to_usize(pair[1])));
    }
    Ok(ranges)
}

/// Returns the number of contiguous elements of a row.
fn row_width(segments: &SegmentReducePlan<'_>, data: &Tensor) -> usize {
    to_usize(dispatch_runtime::element_count(&data.sizes()[segments.axis + 1..]))
}

#[op_impl(aten::segment_reduce, CPU)]
fn segment_reduce(plan: &SegmentReducePlan<'_>, out: &mut Tensor, _: ...) -> Result<()> {
    let (ranges, width) = (segment_ranges(plan, data, r#unsafe)?, row_width(plan, data));
    with_compute_type!(segment_reduce "data", data.dtype(); T in [f32 f64] => {
        let elements = contiguous_elements::<T>(data)?;
        let start = initial.map_or_else(|| empty_segment_result::<T>(plan.reduce), T::from_scalar);
        write_contiguous(out, |out: &mut [T]| {
            let grain = GRAIN_SIZE.div_ceil((elements.len() / ranges.len().max(1)).max(1));
            DisjointLines::new(out, width).for_each(grain, |segment, line| {
                line.fill(start);
                let range = ranges[segment].clone();
                for row in range.clone() {
                    let row = &elements[row * width..][..width];
                    line.iter_mut().zip(row).for_each(|(to, &x)| *to = reduce_two_elements(plan.reduce, *to, x));
                }
                if plan.reduce == ReductionType::Mean && !(range.is_empty() && initial.is_some()) {
                    let count = T::from_scalar(i64::try_from(range.len()).unwrap_or(i64::MAX).into());
                    line.iter_mut().for_each(|to| *to /= count);
                }
            });
            Ok(())
        })
    })
}

/// Returns the result of an empty segment; for means, the start of the sum.
fn empty_segment_result<T: RealFloat>(reduce: ReductionType) -> T {
    T::from_f64(match reduce {
        ReductionType::Sum | ReductionType::Mean => 0.0,
        ReductionType::Product => 1.0,
        ReductionType::Max => f64::NEG_INFINITY,
        ReductionType::Min => f64::INFINITY,
    })
}

/// Reduces two elements to one; NaN takes precedence.
#[inline(always)]
fn reduce_two_elements<T: RealFloat>(reduce: ReductionType, a: T, b: T) -> T {
    match reduce {
        ReductionType::Sum | ReductionType::Mean => a + b,
        ReductionType::Product => a * b,
        ReductionType::Max if b > a || b.is_nan() => b,
        ReductionType::Min if b < a || b.is_nan() => b,
        ReductionType::Max | ReductionType::Min => a,
    }
}

#[op_impl(aten::_segment_reduce_backward, CPU)]
fn _segment_reduce_backward(plan: &SegmentReducePlan<'_>, out: &mut Tensor, _: ...) -> Result<()> {
    let (ranges, width) = (segment_ranges(plan, data, true)?, row_width(plan, data));
    with_compute_type!(_segment_reduce_backward "data", data.dtype(); T in [f32 f64] => {
        let (grad, output, elements) = (contiguous_elements::<T>(grad)?, contiguous_elements::<T>(output)?, contiguous_elements::<T>(data)?);
        let start = initial.map_or_else(|| empty_segment_result::<T>(ReductionType::Product), T::from_scalar);
        write_contiguous(out, |out: &mut [T]| {
            out.fill(T::default());
            for (segment, range) in ranges.iter().enumerate() {
                for at in 0..width {
                    let of = segment * width + at;
                    let line = || range.clone().map(|row| row * width + at);
                    write_segment_gradient(plan.reduce, (grad[of], output[of], start), &elements, line, out);
                }
            }
            Ok(())
        })
    })
}

/// Computes the gradient of a segment's elements.
fn write_segment_gradient<T: RealFloat, I: Iterator<Item = usize>>(
    reduce: ReductionType,
    (grad, result, start): (T, T, T),
    data: &[T],
    line: impl Fn() -> I,
    out: &mut [T],
) {
    let count = |of: usize| T::from_scalar(i64::try_from(of).unwrap_or(i64::MAX).into());
    match reduce {
        ReductionType::Sum => line().for_each(|at| out[at] = grad),
        ReductionType::Mean => {
            let share = grad / count(line().count());
            line().for_each(|at| out[at] = share);
        }
        ReductionType::Product => {
            // The gradient is the product of all other elements, without a division, as an element may be zero: first those before, then
            // those after.
            let mut before = start;
            for at in line() {
                out[at] = before * grad;
                before = before * data[at];
            }
            let places: Vec<usize> = line().collect();
            let mut behind = T::from_f64(1.0);
            for &at in places.iter().rev() {
                out[at] = out[at] * behind;
                behind = behind * data[at];
            }
        }
        ReductionType::Max | ReductionType::Min => {
            let reaches = |at: &usize| data[*at] == result || data[*at].is_nan();
            let share = grad / count(line().filter(reaches).count().max(1));
            line().filter(reaches).for_each(|at| out[at] = share);
        }
    }
}
