//! CUDA kernels of `index_copy`, `index_add`, `index_reduce` and `index_fill`. [`SortedRows`] adds rows of equal index in their order, so
//! its sums do not depend on the number of threads.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{IndexAddPlan, ReductionType, ScatterReducePlan};

use super::index::{dim_size_and_byte_stride, strided_pointer_except_dim};
use super::scatter::source_elements;
use super::scatter_target::ScatterTarget;
use crate::engine::data_movement::StridedPointer;
use crate::engine::gather::{IndexList, IndexLists, ScatterSource, combine_dtype};
use crate::engine::sort_select::SortInput;
use crate::engine::transfer::contiguous_copy;
use crate::engine::walk::WalkDims;
use crate::prelude::*;

kernel! {
    // SAFETY: keys and positions are allocated here, one for each of `count` rows. A row is written only if its key is less than `limit`.
    static INDEX_ADD_KERNEL = unsafe { Kernel::new("index_add", include_str!("../../../kernels/indexing/index_add.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["add_tiles", "join_tiles"], &[DType::F32, DType::F64, DType::I32, DType::I64]);
        instances.add_for_each_dtype("inverse_counts", &[DType::F32, DType::F64]);
    }) };
}

/// The number of rows that a thread adds.
const ROWS_PER_THREAD: i64 = 32;

define_parameters! {
    /// The kernels' `struct SortedRows`: the keys, the source and the target of the rows.
    struct SortedRowsParameter {
        count: i64,
        width: u32,
        keys: DevicePointer,
        limit: i64,
        skipped: i64,
        positions: DevicePointer,
        source_rows: DevicePointer,
        rows: i64,
        source: DevicePointer,
        source_stride: i64,
        dtype: i32,
        target: DevicePointer,
        target_stride: i64,
        scales: DevicePointer,
    }
}

/// Rows that are sorted by key. The key of a row is the index of its target row.
pub(crate) struct SortedRows {
    keys: Tensor,
    positions: Tensor,
    pub(crate) limit: i64,
    /// The key of rows that are skipped.
    pub(crate) skipped: i64,
}

/// The layout of the source or target rows: the first row's address, the stride between rows, and the strides within a row.
pub(crate) struct RowLayout {
    pub(crate) address: DevicePointer,
    pub(crate) row_stride: i64,
    pub(crate) byte_strides: Dims,
}

impl RowLayout {
    /// Describes the rows of a contiguous matrix.
    pub(crate) fn from_matrix(launch: Launch, matrix: &Tensor) -> Result<Self> {
        let element = element_size(matrix);
        let row_stride = matrix.sizes().last().copied().unwrap_or(1) * element;
        Ok(Self { address: launch.pointer(matrix)?, row_stride, byte_strides: [element].into_iter().collect() })
    }
}

impl SortedRows {
    /// Sorts rows by their keys, which are at most `limit`.
    pub(crate) fn new(keys: &Tensor, limit: i64, skipped: i64) -> Result<Self> {
        let (keys, positions) = SortInput::from_single_line(keys).with_max_value(limit).sort()?;
        Ok(Self { keys, positions, limit, skipped })
    }

    /// Adds rows of these sizes, each multiplied by its scale, to their target rows. If `source_rows` is given, it has the source row of
    /// each key, and the number of source rows.
    pub(crate) fn add_to_targets(
        &self,
        dtype: DType,
        sizes: &[i64],
        to: &RowLayout,
        from: &RowLayout,
        source_rows: Option<(&Tensor, i64)>,
        scales: Option<&Tensor>,
    ) -> Result<()> {
        let (launch, count) = (Launch::on_device_of(&self.keys)?, self.keys.geometry().count());
        if count == 0 || sizes.contains(&0) {
            return Ok(());
        }
        let computed = combine_dtype(dtype);
        let tiles = (count - 1) / ROWS_PER_THREAD + 1;
        let parameter = SortedRowsParameter {
            count,
            width: 0,
            keys: launch.pointer(&self.keys)?,
            limit: self.limit,
            skipped: self.skipped,
            positions: launch.pointer(&self.positions)?,
            source_rows: launch.pointer_or_null(source_rows.map(|(rows, _)| rows))?,
            rows: source_rows.map_or(0, |(_, rows)| rows),
            source: from.address,
            source_stride: from.row_stride,
            dtype: dtype as i32,
            target: to.address,
            target_stride: to.row_stride,
            scales: launch.pointer_or_null(scales)?,
        };
        for (walk, width, offsets) in
            WalkDims::new(sizes, &[to.byte_strides.clone(), from.byte_strides.clone()]).split_for_32_bits()
        {
            let partial = Spec::contiguous(computed, &[tiles * 2, i64::from(width)]).on(launch.device())?;
            let parameter = SortedRowsParameter {
                width,
                target: to.address.offset(offsets[0]),
                source: from.address.offset(offsets[1]),
                ..parameter
            };
            for template in ["add_tiles", "join_tiles"] {
                launch.run_per_element(
                    &INDEX_ADD_KERNEL,
                    template,
                    &[computed],
                    tiles * i64::from(width),
                    (parameter, walk, &partial),
                )?;
            }
        }
        Ok(())
    }

    /// Returns the rows' scales, divided by the number of rows with the same key. Without `scales`, each scale is one.
    pub(crate) fn scales_over_count(&self, scales: Option<Tensor>, computed: DType) -> Result<Tensor> {
        let (launch, count, has_scales) =
            (Launch::on_device_of(&self.keys)?, self.keys.geometry().count(), scales.is_some());
        let scales = match scales {
            Some(scales) => scales,
            None => Spec::contiguous(computed, &[count]).on(launch.device())?,
        };
        launch.run_per_element(
            &INDEX_ADD_KERNEL,
            "inverse_counts",
            &[computed],
            count,
            (count, &self.keys, &self.positions, &scales, has_scales),
        )?;
        Ok(scales)
    }
}

/// Returns a function that describes the rows of a tensor of rank `rank` that a one-dimensional index selects along dimension `at`.
fn row_finder_along(
    index: &Tensor,
    rank: usize,
    at: usize,
    (wraps, site): (bool, FaultSite),
) -> impl Fn(Launch, &Tensor) -> Result<(StridedPointer, IndexLists)> {
    move |launch, tensor| {
        let list = IndexList::along_dim(index, rank, at, dim_size_and_byte_stride(tensor, at));
        Ok((strided_pointer_except_dim(launch, tensor, rank, Some(at))?, IndexLists::from_list(list, wraps, site)))
    }
}

#[op_impl(aten::index_copy, CUDA)]
fn index_copy(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let lists = row_finder_along(index, source.sizes().len(), *plan, (false, fault_site!("aten::index_copy", "index")));
    ScatterTarget::for_tensor(this, source.sizes(), &lists)?.scatter(out, this, &source_elements(source, source)?)
}

#[op_impl(aten::index_add, CUDA)]
fn index_add(plan: &IndexAddPlan, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let scaled = if plan.alpha == Scalar::Int(1) {
        source.clone()
    } else {
        aten::mul(&contiguous_copy(source, combine_dtype(source.dtype()))?, &Tensor::number(plan.alpha))?
    };
    let from = source_elements(&scaled, &scaled)?;
    let lists =
        row_finder_along(index, source.sizes().len(), plan.dim, (false, fault_site!("aten::index_add", "index")));
    ScatterTarget::for_tensor(this, source.sizes(), &lists)?.combine(
        out,
        this,
        &from,
        scaled.dtype(),
        ReductionType::Sum,
        true,
    )
}

#[op_impl(aten::index_reduce, CUDA)]
fn index_reduce(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    let from = source_elements(source, source)?;
    let lists =
        row_finder_along(index, source.sizes().len(), plan.dim, (false, fault_site!("aten::index_reduce", "index")));
    ScatterTarget::for_tensor(this, source.sizes(), &lists)?.combine(
        out,
        this,
        &from,
        source.dtype(),
        plan.reduce,
        include_self,
    )
}

#[op_impl(aten::index_fill_int_scalar, CUDA)]
fn index_fill(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    // A tensor without dimensions has one element, however many indices there are.
    if index.geometry().count() == 0 {
        return aten::copy_(out, this, false);
    }
    let mut sizes = Dims::from_slice(this.sizes());
    if let Some(size) = sizes.get_mut(*plan) {
        *size = index.geometry().count();
    }
    let lists = row_finder_along(index, sizes.len(), *plan, (true, fault_site!("aten::index_fill", "index")));
    ScatterTarget::for_tensor(this, &sizes, &lists)?.scatter(out, this, &ScatterSource::Scalar(value))
}
