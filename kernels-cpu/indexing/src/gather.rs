//! Elements selected by an index along a dimension (`gather`), and elements written to such positions (`scatter`).
//!
//! The output is a fresh tensor, so indices are checked during the copy: if one is out of range, the output is discarded.
#![expect(unsafe_code, reason = "places that a loop nest checked")]

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Element, Geometry, Operand, Problem, operands};

use engine::allocation::usized;
use engine::data_movement::{BasePointer, ENOUGH, GRAIN, LINE, of_size, packed};
use engine::elementwise::loop_nest::LoopNest;
use engine::thread_pool::{parallel_for, threads_here};

/// Fills `out`, which has the sizes of the index, with the elements of `this` that the index selects in dimension `at`.
///
/// # Errors
///
/// Returns [`BadArgument`] if an index is outside the dimension.
pub(crate) fn gathered(out: &mut Tensor, this: &Tensor, at: usize, index: &Tensor) -> Result<()> {
    if index.geometry().count() == 0 {
        return Ok(());
    }
    let (out, this, index) = (&mut as_row(out)?, &as_row(this)?, &as_row(&positions(index)?)?);
    let inside = {
        let operands = operands!(write out; read this, index)?;
        let ([to], [this, index]) = (operands.written(), operands.read());
        let walk = Walk::new(at, index, to, this);
        // SAFETY: every element of `to` is visited once. Elements are moved as plain data of their size.
        of_size!(this.dtype().size(), Word => unsafe {
            walk.run::<Word>(true, |picked, beside| beside.write(picked.read()))
        })
    };
    checked(inside, this, at, index)
}

/// Writes elements of `src`, which is at least as large as the index, to the positions that the index selects. The last one stays.
pub(crate) fn put(out: &mut Tensor, at: usize, index: &Tensor, src: &Tensor) -> Result<()> {
    of_size!(src.dtype().size(), Word => put_with::<Word>(out, at, index, src, |_, comes| comes))
}

/// Combines elements of `src` with the elements of `out` that the index selects.
pub(crate) fn put_combined<T: Element>(
    out: &mut Tensor,
    at: usize,
    index: &Tensor,
    src: &Tensor,
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    assert_eq!(src.dtype(), T::DTYPE, "elements are combined as what they are");
    put_with(out, at, index, src, f)
}

/// Writes `f` of the present and the new element. `W` has the size of the elements.
fn put_with<W: Copy>(
    out: &mut Tensor,
    at: usize,
    index: &Tensor,
    src: &Tensor,
    f: impl Fn(W, W) -> W + Sync,
) -> Result<()> {
    if index.geometry().count() == 0 {
        return Ok(());
    }
    let (out, src, index) = (&mut as_row(out)?, &as_row(src)?, &as_row(&positions(index)?)?);
    let inside = {
        let operands = operands!(write out; read src, index)?;
        let ([to], [src, index]) = (operands.written(), operands.read());
        let walk = Walk::new(at, index, src, to);
        assert_eq!(size_of::<W>(), to.dtype().size(), "elements are put as what they are");
        // SAFETY: threads have pairs that differ in other dimensions than `at`, so they write different elements.
        unsafe { walk.run::<W>(false, |picked, beside| picked.write(f(picked.read(), beside.read()))) }
    };
    checked(inside, out, at, index)
}

fn positions(index: &Tensor) -> Result<Tensor> {
    if index.dtype() == DType::I64 { Ok(index.clone()) } else { packed(index, DType::I64) }
}

/// Returns the tensor; one without dimensions as a tensor with one dimension.
fn as_row(tensor: &Tensor) -> Result<Tensor> {
    if !tensor.sizes().is_empty() {
        return Ok(tensor.clone());
    }
    Ok(tensor.restride(Geometry::contiguous(&[1]).with_offset(tensor.geometry().offset()))?)
}

/// Returns an error that names the first index out of range, if `inside` is false.
fn checked(inside: bool, picked: &Tensor, at: usize, index: &Tensor) -> Result<()> {
    if inside {
        return Ok(());
    }
    let size = picked.sizes()[at];
    let outside = packed(index, DType::I64)?.read::<i64>()?.iter().find(|index| !(0..size).contains(*index)).copied();
    outside.map_or(Ok(()), |index| Err(BadArgument::new("index", Problem::Index { index, size }).into()))
}

/// The positions of an index, with an operand of the same sizes (`beside`), and one whose elements the index selects (`picked`).
struct Walk<'a> {
    at: usize,
    index: &'a Operand<'a>,
    beside: &'a Operand<'a>,
    picked: &'a Operand<'a>,
}

// SAFETY: the operands are held for as long as the walk; the caller of `run` divides the written elements among the threads.
unsafe impl Sync for Walk<'_> {}

impl<'a> Walk<'a> {
    /// # Panics
    ///
    /// Panics if an operand has no element for a position of the index, or if the two operands differ in dtype.
    fn new(at: usize, index: &'a Operand<'a>, beside: &'a Operand<'a>, picked: &'a Operand<'a>) -> Self {
        let sizes = index.geometry().sizes();
        let has_all = |operand: &Operand<'_>, but: Option<usize>| {
            let own = operand.geometry().sizes();
            own.len() == sizes.len() && (0..sizes.len()).all(|dim| but == Some(dim) || sizes[dim] <= own[dim])
        };
        let is_planned = index.dtype() == DType::I64 && beside.dtype() == picked.dtype() && at < sizes.len();
        assert!(is_planned && has_all(beside, None) && has_all(picked, Some(at)), "an index of {sizes:?} in {at}");
        Self { at, index, beside, picked }
    }

    /// Calls `f` with every pair of a selected element and the element beside its index. Returns whether all indices are in range; others
    /// are skipped. Pairs that differ only in dimension `at` are visited in order by one thread, unless `apart` is true.
    ///
    /// # Safety
    ///
    /// Elements have the size of `W`. `f` writes no element that another thread accesses: threads have pairs that differ in other
    /// dimensions than `at` or, if `apart` is true, any pairs.
    unsafe fn run<W>(&self, apart: bool, f: impl Fn(*mut W, *mut W) + Sync) -> bool {
        let sizes = self.index.geometry().sizes();
        let free = (0..sizes.len()).filter(|&dim| apart || dim != self.at);
        let cut = free.max_by_key(|&dim| (sizes[dim].min(ENOUGH), Reverse(dim)));
        let Some(cut) = cut else {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.part::<W>(0, 0..sizes.first().map_or(1, |&size| usized(size)), &f) };
        };
        let (size, count) = (usized(sizes[cut]), usized(self.index.geometry().count()));
        let line = if self.picked.geometry().strides()[cut] == 1 { LINE } else { 1 };
        let least = if apart { line } else { line.max(size.div_ceil(threads_here())) };
        let inside = AtomicBool::new(true);
        parallel_for(0..size, (GRAIN / (count / size).max(1)).max(least), |piece| {
            // SAFETY: guaranteed by the caller.
            if !unsafe { self.part::<W>(cut, piece, &f) } {
                inside.store(false, Ordering::Relaxed);
            }
        });
        inside.into_inner()
    }

    /// Visits the pairs of a part of one dimension, as [`run`](Self::run) does.
    ///
    /// # Safety
    ///
    /// The safety conditions of [`run`](Self::run) hold.
    unsafe fn part<W>(&self, cut: usize, piece: Range<usize>, f: &impl Fn(*mut W, *mut W)) -> bool {
        let mut sizes = Dims::from_slice(self.index.geometry().sizes());
        sizes[cut] = i64::try_from(piece.len()).unwrap_or(0);
        let side = |operand: &Operand<'_>, whole: bool| {
            let mut strides = Dims::from_slice(operand.geometry().strides());
            if !whole {
                strides[self.at] = 0;
            }
            let first = i64::try_from(piece.start).unwrap_or(0) * strides[cut];
            let bytes = isize::try_from(first).unwrap_or(0) * operand.dtype().size().cast_signed();
            (Geometry::strided(&sizes, &strides, 0), BasePointer(operand.start().wrapping_offset(bytes)))
        };
        let ((Some(index), positions), (Some(beside), others), (Some(picked), start)) =
            (side(self.index, true), side(self.beside, true), side(self.picked, false))
        else {
            return true;
        };
        let nest =
            LoopNest::new(&sizes, [(&index, size_of::<i64>()), (&beside, size_of::<W>()), (&picked, size_of::<W>())]);
        let along = self.picked.geometry().strides()[self.at].wrapping_mul(i64::try_from(size_of::<W>()).unwrap_or(0));
        let length = self.picked.geometry().sizes()[self.at].cast_unsigned();
        let (_, [step, other_step, start_step]) = nest.row();
        let side_by_side = (step, other_step) == (size_of::<i64>().cast_signed(), size_of::<W>().cast_signed());
        let mut inside = true;
        nest.rows(0, nest.count(), |[position, other, from], count| {
            let row = Row {
                positions: positions.at(position).cast(),
                beside: others.at(other).cast::<W>(),
                picked: start.at(from),
                step: start_step,
                along,
                length,
            };
            // SAFETY: the operands' geometries have elements for all positions of the index; indices along the dimension are checked.
            inside &= unsafe {
                // Constant strides, for better code.
                if side_by_side {
                    row.run(8, size_of::<W>().cast_signed(), count, f)
                } else {
                    row.run(step, other_step, count, f)
                }
            };
        });
        inside
    }
}

/// A row of indices. Distances are in bytes.
struct Row<W> {
    positions: *const i64,
    beside: *mut W,
    picked: *mut u8,
    /// The stride of the selected elements, without the effect of the indices.
    step: isize,
    /// The stride of the selected elements along the indexed dimension.
    along: i64,
    /// The size of the indexed dimension.
    length: u64,
}

impl<W> Row<W> {
    /// # Safety
    ///
    /// There are `count` indices, as many elements beside them, and elements for the indices that are in range.
    #[inline(always)]
    unsafe fn run(&self, step: isize, beside_step: isize, count: usize, f: &impl Fn(*mut W, *mut W)) -> bool {
        let mut inside = true;
        for i in 0..count.cast_signed() {
            // SAFETY: guaranteed by the caller.
            let position = unsafe { self.positions.byte_offset(i * step).read() };
            if position.cast_unsigned() < self.length {
                // The distance fits, as it is inside a block of memory.
                #[expect(clippy::cast_possible_truncation, reason = "as said")]
                let place = i * self.step + (position * self.along) as isize;
                f(self.picked.wrapping_offset(place).cast(), self.beside.wrapping_byte_offset(i * beside_step));
            } else {
                inside = false;
            }
        }
        inside
    }
}
