//! Loop nest over two tensors: merges dimensions, checks offsets, divides rows among threads.
#![expect(unsafe_code, reason = "places that a loop nest checked")]

use std::cmp::Reverse;
use std::ops::Range;

use dispatch_runtime::{BadArgument, Operand, Operands, Result};

use super::{AHEAD, Axis, ENOUGH, GRAIN, LINE, Step};
use crate::thread_pool::{parallel_for, threads_here};

/// The dimensions of a copy, from outermost to innermost.
pub(super) struct Walk {
    axes: Vec<Axis>,
    pub(super) count: usize,
}

impl Walk {
    pub(super) fn new(axes: &[Axis]) -> Self {
        let mut merged: Vec<Axis> = Vec::with_capacity(axes.len());
        for axis in axes {
            if let Some(outer) = merged.last_mut()
                && let (Step::Stride(to), Step::Stride(from)) = (&outer.to, &outer.from)
                && let (Step::Stride(inner_to), Step::Stride(inner_from)) = (&axis.to, &axis.from)
                && inner_to.checked_mul(axis.size) == Some(*to)
                && inner_from.checked_mul(axis.size) == Some(*from)
            {
                *outer = Axis { size: outer.size.saturating_mul(axis.size), ..axis.clone() };
            } else if axis.size != 1 || axis.jumps() {
                merged.push(axis.clone());
            }
        }
        if merged.is_empty() {
            merged.push(Axis::strided(1, 1, 1));
        }
        let sizes = axes.iter().map(|axis| usize::try_from(axis.size).unwrap_or(0));
        let count = sizes.fold(1, |count: usize, size| count.saturating_mul(size));
        Self { axes: merged, count }
    }

    pub(super) fn inner(&self) -> &Axis {
        &self.axes[self.axes.len() - 1]
    }

    /// Returns an error if an offset leaves either tensor's storage.
    pub(super) fn check(operands: &Operands<'_, 1, 1>, axes: &[Axis]) -> Result<()> {
        let ([to], [from]) = (operands.written(), operands.read());
        let inside = |operand: &Operand<'_>, side: &dyn Fn(&Axis) -> &Step| -> Option<bool> {
            let (mut low, mut high) = (operand.geometry().offset(), operand.geometry().offset());
            for axis in axes {
                let (least, greatest) = side(axis).reach(axis.size)?;
                low = low.checked_add(least)?;
                high = high.checked_add(greatest)?;
            }
            Some(operand.has_elements_between(low, high))
        };
        if to.dtype() == from.dtype()
            && inside(to, &|axis| &axis.to) == Some(true)
            && inside(from, &|axis| &axis.from) == Some(true)
        {
            return Ok(());
        }
        Err(BadArgument::sizes("self", from.geometry().sizes(), "room for every element that is moved").into())
    }

    /// Returns whether positions that differ in a strided dimension are different elements of `out`, for any table. The dimensions are
    /// sorted by their steps: each step must exceed the total extent of the smaller ones. The step of a table is the greatest common
    /// divisor of its offsets.
    fn are_apart(&self) -> bool {
        let step = |axis: &Axis| match &axis.to {
            Step::Stride(stride) => stride.unsigned_abs(),
            Step::Table(places) => places.iter().fold(0, |step, place| divisor(step, place.abs_diff(places[0]))),
        };
        let reach = |axis: &Axis| axis.to.reach(axis.size).map_or(u64::MAX, |(low, high)| high.abs_diff(low));
        // A table whose offsets are all equal has no step.
        let moving = self.axes.iter().filter(|axis| axis.size > 1 && !(is_table(&axis.to) && reach(axis) == 0));
        let mut steps: Vec<(u64, u64)> = moving.map(|axis| (step(axis), reach(axis))).collect();
        steps.sort_unstable();
        let mut reached = 0_u64;
        steps.into_iter().all(|(step, reach)| {
            let over = step > reached;
            reached = reached.saturating_add(reach);
            over
        })
    }

    /// Visits all rows, divided among threads. Rows that may write the same elements are visited in order by one thread.
    pub(super) fn pieces(&self, visit: &(dyn Fn([isize; 2], Option<[isize; 2]>, usize, usize) + Sync)) {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| usize::try_from(axis.size).unwrap_or(0)).collect();
        if self.count <= GRAIN || threads_here() == 1 || !self.are_apart() {
            return self.rows(&sizes, 0..self.count, visit);
        }
        if !self.axes.iter().any(|axis| is_table(&axis.to)) {
            return parallel_for(0..self.count, GRAIN, |piece| self.rows(&sizes, piece, visit));
        }
        let strided = (0..sizes.len()).filter(|&dim| !self.axes[dim].jumps());
        let Some(cut) = strided.max_by_key(|&dim| (self.axes[dim].size.min(ENOUGH), Reverse(dim))) else {
            return self.rows(&sizes, 0..self.count, visit);
        };
        let (least, others) = (if cut + 1 == sizes.len() { LINE } else { 1 }, self.count / sizes[cut]);
        let grain = sizes[cut].div_ceil(threads_here()).max(GRAIN / others).max(least);
        parallel_for(0..sizes[cut], grain, |piece| {
            let mut sizes = sizes.clone();
            sizes[cut] = piece.len();
            let (to, from) = (self.axes[cut].to.place(piece.start), self.axes[cut].from.place(piece.start));
            let moved = |[to_offset, from_offset]: [isize; 2]| [to + to_offset, from + from_offset];
            self.rows(&sizes, 0..sizes.iter().product(), &|places, next, at, count| {
                visit(moved(places), next.map(moved), at, count);
            });
        });
    }

    /// Visits the rows that contain `elements`, counted in row-major order of `sizes`. `visit` gets the two offsets of the row's start,
    /// those of a later row to prefetch if a table leads there, the first position in the row, and the number of elements.
    fn rows(
        &self,
        sizes: &[usize],
        elements: Range<usize>,
        visit: &dyn Fn([isize; 2], Option<[isize; 2]>, usize, usize),
    ) {
        let inner = sizes.len() - 1;
        let jumping = inner.checked_sub(1).filter(|&dim| self.axes[dim].jumps());
        let mut at = vec![0; sizes.len()];
        let mut rest = elements.start;
        for dim in (0..=inner).rev() {
            at[dim] = rest % sizes[dim];
            rest /= sizes[dim];
        }
        let mut done = elements.start;
        while done < elements.end {
            let (mut to, mut from) = (0, 0);
            for (axis, &position) in self.axes[..inner].iter().zip(&at) {
                to += axis.to.place(position);
                from += axis.from.place(position);
            }
            let count = (sizes[inner] - at[inner]).min(elements.end - done);
            let next = jumping.filter(|&dim| at[dim] + AHEAD < sizes[dim]).map(|dim| {
                let axis = &self.axes[dim];
                let step = |step: &Step| step.place(at[dim] + AHEAD) - step.place(at[dim]);
                [to + step(&axis.to), from + step(&axis.from)]
            });
            visit([to, from], next, at[inner], count);
            done += count;
            at[inner] = 0;
            for dim in (0..inner).rev() {
                at[dim] += 1;
                if at[dim] < sizes[dim] {
                    break;
                }
                at[dim] = 0;
            }
        }
    }
}

pub(super) fn is_table(step: &Step) -> bool {
    matches!(step, Step::Table(_))
}

/// Returns the greatest common divisor; the other value if one of them is zero.
fn divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Copies a part of a row.
///
/// # Safety
///
/// The elements that the axis reaches are inside two blocks of memory that do not overlap.
pub(super) unsafe fn row<W: Copy>(
    to: *mut W,
    from: *const W,
    axis: &Axis,
    at: usize,
    count: usize,
    f: &impl Fn(W, W) -> W,
) {
    // SAFETY: guaranteed by the caller.
    let put = |to: *mut W, from: *const W| unsafe { to.write(f(to.read(), from.read())) };
    match (&axis.to, &axis.from) {
        (Step::Stride(1), Step::Stride(1)) => {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let to = std::slice::from_raw_parts_mut(to.add(at), count);
                dense(to, std::slice::from_raw_parts(from.add(at), count), f);
            }
        }
        (Step::Stride(1), Step::Table(places)) => {
            for (i, &place) in (at..).zip(&places[at..at + count]) {
                put(to.wrapping_add(i), from.wrapping_offset(isize::try_from(place).unwrap_or(0)));
            }
        }
        (to_step, from_step) => {
            for i in at..at + count {
                put(to.wrapping_offset(to_step.place(i)), from.wrapping_offset(from_step.place(i)));
            }
        }
    }
}

/// Copies contiguous elements. With slices, the compiler turns a plain copy into a `memcpy`.
#[inline(never)]
fn dense<W: Copy>(to: &mut [W], from: &[W], f: &impl Fn(W, W) -> W) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = f(*to, from);
    }
}

#[cfg(test)]
mod tests {
    use super::super::combined;
    use super::*;
    use crate::thread_pool::{num_threads, set_num_threads};
    use dispatch_runtime::DType;

    /// Adds ones along `axes` to zeros and returns the sums.
    fn sums(length: i64, axes: &[Axis]) -> Vec<i64> {
        let count = axes.iter().map(|axis| axis.size).product();
        let mut out = aten::zeros(&[length], Some(DType::I64), None, None, None).unwrap();
        let ones = aten::ones(&[count], Some(DType::I64), None, None, None).unwrap();
        combined::<i64>(&mut out, &ones, axes, |there, comes| there + comes).unwrap();
        out.to_vec().unwrap()
    }

    #[test]
    fn threads_do_not_share_what_positions_have_in_common() {
        set_num_threads(num_threads().max(3));
        let many = 200_000;
        let strided = Axis::strided;
        let listed = |to: Vec<i64>, from: i64| Axis {
            size: i64::try_from(to.len()).unwrap(),
            to: Step::Table(to),
            from: Step::Stride(from),
        };
        assert_eq!(sums(1, &[strided(many, 0, 1)]), [many]);
        assert_eq!(sums(2, &[strided(many, 0, 2), strided(2, 1, 1)]), [many; 2]);
        let shifted = sums(many + 2, &[listed(vec![0, 1, 2], many), strided(many, 1, 1)]);
        assert!(shifted[2..shifted.len() - 2].iter().all(|&sum| sum == 3));
        assert_eq!((shifted[0], shifted[1]), (1, 2));
        // Separate rows, one of them added twice.
        let rows = sums(3 * many, &[listed(vec![0, 2 * many, 0], many), strided(many, 1, 1)]);
        let [first, second, third] = [0, 1, 2].map(|row| &rows[row * 200_000..][..200_000]);
        assert!(first.iter().all(|&x| x == 2) && second.iter().all(|&x| x == 0) && third.iter().all(|&x| x == 1));
    }

    #[test]
    fn positions_are_apart_if_steps_lead_over_all_that_smaller_steps_reach() {
        let apart = |axes: Vec<(i64, Step)>| {
            let axis = |(size, to)| Axis { size, to, from: Step::Stride(1_000_003) };
            Walk::new(&axes.into_iter().map(axis).collect::<Vec<_>>()).are_apart()
        };
        let table = |places: &[i64]| Step::Table(places.to_vec());
        assert!(!apart(vec![(4, Step::Stride(10)), (3, table(&[0, 20, 100])), (10, Step::Stride(1))]));
        assert!(apart(vec![(3, table(&[40, 0, 40])), (4, Step::Stride(10)), (10, Step::Stride(1))]));
        assert!(apart(vec![(2, Step::Stride(100)), (3, table(&[7, 27, 47])), (10, Step::Stride(-1))]));
        assert!(apart(vec![(1, table(&[7])), (10, Step::Stride(3))]));
        assert!(!apart(vec![(10, Step::Stride(0))]) && !apart(vec![(3, Step::Stride(1)), (3, Step::Stride(2))]));
        assert!(apart(vec![(3, Step::Stride(1)), (3, Step::Stride(3))]));
    }
}
