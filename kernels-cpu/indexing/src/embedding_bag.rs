//! Kernels of embedding bags: sums, means and maxima of bags of rows.
//!
//! A bag adds its rows in order, and a gradient row adds the gradients of its bags in order. One thread computes a whole line, so the
//! result does not depend on the number of threads.

use std::ops::Range;

use aten::BagMode;
use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::index::{NegativeIndex, check_indices, index_to_vec};
use engine::allocation::{filled_vec, to_usize};
use engine::compute::{ComputeType, RealFloat};
use engine::contiguous::convert_to_vec;
use engine::contiguous::{contiguous_elements, with_compute_type, write_contiguous};
use engine::fill::fill_from_slice;
use engine::thread_pool::DisjointLines;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 1 << 14;

/// The bags of a call: the rows of the embedding table that each bag selects.
struct EmbeddingBags {
    rows: Vec<usize>,
    /// The range of each bag in the list of indices.
    ranges: Vec<Range<usize>>,
    /// The row of the table that bags ignore.
    padding: Option<usize>,
}

/// Reads a tensor of indices, and returns an error if one is not in `0..size`.
fn read_checked_indices(argument: &'static str, tensor: &Tensor, size: i64) -> Result<Vec<usize>> {
    let mut list = index_to_vec(tensor)?;
    check_indices(argument, &mut list, size, NegativeIndex::Reject)?;
    Ok(list.into_iter().map(to_usize).collect())
}

impl EmbeddingBags {
    fn new(weight: &Tensor, indices: &Tensor, offsets: &Tensor, last: bool, padding: i64) -> Result<Self> {
        let rows = read_checked_indices("indices", indices, weight.sizes()[0])?;
        let mut starts = read_checked_indices("offsets", offsets, i64::try_from(rows.len()).unwrap_or(0) + 1)?;
        if let Some(&start) = starts.first().filter(|&&start| start > 0) {
            return Err(BadArgument::value("offsets", start, "0 for the first bag").into());
        }
        if let Some(pair) = starts.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(
                BadArgument::value("offsets", pair[1], format!("{} or more, the offset before it", pair[0])).into()
            );
        }
        if !last {
            starts.push(rows.len());
        }
        let ranges = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        Ok(Self { rows, ranges, padding: usize::try_from(padding).ok() })
    }

    /// Returns the positions of a bag's indices, without padding.
    fn bag_positions(&self, bag: usize) -> impl Iterator<Item = usize> {
        self.ranges[bag].clone().filter(|&position| Some(self.rows[position]) != self.padding)
    }

    /// Returns for each index the number of the bag that it belongs to. Indices behind the last bag get the number of bags.
    fn bag_of_each_index(&self) -> Vec<i64> {
        let mut bags = vec![self.ranges.len(); self.rows.len()];
        for (bag, positions) in self.ranges.iter().enumerate() {
            bags[positions.clone()].fill(bag);
        }
        bags.into_iter().map(to_i64).collect()
    }

    fn bag_sizes(&self) -> Vec<i64> {
        (0..self.ranges.len()).map(|bag| to_i64(self.bag_positions(bag).count())).collect()
    }
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[op_impl(aten::_embedding_bag, CPU)]
#[op_impl(aten::_embedding_bag_forward_only, CPU)]
fn embedding_bag(plan: &BagMode, [out, bag_of, bag_size, maximum]: [&mut Tensor; 4], _: ...) -> Result<()> {
    let mode = *plan;
    let bags = EmbeddingBags::new(weight, indices, offsets, include_last_offset, padding_idx)?;
    let width = to_usize(weight.sizes()[1]);
    let counts = bags.bag_sizes();
    let mut maxima = vec![0_i64; if mode == BagMode::Max { counts.len() * width } else { 0 }];
    with_compute_type!(_embedding_bag "weight", weight.dtype(); T in [f32 f64] => {
        let shares = per_sample_weights.map(contiguous_elements::<T>).transpose()?;
        // If the table needs a conversion, only the selected rows are converted.
        let selected = if weight.dtype() == T::DTYPE { None } else { Some(aten::index_select(weight, 0, indices)?) };
        let table = contiguous_elements::<T>(selected.as_ref().unwrap_or(weight))?;
        let row = |position: usize| &table[if selected.is_some() { position } else { bags.rows[position] } * width..][..width];
        let grain = GRAIN_SIZE.div_ceil((width * bags.rows.len()).div_ceil(counts.len().max(1)).max(1));
        write_contiguous(out, |out: &mut [T]| {
            if mode == BagMode::Max {
                DisjointLines::new(&mut maxima, width).for_each(grain, |bag, line| find_maximum_positions(bags.bag_positions(bag), row, line));
            }
            let maxima = &maxima;
            DisjointLines::new(out, width).for_each(grain, |bag, line| {
                line.fill(T::default());
                if mode == BagMode::Max {
                    // An empty bag has no maximum.
                    let winners = maxima[bag * width..][..width].iter().map(|&position| to_usize(position));
                    let winners = line.iter_mut().zip(winners).enumerate();
                    winners.filter(|_| counts[bag] > 0).for_each(|(at, (to, position))| *to = row(position)[at]);
                    return;
                }
                for position in bags.bag_positions(bag) {
                    let share = shares.as_ref().map_or(1.0, |shares| shares[position]);
                    line.iter_mut().zip(row(position)).for_each(|(to, &x)| *to += share * x);
                }
                if mode == BagMode::Mean && counts[bag] > 0 {
                    let count = T::from_scalar(counts[bag].into());
                    line.iter_mut().for_each(|to| *to /= count);
                }
            });
            Ok(())
        })
    })?;
    // Positions of indices become rows; an empty bag has row 0.
    let rows = maxima.iter().enumerate().map(|(at, &position)| {
        let row = || i64::try_from(bags.rows[to_usize(position)]).unwrap_or(0);
        if counts[at / width] > 0 { row() } else { 0 }
    });
    fill_from_slice(bag_of, &bags.bag_of_each_index())?;
    if mode == BagMode::Sum {
        aten::zero_(bag_size)?;
        return aten::zero_(maximum);
    }
    fill_from_slice(bag_size, &counts)?;
    if mode == BagMode::Max {
        fill_from_slice(maximum, &rows.collect::<Vec<_>>())
    } else {
        fill_from_slice(maximum, &counts)
    }
}

/// Finds, for each column, the position of the index whose row has the largest element.
fn find_maximum_positions<'a, T: RealFloat>(
    positions: impl Iterator<Item = usize>,
    row: impl Fn(usize) -> &'a [T],
    line: &mut [i64],
) {
    let mut positions = positions.peekable();
    let Some(&first) = positions.peek() else { return };
    line.fill(to_i64(first));
    for position in positions {
        for (at, (to, &x)) in line.iter_mut().zip(row(position)).enumerate() {
            if x > row(to_usize(*to))[at] {
                *to = to_i64(position);
            }
        }
    }
}

/// For each row, the positions of the indices that select it, in order.
struct PositionsByRow {
    starts: Vec<usize>,
    positions: Vec<usize>,
}

impl PositionsByRow {
    fn new(rows: &[usize], count: usize) -> Result<Self> {
        let mut starts = filled_vec(0, count.saturating_add(1))?;
        rows.iter().for_each(|&row| starts[row + 1] += 1);
        (0..count).for_each(|row| starts[row + 1] += starts[row]);
        // Each start advances to the next start while positions are written, and is then moved back.
        let mut positions = filled_vec(0, rows.len())?;
        for (position, &row) in rows.iter().enumerate() {
            positions[starts[row]] = position;
            starts[row] += 1;
        }
        starts.copy_within(..count, 1);
        starts[0] = 0;
        Ok(Self { starts, positions })
    }

    fn positions_of_row(&self, row: usize) -> &[usize] {
        &self.positions[self.starts[row]..self.starts[row + 1]]
    }
}

#[op_impl(aten::_embedding_bag_dense_backward, CPU)]
fn _embedding_bag_dense_backward(plan: &BagMode, out: &mut Tensor, _: ...) -> Result<()> {
    let mode = *plan;
    let rows = read_checked_indices("indices", indices, num_weights)?;
    let (count, width, padding) = (to_usize(num_weights), to_usize(grad.sizes()[1]), usize::try_from(padding_idx).ok());
    let counts = if mode == BagMode::Sum { Vec::new() } else { convert_to_vec::<i64>(bag_size)? };
    with_compute_type!(_embedding_bag_dense_backward "grad", grad.dtype(); T in [f32 f64] => {
        if width == 0 {
            return Ok(());
        }
        let positions_by_row = PositionsByRow::new(&rows, count)?;
        let (grad, shares) = (contiguous_elements::<T>(grad)?, per_sample_weights.map(contiguous_elements::<T>).transpose()?);
        if mode == BagMode::Max {
            let winners = PositionsByRow::new(&read_checked_indices("maximum_indices", maximum_indices, num_weights)?, count)?;
            return write_contiguous(out, |out: &mut [T]| {
                DisjointLines::new(out, width).for_each(GRAIN_SIZE.div_ceil(width.max(1)), |row, line| {
                    line.fill(T::default());
                    let positions = winners.positions_of_row(row).iter().filter(|&&position| counts[position / width] > 0);
                    positions.for_each(|&position| line[position % width] += grad[position]);
                });
                Ok(())
            });
        }
        let bags = read_checked_indices("offset2bag", offset2bag, to_i64(grad.len().checked_div(width).unwrap_or(0)) + 1)?;
        write_contiguous(out, |out: &mut [T]| {
            DisjointLines::new(out, width).for_each(GRAIN_SIZE.div_ceil(width.max(1)), |row, line| {
                line.fill(T::default());
                if Some(row) == padding {
                    return;
                }
                let often = T::from_scalar(to_i64(positions_by_row.positions_of_row(row).len()).into());
                for &position in positions_by_row.positions_of_row(row) {
                    let Some(grad) = grad.get(bags[position] * width..(bags[position] + 1) * width) else { continue };
                    let mut share = shares.as_ref().map_or(1.0, |shares| shares[position]);
                    if mode == BagMode::Mean {
                        share /= T::from_scalar(counts[bags[position]].into());
                    }
                    if scale_grad_by_freq {
                        share /= often;
                    }
                    line.iter_mut().zip(grad).for_each(|(to, &grad)| *to += share * grad);
                }
            });
            Ok(())
        })
    })
}
