//! CUDA kernels of `nonzero`, `masked_select` and `masked_scatter`.
//!
//! A first launch counts the selected elements of each block, so that each block knows the index of its first one. The total is on the
//! device; a caller that allocates a tensor of that size waits for it.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::broadcast_strides;

use crate::engine::data_movement::{WORD_DTYPES, word_dtype_of_size};
use crate::engine::prefix_sum::{exclusive_prefix_sum, read_device_integer};
use crate::prelude::*;

kernel! {
    // SAFETY: flags are packed, and starts are allocated here. Writes stay inside of the results, even if flags change after they were
    // counted.
    static MASK_KERNEL = unsafe { Kernel::new("mask", include_str!("../../../kernels/indexing/mask.cu"), |instances| {
        instances.add("count_flags", &[]);
        instances.add("selected_indices", &[]);
        instances.add_templates_for_each_dtype(&["masked_select", "masked_scatter"], WORD_DTYPES);
    }) };
}

/// The number of flags that a block reads.
const FLAGS_PER_BLOCK: u64 = 4096;

const MAX_MASK_RANK: usize = 16;

define_parameters! {
    /// The kernels' `struct MaskDims` and `struct OffsetOfPosition`: sizes and strides of a tensor.
    struct DimsParameter {
        rank: u32,
        sizes: [i64; MAX_MASK_RANK],
        strides: [i64; MAX_MASK_RANK],
    }
}

impl DimsParameter {
    fn new(name: &'static str, geometry: &Geometry) -> Result<Self> {
        if geometry.rank() > MAX_MASK_RANK {
            return Err(BadArgument::rank(name, geometry.rank(), ..=MAX_MASK_RANK).into());
        }
        let (mut sizes, mut strides) = ([1; MAX_MASK_RANK], [0; MAX_MASK_RANK]);
        sizes[..geometry.rank()].copy_from_slice(geometry.sizes());
        strides[..geometry.rank()].copy_from_slice(geometry.strides());
        Ok(Self { rank: u32::try_from(geometry.rank()).unwrap_or(0), sizes, strides })
    }

    /// Describes the strides of a tensor, with rank 0 if it is contiguous.
    fn from_strided_geometry(name: &'static str, geometry: &Geometry) -> Result<Self> {
        let all = Self::new(name, geometry)?;
        Ok(if geometry.is_contiguous() { Self { rank: 0, ..all } } else { all })
    }
}

/// The positions of a mask's non-zero elements.
pub(crate) struct SelectedPositions {
    flags: Tensor,
    /// The number of selected elements before each block.
    starts: Tensor,
    total: Tensor,
    launch: Launch,
}

impl SelectedPositions {
    pub(crate) fn from_mask(mask: &Tensor) -> Result<Self> {
        let flags = contiguous(mask, DType::Bool)?;
        let launch = Launch::on_device_of(&flags)?;
        let count = flags.geometry().count();
        let blocks = count.cast_unsigned().div_ceil(FLAGS_PER_BLOCK);
        let starts = Spec::contiguous(DType::I64, &[blocks.cast_signed()]).on(flags.device())?;
        launch.run(&MASK_KERNEL, "count_flags", &[], flag_grid(count), (count, &flags, &starts))?;
        let total = exclusive_prefix_sum(launch, &starts)?;
        Ok(Self { flags, starts, total, launch })
    }

    /// Returns the number of selected elements. Waits for the device.
    pub(crate) fn count(&self) -> Result<i64> {
        read_device_integer(self.launch, &self.total)
    }

    /// Writes the indices of each selected element to a row, up to the number of rows.
    fn write_indices(&self, rows: &Tensor) -> Result<()> {
        let count = self.flags.geometry().count();
        let dims = DimsParameter::new("self", &Geometry::contiguous(self.flags.sizes()))?;
        let (row, col, most) = (rows.strides()[0], rows.strides()[1], rows.sizes()[0]);
        let arguments = (count, &self.flags, &self.starts, rows, row, col, most, dims);
        Ok(self.launch.run(&MASK_KERNEL, "selected_indices", &[], flag_grid(count), arguments)?)
    }

    /// Returns the selected elements of a tensor, which has the mask's sizes.
    pub(crate) fn selected_elements(&self, this: &Tensor) -> Result<Tensor> {
        let out = Spec::contiguous(this.dtype(), &[self.count()?]).on(self.flags.device())?;
        let (count, most) = (self.flags.geometry().count(), out.geometry().count());
        let strides = DimsParameter::from_strided_geometry("self", this.geometry())?;
        let arguments = (count, &self.flags, &self.starts, &out, most, this, strides);
        self.launch.run(
            &MASK_KERNEL,
            "masked_select",
            &[word_dtype_of_size(this.dtype().size())],
            flag_grid(count),
            arguments,
        )?;
        Ok(out)
    }
}

fn flag_grid(count: i64) -> Grid {
    Grid::from_block_count(count.cast_unsigned().div_ceil(FLAGS_PER_BLOCK), 256)
}

/// Returns the indices of the non-zero elements, in a row for each. The columns are contiguous.
pub(crate) fn nonzero_indices(this: &Tensor) -> Result<Tensor> {
    let (masked, rank) = (SelectedPositions::from_mask(this)?, i64::try_from(this.sizes().len()).unwrap_or(0));
    let count = masked.count()?;
    let columns = Spec::contiguous(DType::I64, &[rank, count]).on(this.device())?;
    let rows = match Geometry::strided(&[count, rank], &[1, count], 0) {
        Some(rows) => columns.restride(rows)?,
        None => columns,
    };
    masked.write_indices(&rows)?;
    Ok(rows)
}

#[op_impl(aten::nonzero, CUDA)]
fn nonzero(this: &Tensor) -> Result<Tensor> {
    nonzero_indices(this)
}

#[op_impl(aten::nonzero_static, CUDA)]
fn nonzero_static(_plan: &(), out: &mut Tensor, this: &Tensor, fill_value: i64) -> Result<()> {
    copy_into(out, &Tensor::number(fill_value.into()))?;
    SelectedPositions::from_mask(this)?.write_indices(out)
}

/// Returns a view of a tensor, broadcast to these sizes.
fn broadcast_view(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let strides = broadcast_strides(tensor.geometry(), sizes);
    match Geometry::strided(sizes, &strides, tensor.geometry().offset()) {
        Some(geometry) => Ok(tensor.restride(geometry)?),
        None => Ok(tensor.clone()),
    }
}

#[op_impl(aten::masked_select, CUDA)]
fn masked_select(plan: &Dims, this: &Tensor, mask: &Tensor) -> Result<Tensor> {
    SelectedPositions::from_mask(&broadcast_view(mask, plan)?)?.selected_elements(&broadcast_view(this, plan)?)
}

#[op_impl(aten::masked_scatter, CUDA)]
fn masked_scatter(_plan: &(), out: &mut Tensor, this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<()> {
    copy_into(out, this)?;
    let SelectedPositions { flags, starts, launch, .. } =
        SelectedPositions::from_mask(&broadcast_view(mask, out.sizes())?)?;
    let source = contiguous(source, source.dtype())?;
    let (count, size) = (flags.geometry().count(), source.geometry().count());
    let (strides, fault) = (DimsParameter::from_strided_geometry("self", out.geometry())?, launch.fault_record());
    let site = fault_site!("aten::masked_scatter", "source");
    let arguments = (count, &flags, &starts, &*out, &source, strides, size, site, fault);
    Ok(launch.run(
        &MASK_KERNEL,
        "masked_scatter",
        &[word_dtype_of_size(out.dtype().size())],
        flag_grid(count),
        arguments,
    )?)
}
