//! Kernels of sorting and of selection by rank.

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, op_impl, operands};

use crate::sort_select::{Direction, RankEntry, Ranked, RowSorter, with_row_sorter};
use engine::allocation::to_usize;
use engine::reduce::{dim_mask, for_each_line, keepdim_view, with_compute_type};

/// The elements of a row to select.
#[derive(Clone, Copy)]
enum RowSelection {
    /// The first elements in order, as many as the result holds.
    InOrder(Direction),
    /// The element at this index of the sorted row.
    Nth(usize),
    /// The median of the row. Unless `of_numbers` is true, it is the first NaN of the row, if the row has one.
    Median { of_numbers: bool },
    /// The most frequent element.
    Mode,
}

impl RowSelection {
    fn direction(self) -> Direction {
        if let Self::InOrder(first) = self { first } else { Direction::Ascending }
    }

    /// Writes the selected elements of a row, and their indices.
    fn select_in_row<T: Ranked, E: RankEntry>(
        self,
        sorter: &RowSorter<T, E>,
        line: &[T],
        values: &mut [T],
        places: &mut [i64],
    ) {
        let nth = |nth: usize| sorter.index(*sorter.to_entries(line).select_nth_unstable(nth).1);
        let place = match self {
            Self::InOrder(_) if values.len() == line.len() => return sorter.sort_row(line, values, places),
            Self::InOrder(_) => {
                for (i, entry) in sorter.select_first_entries(line, values.len()).into_iter().enumerate() {
                    write_value_and_index(line, sorter.index(entry), &mut values[i..], &mut places[i..]);
                }
                return;
            }
            Self::Nth(at) => nth(at),
            Self::Median { of_numbers } => {
                let none = line.iter().position(|element| element.is_nan()).filter(|_| !of_numbers);
                let numbers = || line.iter().filter(|element| !element.is_nan()).count();
                none.unwrap_or_else(|| nth(numbers().saturating_sub(1) / 2))
            }
            Self::Mode => {
                let mut entries = sorter.to_entries(line);
                sorter.sort_entries(&mut entries);
                let mut best: &[E] = &[];
                for run in entries.chunk_by(|&a, &b| sorter.is_equal(a, b)) {
                    if run.len() > best.len() {
                        best = run;
                    }
                }
                let Some(&last) = best.last() else { return };
                sorter.index(last)
            }
        };
        write_value_and_index(line, place, values, places);
    }
}

/// Writes an element of a row to the first of `values`, and its index to the first of `places`.
fn write_value_and_index<T: Ranked>(line: &[T], at: usize, values: &mut [T], places: &mut [i64]) {
    values[0] = line[at];
    places[0] = i64::try_from(at).unwrap_or(i64::MAX);
}

/// Selects elements of every row, with their indices.
fn select_in_rows<O: Operation>(
    [values, indices]: [&mut Tensor; 2],
    this: &Tensor,
    dims: &[bool],
    selection: RowSelection,
) -> Result<()> {
    let operands = operands!(write values, indices; read this)?;
    with_compute_type!(O, this.dtype(), T: [f32, f64, i64] => {
        for_each_line(dims, &operands, |_, [line]: [&[T]; 1], [values]: [&mut [T]; 1], [indices]: [&mut [i64]; 1]| {
            with_row_sorter!(line, selection.direction(), sorter => selection.select_in_row(&sorter, line, values, indices));
        });
        Ok(())
    })
}

/// Selects one element of each row.
fn select_one_per_row<O: Operation>(
    out: [&mut Tensor; 2],
    this: &Tensor,
    dim: usize,
    selection: RowSelection,
) -> Result<()> {
    let dims = dim_mask(this.sizes().len(), dim);
    let [values, indices] = out.map(|out| keepdim_view(out, this, &dims));
    select_in_rows::<O>([&mut values?, &mut indices?], this, &dims, selection)
}

fn sort_rows<O: Operation>(out: [&mut Tensor; 2], this: &Tensor, dim: usize, descending: bool) -> Result<()> {
    let first = if descending { Direction::Descending } else { Direction::Ascending };
    select_in_rows::<O>(out, this, &dim_mask(this.sizes().len(), dim), RowSelection::InOrder(first))
}

#[op_impl(aten::sort, CPU)]
fn sort(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, descending: bool) -> Result<()> {
    sort_rows::<aten::sort>(out, this, *plan, descending)
}

#[op_impl(aten::sort_stable, CPU)]
fn sort_stable(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, descending: bool) -> Result<()> {
    sort_rows::<aten::sort_stable>(out, this, *plan, descending)
}

#[op_impl(aten::topk, CPU)]
fn topk(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, largest: bool) -> Result<()> {
    sort_rows::<aten::topk>(out, this, *plan, largest)
}

#[op_impl(aten::kthvalue, CPU)]
fn kthvalue(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, k: i64) -> Result<()> {
    select_one_per_row::<aten::kthvalue>(out, this, *plan, RowSelection::Nth(to_usize(k - 1)))
}

/// Computes the median of all elements, or NaN if there are none.
fn median_of_all<O: Operation>(out: &mut Tensor, this: &Tensor, of_numbers: bool) -> Result<()> {
    if this.geometry().count() == 0 {
        return aten::copy_(out, &Tensor::number(f64::NAN.into()), false);
    }
    let dims = vec![true; this.sizes().len()];
    let mut values = keepdim_view(out, this, &dims)?;
    let mut indices = Spec::contiguous(DType::I64, values.sizes()).on(this.device())?;
    select_in_rows::<O>([&mut values, &mut indices], this, &dims, RowSelection::Median { of_numbers })
}

#[op_impl(aten::median, CPU)]
fn median(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    median_of_all::<aten::median>(out, this, false)
}

#[op_impl(aten::nanmedian, CPU)]
fn nanmedian(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    median_of_all::<aten::nanmedian>(out, this, true)
}

#[op_impl(aten::median_dim, CPU)]
fn median_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    select_one_per_row::<aten::median_dim>(out, this, *plan, RowSelection::Median { of_numbers: false })
}

#[op_impl(aten::nanmedian_dim, CPU)]
fn nanmedian_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    select_one_per_row::<aten::nanmedian_dim>(out, this, *plan, RowSelection::Median { of_numbers: true })
}

#[op_impl(aten::mode, CPU)]
fn mode(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    select_one_per_row::<aten::mode>(out, this, *plan, RowSelection::Mode)
}
