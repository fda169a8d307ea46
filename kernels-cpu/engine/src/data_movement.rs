//! Elements that go from one tensor to another and stay what they are.
//!
//! What joins, repeats, pads, flips, selects or puts elements says only where they are: for each dimension of the walk a step on either
//! side, which is a stride or a table of places. One engine checks that every place is inside the tensors' memory, and goes there.
#![expect(unsafe_code, reason = "places that a loop nest checked")]

mod walk;

use dispatch_runtime::{DType, Element, Geometry, Operands, Result, Spec, Tensor};

use crate::elementwise::{prefetch, transfer};
use walk::{Walk, is_table, row};

/// Fewer elements are not worth a thread.
pub const GRAIN: usize = 1 << 15;
/// How many elements next to each other stay in one piece, as they share a cache line.
pub const LINE: usize = 16;
/// With this many positions a dimension is as good to cut as any, and the outermost is best.
pub const ENOUGH: i64 = 16;
/// How many rows ahead of those that tables name memory is asked for.
const AHEAD: usize = 8;

/// Copies the elements of `from`, converted and broadcast to those of `out`.
pub fn copy(out: &mut Tensor, from: &Tensor) -> Result<()> {
    copy_called("self", out, from)
}

/// The same for an operator that calls `from` otherwise.
pub fn copy_called(argument: &'static str, out: &mut Tensor, from: &Tensor) -> Result<()> {
    transfer(&Operands::take(&["out"], [out], &[argument], [from])?);
    Ok(())
}

/// A fresh copy of the elements, side by side and of this dtype.
pub fn packed(from: &Tensor, dtype: DType) -> Result<Tensor> {
    broadcast_contiguous("self", from, dtype, from.sizes())
}

/// The same, broadcast to these sizes, for an operator that calls `from` otherwise.
pub fn broadcast_contiguous(argument: &'static str, from: &Tensor, dtype: DType, sizes: &[i64]) -> Result<Tensor> {
    let mut out = Spec::contiguous(dtype, sizes).on(from.device())?;
    copy_called(argument, &mut out, from)?;
    Ok(out)
}

/// The same elements with these sizes and strides, from this place on; the tensor itself if there are no such elements.
pub fn viewed(tensor: &Tensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    match Geometry::strided(sizes, strides, offset) {
        Some(geometry) => Ok(tensor.restride(geometry)?),
        None => Ok(tensor.clone()),
    }
}

/// Where an operand begins, for threads.
#[derive(Clone, Copy)]
pub struct BasePointer(pub *mut u8);

// SAFETY: whoever makes one divides what it writes among the threads.
unsafe impl Send for BasePointer {}

// SAFETY: as above.
unsafe impl Sync for BasePointer {}

impl BasePointer {
    /// So many bytes from it.
    #[inline]
    pub fn at(self, bytes: isize) -> *mut u8 {
        self.0.wrapping_offset(bytes)
    }
}

/// Where one side goes along a dimension, in elements.
#[derive(Clone, Debug)]
pub enum Step {
    /// By as many at each step.
    Stride(i64),
    /// To these places.
    Table(Vec<i64>),
}

/// A dimension of a walk.
#[derive(Clone, Debug)]
pub struct Axis {
    /// How many steps there are.
    pub size: i64,
    /// Where the side that is written goes.
    pub to: Step,
    /// Where the side that is read goes.
    pub from: Step,
}

impl Axis {
    /// A dimension with a stride on each side.
    pub fn strided(size: i64, to: i64, from: i64) -> Self {
        Self { size, to: Step::Stride(to), from: Step::Stride(from) }
    }

    /// Whether either side has a table.
    fn jumps(&self) -> bool {
        is_table(&self.to) || is_table(&self.from)
    }
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
#[macro_export]
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

pub use of_size;

/// Moves elements of one dtype along these dimensions, the last fastest; both sides begin at the tensor's first element. Where an element
/// of `out` is come to more than once, the last one stays.
pub fn copy_along(out: &mut Tensor, from: &Tensor, axes: &[Axis]) -> Result<()> {
    of_size!(from.dtype().size(), Word => walked::<Word>(out, from, axes, |_, comes| comes))
}

/// The same with elements made one with those that are there.
pub fn combined<T: Element>(
    out: &mut Tensor,
    from: &Tensor,
    axes: &[Axis],
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    assert_eq!(from.dtype(), T::DTYPE, "elements are combined as what they are");
    walked(out, from, axes, f)
}

fn walked<W: Copy>(out: &mut Tensor, from: &Tensor, axes: &[Axis], f: impl Fn(W, W) -> W + Sync) -> Result<()> {
    let walk = Walk::new(axes);
    if walk.count == 0 {
        return Ok(());
    }
    let operands = Operands::take(&["out"], [out], &["self"], [from])?;
    Walk::check(&operands, axes)?;
    assert_eq!(size_of::<W>(), operands.read()[0].dtype().size(), "elements are moved as what they are");
    let ([to], [from]) = (operands.written(), operands.read());
    let (to, from) = (BasePointer(to.start()), BasePointer(from.start()));
    walk.pieces(&|[to_offset, from_offset], next, at, count| {
        let start = |to_offset, from_offset| {
            (to.at(0).cast::<W>().wrapping_offset(to_offset), from.at(0).cast::<W>().wrapping_offset(from_offset))
        };
        if let Some([to, from]) = next {
            let (to, from) = start(to, from);
            prefetch::for_writing(to.cast(), count.min(LINE * 4) * size_of::<W>());
            prefetch::for_reading(from.cast(), count.min(LINE * 4) * size_of::<W>());
        }
        let (to, from) = start(to_offset, from_offset);
        // SAFETY: `check` found every place inside the storages, which the operands hold; a piece's elements are its own.
        unsafe { row(to, from, walk.inner(), at, count, &f) };
    });
    Ok(())
}
