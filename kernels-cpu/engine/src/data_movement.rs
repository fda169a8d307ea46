//! Copies of elements between tensors.
//!
//! Operators that concatenate, repeat, pad, flip, select or scatter elements describe only the positions: for each dimension, a step of the
//! source and of the destination, which is a stride or a table of offsets. One loop checks that every offset is inside the tensors'
//! storages and copies.
#![expect(unsafe_code, reason = "the loop nest checked every offset")]

mod copy_nest;

use dispatch_runtime::{DType, Element, Geometry, Operands, Result, Spec, Tensor};

use crate::elementwise::{copy_converted, prefetch};
use copy_nest::{CopyNest, combine_row_part, is_offset_table};

/// The fewest elements that are worth a thread.
pub const GRAIN_SIZE: usize = 1 << 15;
/// The number of adjacent elements that one thread copies, because they share a cache line.
pub const ELEMENTS_PER_CACHE_LINE: usize = 16;
/// The size at which a dimension is large enough to be divided among threads; the outermost such dimension is divided.
pub const MIN_PARALLEL_DIM_SIZE: i64 = 16;
/// The number of rows between a copied row and the row that is prefetched.
const PREFETCH_ROW_DISTANCE: usize = 8;

/// Copies the elements of `from` to `out`, converted and broadcast.
pub fn copy_elements(out: &mut Tensor, from: &Tensor) -> Result<()> {
    copy_from_argument("self", out, from)
}

/// Copies the elements of `from` to `out`, converted and broadcast; errors call `from` by the name `argument`.
pub fn copy_from_argument(argument: &'static str, out: &mut Tensor, from: &Tensor) -> Result<()> {
    copy_converted(&Operands::borrow(&["out"], [out], &[argument], [from])?);
    Ok(())
}

/// Returns a contiguous copy of a tensor in this dtype.
pub fn to_contiguous(from: &Tensor, dtype: DType) -> Result<Tensor> {
    broadcast_to_contiguous("self", from, dtype, from.sizes())
}

/// Returns a contiguous copy of a tensor, broadcast to `sizes`; errors call `from` by the name `argument`.
pub fn broadcast_to_contiguous(argument: &'static str, from: &Tensor, dtype: DType, sizes: &[i64]) -> Result<Tensor> {
    let mut out = Spec::contiguous(dtype, sizes).on(from.device())?;
    copy_from_argument(argument, &mut out, from)?;
    Ok(out)
}

/// Returns a view with these sizes, strides and offset; the tensor itself if they are not a valid geometry.
pub fn strided_view(tensor: &Tensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    match Geometry::strided(sizes, strides, offset) {
        Some(geometry) => Ok(tensor.restride(geometry)?),
        None => Ok(tensor.clone()),
    }
}

/// The address of an operand's first element, shared among threads.
#[derive(Clone, Copy)]
pub struct BasePointer(pub *mut u8);

// SAFETY: the code that creates a `BasePointer` divides the written elements among the threads.
unsafe impl Send for BasePointer {}

// SAFETY: the code that creates a `BasePointer` divides the written elements among the threads.
unsafe impl Sync for BasePointer {}

impl BasePointer {
    /// Returns the address `bytes` bytes behind the base.
    #[inline]
    pub fn at_byte_offset(self, bytes: isize) -> *mut u8 {
        self.0.wrapping_offset(bytes)
    }
}

/// The offsets of one operand along a dimension, in elements.
#[derive(Clone, Debug)]
pub enum AxisOffsets {
    /// A constant stride between positions.
    Stride(i64),
    /// A table with an offset for each position.
    Table(Vec<i64>),
}

/// A dimension of a copy: its size, and the offsets of both operands along it.
#[derive(Clone, Debug)]
pub struct CopyAxis {
    /// The size of the dimension.
    pub size: i64,
    /// The offsets of the operand that is written.
    pub to: AxisOffsets,
    /// The offsets of the operand that is read.
    pub from: AxisOffsets,
}

impl CopyAxis {
    /// Returns a dimension with a stride for each operand.
    pub fn strided(size: i64, to: i64, from: i64) -> Self {
        Self { size, to: AxisOffsets::Stride(to), from: AxisOffsets::Stride(from) }
    }

    /// Returns whether either operand has a table.
    fn has_table(&self) -> bool {
        is_offset_table(&self.to) || is_offset_table(&self.from)
    }
}

impl AxisOffsets {
    #[inline]
    fn offset_at(&self, at: usize) -> isize {
        match self {
            Self::Stride(stride) => isize::try_from(*stride).unwrap_or(0).wrapping_mul(at.cast_signed()),
            Self::Table(offsets) => isize::try_from(offsets[at]).unwrap_or(0),
        }
    }

    /// Returns the smallest and the largest offset of the first `size` positions; `None` if there are fewer positions, or on overflow.
    fn offset_range(&self, size: i64) -> Option<(i64, i64)> {
        match self {
            Self::Stride(stride) => {
                let last = (size - 1).checked_mul(*stride)?;
                Some((last.min(0), last.max(0)))
            }
            Self::Table(offsets) => {
                let offsets = offsets.get(..usize::try_from(size).ok()?)?;
                Some((*offsets.iter().min()?, *offsets.iter().max()?))
            }
        }
    }
}

/// Runs a block of code with a plain data type of the size of an element.
#[macro_export]
macro_rules! with_word_of_size {
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

pub use with_word_of_size;

/// Copies elements of one dtype along `axes`, the last dimension innermost. Offsets count from each tensor's first element. If an element
/// of `out` is written more than once, the last value stays.
pub fn copy_along_axes(out: &mut Tensor, from: &Tensor, axes: &[CopyAxis]) -> Result<()> {
    with_word_of_size!(from.dtype().size(), Word => combine_words_along_axes::<Word>(out, from, axes, |_, new_element| new_element))
}

/// Combines elements of `from` along `axes` with the elements of `out`: `f` gets the present and the new element.
pub fn combine_along_axes<T: Element>(
    out: &mut Tensor,
    from: &Tensor,
    axes: &[CopyAxis],
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    assert_eq!(from.dtype(), T::DTYPE, "the source has the dtype that elements are combined in");
    combine_words_along_axes(out, from, axes, f)
}

fn combine_words_along_axes<W: Copy>(
    out: &mut Tensor,
    from: &Tensor,
    axes: &[CopyAxis],
    f: impl Fn(W, W) -> W + Sync,
) -> Result<()> {
    let copy_nest = CopyNest::new(axes);
    if copy_nest.count == 0 {
        return Ok(());
    }
    let operands = Operands::borrow(&["out"], [out], &["self"], [from])?;
    CopyNest::check_bounds(&operands, axes)?;
    assert_eq!(size_of::<W>(), operands.read()[0].dtype().size(), "the word type has the size of an element");
    let ([to], [from]) = (operands.written(), operands.read());
    let (to, from) = (BasePointer(to.start()), BasePointer(from.start()));
    copy_nest.visit_in_parallel(&|[to_offset, from_offset], next, at, count| {
        let start = |to_offset, from_offset| {
            (
                to.at_byte_offset(0).cast::<W>().wrapping_offset(to_offset),
                from.at_byte_offset(0).cast::<W>().wrapping_offset(from_offset),
            )
        };
        if let Some([to, from]) = next {
            let (to, from) = start(to, from);
            prefetch::prefetch_for_writing(to.cast(), count.min(ELEMENTS_PER_CACHE_LINE * 4) * size_of::<W>());
            prefetch::prefetch_for_reading(from.cast(), count.min(ELEMENTS_PER_CACHE_LINE * 4) * size_of::<W>());
        }
        let (to, from) = start(to_offset, from_offset);
        // SAFETY: `check_bounds` found every offset inside the storages, which the operands hold; no other thread has the elements of a
        // piece.
        unsafe { combine_row_part(to, from, copy_nest.innermost_axis(), at, count, &f) };
    });
    Ok(())
}
