//! Elements that go from one tensor to another and stay what they are.
//!
//! What joins, repeats, pads, flips, selects or puts elements says only where they are: for each dimension of the walk a step on either
//! side, which is a stride or a table of places. One engine checks that every place is inside the tensors' memory, and goes there.

use std::cmp::Reverse;
use std::ops::Range;

use dispatch_runtime::{BadArgument, DType, Element, Operands, Result, Spec, Tensor};

use crate::elementwise::{ahead, transfer};
use crate::pool::{over, threads_here};

/// Fewer elements are not worth a thread.
pub(crate) const GRAIN: usize = 1 << 15;
/// How many elements next to each other stay in one piece, as they share a cache line.
pub(crate) const LINE: usize = 16;
/// With this many positions a dimension is as good to cut as any, and the outermost is best.
pub(crate) const ENOUGH: i64 = 16;
/// How many rows ahead of those that tables name memory is asked for.
const AHEAD: usize = 8;

/// Copies the elements of `from`, converted and broadcast to those of `out`.
pub(crate) fn copy(out: &mut Tensor, from: &Tensor) -> Result<()> {
    copy_called("self", out, from)
}

/// The same for an operator that calls `from` otherwise.
pub(crate) fn copy_called(argument: &'static str, out: &mut Tensor, from: &Tensor) -> Result<()> {
    transfer(&Operands::take(&["out"], [out], &[argument], [from])?);
    Ok(())
}

/// A fresh copy of the elements, side by side and of this dtype.
pub(crate) fn packed(from: &Tensor, dtype: DType) -> Result<Tensor> {
    let mut out = Spec::contiguous(dtype, from.sizes()).on(from.device())?;
    copy(&mut out, from)?;
    Ok(out)
}

/// Where an operand begins, for threads.
#[derive(Clone, Copy)]
pub(crate) struct Start(pub(crate) *mut u8);

// SAFETY: whoever makes one divides what it writes among the threads.
unsafe impl Send for Start {}
// SAFETY: as above.
unsafe impl Sync for Start {}

impl Start {
    #[inline]
    pub(crate) fn at(self, bytes: isize) -> *mut u8 {
        self.0.wrapping_offset(bytes)
    }
}

/// Where one side goes along a dimension, in elements.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Stride(i64),
    Table(Vec<i64>),
}

/// A dimension of a walk.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) size: i64,
    pub(crate) to: Step,
    pub(crate) from: Step,
}

impl Step {
    #[inline]
    fn place(&self, at: usize) -> isize {
        match self {
            Self::Stride(stride) => isize::try_from(*stride).unwrap_or(0).wrapping_mul(at.cast_signed()),
            Self::Table(places) => isize::try_from(places[at]).unwrap_or(0),
        }
    }

    /// The least and the greatest place of the first `size`; none where there are not so many, or numbers overflow.
    fn reach(&self, size: i64) -> Option<(i64, i64)> {
        match self {
            Self::Stride(stride) => {
                let last = (size - 1).checked_mul(*stride)?;
                Some((last.min(0), last.max(0)))
            }
            Self::Table(places) => {
                let places = places.get(..usize::try_from(size).ok()?)?;
                Some((*places.iter().min()?, *places.iter().max()?))
            }
        }
    }
}

/// Runs a body with a type that moves as elements of this size do.
macro_rules! of_size {
    ($size:expr, $word:ident => $body:expr) => {
        match $size {
            1 => {
                type $word = u8;
                $body
            }
            2 => {
                type $word = u16;
                $body
            }
            4 => {
                type $word = u32;
                $body
            }
            8 => {
                type $word = [u32; 2];
                $body
            }
            _ => {
                type $word = [u64; 2];
                $body
            }
        }
    };
}
pub(crate) use of_size;

/// Moves elements of one dtype along these dimensions, the last fastest; both sides begin at the tensor's first element. Where an element
/// of `out` is come to more than once, the last one stays.
///
/// Different positions in a dimension with strides are different elements of `out`, whatever tables say of the others.
pub(crate) fn along(out: &mut Tensor, from: &Tensor, axes: &[Axis]) -> Result<()> {
    of_size!(from.dtype().size(), Word => walked::<Word>(out, from, axes, |_, comes| comes))
}

/// The same with elements made one with those that are there.
pub(crate) fn combined<T: Element>(
    out: &mut Tensor,
    from: &Tensor,
    axes: &[Axis],
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    if from.dtype() != T::DTYPE {
        return Err(BadArgument::dtype("self", from.dtype(), T::DTYPE.to_string()).into());
    }
    walked(out, from, axes, f)
}

fn walked<W: Copy>(out: &mut Tensor, from: &Tensor, axes: &[Axis], f: impl Fn(W, W) -> W + Sync) -> Result<()> {
    let walk = Walk::new(axes);
    if walk.count == 0 {
        return Ok(());
    }
    let operands = Operands::take(&["out"], [out], &["self"], [from])?;
    Walk::check(&operands, axes)?;
    let ([to], [from]) = (operands.written(), operands.read());
    let (to, from) = (Start(to.start()), Start(from.start()));
    walk.pieces(&|[to_offset, from_offset], next, at, count| {
        let start = |to_offset, from_offset| {
            (to.at(0).cast::<W>().wrapping_offset(to_offset), from.at(0).cast::<W>().wrapping_offset(from_offset))
        };
        if let Some([to, from]) = next {
            let (to, from) = start(to, from);
            ahead::for_writing(to.cast(), count.min(LINE * 4) * size_of::<W>());
            ahead::for_reading(from.cast(), count.min(LINE * 4) * size_of::<W>());
        }
        let (to, from) = start(to_offset, from_offset);
        // SAFETY: `check` found every place inside the storages, which the operands hold; a piece's elements are its own.
        unsafe { row(to, from, walk.inner(), at, count, &f) };
    });
    Ok(())
}

/// Dimensions, from the outermost inwards.
struct Walk {
    axes: Vec<Axis>,
    count: usize,
}

impl Walk {
    fn new(axes: &[Axis]) -> Self {
        let mut merged: Vec<Axis> = Vec::with_capacity(axes.len());
        for axis in axes {
            if let Some(outer) = merged.last_mut()
                && let (Step::Stride(to), Step::Stride(from)) = (&outer.to, &outer.from)
                && let (Step::Stride(inner_to), Step::Stride(inner_from)) = (&axis.to, &axis.from)
                && inner_to.checked_mul(axis.size) == Some(*to)
                && inner_from.checked_mul(axis.size) == Some(*from)
            {
                *outer = Axis { size: outer.size.saturating_mul(axis.size), ..axis.clone() };
            } else if axis.size != 1 || matches!((&axis.to, &axis.from), (Step::Table(_), _) | (_, Step::Table(_))) {
                merged.push(axis.clone());
            }
        }
        if merged.is_empty() {
            merged.push(Axis { size: 1, to: Step::Stride(1), from: Step::Stride(1) });
        }
        // Beside a size of zero, others may be of any number.
        let count =
            axes.iter().fold(1, |count: usize, axis| count.saturating_mul(usize::try_from(axis.size).unwrap_or(0)));
        Self { axes: merged, count }
    }

    fn inner(&self) -> &Axis {
        &self.axes[self.axes.len() - 1]
    }

    /// Refuses a walk that leaves either tensor's storage.
    fn check(operands: &Operands<'_, 1, 1>, axes: &[Axis]) -> Result<()> {
        let ([to], [from]) = (operands.written(), operands.read());
        let inside = |tensor: &Tensor, side: &dyn Fn(&Axis) -> &Step| -> Option<bool> {
            let (mut low, mut high) = (tensor.geometry().offset(), tensor.geometry().offset());
            for axis in axes {
                let (least, greatest) = side(axis).reach(axis.size)?;
                low = low.checked_add(least)?;
                high = high.checked_add(greatest)?;
            }
            let end = usize::try_from(high.checked_add(1)?).ok()?.checked_mul(tensor.dtype().size())?;
            Some(low >= 0 && end <= tensor.storage().size())
        };
        if to.dtype() == from.dtype()
            && inside(to.tensor(), &|axis| &axis.to) == Some(true)
            && inside(from.tensor(), &|axis| &axis.from) == Some(true)
        {
            return Ok(());
        }
        Err(BadArgument::sizes("self", from.geometry().sizes(), "room for every element that is moved").into())
    }

    /// Visits all rows. Threads share them, but for those that may write the same elements, which are visited in order.
    fn pieces(&self, visit: &(dyn Fn([isize; 2], Option<[isize; 2]>, usize, usize) + Sync)) {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| usize::try_from(axis.size).unwrap_or(0)).collect();
        if self.axes.iter().all(|axis| matches!(axis.to, Step::Stride(_))) {
            return over(0..self.count, GRAIN, |piece| self.rows(&sizes, piece, visit));
        }
        let strided =
            |dim: &usize| matches!((&self.axes[*dim].to, &self.axes[*dim].from), (Step::Stride(_), Step::Stride(_)));
        let Some(cut) =
            (0..sizes.len()).filter(strided).max_by_key(|&dim| (self.axes[dim].size.min(ENOUGH), Reverse(dim)))
        else {
            return self.rows(&sizes, 0..self.count, visit);
        };
        let (least, others) = (if cut + 1 == sizes.len() { LINE } else { 1 }, self.count / sizes[cut]);
        let grain = sizes[cut].div_ceil(threads_here()).max(GRAIN / others).max(least);
        over(0..sizes[cut], grain, |piece| {
            let mut sizes = sizes.clone();
            sizes[cut] = piece.len();
            let (to, from) = (self.axes[cut].to.place(piece.start), self.axes[cut].from.place(piece.start));
            let moved = |[to_offset, from_offset]: [isize; 2]| [to + to_offset, from + from_offset];
            self.rows(&sizes, 0..sizes.iter().product(), &|places, next, at, count| {
                visit(moved(places), next.map(moved), at, count);
            });
        });
    }

    /// Visits the rows that hold these elements of the first `sizes` of the dimensions: the places of either side where the row's
    /// dimension begins, those of a row that tables name soon after, the position in that dimension, and how many elements there are.
    fn rows(
        &self,
        sizes: &[usize],
        elements: Range<usize>,
        visit: &dyn Fn([isize; 2], Option<[isize; 2]>, usize, usize),
    ) {
        let inner = sizes.len() - 1;
        let jumps = |axis: &Axis| matches!((&axis.to, &axis.from), (Step::Table(_), _) | (_, Step::Table(_)));
        let jumping = inner.checked_sub(1).filter(|&dim| jumps(&self.axes[dim]));
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

/// Takes a part of a row to where it goes.
///
/// # Safety
///
/// The elements that the axis leads to are inside of blocks of memory, of which no byte is in both.
unsafe fn row<W: Copy>(to: *mut W, from: *const W, axis: &Axis, at: usize, count: usize, f: &impl Fn(W, W) -> W) {
    // SAFETY: as the caller says.
    let put = |to: *mut W, from: *const W| unsafe { to.write(f(to.read(), from.read())) };
    match (&axis.to, &axis.from) {
        (Step::Stride(1), Step::Stride(1)) => {
            // SAFETY: as the caller says.
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

/// Side by side: as two slices, elements that only move are copied at once.
#[inline(never)]
fn dense<W: Copy>(to: &mut [W], from: &[W], f: &impl Fn(W, W) -> W) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = f(*to, from);
    }
}
