//! Kernels of operators that select elements by index.
//!
//! Indices become a table of offsets, which are checked and wrapped before anything is copied.

use std::ops::Range;

use aten::IndexPlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Problem, broadcast_strides};

use crate::index_pairs::gather_along;
use engine::allocation::to_usize;
use engine::data_movement::{self, AxisOffsets, CopyAxis, copy_along_axes, strided_view, to_contiguous};

/// Returns a contiguous index of dtype `I64`.
fn contiguous_i64_index(index: &Tensor) -> Result<Tensor> {
    let is_ready = index.dtype() == DType::I64 && index.geometry().is_contiguous();
    if is_ready { Ok(index.clone()) } else { to_contiguous(index, DType::I64) }
}

/// Returns the elements of an index tensor in row-major order.
pub(crate) fn index_to_vec(index: &Tensor) -> Result<Vec<i64>> {
    contiguous_i64_index(index)?.to_vec::<i64>()
}

/// The meaning of negative indices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NegativeIndex {
    Wrap,
    Reject,
}

/// Returns an error if an index is outside a dimension of this size. Negative indices are wrapped if `negative` allows it.
pub(crate) fn check_indices(
    argument: &'static str,
    positions: &mut [i64],
    size: i64,
    negative: NegativeIndex,
) -> Result<(), BadArgument> {
    for position in positions {
        let index = *position;
        if index < 0 && negative == NegativeIndex::Wrap {
            *position = index.saturating_add(size);
        }
        if !(0..size).contains(position) {
            return Err(BadArgument::new(argument, Problem::Index { index, size, dim: None }));
        }
    }
    Ok(())
}

/// Returns the sizes of a tensor; `[1]` for a tensor without dimensions.
pub(crate) fn sizes_or_one(tensor: &Tensor) -> &[i64] {
    if tensor.sizes().is_empty() { &[1] } else { tensor.sizes() }
}

/// Fills a contiguous tensor with the elements of another tensor at these offsets.
pub(super) fn copy_at_offsets(out: &mut Tensor, this: &Tensor, offsets: Vec<i64>) -> Result<()> {
    let size = out.geometry().count();
    copy_along_axes(out, this, &[CopyAxis { size, to: AxisOffsets::Stride(1), from: AxisOffsets::Table(offsets) }])
}

#[op_impl(aten::gather, CPU)]
fn gather(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    gather_along(out, this, *plan, index)
}

#[op_impl(aten::take, CPU)]
fn take(_plan: &(), out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let mut positions = index_to_vec(index)?;
    check_indices("index", &mut positions, this.geometry().count(), NegativeIndex::Wrap)?;
    copy_at_offsets(out, &to_contiguous(this, this.dtype())?, positions)
}

#[op_impl(aten::index_select, CPU)]
fn index_select(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let at = *plan;
    if at + 1 == this.sizes().len() && out.geometry().count() > 0 {
        // All rows use the same indices.
        let mut strides = Dims::from_elem(0, at + 1);
        strides[at] = index.strides().first().copied().unwrap_or(1);
        return match Geometry::strided(out.sizes(), &strides, index.geometry().offset()) {
            Some(rows) => gather_along(out, this, at, &index.restride(rows)?),
            None => Ok(()),
        };
    }
    let (sizes, strides) = (Dims::from_slice(out.sizes()), Dims::from_slice(out.strides()));
    let (size, stride) = (this.sizes().get(at).copied().unwrap_or(1), this.strides().get(at).copied().unwrap_or(1));
    let index = contiguous_i64_index(index)?;
    // Works in chunks of indices, because a table of all offsets would be as large as the index.
    for (number, positions) in (0..).zip(index.read::<i64>()?.chunks(INDICES_PER_CHUNK)) {
        let mut offsets = positions.to_vec();
        check_indices("index", &mut offsets, size, NegativeIndex::Reject)?;
        offsets.iter_mut().for_each(|offset| *offset *= stride);
        let count = i64::try_from(offsets.len()).unwrap_or(0);
        let whole = |dim: usize| CopyAxis::strided(sizes[dim], strides[dim], this.strides()[dim]);
        let mut axes: Vec<CopyAxis> = (0..this.sizes().len()).map(whole).collect();
        let mut part = (sizes.clone(), out.geometry().offset());
        if let Some(axis) = axes.get_mut(at) {
            *axis = CopyAxis { size: count, from: AxisOffsets::Table(offsets), to: axis.to.clone() };
            part.0[at] = count;
            part.1 += number * i64::try_from(INDICES_PER_CHUNK).unwrap_or(0) * strides[at];
        }
        if let Some(part) = Geometry::strided(&part.0, &strides, part.1) {
            copy_along_axes(&mut out.restride(part)?, this, &axes)?;
        }
    }
    Ok(())
}

/// The number of indices that are converted to offsets at a time.
const INDICES_PER_CHUNK: usize = 1 << 14;

/// The indices of several dimensions.
pub(crate) struct IndexLists<'a> {
    indexed: &'a IndexPlan,
    /// For each indexed dimension, the indices, broadcast and contiguous.
    positions: Vec<Tensor>,
}

impl<'a> IndexLists<'a> {
    pub(crate) fn new(indexed: &'a IndexPlan) -> Result<Self> {
        let is_usable = |list: &Tensor| {
            list.dtype() == DType::I64 && list.geometry().is_contiguous() && *list.sizes() == *indexed.index_sizes
        };
        let positions = indexed.indices.iter().map(|list| {
            if is_usable(list) {
                return Ok(list.clone());
            }
            data_movement::broadcast_to_contiguous("indices", list, DType::I64, &indexed.index_sizes)
        });
        Ok(Self { indexed, positions: positions.collect::<Result<_>>()? })
    }

    /// Returns the dimensions of a copy for some of the positions: for each the size, the step in a tensor of these sizes and strides, and
    /// the step in a contiguous tensor of the selected elements.
    pub(crate) fn dims_of_copy(
        &self,
        some: Range<usize>,
        sizes: &[i64],
        strides: &[i64],
    ) -> Result<Vec<(i64, AxisOffsets, AxisOffsets)>> {
        let IndexPlan { sizes: picked, index_sizes, index_dim: at, dims, .. } = self.indexed;
        let mut offsets: Option<Vec<i64>> = None;
        for (&dim, list) in dims.iter().zip(&self.positions) {
            let mut positions = list.read::<i64>()?[some.clone()].to_vec();
            check_indices("indices", &mut positions, sizes[dim], NegativeIndex::Wrap)?;
            positions.iter_mut().for_each(|position| *position *= strides[dim]);
            if let Some(offsets) = &mut offsets {
                offsets.iter_mut().zip(positions).for_each(|(offset, more)| *offset += more);
            } else {
                offsets = Some(positions);
            }
        }
        let offsets = offsets.unwrap_or_else(|| vec![0; some.len()]);
        let dense = Geometry::contiguous(picked);
        let others = dense.strides()[..*at].iter().chain(&dense.strides()[at + index_sizes.len()..]);
        let whole = (0..sizes.len()).filter(|dim| !dims.contains(dim));
        let mut steps: Vec<_> = whole
            .zip(others)
            .map(|(dim, &stride)| (sizes[dim], AxisOffsets::Stride(strides[dim]), AxisOffsets::Stride(stride)))
            .collect();
        let size = i64::try_from(some.len()).unwrap_or(0);
        steps.insert(*at, (size, AxisOffsets::Table(offsets), AxisOffsets::Stride(self.elements_per_position())));
        Ok(steps)
    }

    /// Returns the number of positions that the indices select.
    pub(crate) fn position_count(&self) -> usize {
        to_usize(dispatch_runtime::element_count(&self.indexed.index_sizes))
    }

    /// Returns the number of contiguous elements that one position selects.
    fn elements_per_position(&self) -> i64 {
        dispatch_runtime::element_count(&self.indexed.sizes[self.indexed.index_dim + self.indexed.index_sizes.len()..])
    }
}

#[op_impl(aten::index, CPU)]
fn index(plan: &IndexPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let lists = IndexLists::new(plan)?;
    // Works in chunks of indices, because a table of all offsets would be as large as an index.
    for first in (0..lists.position_count()).step_by(INDICES_PER_CHUNK) {
        let some = first..lists.position_count().min(first + INDICES_PER_CHUNK);
        let steps = lists.dims_of_copy(some, this.sizes(), this.strides())?;
        let axes: Vec<CopyAxis> = steps.into_iter().map(|(size, from, to)| CopyAxis { size, to, from }).collect();
        if out.geometry().count() > 0 {
            let start = out.geometry().offset() + i64::try_from(first).unwrap_or(0) * lists.elements_per_position();
            copy_along_axes(&mut out.restride(Geometry::contiguous(&[]).with_offset(start))?, this, &axes)?;
        }
    }
    Ok(())
}

/// Returns a view of a tensor, broadcast to `sizes`.
pub(super) fn expanded_view(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    strided_view(tensor, sizes, &broadcast_strides(tensor.geometry(), sizes), tensor.geometry().offset())
}
