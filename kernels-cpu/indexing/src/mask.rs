//! Positions that a mask selects.
//!
//! The selected elements are counted per block first. So each block knows its offset in the result, and threads can share the rest.
#![expect(unsafe_code, reason = "the offsets were counted before")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Bool, DType, Dims, Operand, ReadGuard, Result, Spec, Tensor, operands};

use crate::index::{copy_at_offsets, expanded_view};
use engine::allocation::to_usize;
use engine::data_movement::{
    self, AxisOffsets, CopyAxis, copy_along_axes, strided_view, to_contiguous, with_word_of_size,
};
use engine::thread_pool::{DisjointLines, DisjointSlices, parallel_for};

/// The positions of a tensor's nonzero elements.
///
/// The mask is read twice, to count and to select, and must not change in between, because results have the counted size. So it is borrowed
/// from the first read to the last, or is a private copy.
pub(crate) struct MaskedPositions<'a> {
    flags: MaskFlags<'a>,
    sizes: Dims,
    /// The number of selected elements before each block, and the total.
    starts: Vec<usize>,
}

enum MaskFlags<'a> {
    Borrowed(ReadGuard<'a, Bool>),
    Copied(Tensor),
}

impl MaskFlags<'_> {
    fn with_flags<R>(&self, f: impl FnOnce(&[Bool]) -> R) -> Result<R> {
        Ok(match self {
            Self::Borrowed(flags) => f(flags),
            Self::Copied(flags) => f(&flags.read::<Bool>()?),
        })
    }
}

/// The number of elements of a block.
const ELEMENTS_PER_BLOCK: usize = 1 << 12;
/// The fewest blocks that are worth a thread.
const GRAIN_SIZE: usize = 8;

impl<'a> MaskedPositions<'a> {
    pub(crate) fn new(mask: &'a Tensor) -> Result<Self> {
        let flags = if mask.dtype() == DType::Bool && mask.geometry().is_contiguous() {
            MaskFlags::Borrowed(mask.read::<Bool>()?)
        } else {
            MaskFlags::Copied(to_contiguous(mask, DType::Bool)?)
        };
        let mut starts = flags.with_flags(|flags| {
            let blocks = flags.len().div_ceil(ELEMENTS_PER_BLOCK);
            let mut counts = vec![0; blocks + 1];
            DisjointLines::new(&mut counts[..blocks], 1).for_each(GRAIN_SIZE, |block, count| {
                let flags = &flags[block * ELEMENTS_PER_BLOCK..flags.len().min((block + 1) * ELEMENTS_PER_BLOCK)];
                count[0] = flags.iter().filter(|flag| flag.0 != 0).count();
            });
            counts
        })?;
        let mut before = 0;
        for start in &mut starts {
            before += std::mem::replace(start, before);
        }
        Ok(Self { flags, sizes: Dims::from_slice(mask.sizes()), starts })
    }

    /// Returns the number of elements that the mask selects.
    pub(crate) fn selected_count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Writes the results of `fill` for all selected positions, a block at a time. Positions count elements in row-major order.
    pub(crate) fn map_positions_into<T: Send>(
        &self,
        out: &mut [T],
        fill: impl Fn(&[usize], &mut [T]) + Sync,
    ) -> Result<()> {
        let out = DisjointSlices::new(&mut out[..self.selected_count()]);
        self.flags.with_flags(|flags| {
            parallel_for(0..self.starts.len() - 1, GRAIN_SIZE, |blocks| {
                let mut positions = vec![0; ELEMENTS_PER_BLOCK];
                for block in blocks {
                    let flags = &flags[block * ELEMENTS_PER_BLOCK..flags.len().min((block + 1) * ELEMENTS_PER_BLOCK)];
                    let mut count = 0;
                    for (position, flag) in (block * ELEMENTS_PER_BLOCK..).zip(flags) {
                        positions[count % ELEMENTS_PER_BLOCK] = position;
                        count += usize::from(flag.0 != 0);
                    }
                    let [start, end] = [self.starts[block], self.starts[block + 1]];
                    assert_eq!(count, end - start, "the mask has not changed since its elements were counted");
                    // SAFETY: the range was counted before; it follows the ranges of the blocks before it.
                    let out = unsafe { out.slice(start..end) };
                    fill(&positions[..count], out);
                }
            });
        })
    }

    /// Returns the selected elements of a contiguous tensor with the mask's sizes.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the tensor is not contiguous or has other sizes.
    pub(crate) fn selected_elements(&self, this: &Tensor) -> Result<Tensor> {
        if !this.geometry().is_contiguous() || *this.sizes() != *self.sizes {
            let expected = format!("{:?}, contiguous, like the mask", &self.sizes[..]);
            return Err(BadArgument::sizes("self", this.sizes(), expected).into());
        }
        let count = self.selected_count();
        let mut out = Spec::contiguous(this.dtype(), &[i64::try_from(count).unwrap_or(i64::MAX)]).on(this.device())?;
        let operands = operands!(write out; read this)?;
        let ([to], [from]) = (operands.written(), operands.read());
        // SAFETY: `Word` has the size of the elements, both operands are contiguous, and there is room for `count` elements.
        with_word_of_size!(this.dtype().size(), Word => unsafe { self.copy_selected::<Word>(to, from)? });
        drop(operands);
        Ok(out)
    }

    /// # Safety
    ///
    /// Elements of both operands have the size of `W` and are contiguous; there is room for as many as are selected.
    unsafe fn copy_selected<W: Copy + Send + Sync>(&self, to: &Operand<'_>, from: &Operand<'_>) -> Result<()> {
        // SAFETY: the operands hold the elements, and the caller guarantees the rest.
        let (to, from) = unsafe {
            let all = std::slice::from_raw_parts(from.start().cast::<W>(), to_usize(from.geometry().count()));
            (std::slice::from_raw_parts_mut(to.start().cast::<W>(), self.selected_count()), all)
        };
        self.map_positions_into(to, |positions, to| {
            to.iter_mut().zip(positions).for_each(|(to, &position)| *to = from[position]);
        })
    }

    /// Returns the selected positions, in row-major order.
    pub(crate) fn flat_positions(&self) -> Result<Vec<i64>> {
        let mut all = vec![0; self.selected_count()];
        self.map_positions_into(&mut all, |positions, out| {
            out.iter_mut().zip(positions).for_each(|(to, &position)| *to = i64::try_from(position).unwrap_or(i64::MAX));
        })?;
        Ok(all)
    }

    /// Writes the coordinates of the selected positions in a dimension.
    pub(crate) fn write_coordinates(&self, dim: usize, out: &mut [i64]) -> Result<()> {
        let sizes = &self.sizes;
        let stride = to_usize(dispatch_runtime::element_count(&sizes[dim + 1..]));
        let size = to_usize(sizes[dim]);
        self.map_positions_into(out, |positions, out| {
            // Adjacent positions usually have the same coordinate, or the next one.
            let (mut coordinate, mut start, mut end) = (0, 0, 0);
            for (to, &position) in out.iter_mut().zip(positions) {
                if stride == 1 && position < end {
                    coordinate = position - start;
                } else if position >= end {
                    let number = position / stride;
                    coordinate = number % size;
                    (start, end) = if stride == 1 {
                        (position - coordinate, position - coordinate + size)
                    } else {
                        (number * stride, (number + 1) * stride)
                    };
                }
                *to = i64::try_from(coordinate).unwrap_or(i64::MAX);
            }
        })
    }
}

/// Returns the coordinates of the nonzero elements, a contiguous row for each dimension, and the number of these elements.
fn nonzero_coordinates(this: &Tensor) -> Result<(Tensor, usize)> {
    let (selected, rank) = (MaskedPositions::new(this)?, this.sizes().len());
    let count = selected.selected_count();
    let sizes = [i64::try_from(rank).unwrap_or(0), i64::try_from(count).unwrap_or(i64::MAX)];
    let mut columns = Spec::contiguous(DType::I64, &sizes).on(Device::CPU)?;
    if count > 0 {
        let mut columns = columns.write::<i64>()?;
        for (dim, column) in columns.chunks_exact_mut(count).enumerate() {
            selected.write_coordinates(dim, column)?;
        }
    }
    Ok((columns, count))
}

#[op_impl(aten::nonzero, CPU)]
fn nonzero(this: &Tensor) -> Result<Tensor> {
    let (columns, _) = nonzero_coordinates(this)?;
    let &[rank, count] = columns.sizes() else { return Ok(columns) };
    strided_view(&columns, &[count, rank], &[1, count], 0)
}

#[op_impl(aten::nonzero_static, CPU)]
fn nonzero_static(_plan: &(), out: &mut Tensor, this: &Tensor, fill_value: i64) -> Result<()> {
    let ((columns, count), rank) = (nonzero_coordinates(this)?, this.sizes().len());
    let (mut rows, columns) = (out.write::<i64>()?, columns.read::<i64>()?);
    rows.fill(fill_value);
    for (row, to) in rows.chunks_exact_mut(rank.max(1)).take(count).enumerate() {
        to.iter_mut().enumerate().for_each(|(dim, to)| *to = columns[dim * count + row]);
    }
    Ok(())
}

/// Returns the memory offsets of the elements of `this` that the mask selects. Both have the same sizes.
fn masked_offsets(this: &Tensor, mask: &Tensor) -> Result<Vec<i64>> {
    let selected = MaskedPositions::new(mask)?;
    if this.geometry().is_contiguous() {
        return selected.flat_positions();
    }
    let (mut offsets, mut coordinates) = (vec![0; selected.selected_count()], vec![0; selected.selected_count()]);
    for (dim, stride) in this.strides().iter().enumerate() {
        selected.write_coordinates(dim, &mut coordinates)?;
        offsets.iter_mut().zip(&coordinates).for_each(|(offset, coordinate)| *offset += coordinate * stride);
    }
    Ok(offsets)
}

#[op_impl(aten::masked_select, CPU)]
fn masked_select(plan: &Dims, this: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let (this, mask) = (expanded_view(this, plan)?, expanded_view(mask, plan)?);
    if this.geometry().is_contiguous() {
        return MaskedPositions::new(&mask)?.selected_elements(&this);
    }
    let offsets = masked_offsets(&this, &mask)?;
    let spec = Spec::contiguous(this.dtype(), &[i64::try_from(offsets.len()).unwrap_or(i64::MAX)]);
    let mut out = spec.on(this.device())?;
    copy_at_offsets(&mut out, &this, offsets)?;
    Ok(out)
}

#[op_impl(aten::masked_scatter, CPU)]
fn masked_scatter(_plan: &(), out: &mut Tensor, this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<()> {
    let mask = expanded_view(mask, out.sizes())?;
    let offsets = masked_offsets(out, &mask)?;
    let size = i64::try_from(offsets.len()).unwrap_or(i64::MAX);
    if source.geometry().count() < size {
        return Err(BadArgument::element_count("source", source.sizes(), size..)
            .because("the mask selects that many elements")
            .into());
    }
    data_movement::copy_elements(out, this)?;
    let source = to_contiguous(source, source.dtype())?;
    copy_along_axes(out, &source, &[CopyAxis { size, to: AxisOffsets::Table(offsets), from: AxisOffsets::Stride(1) }])
}
