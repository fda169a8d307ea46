//! Elements picked one by one along a dimension, and elements put where others would be picked.
//!
//! What is written is fresh, so positions are checked on the way: it is thrown away where one is outside.
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

/// Fills `out`, which has the sizes of the index, with the elements of `this` at positions of dimension `at`.
///
/// # Errors
///
/// Returns [`BadArgument`] if a position is outside of the dimension.
pub(crate) fn gathered(out: &mut Tensor, this: &Tensor, at: usize, index: &Tensor) -> Result<()> {
    if index.geometry().count() == 0 {
        return Ok(());
    }
    let (out, this, index) = (&mut as_row(out)?, &as_row(this)?, &as_row(&positions(index)?)?);
    let inside = {
        let operands = operands!(write out; read this, index)?;
        let ([to], [this, index]) = (operands.written(), operands.read());
        let walk = Walk::new(at, index, to, this);
        // SAFETY: no element of `to` is come to twice. Elements of one size are moved as those of any other type of it.
        of_size!(this.dtype().size(), Word => unsafe {
            walk.run::<Word>(true, |picked, beside| beside.write(picked.read()))
        })
    };
    checked(inside, this, at, index)
}

/// Puts elements of `src`, which is no smaller than the index, where they would be picked. The last one stays.
pub(crate) fn put(out: &mut Tensor, at: usize, index: &Tensor, src: &Tensor) -> Result<()> {
    of_size!(src.dtype().size(), Word => put_with::<Word>(out, at, index, src, |_, comes| comes))
}

/// The same with elements made one with those that are there.
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

/// `W` is of the size of the elements.
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
        // SAFETY: elements that differ in more than their positions are put to different places.
        unsafe { walk.run::<W>(false, |picked, beside| picked.write(f(picked.read(), beside.read()))) }
    };
    checked(inside, out, at, index)
}

fn positions(index: &Tensor) -> Result<Tensor> {
    if index.dtype() == DType::I64 { Ok(index.clone()) } else { packed(index, DType::I64) }
}

/// A tensor without dimensions as one of one.
fn as_row(tensor: &Tensor) -> Result<Tensor> {
    if !tensor.sizes().is_empty() {
        return Ok(tensor.clone());
    }
    Ok(tensor.restride(Geometry::contiguous(&[1]).at(tensor.geometry().offset()))?)
}

/// Says which position is outside.
fn checked(inside: bool, picked: &Tensor, at: usize, index: &Tensor) -> Result<()> {
    if inside {
        return Ok(());
    }
    let size = picked.sizes()[at];
    let outside = packed(index, DType::I64)?.read::<i64>()?.iter().find(|index| !(0..size).contains(*index)).copied();
    outside.map_or(Ok(()), |index| Err(BadArgument::new("index", Problem::Index { index, size }).into()))
}

/// All positions of an index, a tensor beside it, and one that is as large but along a dimension, where positions say which element.
struct Walk<'a> {
    at: usize,
    index: &'a Operand<'a>,
    beside: &'a Operand<'a>,
    picked: &'a Operand<'a>,
}

// SAFETY: the operands are held for as long as the walk; whoever runs it divides what it writes among the threads.
unsafe impl Sync for Walk<'_> {}

impl<'a> Walk<'a> {
    /// # Panics
    ///
    /// If an operand has no element for a position of the index, or the two are of different dtypes.
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

    /// Calls `f` with every pair of a picked element and the one beside its position, and says whether all positions are inside of
    /// the dimension; others are left out. Pairs that differ along the dimension alone are come to in order, or `apart`.
    ///
    /// # Safety
    ///
    /// Elements are of the size of `W`. `f` writes none that another thread has: threads have pairs that differ otherwise, or, if
    /// `apart`, any.
    unsafe fn run<W>(&self, apart: bool, f: impl Fn(*mut W, *mut W) + Sync) -> bool {
        let sizes = self.index.geometry().sizes();
        let free = (0..sizes.len()).filter(|&dim| apart || dim != self.at);
        let cut = free.max_by_key(|&dim| (sizes[dim].min(ENOUGH), Reverse(dim)));
        let Some(cut) = cut else {
            // SAFETY: as the caller says.
            return unsafe { self.part::<W>(0, 0..sizes.first().map_or(1, |&size| usized(size)), &f) };
        };
        let (size, count) = (usized(sizes[cut]), usized(self.index.geometry().count()));
        let line = if self.picked.geometry().strides()[cut] == 1 { LINE } else { 1 };
        let least = if apart { line } else { line.max(size.div_ceil(threads_here())) };
        let inside = AtomicBool::new(true);
        parallel_for(0..size, (GRAIN / (count / size).max(1)).max(least), |piece| {
            // SAFETY: as the caller says.
            if !unsafe { self.part::<W>(cut, piece, &f) } {
                inside.store(false, Ordering::Relaxed);
            }
        });
        inside.into_inner()
    }

    /// The same for a part of one dimension.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run).
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
            // SAFETY: the operands' geometries have elements for all positions of the index; those along the dimension are looked at.
            inside &= unsafe {
                // Steps that the compiler knows.
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

/// Positions in a row, bytes apart.
struct Row<W> {
    positions: *const i64,
    beside: *mut W,
    picked: *mut u8,
    /// Between what is picked, but for its positions.
    step: isize,
    /// Between what is picked at one position and the next.
    along: i64,
    /// How many positions there are.
    length: u64,
}

impl<W> Row<W> {
    /// # Safety
    ///
    /// There are `count` positions, as many elements beside them, and elements at those that are inside.
    #[inline(always)]
    unsafe fn run(&self, step: isize, beside_step: isize, count: usize, f: &impl Fn(*mut W, *mut W)) -> bool {
        let mut inside = true;
        for i in 0..count.cast_signed() {
            // SAFETY: as the caller says.
            let position = unsafe { self.positions.byte_offset(i * step).read() };
            if position.cast_unsigned() < self.length {
                // Bytes inside of a block of memory, so they fit.
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
