//! CUDA kernels of `nonzero`, `masked_select` and `masked_scatter`.
//!
//! A first launch counts the selected elements of each block, so that each block knows the index of its first one. The total is on the
//! device; a caller that allocates a tensor of that size waits for it.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::broadcast_strides;

use crate::engine::data_movement::{WORDS, word};
use crate::engine::prefix_sum::{exclusive_sum, read_back};
use crate::prelude::*;

kernel! {
    // SAFETY: flags are packed, and starts are allocated here. Writes stay inside of the results, even if flags change after they were
    // counted.
    static MASK = unsafe { Kernel::new("mask", include_str!("../../../kernels/indexing/mask.cu"), |instances| {
        instances.one("counted", &[]);
        instances.one("positions", &[]);
        instances.all(&["selected", "replaced"], WORDS);
    }) };
}

/// The number of flags that a block reads.
const TILE: u64 = 4096;

const RANK: usize = 16;

parameters! {
    /// The kernels' `struct Dimensions` and `struct Spread`: sizes and strides of a tensor.
    struct Dimensions {
        rank: u32,
        sizes: [i64; RANK],
        steps: [i64; RANK],
    }
}

impl Dimensions {
    fn new(name: &'static str, geometry: &Geometry) -> Result<Self> {
        if geometry.rank() > RANK {
            return Err(BadArgument::rank(name, geometry.rank(), ..=RANK).into());
        }
        let (mut sizes, mut steps) = ([1; RANK], [0; RANK]);
        sizes[..geometry.rank()].copy_from_slice(geometry.sizes());
        steps[..geometry.rank()].copy_from_slice(geometry.strides());
        Ok(Self { rank: u32::try_from(geometry.rank()).unwrap_or(0), sizes, steps })
    }

    /// Describes the strides of a tensor, with rank 0 if it is contiguous.
    fn spread(name: &'static str, geometry: &Geometry) -> Result<Self> {
        let all = Self::new(name, geometry)?;
        Ok(if geometry.is_contiguous() { Self { rank: 0, ..all } } else { all })
    }
}

/// The positions of a mask's non-zero elements.
pub(crate) struct MaskedPositions {
    flags: Tensor,
    /// The number of selected elements before each block.
    starts: Tensor,
    total: Tensor,
    launch: Launch,
}

impl MaskedPositions {
    pub(crate) fn by(mask: &Tensor) -> Result<Self> {
        let flags = contiguous(mask, DType::Bool)?;
        let launch = Launch::on(&flags)?;
        let count = flags.geometry().count();
        let blocks = count.cast_unsigned().div_ceil(TILE);
        let starts = Spec::contiguous(DType::I64, &[blocks.cast_signed()]).on(flags.device())?;
        launch.run(&MASK, "counted", &[], grid(count), (count, &flags, &starts))?;
        let total = exclusive_sum(launch, &starts)?;
        Ok(Self { flags, starts, total, launch })
    }

    /// Returns the number of selected elements. Waits for the device.
    pub(crate) fn count(&self) -> Result<i64> {
        read_back(self.launch, &self.total)
    }

    /// Writes the indices of each selected element to a row, up to the number of rows.
    fn positions(&self, rows: &Tensor) -> Result<()> {
        let count = self.flags.geometry().count();
        let dims = Dimensions::new("self", &Geometry::contiguous(self.flags.sizes()))?;
        let (row, col, most) = (rows.strides()[0], rows.strides()[1], rows.sizes()[0]);
        let arguments = (count, &self.flags, &self.starts, rows, row, col, most, dims);
        Ok(self.launch.run(&MASK, "positions", &[], grid(count), arguments)?)
    }

    /// Returns the selected elements of a tensor, which has the mask's sizes.
    pub(crate) fn elements(&self, this: &Tensor) -> Result<Tensor> {
        let out = Spec::contiguous(this.dtype(), &[self.count()?]).on(self.flags.device())?;
        let (count, most) = (self.flags.geometry().count(), out.geometry().count());
        let spread = Dimensions::spread("self", this.geometry())?;
        let arguments = (count, &self.flags, &self.starts, &out, most, this, spread);
        self.launch.run(&MASK, "selected", &[word(this.dtype().size())], grid(count), arguments)?;
        Ok(out)
    }
}

fn grid(count: i64) -> Grid {
    Grid::of(count.cast_unsigned().div_ceil(TILE), 256)
}

/// Returns the indices of the non-zero elements, in a row for each. The columns are contiguous.
pub(crate) fn nonzero_positions(this: &Tensor) -> Result<Tensor> {
    let (masked, rank) = (MaskedPositions::by(this)?, i64::try_from(this.sizes().len()).unwrap_or(0));
    let count = masked.count()?;
    let columns = Spec::contiguous(DType::I64, &[rank, count]).on(this.device())?;
    let rows = match Geometry::strided(&[count, rank], &[1, count], 0) {
        Some(rows) => columns.restride(rows)?,
        None => columns,
    };
    masked.positions(&rows)?;
    Ok(rows)
}

#[op_impl(aten::nonzero, CUDA)]
fn nonzero(this: &Tensor) -> Result<Tensor> {
    nonzero_positions(this)
}

#[op_impl(aten::nonzero_static, CUDA)]
fn nonzero_static(_plan: &(), out: &mut Tensor, this: &Tensor, fill_value: i64) -> Result<()> {
    write(out, &Tensor::number(fill_value.into()))?;
    MaskedPositions::by(this)?.positions(out)
}

/// Returns a view of a tensor, broadcast to these sizes.
fn stretched(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let strides = broadcast_strides(tensor.geometry(), sizes);
    match Geometry::strided(sizes, &strides, tensor.geometry().offset()) {
        Some(geometry) => Ok(tensor.restride(geometry)?),
        None => Ok(tensor.clone()),
    }
}

#[op_impl(aten::masked_select, CUDA)]
fn masked_select(plan: &Dims, this: &Tensor, mask: &Tensor) -> Result<Tensor> {
    MaskedPositions::by(&stretched(mask, plan)?)?.elements(&stretched(this, plan)?)
}

#[op_impl(aten::masked_scatter, CUDA)]
fn masked_scatter(_plan: &(), out: &mut Tensor, this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<()> {
    write(out, this)?;
    let MaskedPositions { flags, starts, launch, .. } = MaskedPositions::by(&stretched(mask, out.sizes())?)?;
    let source = contiguous(source, source.dtype())?;
    let (count, size) = (flags.geometry().count(), source.geometry().count());
    let (spread, fault) = (Dimensions::spread("self", out.geometry())?, launch.faults());
    let noted = site!("aten::masked_scatter", "source");
    let arguments = (count, &flags, &starts, &*out, &source, spread, size, noted, fault);
    Ok(launch.run(&MASK, "replaced", &[word(out.dtype().size())], grid(count), arguments)?)
}
