//! Kernels that search sorted sequences, and test membership in sets.

use std::hint::select_unpredictable;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Problem, operands, result_dtype};

use engine::allocation::to_usize;
use engine::convert::compute_dtype;
use engine::data_movement::to_contiguous;
use engine::reduce::for_each_line;

#[op_impl(aten::searchsorted, CPU)]
fn searchsorted(plan: &bool, out: &mut Tensor, _: ...) -> Result<()> {
    search_boundaries(out, sorted_sequence, this, *plan, sorter)
}

#[op_impl(aten::bucketize, CPU)]
fn bucketize(plan: &bool, out: &mut Tensor, this: &Tensor, boundaries: &Tensor) -> Result<()> {
    search_boundaries(out, boundaries, this, *plan, None)
}

fn search_boundaries(
    out: &mut Tensor,
    boundaries: &Tensor,
    wanted: &Tensor,
    right: bool,
    sorter: Option<&Tensor>,
) -> Result<()> {
    let width = boundaries.sizes().last().copied().unwrap_or(0);
    let order = sorter.map(|sorter| to_contiguous(sorter, DType::I64)?.to_vec::<i64>()).transpose()?;
    if let Some(&index) = order.iter().flatten().find(|index| !(0..width).contains(*index)) {
        return Err(BadArgument::new("sorter", Problem::Index { index, size: width, dim: None }).into());
    }
    match compute_dtype(result_dtype([boundaries, wanted])) {
        DType::F32 => binary_search::<f32>(out, boundaries, wanted, right, order.as_deref()),
        DType::F64 => binary_search::<f64>(out, boundaries, wanted, right, order.as_deref()),
        _ => binary_search::<i64>(out, boundaries, wanted, right, order.as_deref()),
    }
}

fn binary_search<T: Number>(
    out: &mut Tensor,
    sorted: &Tensor,
    wanted: &Tensor,
    right: bool,
    order: Option<&[i64]>,
) -> Result<()> {
    let width = usize::try_from(sorted.sizes().last().copied().unwrap_or(0)).unwrap_or(0);
    // If there are several sorted rows, each has its own values to search for.
    let each = match (sorted.sizes(), wanted.sizes().last()) {
        ([_, _, ..], Some(&each)) => usize::try_from(each).unwrap_or(0),
        _ => usize::MAX,
    };
    let sorted = to_contiguous(sorted, T::DTYPE)?;
    let sorted = sorted.read::<T>()?;
    let position = |i: usize, wanted: T| {
        let first = i / each * width;
        let (row, order) = (&sorted[first..first + width], order.map(|order| &order[first..first + width]));
        let before = |place: usize| {
            let at = order.map_or(place, |order| to_usize(order[place]));
            // NaN sorts behind all numbers.
            !if right { row[at] > wanted } else { row[at] >= wanted }
        };
        let (mut low, mut left) = (0, width);
        while left > 1 {
            let half = left / 2;
            low = select_unpredictable(before(low + half - 1), low + half, low);
            left -= half;
        }
        i64::try_from(low + usize::from(left > 0 && before(low))).unwrap_or(i64::MAX)
    };
    let operands = operands!(write out; read wanted)?;
    let each = vec![false; wanted.sizes().len()];
    for_each_line(&each, &operands, |i, [wanted]: [&[T]; 1], [to]: [&mut [i64]; 1], []: [&mut [T]; 0]| {
        to[0] = position(i, wanted[0]);
    });
    Ok(())
}

#[op_impl(aten::isin_tensor_tensor, CPU)]
fn isin(_plan: &(), out: &mut Tensor, elements: &Tensor, test_elements: &Tensor, invert: bool) -> Result<()> {
    if result_dtype([elements, test_elements]).is_floating() {
        let mut among = to_contiguous(test_elements, DType::F64)?.to_vec::<f64>()?;
        among.retain(|number| !number.is_nan());
        among.iter_mut().for_each(|number| *number += 0.0);
        among.sort_unstable_by(f64::total_cmp);
        let found = |number: f64| among.binary_search_by(|other| other.total_cmp(&(number + 0.0))).is_ok();
        write_element_mask::<f64>(out, elements, |number| found(number) != invert)
    } else {
        let mut among = to_contiguous(test_elements, DType::I64)?.to_vec::<i64>()?;
        among.sort_unstable();
        write_element_mask::<i64>(out, elements, |number| among.binary_search(&number).is_ok() != invert)
    }
}

fn write_element_mask<T: Number>(out: &mut Tensor, elements: &Tensor, mark: impl Fn(T) -> bool) -> Result<()> {
    let elements = to_contiguous(elements, T::DTYPE)?;
    let mut marks = out.write::<dispatch_runtime::Bool>()?;
    marks.iter_mut().zip(elements.read::<T>()?.iter()).for_each(|(to, element)| *to = mark(*element).into());
    Ok(())
}
