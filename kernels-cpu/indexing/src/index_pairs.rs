//! Elements selected by an index along a dimension (`gather`), and elements written to such positions (`scatter`).
//!
//! The output is a fresh tensor, so indices are checked during the copy: if one is out of range, the output is discarded.
#![expect(unsafe_code, reason = "the loop nest checked every offset")]

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Element, Geometry, Operand, Problem, operands};

use engine::allocation::to_usize;
use engine::data_movement::{
    BasePointer, ELEMENTS_PER_CACHE_LINE, GRAIN_SIZE, MIN_PARALLEL_DIM_SIZE, to_contiguous, with_word_of_size,
};
use engine::elementwise::loop_nest::LoopNest;
use engine::thread_pool::{parallel_for, region_thread_count};

/// Fills `out`, which has the sizes of the index, with the elements of `this` that the index selects in dimension `dim`.
///
/// # Errors
///
/// Returns [`BadArgument`] if an index is outside the dimension.
pub(crate) fn gather_along(out: &mut Tensor, this: &Tensor, dim: usize, index: &Tensor) -> Result<()> {
    if index.geometry().count() == 0 {
        return Ok(());
    }
    let (out, this, index) = (&mut at_least_1d(out)?, &at_least_1d(this)?, &at_least_1d(&to_i64_index(index)?)?);
    let inside = {
        let operands = operands!(write out; read this, index)?;
        let ([to], [this, index]) = (operands.written(), operands.read());
        let pairs = IndexedElementPairs::new(dim, index, to, this);
        // SAFETY: every element of `to` is visited once. Elements are moved as plain data of their size.
        with_word_of_size!(this.dtype().size(), Word => unsafe {
            pairs.visit_pairs::<Word>(true, |selected, paired| paired.write(selected.read()))
        })
    };
    check_all_in_range(inside, this, dim, index)
}

/// Writes elements of `src`, which is at least as large as the index, to the positions that the index selects. The last one stays.
pub(crate) fn scatter_along(out: &mut Tensor, dim: usize, index: &Tensor, src: &Tensor) -> Result<()> {
    with_word_of_size!(src.dtype().size(), Word => update_selected::<Word>(out, dim, index, src, |_, new_element| new_element))
}

/// Combines elements of `src` with the elements of `out` that the index selects.
pub(crate) fn combine_along<T: Element>(
    out: &mut Tensor,
    dim: usize,
    index: &Tensor,
    src: &Tensor,
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    assert_eq!(src.dtype(), T::DTYPE, "the source has the dtype that elements are combined in");
    update_selected(out, dim, index, src, f)
}

/// Replaces each element that the index selects with `f` of the present and the new element. `W` has the size of the elements.
fn update_selected<W: Copy>(
    out: &mut Tensor,
    dim: usize,
    index: &Tensor,
    src: &Tensor,
    f: impl Fn(W, W) -> W + Sync,
) -> Result<()> {
    if index.geometry().count() == 0 {
        return Ok(());
    }
    let (out, src, index) = (&mut at_least_1d(out)?, &at_least_1d(src)?, &at_least_1d(&to_i64_index(index)?)?);
    let inside = {
        let operands = operands!(write out; read src, index)?;
        let ([to], [src, index]) = (operands.written(), operands.read());
        let pairs = IndexedElementPairs::new(dim, index, src, to);
        assert_eq!(size_of::<W>(), to.dtype().size(), "the word type has the size of an element");
        // SAFETY: threads have pairs that differ in other dimensions than `dim`, so they write different elements.
        unsafe { pairs.visit_pairs::<W>(false, |selected, paired| selected.write(f(selected.read(), paired.read()))) }
    };
    check_all_in_range(inside, out, dim, index)
}

fn to_i64_index(index: &Tensor) -> Result<Tensor> {
    if index.dtype() == DType::I64 { Ok(index.clone()) } else { to_contiguous(index, DType::I64) }
}

/// Returns the tensor, or a view with one dimension if the tensor has none.
fn at_least_1d(tensor: &Tensor) -> Result<Tensor> {
    if !tensor.sizes().is_empty() {
        return Ok(tensor.clone());
    }
    Ok(tensor.restride(Geometry::contiguous(&[1]).with_offset(tensor.geometry().offset()))?)
}

/// Returns an error that names the first index out of range, if `inside` is false.
fn check_all_in_range(inside: bool, selected: &Tensor, dim: usize, index: &Tensor) -> Result<()> {
    if inside {
        return Ok(());
    }
    let size = selected.sizes()[dim];
    let outside =
        to_contiguous(index, DType::I64)?.read::<i64>()?.iter().find(|index| !(0..size).contains(*index)).copied();
    outside.map_or(Ok(()), |index| Err(BadArgument::new("index", Problem::Index { index, size, dim: None }).into()))
}

/// The positions of an index, with an operand of the same sizes (`paired`), and one whose elements the index selects (`selected`).
struct IndexedElementPairs<'a> {
    dim: usize,
    index: &'a Operand<'a>,
    paired: &'a Operand<'a>,
    selected: &'a Operand<'a>,
}

// SAFETY: the operands are held for as long as the loop runs; the caller of `visit_pairs` divides the written elements among the threads.
unsafe impl Sync for IndexedElementPairs<'_> {}

impl<'a> IndexedElementPairs<'a> {
    /// # Panics
    ///
    /// Panics if an operand has no element for a position of the index, or if the two operands differ in dtype.
    fn new(dim: usize, index: &'a Operand<'a>, paired: &'a Operand<'a>, selected: &'a Operand<'a>) -> Self {
        let sizes = index.geometry().sizes();
        let has_all = |operand: &Operand<'_>, but: Option<usize>| {
            let own = operand.geometry().sizes();
            own.len() == sizes.len() && (0..sizes.len()).all(|dim| but == Some(dim) || sizes[dim] <= own[dim])
        };
        let is_planned = index.dtype() == DType::I64 && paired.dtype() == selected.dtype() && dim < sizes.len();
        assert!(
            is_planned && has_all(paired, None) && has_all(selected, Some(dim)),
            "an index of sizes {sizes:?} does not fit the operands in dimension {dim}"
        );
        Self { dim, index, paired, selected }
    }

    /// Calls `f` for every index with the element that it selects and the paired element. Returns whether all indices are in range; others
    /// are skipped. Pairs that differ only in dimension `dim` are visited in order by one thread, unless `apart` is true.
    ///
    /// # Safety
    ///
    /// Elements have the size of `W`. `f` writes no element that another thread accesses: threads have pairs that differ in other
    /// dimensions than `dim` or, if `apart` is true, any pairs.
    unsafe fn visit_pairs<W>(&self, apart: bool, f: impl Fn(*mut W, *mut W) + Sync) -> bool {
        let sizes = self.index.geometry().sizes();
        let free = (0..sizes.len()).filter(|&dim| apart || dim != self.dim);
        let cut = free.max_by_key(|&dim| (sizes[dim].min(MIN_PARALLEL_DIM_SIZE), Reverse(dim)));
        let Some(cut) = cut else {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.visit_range_of_dim::<W>(0, 0..sizes.first().map_or(1, |&size| to_usize(size)), &f) };
        };
        let (size, count) = (to_usize(sizes[cut]), to_usize(self.index.geometry().count()));
        let line = if self.selected.geometry().strides()[cut] == 1 { ELEMENTS_PER_CACHE_LINE } else { 1 };
        let least = if apart { line } else { line.max(size.div_ceil(region_thread_count())) };
        let inside = AtomicBool::new(true);
        parallel_for(0..size, (GRAIN_SIZE / (count / size).max(1)).max(least), |piece| {
            // SAFETY: guaranteed by the caller.
            if !unsafe { self.visit_range_of_dim::<W>(cut, piece, &f) } {
                inside.store(false, Ordering::Relaxed);
            }
        });
        inside.into_inner()
    }

    /// Visits the pairs of a part of one dimension, as [`visit_pairs`](Self::visit_pairs) does.
    ///
    /// # Safety
    ///
    /// The safety conditions of [`visit_pairs`](Self::visit_pairs) hold.
    unsafe fn visit_range_of_dim<W>(&self, cut: usize, piece: Range<usize>, f: &impl Fn(*mut W, *mut W)) -> bool {
        let mut sizes = Dims::from_slice(self.index.geometry().sizes());
        sizes[cut] = i64::try_from(piece.len()).unwrap_or(0);
        let side = |operand: &Operand<'_>, whole: bool| {
            let mut strides = Dims::from_slice(operand.geometry().strides());
            if !whole {
                strides[self.dim] = 0;
            }
            let first = i64::try_from(piece.start).unwrap_or(0) * strides[cut];
            let bytes = isize::try_from(first).unwrap_or(0) * operand.dtype().size().cast_signed();
            (Geometry::strided(&sizes, &strides, 0), BasePointer(operand.start().wrapping_offset(bytes)))
        };
        let ((Some(index), positions), (Some(paired), paired_start), (Some(selected), start)) =
            (side(self.index, true), side(self.paired, true), side(self.selected, false))
        else {
            return true;
        };
        let nest =
            LoopNest::new(&sizes, [(&index, size_of::<i64>()), (&paired, size_of::<W>()), (&selected, size_of::<W>())]);
        let dim_stride =
            self.selected.geometry().strides()[self.dim].wrapping_mul(i64::try_from(size_of::<W>()).unwrap_or(0));
        let length = self.selected.geometry().sizes()[self.dim].cast_unsigned();
        let (_, [step, other_step, start_step]) = nest.innermost_dim();
        let side_by_side = (step, other_step) == (size_of::<i64>().cast_signed(), size_of::<W>().cast_signed());
        let mut inside = true;
        nest.visit_rows(0, nest.element_count(), |[position, paired_offset, from], count| {
            let row = IndexRow {
                positions: positions.at_byte_offset(position).cast(),
                paired: paired_start.at_byte_offset(paired_offset).cast::<W>(),
                selected: start.at_byte_offset(from),
                step: start_step,
                dim_stride,
                length,
            };
            // SAFETY: the operands' geometries have elements for all positions of the index; indices along the dimension are checked.
            inside &= unsafe {
                // Calls with constant strides, for which the compiler generates faster code.
                if side_by_side {
                    row.visit_pairs(8, size_of::<W>().cast_signed(), count, f)
                } else {
                    row.visit_pairs(step, other_step, count, f)
                }
            };
        });
        inside
    }
}

/// A row of indices, with the paired elements and the selected elements. Distances are in bytes.
struct IndexRow<W> {
    positions: *const i64,
    paired: *mut W,
    selected: *mut u8,
    /// The stride of the selected elements, without the effect of the indices.
    step: isize,
    /// The stride of the selected elements along the indexed dimension.
    dim_stride: i64,
    /// The size of the indexed dimension.
    length: u64,
}

impl<W> IndexRow<W> {
    /// # Safety
    ///
    /// There are `count` indices, as many elements beside them, and elements for the indices that are in range.
    #[inline(always)]
    unsafe fn visit_pairs(&self, step: isize, paired_step: isize, count: usize, f: &impl Fn(*mut W, *mut W)) -> bool {
        let mut inside = true;
        for i in 0..count.cast_signed() {
            // SAFETY: guaranteed by the caller.
            let position = unsafe { self.positions.byte_offset(i * step).read() };
            if position.cast_unsigned() < self.length {
                // The distance fits `isize`, as it is inside a block of memory.
                #[expect(clippy::cast_possible_truncation, reason = "the distance is inside a block of memory")]
                let offset = i * self.step + (position * self.dim_stride) as isize;
                f(self.selected.wrapping_offset(offset).cast(), self.paired.wrapping_byte_offset(i * paired_step));
            } else {
                inside = false;
            }
        }
        inside
    }
}
