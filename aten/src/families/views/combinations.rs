//! Combinations of elements: grids, Cartesian products, and choices of `r` elements.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem, Spec};

use crate::prelude::*;

/// Returns grids of coordinates: each vector expanded along its own dimension, for all combinations of their elements.
#[op_def("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]")]
pub fn meshgrid_indexing(tensors: &[Tensor], indexing: &str) -> Result<Vec<Tensor>> {
    let is_xy = match indexing {
        "ij" => false,
        "xy" => true,
        other => return Err(BadArgument::keyword("indexing", other, &["ij", "xy"]).into()),
    };
    let Some(first) = tensors.first() else {
        return Err(BadArgument::new("tensors", Problem::NoTensors).into());
    };
    let mut sizes = Dims::new();
    for tensor in tensors {
        match tensor.sizes() {
            [] => sizes.push(1),
            &[size] => sizes.push(size),
            more => return Err(BadArgument::rank("tensors", more.len(), ..=1).into()),
        }
        if tensor.dtype() != first.dtype() {
            return Err(BadArgument::dtype("tensors", tensor.dtype(), first.dtype()).because("the first is").into());
        }
    }
    let swap = is_xy && tensors.len() > 1;
    if swap {
        sizes.swap(0, 1);
    }
    let grid = |(i, tensor): (usize, &Tensor)| {
        let dim = if swap && i < 2 { 1 - i } else { i };
        let mut own = Dims::from_elem(1, sizes.len());
        own[dim] = sizes[dim];
        crate::expand(&crate::view(tensor, &own)?, &sizes, false)
    };
    tensors.iter().enumerate().map(grid).collect()
}

/// Computes [`meshgrid_indexing`] with `indexing` "ij": rows, then columns.
#[op_def("meshgrid(Tensor[] tensors) -> Tensor[]", calls = meshgrid_indexing(tensors, "ij"))]
pub fn meshgrid(_: ...) -> Result<Vec<Tensor>>;

/// Returns the Cartesian product of vectors: a row for each choice of an element from each vector.
#[op_def("cartesian_prod(Tensor[] tensors) -> Tensor")]
pub fn cartesian_prod(tensors: &[Tensor]) -> Result<Tensor> {
    if let Some(odd) = tensors.iter().find(|tensor| tensor.sizes().len() != 1) {
        return Err(BadArgument::rank("tensors", odd.sizes().len(), 1).into());
    }
    if let [only] = tensors {
        return Ok(only.clone());
    }
    let columns = meshgrid(tensors)?.iter().map(|grid| grid.reshape(-1)).collect::<Result<Vec<_>>>()?;
    crate::stack(&columns, 1)
}

/// Returns the combinations of `r` elements of a vector: a row for each, with the elements in their original order.
#[op_def("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor")]
pub fn combinations(this: &Tensor, r: i64, with_replacement: bool) -> Result<Tensor> {
    let &[length] = this.sizes() else { return Err(BadArgument::rank("self", this.sizes().len(), 1).into()) };
    if r < 0 {
        return Err(BadArgument::number("r", r, 0..).into());
    }
    if r == 0 {
        return crate::new_empty(this, &[0], None, None, None, None);
    }
    let Some(rows) = combination_count(length, r, with_replacement) else {
        return Err(BadArgument::value(
            "r",
            r,
            format!("so small that the number of combinations of {length} elements fits into 64 bits"),
        )
        .into());
    };
    let sizes = [rows, r];
    if this.device() == Device::META {
        return this.take(&crate::empty_memory_format(&sizes, Some(DType::I64), None, Some(Device::META), None, None)?);
    }
    let mut indices = Spec::contiguous(DType::I64, &sizes).on(Device::CPU)?;
    if indices.geometry().count() > 0 {
        write_combinations(
            &mut indices.write::<i64>()?,
            length,
            with_replacement,
            usize::try_from(r).unwrap_or(usize::MAX),
        );
    }
    this.take(&crate::to_device(&indices, this.device(), DType::I64, false, false, None)?)
}

/// Returns the number of combinations, or `None` if it exceeds 64 bits.
fn combination_count(length: i64, r: i64, with_replacement: bool) -> Option<i64> {
    // With replacement, there are as many combinations as without of `length + r - 1` elements.
    let all = i128::from(length) + if with_replacement { i128::from(r) - 1 } else { 0 };
    if length == 0 || all < i128::from(r) {
        return Some(0);
    }
    let (mut count, mut chosen) = (1_i128, 0);
    // Each step at least doubles the count, so that the loop soon ends.
    while chosen < i128::from(r).min(all - i128::from(r)) && count <= i128::from(i64::MAX) {
        count = count * (all - chosen) / (chosen + 1);
        chosen += 1;
    }
    i64::try_from(count).ok()
}

/// Writes the indices of the combinations in lexicographic order. There must be at least one combination.
fn write_combinations(indices: &mut [i64], length: i64, with_replacement: bool, columns: usize) {
    let step = i64::from(!with_replacement);
    let fill_from = |first: i64, row: &mut [i64]| {
        let mut next = first;
        for index in row {
            *index = next;
            next += step;
        }
    };
    let mut rows = indices.chunks_exact_mut(columns);
    let Some(mut before) = rows.next() else { return };
    fill_from(0, before);
    for row in rows {
        row.copy_from_slice(before);
        // The last column whose index can still be increased.
        let max_index = |from_end: usize| length - 1 - step * i64::try_from(from_end).unwrap_or(0);
        if let Some(from_end) = (0..columns).find(|&from_end| row[columns - 1 - from_end] < max_index(from_end)) {
            let at = columns - 1 - from_end;
            fill_from(row[at] + 1, &mut row[at..]);
        }
        before = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combination_count_is_none_if_it_exceeds_64_bits() {
        let counts = [
            combination_count(4, 2, false),
            combination_count(4, 2, true),
            combination_count(3, 5, false),
            combination_count(0, 2, true),
            combination_count(20_000, 2, false),
        ];
        assert_eq!(counts, [6, 10, 0, 0, 199_990_000].map(Some));
        assert_eq!(
            [combination_count(1, i64::MAX, true), combination_count(2, i64::MAX - 1, true)],
            [1, i64::MAX].map(Some)
        );
        assert_eq!(
            [
                combination_count(100, 50, false),
                combination_count(2, i64::MAX, true),
                combination_count(i64::MAX, i64::MAX, true)
            ],
            [None; 3]
        );
    }
}
