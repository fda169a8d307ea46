//! Elements that go from one tensor to another and stay what they are.
//!
//! What joins, repeats, pads, flips, selects or puts elements says only where they are: for each dimension of the walk a step on either
//! side, which is a stride or a table of places. One engine checks that every place is inside the tensors' memory, and goes there.

use dispatch_runtime::{BadArgument, DType, Operands, Result, Spec, Tensor};

use crate::elementwise::transfer;
use crate::pool::over;

/// Fewer elements are not worth a thread.
pub(crate) const GRAIN: usize = 1 << 15;

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

/// Moves elements of one dtype along these dimensions, the last fastest; both sides begin at the tensor's first element. Where an element
/// of `out` is come to more than once, the last one stays.
pub(crate) fn along(out: &mut Tensor, from: &Tensor, axes: &[Axis]) -> Result<()> {
    let walk = Walk::new(axes);
    if walk.count == 0 {
        return Ok(());
    }
    let operands = Operands::take(&["out"], [out], &["self"], [from])?;
    Walk::check(&operands, axes)?;
    let ([to], [from]) = (operands.written(), operands.read());
    let row = ROWS[from.dtype().size().trailing_zeros() as usize];
    let (to, from) = (Start(to.start()), Start(from.start()));
    // Threads must not write the same element, and a table may name one twice.
    let grain = if axes.iter().any(|axis| matches!(axis.to, Step::Table(_))) { walk.count } else { GRAIN };
    over(0..walk.count, grain, |piece| {
        walk.rows(piece.start, piece.end, |to_offset, from_offset, at, count| {
            // SAFETY: `check` found every place inside the storages, which the operands hold; a piece's elements are its own.
            unsafe { row(to.at(0), to_offset, from.at(0), from_offset, walk.inner(), at, count) };
        });
    });
    Ok(())
}

/// Dimensions, from the outermost inwards.
pub(crate) struct Walk {
    axes: Vec<Axis>,
    pub(crate) count: usize,
}

impl Walk {
    pub(crate) fn new(axes: &[Axis]) -> Self {
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
        let count = axes.iter().map(|axis| usize::try_from(axis.size).unwrap_or(0)).product();
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

    /// Visits the rows that hold the elements `start..end`: the places of either side where the row's dimension begins, the position in
    /// that dimension, and how many elements there are.
    pub(crate) fn rows(&self, start: usize, end: usize, mut visit: impl FnMut(isize, isize, usize, usize)) {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| usize::try_from(axis.size).unwrap_or(0)).collect();
        let inner = self.axes.len() - 1;
        let mut at = vec![0; self.axes.len()];
        let mut rest = start;
        for dim in (0..=inner).rev() {
            at[dim] = rest % sizes[dim];
            rest /= sizes[dim];
        }
        let mut done = start;
        while done < end {
            let (mut to, mut from) = (0, 0);
            for (axis, &position) in self.axes[..inner].iter().zip(&at) {
                to += axis.to.place(position);
                from += axis.from.place(position);
            }
            let count = (sizes[inner] - at[inner]).min(end - done);
            visit(to, from, at[inner], count);
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

    /// Visits pairs of places, the last dimension fastest.
    pub(crate) fn pairs(&self, mut visit: impl FnMut(isize, isize)) {
        let inner = self.inner();
        if self.count > 0 {
            self.rows(0, self.count, |to, from, at, count| {
                for i in at..at + count {
                    visit(to + inner.to.place(i), from + inner.from.place(i));
                }
            });
        }
    }
}

/// Moves a part of a row.
type Row = unsafe fn(*mut u8, isize, *mut u8, isize, &Axis, usize, usize);

/// By the size of an element, in powers of two.
const ROWS: [Row; 5] = [row::<u8>, row::<u16>, row::<u32>, row::<u64>, row::<[u64; 2]>];

unsafe fn row<W: Copy>(
    to: *mut u8,
    to_offset: isize,
    from: *mut u8,
    from_offset: isize,
    axis: &Axis,
    at: usize,
    count: usize,
) {
    let to = to.cast::<W>().wrapping_offset(to_offset);
    let from = from.cast::<W>().wrapping_offset(from_offset);
    match (&axis.to, &axis.from) {
        (Step::Stride(1), Step::Stride(1)) => {
            // SAFETY: the caller says that the walk stays inside the storages, and that they are not the same.
            unsafe { to.add(at).copy_from_nonoverlapping(from.add(at), count) };
        }
        (Step::Stride(1), Step::Table(places)) => {
            for (i, &place) in (at..).zip(&places[at..at + count]) {
                // SAFETY: as above.
                unsafe { to.add(i).write(from.offset(isize::try_from(place).unwrap_or(0)).read()) };
            }
        }
        (to_step, from_step) => {
            for i in at..at + count {
                // SAFETY: as above.
                unsafe { to.offset(to_step.place(i)).write(from.offset(from_step.place(i)).read()) };
            }
        }
    }
}
