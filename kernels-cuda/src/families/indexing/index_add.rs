//! CUDA kernels of `index_copy`, `index_add`, `index_reduce` and `index_fill`. [`SortedRows`] adds rows of equal index in their order, so
//! its sums do not depend on the number of threads.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{IndexAddPlan, ReductionType, ScatterReducePlan};

use super::index::{extent, side_without_dim};
use super::scatter::elements;
use super::scatter_target::ScatterTarget;
use crate::engine::data_movement::Side;
use crate::engine::gather::{List, Lists, Source, computed_in};
use crate::engine::sort_select::SortInput;
use crate::engine::transfer::contiguous_copy;
use crate::engine::walk::Steps;
use crate::prelude::*;

kernel! {
    // SAFETY: keys and positions are allocated here, one for each of `count` rows. A row is written only if its key is less than `limit`.
    static INDEX_ADD = unsafe { Kernel::new("index_add", include_str!("../../../kernels/indexing/index_add.cu"), |instances| {
        instances.all(&["tiles", "across_tiles"], &[DType::F32, DType::F64, DType::I32, DType::I64]);
        instances.each("inverse_counts", &[DType::F32, DType::F64]);
    }) };
}

/// The number of rows that a thread adds.
const TILE: i64 = 32;

parameters! {
    /// The kernels' `struct SortedRows`: the keys, the source and the target of the rows.
    struct Given {
        count: i64,
        width: u32,
        keys: Place,
        limit: i64,
        skipped: i64,
        places: Place,
        of_places: Place,
        rows: i64,
        from: Place,
        from_step: i64,
        dtype: i32,
        to: Place,
        to_step: i64,
        shares: Place,
    }
}

/// Rows, sorted by their key, the index of their target row.
pub(crate) struct SortedRows {
    keys: Tensor,
    places: Tensor,
    pub(crate) limit: i64,
    /// The key of rows that are skipped.
    pub(crate) skipped: i64,
}

/// The rows of one side: the first row's address, the stride between rows, and the strides within a row.
pub(crate) struct Rows {
    pub(crate) at: Place,
    pub(crate) step: i64,
    pub(crate) steps: Dims,
}

impl Rows {
    /// Describes the rows of a contiguous matrix.
    pub(crate) fn of(launch: Launch, matrix: &Tensor) -> Result<Self> {
        let element = element_size(matrix);
        let step = matrix.sizes().last().copied().unwrap_or(1) * element;
        Ok(Self { at: launch.place(matrix)?, step, steps: [element].into_iter().collect() })
    }
}

impl SortedRows {
    /// Sorts rows by their keys, which are at most `limit`.
    pub(crate) fn new(keys: &Tensor, limit: i64, skipped: i64) -> Result<Self> {
        let (keys, places) = SortInput::one(keys).below(limit).sorted()?;
        Ok(Self { keys, places, limit, skipped })
    }

    /// Adds rows of these sizes, each scaled by its share, to their target rows. If `of_places` is given, it has the source row of each
    /// key, and the number of source rows.
    pub(crate) fn add(
        &self,
        dtype: DType,
        sizes: &[i64],
        to: &Rows,
        from: &Rows,
        of_places: Option<(&Tensor, i64)>,
        shares: Option<&Tensor>,
    ) -> Result<()> {
        let (launch, count) = (Launch::on(&self.keys)?, self.keys.geometry().count());
        if count == 0 || sizes.contains(&0) {
            return Ok(());
        }
        let computed = computed_in(dtype);
        let tiles = (count - 1) / TILE + 1;
        let given = Given {
            count,
            width: 0,
            keys: launch.place(&self.keys)?,
            limit: self.limit,
            skipped: self.skipped,
            places: launch.place(&self.places)?,
            of_places: launch.place_or_null(of_places.map(|(places, _)| places))?,
            rows: of_places.map_or(0, |(_, rows)| rows),
            from: from.at,
            from_step: from.step,
            dtype: dtype as i32,
            to: to.at,
            to_step: to.step,
            shares: launch.place_or_null(shares)?,
        };
        for (walk, width, offsets) in Steps::new(sizes, &[to.steps.clone(), from.steps.clone()]).parts() {
            let partial = Spec::contiguous(computed, &[tiles * 2, i64::from(width)]).on(launch.device())?;
            let given = Given { width, to: to.at.offset(offsets[0]), from: from.at.offset(offsets[1]), ..given };
            for template in ["tiles", "across_tiles"] {
                launch.cover(&INDEX_ADD, template, &[computed], tiles * i64::from(width), (given, walk, &partial))?;
            }
        }
        Ok(())
    }

    /// Returns the rows' scales, divided by the number of rows with the same key. Without `shares`, each scale is one.
    pub(crate) fn shared(&self, shares: Option<Tensor>, computed: DType) -> Result<Tensor> {
        let (launch, count, more) = (Launch::on(&self.keys)?, self.keys.geometry().count(), shares.is_some());
        let shares = match shares {
            Some(shares) => shares,
            None => Spec::contiguous(computed, &[count]).on(launch.device())?,
        };
        launch.cover(
            &INDEX_ADD,
            "inverse_counts",
            &[computed],
            count,
            (count, &self.keys, &self.places, &shares, more),
        )?;
        Ok(shares)
    }
}

/// Returns a function that finds the indexed rows in a tensor of rank `rank`.
fn listed(
    index: &Tensor,
    rank: usize,
    at: usize,
    (wraps, site): (bool, Site),
) -> impl Fn(Launch, &Tensor) -> Result<(Side, Lists)> {
    move |launch, tensor| {
        let list = List::along(index, rank, at, extent(tensor, at));
        Ok((side_without_dim(launch, tensor, rank, Some(at))?, Lists::one(list, wraps, site)))
    }
}

#[op_impl(aten::index_copy, CUDA)]
fn index_copy(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let lists = listed(index, source.sizes().len(), *plan, (false, site!("aten::index_copy", "index")));
    ScatterTarget::of(this, source.sizes(), &lists)?.put(out, this, &elements(source, source)?)
}

#[op_impl(aten::index_add, CUDA)]
fn index_add(plan: &IndexAddPlan, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let scaled = if plan.alpha == Scalar::Int(1) {
        source.clone()
    } else {
        aten::mul(&contiguous_copy(source, computed_in(source.dtype()))?, &Tensor::number(plan.alpha))?
    };
    let from = elements(&scaled, &scaled)?;
    let lists = listed(index, source.sizes().len(), plan.dim, (false, site!("aten::index_add", "index")));
    ScatterTarget::of(this, source.sizes(), &lists)?.combine(out, this, &from, scaled.dtype(), ReductionType::Sum, true)
}

#[op_impl(aten::index_reduce, CUDA)]
fn index_reduce(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    let from = elements(source, source)?;
    let lists = listed(index, source.sizes().len(), plan.dim, (false, site!("aten::index_reduce", "index")));
    ScatterTarget::of(this, source.sizes(), &lists)?.combine(
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
    let mut sizes = Dims::from_slice(this.sizes());
    if let Some(size) = sizes.get_mut(*plan) {
        *size = index.geometry().count();
    }
    let lists = listed(index, sizes.len(), *plan, (true, site!("aten::index_fill", "index")));
    ScatterTarget::of(this, &sizes, &lists)?.put(out, this, &Source::Number(value))
}
