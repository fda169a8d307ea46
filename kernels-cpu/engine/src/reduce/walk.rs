//! The loop nest of a fold.
//!
//! Results are computed in units: neighbours along the innermost kept dimension, as many as fit the cache. If there are fewer units than
//! threads, the reduced elements are divided, too, and the totals of the parts are merged in order.
#![expect(unsafe_code, reason = "lines and units divided among threads")]

use dispatch_runtime::Operand;
use smallvec::SmallVec;

use super::fold::{COLUMNS, Loops};
use super::signed;
use crate::convert::{Convert, conversion};
use crate::thread_pool::{self, Lines};

/// The fewest elements that are worth a thread.
const GRAIN: usize = 32 * 1024;
/// The most elements that are converted at a time: enough that lanes are seldom restarted, and no more than the L1 cache holds.
const BLOCK: [usize; 2] = [4 * COLUMNS, 8 * COLUMNS];
/// With fewer neighbours than this, rows are too short to be folded as rows.
const NARROW: usize = 8;

/// A kept dimension: size, stride of the input in bytes, and stride of the results in bytes.
type Kept = (usize, isize, isize);
/// A reduced dimension: size, and stride of the input in bytes.
type Gone = (usize, isize);

struct Walk<'a> {
    loops: &'a dyn Loops,
    kept: SmallVec<[Kept; 4]>,
    gone: SmallVec<[Gone; 4]>,
    from: *const u8,
    to: *mut u8,
    element: usize,
    /// Whether elements already have the loops' type.
    direct: bool,
    load: Convert,
    store: Convert,
    /// Whether the innermost dimension is kept, so that rows are folded into a row.
    vertical: bool,
    /// The most results of a unit.
    width: usize,
    /// The number of elements that are converted at a time.
    block: usize,
}

// SAFETY: the operands that it points into are held for as long as the walk, and threads write different units.
unsafe impl Sync for Walk<'_> {}

/// Reduces the dimensions of `from` that are marked in `gone`. The others are the dimensions of `to`, in their order; `to` is contiguous.
///
/// # Panics
///
/// Panics if the sizes of `to` do not match, or if `to` is not contiguous.
pub(super) fn walk(from: &Operand<'_>, gone: &[bool], to: &Operand<'_>, loops: &dyn Loops) {
    let results = to.geometry().count();
    let own = from.geometry().sizes();
    let kept =
        own.iter().zip(gone).filter(|(_, gone)| !**gone).fold(1, |count: i64, (&size, _)| count.saturating_mul(size));
    assert!(
        own.len() == gone.len() && kept == results && to.geometry().is_contiguous(),
        "{own:?} without {gone:?} are not {:?}",
        to.geometry().sizes()
    );
    if results == 0 {
        return;
    }
    let (element, result) = (from.dtype().size(), to.dtype().size());
    let (kept, reduced) = split(from, gone, element, result);
    let vertical = match (kept.first(), reduced.first()) {
        (Some(kept), Some(gone)) => kept.0 >= NARROW && kept.1.abs() < gone.1.abs(),
        _ => false,
    };
    let mut walk = Walk {
        loops,
        from: from.start().cast_const(),
        to: to.start(),
        element,
        direct: from.dtype() == loops.input(),
        load: conversion(from.dtype(), loops.input()),
        store: conversion(loops.output(), to.dtype()),
        vertical,
        width: 1,
        block: 1,
        kept,
        gone: reduced,
    };
    let count = walk.reduced();
    let inner = walk.kept.first().map_or(1, |kept| kept.0);
    walk.width = if vertical { inner.min(COLUMNS) } else { (GRAIN / count.max(1)).clamp(1, COLUMNS).min(inner) };
    let run = walk.gone.first().map_or(1, |gone| gone.0).saturating_mul(if vertical { walk.width } else { 1 });
    let step = if vertical { walk.kept.first().map(|kept| kept.1) } else { walk.gone.first().map(|gone| gone.1) };
    // Elements that are used in place need no block; results still do.
    let passing = if walk.direct && step.is_none_or(|step| step == signed(element)) {
        1
    } else {
        run.min(BLOCK[usize::from(vertical)])
    };
    walk.block = passing.max(walk.width);
    walk.run(count);
}

fn split(
    from: &Operand<'_>,
    gone: &[bool],
    element: usize,
    result: usize,
) -> (SmallVec<[Kept; 4]>, SmallVec<[Gone; 4]>) {
    let (mut kept, mut reduced) = (SmallVec::<[Kept; 4]>::new(), SmallVec::<[Gone; 4]>::new());
    let mut along = signed(result);
    let geometry = from.geometry();
    for dim in (0..geometry.rank()).rev() {
        let size = usize::try_from(geometry.sizes()[dim]).unwrap_or(0);
        let stride = isize::try_from(geometry.strides()[dim]).unwrap_or(0).wrapping_mul(signed(element));
        if gone[dim] {
            if size != 1 {
                reduced.push((size, stride));
            }
        } else {
            if size != 1 {
                kept.push((size, stride, along));
            }
            along = along.wrapping_mul(signed(size));
        }
    }
    kept.sort_by_key(|kept| kept.1.abs());
    reduced.sort_by_key(|gone| gone.1.abs());
    kept.dedup_by(|outer, inner| {
        let one = inner.1.wrapping_mul(signed(inner.0)) == outer.1 && inner.2.wrapping_mul(signed(inner.0)) == outer.2;
        inner.0 *= if one { outer.0 } else { 1 };
        one
    });
    reduced.dedup_by(|outer, inner| {
        let one = inner.1.wrapping_mul(signed(inner.0)) == outer.1;
        inner.0 *= if one { outer.0 } else { 1 };
        one
    });
    (kept, reduced)
}

impl Walk<'_> {
    fn reduced(&self) -> usize {
        self.gone.iter().fold(1, |count: usize, gone| count.saturating_mul(gone.0))
    }

    fn run(&self, count: usize) {
        let (inner, _, _) = self.innermost();
        let blocks = inner.div_ceil(self.width);
        let units = blocks * self.kept.iter().skip(1).map(|kept| kept.0).product::<usize>();
        let threads = thread_pool::num_threads();
        let longest = (0..self.gone.len()).max_by_key(|&dim| self.gone[dim].0).unwrap_or(0);
        let size = self.gone.get(longest).map_or(1, |gone| gone.0);
        let parts = (count.saturating_mul(self.width) / GRAIN).min(size).min(threads * 2);
        if units >= threads || parts < 2 {
            let grain = (GRAIN / count.max(1).saturating_mul(self.width)).max(1);
            return thread_pool::parallel_for(0..units, grain, |units| {
                let mut room = Room::new(self);
                for unit in units {
                    self.unit(unit, (longest, 0..size), &mut room);
                    self.finish(unit, &mut room);
                }
            });
        }
        // Parts begin at multiples of `COLUMNS` elements, where lanes are restarted in any case.
        let mut step = size.div_ceil(parts);
        if step >= 2 * COLUMNS {
            step = step.next_multiple_of(COLUMNS);
        }
        let parts = size.div_ceil(step);
        let mut rooms: Vec<Option<Room>> = (0..units * parts).map(|_| None).collect();
        Lines::new(&mut rooms, 1).each(1, |i, to| {
            let mut room = Room::new(self);
            let start = i % parts * step;
            self.unit(i / parts, (longest, start..size.min(start + step)), &mut room);
            to[0] = Some(room);
        });
        let mut rooms = rooms.into_iter();
        for unit in 0..units {
            let mut parts = rooms.by_ref().take(parts).flatten();
            let Some(mut first) = parts.next() else { continue };
            for other in parts {
                // SAFETY: both have the totals of this unit.
                unsafe { self.loops.merge(first.totals(), other.totals.as_ptr().cast(), self.place(unit).0) };
            }
            self.finish(unit, &mut first);
        }
    }

    fn innermost(&self) -> Kept {
        self.kept.first().copied().unwrap_or((1, 0, 0))
    }

    /// Returns the number of results of a unit, and the addresses of its first element and result.
    fn place(&self, unit: usize) -> (usize, *const u8, *mut u8) {
        let (inner, step, along) = self.innermost();
        let blocks = inner.div_ceil(self.width);
        let first = unit % blocks * self.width;
        let (mut from, mut to) = (signed(first).wrapping_mul(step), signed(first).wrapping_mul(along));
        let mut rest = unit / blocks;
        for &(size, step, along) in self.kept.iter().skip(1) {
            from = from.wrapping_add(signed(rest % size).wrapping_mul(step));
            to += signed(rest % size) * along;
            rest /= size;
        }
        (self.width.min(inner - first), self.from.wrapping_offset(from), self.to.wrapping_offset(to))
    }

    /// Folds a unit's elements into totals; of the reduced dimension `cut`, only those in `range`.
    fn unit(&self, unit: usize, (cut, range): (usize, std::ops::Range<usize>), room: &mut Room) {
        let (columns, from, _) = self.place(unit);
        // SAFETY: a room has `width` totals.
        unsafe { self.loops.start(room.totals(), columns) };
        let mut sizes: SmallVec<[Gone; 4]> = self.gone.clone();
        let mut from = from;
        if let Some(gone) = sizes.get_mut(cut) {
            gone.0 = range.len();
            from = from.wrapping_offset(signed(range.start) * gone.1);
        }
        if sizes.iter().any(|gone| gone.0 == 0) {
            return;
        }
        let (count, stride) = sizes.first().copied().unwrap_or((1, 0));
        if self.vertical {
            each_row(&sizes, from, |at| self.rows(at, (columns, count, stride), room));
        } else {
            let step = self.innermost().1;
            for column in 0..columns {
                let from = from.wrapping_offset(signed(column).wrapping_mul(step));
                let total = room.totals().wrapping_add(column * self.loops.total_size());
                each_row(&sizes, from, |at| self.row(at, (count, stride), total, room));
            }
        }
    }

    fn row(&self, at: *const u8, (count, stride): Gone, total: *mut u8, room: &mut Room) {
        if self.direct && (stride == signed(self.element) || count == 1) {
            // SAFETY: the elements are the tensor's, of the loops' type, and contiguous.
            return unsafe { self.loops.run(total, at, count) };
        }
        let size = signed(self.loops.input().size());
        for first in (0..count).step_by(self.block) {
            let length = self.block.min(count - first);
            let block = room.block();
            // SAFETY: the elements are the tensor's, and a block has room for `length` of them.
            unsafe {
                (self.load)(at.wrapping_offset(signed(first) * stride), stride, block, size, length);
                self.loops.run(total, block, length);
            }
        }
    }

    fn rows(&self, at: *const u8, (columns, count, stride): (usize, usize, isize), room: &mut Room) {
        let step = self.innermost().1;
        if self.direct && step == signed(self.element) {
            // SAFETY: the elements are the tensor's, of the loops' type, and rows are contiguous.
            return unsafe { self.loops.rows(room.totals(), columns, at, stride, count) };
        }
        let size = self.loops.input().size();
        let together = (self.block / columns).max(1);
        for first in (0..count).step_by(together) {
            let rows = together.min(count - first);
            let block = room.block();
            for row in 0..rows {
                let at = at.wrapping_offset(signed(first + row) * stride);
                // SAFETY: the elements are the tensor's, and a block has room for `rows` rows.
                unsafe { (self.load)(at, step, block.wrapping_add(row * columns * size), signed(size), columns) };
            }
            // SAFETY: the block has `rows` rows.
            unsafe { self.loops.rows(room.totals(), columns, block, signed(columns * size), rows) };
        }
    }

    fn finish(&self, unit: usize, room: &mut Room) {
        let (columns, _, to) = self.place(unit);
        let (totals, block) = (room.totals(), room.block());
        let size = signed(self.loops.output().size());
        // SAFETY: a block has room for a unit's results, which belong to this unit alone.
        unsafe {
            self.loops.finish(totals, block, columns);
            (self.store)(block, size, to, self.innermost().2, columns);
        }
    }
}

/// Visits the rows of a loop nest, whose first dimension is that of the rows.
fn each_row(sizes: &[Gone], from: *const u8, mut visit: impl FnMut(*const u8)) {
    let outer = sizes.get(1..).unwrap_or(&[]);
    let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    let mut from = from;
    loop {
        visit(from);
        let mut dim = 0;
        loop {
            let Some(&(size, stride)) = outer.get(dim) else { return };
            at[dim] += 1;
            from = from.wrapping_offset(stride);
            if at[dim] < size {
                break;
            }
            from = from.wrapping_offset(-stride * signed(size));
            at[dim] = 0;
            dim += 1;
        }
    }
}

/// The buffers of a thread: totals, and a block for converted elements. `u128` is aligned for any element type.
struct Room {
    totals: Vec<u128>,
    block: Vec<u128>,
}

impl Room {
    fn new(walk: &Walk<'_>) -> Self {
        let size = walk.loops.input().size().max(walk.loops.output().size());
        Self {
            totals: vec![0; (walk.width * walk.loops.total_size()).div_ceil(16)],
            block: vec![0; (walk.block * size).div_ceil(16)],
        }
    }

    fn totals(&mut self) -> *mut u8 {
        self.totals.as_mut_ptr().cast()
    }

    fn block(&mut self) -> *mut u8 {
        self.block.as_mut_ptr().cast()
    }
}
