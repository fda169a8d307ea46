//! Kernels of distinct elements: rows are sorted, and runs of equal rows are merged.

use std::cmp::Ordering;

use aten::UniquePlan;
use dispatch_runtime::{Operation, Result, Tensor, op_impl};

use crate::sort_select::{Direction, Ranked, with_row_sorter};
use engine::allocation::to_usize;
use engine::contiguous::convert_to_vec;
use engine::reduce::min_max::Comparable;
use engine::reduce::with_compute_type;

type ValuesInverseCounts = (Tensor, Tensor, Tensor);

/// The runs of equal rows: the index of the first row of each run, the run of each row if requested, and the number of rows of each run.
#[derive(Default)]
struct DistinctRows {
    firsts: Vec<i64>,
    inverse: Vec<i64>,
    counts: Vec<i64>,
}

impl DistinctRows {
    /// Finds the runs of equal rows among `count` rows of `width` elements.
    fn find_runs<T: Ranked>(elements: &[T], count: usize, width: usize, options: UniqueOptions) -> Self {
        let mut runs = Self { inverse: vec![0; if options.inverse { count } else { 0 }], ..Self::default() };
        if options.sorted && width == 1 {
            with_row_sorter!(elements, Direction::Ascending, sorter => {
                let mut entries = sorter.to_entries(elements);
                sorter.sort_entries(&mut entries);
                let mut last = None;
                for entry in entries {
                    let place = sorter.index(entry);
                    let again = last.is_some_and(|last| sorter.is_equal(last, entry)) && !elements[place].is_nan();
                    runs.add_row(place, again);
                    last = Some(entry);
                }
            });
            return runs;
        }
        let row = |i: usize| &elements[i * width..(i + 1) * width];
        let mut order: Vec<usize> = (0..count).collect();
        if options.sorted {
            order.sort_unstable_by(|&a, &b| compare_rows(row(a), row(b)).then(a.cmp(&b)));
        }
        for (i, &place) in order.iter().enumerate() {
            runs.add_row(place, i > 0 && row(order[i - 1]) == row(place));
        }
        runs
    }

    /// Adds a row to the last run if `again` is true, else to a new run.
    fn add_row(&mut self, place: usize, again: bool) {
        if !again {
            self.firsts.push(i64::try_from(place).unwrap_or(i64::MAX));
            self.counts.push(0);
        }
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
        }
        if let Some(run) = self.inverse.get_mut(place) {
            *run = i64::try_from(self.counts.len() - 1).unwrap_or(i64::MAX);
        }
    }
}

/// Compares rows in lexicographic order, with NaN after all numbers.
fn compare_rows<T: Comparable>(a: &[T], b: &[T]) -> Ordering {
    let elements = a.iter().zip(b);
    let mut orders = elements.map(|(a, b)| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())));
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The dimension of the rows, and whether to sort them.
#[derive(Clone, Copy)]
struct UniqueOptions {
    dim: Option<usize>,
    sorted: bool,
    /// Whether to return the run of each row.
    inverse: bool,
}

fn unique_rows<O: Operation>(this: &Tensor, options: UniqueOptions, counts: bool) -> Result<ValuesInverseCounts> {
    let source = if options.dim.is_some() { this.clone() } else { aten::reshape(this, &[-1])? };
    let dim = i64::try_from(options.dim.unwrap_or(0)).unwrap_or(0);
    let rows = aten::movedim_int(&source, dim, 0)?;
    let size = rows.sizes()[0];
    let (count, total) = (to_usize(size), to_usize(rows.geometry().count()));
    let runs: DistinctRows = with_compute_type!(O, this.dtype(), T: [f32, f64, i64] => {
        Ok(DistinctRows::find_runs(&convert_to_vec::<T>(&rows)?, count, total / count.max(1), options))
    })?;
    let found = [i64::try_from(runs.firsts.len()).unwrap_or(i64::MAX)];
    let firsts = Tensor::from_vec(runs.firsts, found)?;
    // The slices are contiguous in memory one after another, for any dimension.
    let values = aten::movedim_int(&aten::index_select(&rows, 0, &firsts)?, 0, dim)?;
    let size = [size];
    let inverse_sizes = if options.dim.is_some() { &size } else { this.sizes() };
    let positions = |values: Vec<i64>, sizes: &[i64], wanted: bool| {
        if wanted { Tensor::from_vec(values, sizes) } else { Tensor::from_vec(Vec::<i64>::new(), [0]) }
    };
    Ok((values, positions(runs.inverse, inverse_sizes, options.inverse)?, positions(runs.counts, &found, counts)?))
}

#[op_impl(aten::_unique2, CPU)]
fn unique(plan: &UniquePlan, this: &Tensor, return_inverse: bool, return_counts: bool) -> Result<ValuesInverseCounts> {
    let options = UniqueOptions { dim: plan.dim, sorted: true, inverse: return_inverse };
    unique_rows::<aten::_unique2>(this, options, return_counts)
}

#[op_impl(aten::unique_dim, CPU)]
fn unique_dim(plan: &UniquePlan, this: &Tensor) -> Result<ValuesInverseCounts> {
    unique_rows::<aten::unique_dim>(this, UniqueOptions { dim: plan.dim, sorted: true, inverse: true }, true)
}

#[op_impl(aten::unique_consecutive, CPU)]
fn unique_consecutive(plan: &UniquePlan, _: ...) -> Result<ValuesInverseCounts> {
    // For slices, the inverse and the counts are always returned.
    let options = UniqueOptions { dim: plan.dim, sorted: false, inverse: return_inverse || dim.is_some() };
    unique_rows::<aten::unique_consecutive>(this, options, return_counts || dim.is_some())
}
