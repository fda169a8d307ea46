//! Kernels of embedding bags: sums, means and maxima of bags of rows.
//!
//! A bag adds its rows in order, and a gradient row adds the gradients of its bags in order. One thread computes a whole line, so the
//! result does not depend on the number of threads.

use std::ops::Range;

use aten::BagMode;
use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::index::{Negative, inside, positions};
use engine::allocation::{times, usized};
use engine::compute::{Compute, Fraction};
use engine::contiguous::elements;
use engine::contiguous::{computed, fill, packed};
use engine::fill::fill_in_order;
use engine::thread_pool::Lines;

/// The fewest elements that are worth a thread.
const GRAIN: usize = 1 << 14;

/// The rows of each bag.
struct Bags {
    rows: Vec<usize>,
    /// The range of each bag in the list of indices.
    each: Vec<Range<usize>>,
    /// The row that is ignored.
    padding: Option<usize>,
}

/// Reads a tensor of indices, and returns an error if one is not in `0..size`.
fn list(argument: &'static str, tensor: &Tensor, size: i64) -> Result<Vec<usize>> {
    let mut list = positions(tensor)?;
    inside(argument, &mut list, size, Negative::IsOutside)?;
    Ok(list.into_iter().map(usized).collect())
}

impl Bags {
    fn of(weight: &Tensor, indices: &Tensor, offsets: &Tensor, last: bool, padding: i64) -> Result<Self> {
        let rows = list("indices", indices, weight.sizes()[0])?;
        let mut starts = list("offsets", offsets, i64::try_from(rows.len()).unwrap_or(0) + 1)?;
        if let Some(&start) = starts.first().filter(|&&start| start > 0) {
            return Err(BadArgument::value("offsets", start, "0 for the first bag").into());
        }
        if let Some(pair) = starts.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(
                BadArgument::value("offsets", pair[1], format!("{} or more, as the one before", pair[0])).into()
            );
        }
        if !last {
            starts.push(rows.len());
        }
        let each = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        Ok(Self { rows, each, padding: usize::try_from(padding).ok() })
    }

    /// Returns the positions of a bag's indices, without padding.
    fn places(&self, bag: usize) -> impl Iterator<Item = usize> {
        self.each[bag].clone().filter(|&place| Some(self.rows[place]) != self.padding)
    }

    /// Returns the bag of each index. Indices behind the last bag get the number of bags.
    fn of_places(&self) -> Vec<i64> {
        let mut bags = vec![self.each.len(); self.rows.len()];
        for (bag, places) in self.each.iter().enumerate() {
            bags[places.clone()].fill(bag);
        }
        bags.into_iter().map(counted).collect()
    }

    fn counts(&self) -> Vec<i64> {
        (0..self.each.len()).map(|bag| counted(self.places(bag).count())).collect()
    }
}

fn counted(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[op_impl(aten::_embedding_bag, CPU)]
#[op_impl(aten::_embedding_bag_forward_only, CPU)]
fn bagged(plan: &BagMode, [out, bag_of, bag_size, maximum]: [&mut Tensor; 4], _: ...) -> Result<()> {
    let mode = *plan;
    let bags = Bags::of(weight, indices, offsets, include_last_offset, padding_idx)?;
    let width = usized(weight.sizes()[1]);
    let counts = bags.counts();
    let mut most = vec![0_i64; if mode == BagMode::Max { counts.len() * width } else { 0 }];
    computed!(_embedding_bag "weight", weight.dtype(); T in [f32 f64] => {
        let shares = per_sample_weights.map(packed::<T>).transpose()?;
        // If the table needs a conversion, only the selected rows are converted.
        let picked = if weight.dtype() == T::DTYPE { None } else { Some(aten::index_select(weight, 0, indices)?) };
        let table = packed::<T>(picked.as_ref().unwrap_or(weight))?;
        let row = |place: usize| &table[if picked.is_some() { place } else { bags.rows[place] } * width..][..width];
        let grain = GRAIN.div_ceil((width * bags.rows.len()).div_ceil(counts.len().max(1)).max(1));
        fill(out, |out: &mut [T]| {
            if mode == BagMode::Max {
                Lines::new(&mut most, width).each(grain, |bag, line| largest(bags.places(bag), row, line));
            }
            let most = &most;
            Lines::new(out, width).each(grain, |bag, line| {
                line.fill(T::default());
                if mode == BagMode::Max {
                    // An empty bag has no maximum.
                    let winners = most[bag * width..][..width].iter().map(|&place| usized(place));
                    let winners = line.iter_mut().zip(winners).enumerate();
                    winners.filter(|_| counts[bag] > 0).for_each(|(at, (to, place))| *to = row(place)[at]);
                    return;
                }
                for place in bags.places(bag) {
                    let share = shares.as_ref().map_or(1.0, |shares| shares[place]);
                    line.iter_mut().zip(row(place)).for_each(|(to, &x)| *to += share * x);
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
    let rows = most.iter().enumerate().map(|(at, &place)| {
        let row = || i64::try_from(bags.rows[usized(place)]).unwrap_or(0);
        if counts[at / width] > 0 { row() } else { 0 }
    });
    fill_in_order(bag_of, &bags.of_places())?;
    if mode == BagMode::Sum {
        aten::zero_(bag_size)?;
        return aten::zero_(maximum);
    }
    fill_in_order(bag_size, &counts)?;
    if mode == BagMode::Max {
        fill_in_order(maximum, &rows.collect::<Vec<_>>())
    } else {
        fill_in_order(maximum, &counts)
    }
}

/// Finds, for each column, the position of the index whose row has the largest element.
fn largest<'a, T: Fraction>(places: impl Iterator<Item = usize>, row: impl Fn(usize) -> &'a [T], line: &mut [i64]) {
    let mut places = places.peekable();
    let Some(&first) = places.peek() else { return };
    line.fill(counted(first));
    for place in places {
        for (at, (to, &x)) in line.iter_mut().zip(row(place)).enumerate() {
            if x > row(usized(*to))[at] {
                *to = counted(place);
            }
        }
    }
}

/// For each row, the positions of the indices that select it, in order.
struct PositionsByRow {
    starts: Vec<usize>,
    places: Vec<usize>,
}

impl PositionsByRow {
    fn by(rows: &[usize], count: usize) -> Result<Self> {
        let mut starts = times(0, count.saturating_add(1))?;
        rows.iter().for_each(|&row| starts[row + 1] += 1);
        (0..count).for_each(|row| starts[row + 1] += starts[row]);
        // Each start advances to the next start while positions are written, and is then moved back.
        let mut places = times(0, rows.len())?;
        for (place, &row) in rows.iter().enumerate() {
            places[starts[row]] = place;
            starts[row] += 1;
        }
        starts.copy_within(..count, 1);
        starts[0] = 0;
        Ok(Self { starts, places })
    }

    fn of(&self, row: usize) -> &[usize] {
        &self.places[self.starts[row]..self.starts[row + 1]]
    }
}

#[op_impl(aten::_embedding_bag_dense_backward, CPU)]
fn _embedding_bag_dense_backward(plan: &BagMode, out: &mut Tensor, _: ...) -> Result<()> {
    let mode = *plan;
    let rows = list("indices", indices, num_weights)?;
    let (count, width, padding) = (usized(num_weights), usized(grad.sizes()[1]), usize::try_from(padding_idx).ok());
    let counts = if mode == BagMode::Sum { Vec::new() } else { elements::<i64>(bag_size)? };
    computed!(_embedding_bag_dense_backward "grad", grad.dtype(); T in [f32 f64] => {
        if width == 0 {
            return Ok(());
        }
        let shown = PositionsByRow::by(&rows, count)?;
        let (grad, shares) = (packed::<T>(grad)?, per_sample_weights.map(packed::<T>).transpose()?);
        if mode == BagMode::Max {
            let winners = PositionsByRow::by(&list("maximum_indices", maximum_indices, num_weights)?, count)?;
            return fill(out, |out: &mut [T]| {
                Lines::new(out, width).each(GRAIN.div_ceil(width.max(1)), |row, line| {
                    line.fill(T::default());
                    let places = winners.of(row).iter().filter(|&&place| counts[place / width] > 0);
                    places.for_each(|&place| line[place % width] += grad[place]);
                });
                Ok(())
            });
        }
        let bags = list("offset2bag", offset2bag, counted(grad.len().checked_div(width).unwrap_or(0)) + 1)?;
        fill(out, |out: &mut [T]| {
            Lines::new(out, width).each(GRAIN.div_ceil(width.max(1)), |row, line| {
                line.fill(T::default());
                if Some(row) == padding {
                    return;
                }
                let often = T::from_scalar(counted(shown.of(row).len()).into());
                for &place in shown.of(row) {
                    let Some(grad) = grad.get(bags[place] * width..(bags[place] + 1) * width) else { continue };
                    let mut share = shares.as_ref().map_or(1.0, |shares| shares[place]);
                    if mode == BagMode::Mean {
                        share /= T::from_scalar(counts[bags[place]].into());
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
