//! Kernels of operators that select elements by index.
//!
//! Indices become a table of offsets, which are checked and wrapped before anything is copied.

use std::ops::Range;

use aten::IndexPlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Problem, broadcast_strides};

use crate::gather::gathered;
use engine::allocation::usized;
use engine::data_movement::{self, Axis, Step, copy_along, packed, viewed};

/// Returns a contiguous index of dtype `I64`.
fn side_by_side(index: &Tensor) -> Result<Tensor> {
    let is_ready = index.dtype() == DType::I64 && index.geometry().is_contiguous();
    if is_ready { Ok(index.clone()) } else { packed(index, DType::I64) }
}

/// Returns the indices in row-major order.
pub(crate) fn positions(index: &Tensor) -> Result<Vec<i64>> {
    side_by_side(index)?.to_vec::<i64>()
}

/// The meaning of negative indices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Negative {
    Wraps,
    IsOutside,
}

/// Returns an error if an index is outside a dimension of this size. Negative indices are wrapped if `negative` allows it.
pub(crate) fn inside(
    argument: &'static str,
    positions: &mut [i64],
    size: i64,
    negative: Negative,
) -> Result<(), BadArgument> {
    for position in positions {
        let index = *position;
        if index < 0 && negative == Negative::Wraps {
            *position = index.saturating_add(size);
        }
        if !(0..size).contains(position) {
            return Err(BadArgument::new(argument, Problem::Index { index, size }));
        }
    }
    Ok(())
}

/// Returns the sizes of a tensor; `[1]` for a tensor without dimensions.
pub(crate) fn sizes_or_one(tensor: &Tensor) -> &[i64] {
    if tensor.sizes().is_empty() { &[1] } else { tensor.sizes() }
}

/// Fills a contiguous tensor with the elements of another tensor at these offsets.
pub(super) fn picked(out: &mut Tensor, this: &Tensor, places: Vec<i64>) -> Result<()> {
    let size = out.geometry().count();
    copy_along(out, this, &[Axis { size, to: Step::Stride(1), from: Step::Table(places) }])
}

#[op_impl(aten::gather, CPU)]
fn gather(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    gathered(out, this, *plan, index)
}

#[op_impl(aten::take, CPU)]
fn take(_plan: &(), out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let mut positions = positions(index)?;
    inside("index", &mut positions, this.geometry().count(), Negative::Wraps)?;
    picked(out, &packed(this, this.dtype())?, positions)
}

#[op_impl(aten::index_select, CPU)]
fn index_select(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let at = *plan;
    if at + 1 == this.sizes().len() && out.geometry().count() > 0 {
        // All rows use the same indices.
        let mut strides = Dims::from_elem(0, at + 1);
        strides[at] = index.strides().first().copied().unwrap_or(1);
        return match Geometry::strided(out.sizes(), &strides, index.geometry().offset()) {
            Some(rows) => gathered(out, this, at, &index.restride(rows)?),
            None => Ok(()),
        };
    }
    let (sizes, strides) = (Dims::from_slice(out.sizes()), Dims::from_slice(out.strides()));
    let (size, stride) = (this.sizes().get(at).copied().unwrap_or(1), this.strides().get(at).copied().unwrap_or(1));
    let index = side_by_side(index)?;
    // In chunks, because a table of all offsets would be as large as the index.
    for (number, positions) in (0..).zip(index.read::<i64>()?.chunks(TOGETHER)) {
        let mut places = positions.to_vec();
        inside("index", &mut places, size, Negative::IsOutside)?;
        places.iter_mut().for_each(|place| *place *= stride);
        let count = i64::try_from(places.len()).unwrap_or(0);
        let whole = |dim: usize| Axis::strided(sizes[dim], strides[dim], this.strides()[dim]);
        let mut axes: Vec<Axis> = (0..this.sizes().len()).map(whole).collect();
        let mut part = (sizes.clone(), out.geometry().offset());
        if let Some(axis) = axes.get_mut(at) {
            *axis = Axis { size: count, from: Step::Table(places), to: axis.to.clone() };
            part.0[at] = count;
            part.1 += number * i64::try_from(TOGETHER).unwrap_or(0) * strides[at];
        }
        if let Some(part) = Geometry::strided(&part.0, &strides, part.1) {
            copy_along(&mut out.restride(part)?, this, &axes)?;
        }
    }
    Ok(())
}

/// The number of indices that are converted to offsets at a time.
const TOGETHER: usize = 1 << 14;

/// The indices of several dimensions.
pub(crate) struct Lists<'a> {
    indexed: &'a IndexPlan,
    /// For each indexed dimension, the indices, broadcast and contiguous.
    positions: Vec<Tensor>,
}

impl<'a> Lists<'a> {
    pub(crate) fn of(indexed: &'a IndexPlan) -> Result<Self> {
        let ready = |list: &Tensor| {
            list.dtype() == DType::I64 && list.geometry().is_contiguous() && *list.sizes() == *indexed.index_sizes
        };
        let positions = indexed.indices.iter().map(|list| {
            if ready(list) {
                return Ok(list.clone());
            }
            data_movement::broadcast_contiguous("indices", list, DType::I64, &indexed.index_sizes)
        });
        Ok(Self { indexed, positions: positions.collect::<Result<_>>()? })
    }

    /// Returns the dimensions of a copy for some of the positions: for each the size, the step in a tensor of these sizes and strides, and
    /// the step in a contiguous tensor of the selected elements.
    pub(crate) fn steps(&self, some: Range<usize>, sizes: &[i64], strides: &[i64]) -> Result<Vec<(i64, Step, Step)>> {
        let IndexPlan { sizes: picked, index_sizes, index_dim: at, dims, .. } = self.indexed;
        let mut places: Option<Vec<i64>> = None;
        for (&dim, list) in dims.iter().zip(&self.positions) {
            let mut positions = list.read::<i64>()?[some.clone()].to_vec();
            inside("indices", &mut positions, sizes[dim], Negative::Wraps)?;
            positions.iter_mut().for_each(|position| *position *= strides[dim]);
            if let Some(places) = &mut places {
                places.iter_mut().zip(positions).for_each(|(place, more)| *place += more);
            } else {
                places = Some(positions);
            }
        }
        let places = places.unwrap_or_else(|| vec![0; some.len()]);
        let dense = Geometry::contiguous(picked);
        let others = dense.strides()[..*at].iter().chain(&dense.strides()[at + index_sizes.len()..]);
        let whole = (0..sizes.len()).filter(|dim| !dims.contains(dim));
        let mut steps: Vec<_> = whole
            .zip(others)
            .map(|(dim, &stride)| (sizes[dim], Step::Stride(strides[dim]), Step::Stride(stride)))
            .collect();
        let size = i64::try_from(some.len()).unwrap_or(0);
        steps.insert(*at, (size, Step::Table(places), Step::Stride(self.width())));
        Ok(steps)
    }

    /// Returns the number of positions.
    pub(crate) fn count(&self) -> usize {
        usized(dispatch_runtime::element_count(&self.indexed.index_sizes))
    }

    /// Returns the number of contiguous elements that one position selects.
    fn width(&self) -> i64 {
        dispatch_runtime::element_count(&self.indexed.sizes[self.indexed.index_dim + self.indexed.index_sizes.len()..])
    }
}

#[op_impl(aten::index, CPU)]
fn index(plan: &IndexPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let lists = Lists::of(plan)?;
    // In chunks, because a table of all offsets would be as large as an index.
    for first in (0..lists.count()).step_by(TOGETHER) {
        let some = first..lists.count().min(first + TOGETHER);
        let steps = lists.steps(some, this.sizes(), this.strides())?;
        let axes: Vec<Axis> = steps.into_iter().map(|(size, from, to)| Axis { size, to, from }).collect();
        if out.geometry().count() > 0 {
            let start = out.geometry().offset() + i64::try_from(first).unwrap_or(0) * lists.width();
            copy_along(&mut out.restride(Geometry::contiguous(&[]).at(start))?, this, &axes)?;
        }
    }
    Ok(())
}

/// Returns a view of a tensor, broadcast to `sizes`.
pub(super) fn expanded(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    viewed(tensor, sizes, &broadcast_strides(tensor.geometry(), sizes), tensor.geometry().offset())
}
