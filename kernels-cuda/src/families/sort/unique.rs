//! CUDA kernels of `unique`: rows are sorted, and runs of equal rows become one.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::UniquePlan;

use crate::engine::prefix_sum::{exclusive_prefix_sum, read_device_integer};
use crate::engine::sort_select::SortInput;
use crate::prelude::*;

kernel! {
    // SAFETY: flags, orders and positions are allocated here, one for each of `count` rows, and contain only each other's indices.
    static UNIQUE_KERNEL = unsafe { Kernel::new("unique", include_str!("../../../kernels/sort/unique.cu"), |instances| {
        instances.add_for_each_dtype("flag_distinct", &[DType::I32, DType::I64]);
        instances.add("number_distinct", &[]);
        instances.add("run_lengths", &[]);
    }) };
}

type UniqueResult = (Tensor, Tensor, Tensor);

/// The options of `unique`: the dimension, the order, and the requested results.
#[derive(Clone, Copy)]
struct UniqueOptions {
    dim: Option<usize>,
    sorted: bool,
    inverse: bool,
    counts: bool,
}

/// Returns the sorted order of a matrix's rows. Stable sorts begin with the last column.
fn sorted_row_order(rows: &Tensor) -> Result<Tensor> {
    let mut order: Option<Tensor> = None;
    for col in (0..rows.sizes()[1]).rev() {
        let column = aten::select_int(rows, 1, col)?;
        let column = match &order {
            Some(order) => aten::index_select(&column, 0, order)?,
            None => contiguous(&column, column.dtype())?,
        };
        let (_, positions) = SortInput::from_single_line(&column).sort()?;
        let positions = positions.restride(Geometry::contiguous(&[positions.geometry().count()]))?;
        order = Some(match &order {
            Some(order) => aten::index_select(order, 0, &positions)?,
            None => positions,
        });
    }
    order.map_or_else(|| Spec::contiguous(DType::I64, &[0]).on(rows.device()), Ok)
}

fn unique_slices(this: &Tensor, options: UniqueOptions) -> Result<UniqueResult> {
    let source = if options.dim.is_some() { this.clone() } else { aten::reshape(this, &[-1])? };
    let dim = i64::try_from(options.dim.unwrap_or(0)).unwrap_or(0);
    let slices = aten::movedim_int(&source, dim, 0)?;
    let (count, total) = (slices.sizes()[0], slices.geometry().count());
    if this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real)
            .because("complex numbers have no order")
            .into());
    }
    let width = total.checked_div(count).unwrap_or(0);
    let rows = contiguous(&slices, slices.dtype())?;
    let rows = rows.restride(Geometry::contiguous(&[count, width]).with_offset(rows.geometry().offset()))?;
    let launch = Launch::on_device_of(&rows)?;
    let room = |size: i64| Spec::contiguous(DType::I64, &[size]).on(rows.device());
    let order = options.sorted.then(|| sorted_row_order(&rows)).transpose()?;
    let flags = room(count)?;
    let key = if rows.dtype().size() == 8 { DType::I64 } else { DType::I32 };
    let arguments = (count, width, SortInput::from_single_line(&rows).parameter(launch)?, order.as_ref(), &flags);
    launch.run_per_element(&UNIQUE_KERNEL, "flag_distinct", &[key], count, arguments)?;
    let distinct_count = exclusive_prefix_sum(launch, &flags)?;
    let inverse_sizes = if options.dim.is_some() { &[count] } else { this.sizes() };
    let inverse = Spec::contiguous(DType::I64, if options.inverse { inverse_sizes } else { &[0] }).on(rows.device())?;
    let (firsts, starts) = (room(count)?, room(count)?);
    let wanted = options.inverse.then_some(&inverse);
    let arguments = (count, &flags, &distinct_count, order.as_ref(), wanted, &firsts, &starts);
    launch.run_per_element(&UNIQUE_KERNEL, "number_distinct", &[], count, arguments)?;
    let distinct_count = read_device_integer(launch, &distinct_count)?;
    let firsts = aten::narrow(&firsts, 0, 0, distinct_count)?;
    // The slices are now along dimension 0; the result has them along `dim`.
    let values = aten::movedim_int(&aten::index_select(&slices, 0, &firsts)?, 0, dim)?;
    let counts = room(if options.counts { distinct_count } else { 0 })?;
    let all = counts.geometry().count();
    launch.run_per_element(&UNIQUE_KERNEL, "run_lengths", &[], all, (distinct_count, count, &starts, &counts))?;
    Ok((values, inverse, counts))
}

#[op_impl(aten::_unique2, CUDA)]
fn unique(plan: &UniquePlan, this: &Tensor, return_inverse: bool, return_counts: bool) -> Result<UniqueResult> {
    unique_slices(this, UniqueOptions { dim: plan.dim, sorted: true, inverse: return_inverse, counts: return_counts })
}

#[op_impl(aten::unique_dim, CUDA)]
fn unique_dim(plan: &UniquePlan, this: &Tensor) -> Result<UniqueResult> {
    unique_slices(this, UniqueOptions { dim: plan.dim, sorted: true, inverse: true, counts: true })
}

#[op_impl(aten::unique_consecutive, CUDA)]
fn unique_consecutive(plan: &UniquePlan, _: ...) -> Result<UniqueResult> {
    // With a dimension, the inverse and the counts are always computed.
    let all = dim.is_some();
    unique_slices(
        this,
        UniqueOptions { dim: plan.dim, sorted: false, inverse: return_inverse || all, counts: return_counts || all },
    )
}
