//! Elements picked one by one along a dimension.
//!
//! The result is fresh, so positions are checked while it is filled: it is thrown away where one is outside.

use std::sync::atomic::{AtomicBool, Ordering};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Problem, operands};

use crate::moves::{GRAIN, Start, packed};
use crate::pool::over;

/// Which positions a row of the result takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Index {
    /// The next ones after those of the row before.
    OfItsOwn,
    /// All rows take the same.
    Shared,
}

/// Fills `out`, whose elements lie side by side, with those of `this` at positions of dimension `at`, of which there is one or more.
pub(crate) fn gathered(out: &mut Tensor, this: &Tensor, at: usize, index: &Tensor, rows: Index) -> Result<()> {
    let index = if index.dtype() == DType::I64 && index.geometry().is_contiguous() {
        index.clone()
    } else {
        packed(index, DType::I64)?
    };
    let positions = index.read::<i64>()?;
    let size = this.sizes()[at];
    let inside = {
        let operands = operands!(write out; read this)?;
        let ([to], [from]) = (operands.written(), operands.read());
        let walk = Walk::of(to.geometry(), from.geometry(), at, &positions, rows);
        let (to, from) = (Start(to.start()), Start(from.start()));
        // SAFETY: the positions that `walk` does not refuse are inside of `this`, as are the others, for which the index has no more
        // than `this`; the operands hold both. Elements of one size are moved as those of any other type of it.
        unsafe {
            match this.dtype().size() {
                1 => walk.run::<u8>(to, from),
                2 => walk.run::<u16>(to, from),
                4 => walk.run::<u32>(to, from),
                8 => walk.run::<[u32; 2]>(to, from),
                _ => walk.run::<[u64; 2]>(to, from),
            }
        }
    };
    match positions.iter().find(|&&index| !inside && !(0..size).contains(&index)) {
        Some(&index) => Err(BadArgument::new("index", Problem::Index { index, size }).into()),
        None => Ok(()),
    }
}

/// Rows of the result, and where their elements come from.
struct Walk<'a> {
    positions: &'a [i64],
    rows: Index,
    /// The size of the dimension, and how far apart its positions are.
    along: (u64, isize),
    /// How many elements a row has, and how far apart they are but for their positions.
    row: (usize, isize),
    /// The same for rows, the last dimension first.
    outer: Vec<(usize, isize)>,
}

impl<'a> Walk<'a> {
    fn of(out: &Geometry, this: &Geometry, at: usize, positions: &'a [i64], rows: Index) -> Self {
        let step = |dim: usize| isize::try_from(this.strides()[dim]).unwrap_or(0);
        let dims = out.sizes().iter().enumerate().rev();
        let mut outer: Vec<(usize, isize)> = dims
            .map(|(dim, &size)| (usize::try_from(size).unwrap_or(0), if dim == at { 0 } else { step(dim) }))
            .collect();
        let row = outer.remove(0);
        Self { positions, rows, along: (this.sizes()[at].unsigned_abs(), step(at)), row, outer }
    }

    /// Whether all positions are inside of the dimension. What is outside is left out.
    ///
    /// # Safety
    ///
    /// The result begins at `to` and has an element for each of all rows. Elements at positions inside of the dimension, counted from
    /// `from`, can be read. Both are of the size of `W`.
    unsafe fn run<W: Copy>(&self, to: Start, from: Start) -> bool {
        let (length, step) = self.row;
        let rows: usize = self.outer.iter().map(|(size, _)| size).product();
        let all_inside = AtomicBool::new(true);
        over(0..rows * length, GRAIN, |piece| {
            let (mut row, mut start) = (piece.start / length, piece.start % length);
            let mut at: Vec<usize> = Vec::with_capacity(self.outer.len());
            let (mut rest, mut base) = (row, 0_isize);
            for (size, step) in &self.outer {
                at.push(rest % size);
                base += step * (rest % size).cast_signed();
                rest /= size;
            }
            let mut inside = true;
            let mut left = piece.len();
            while left > 0 {
                let end = length.min(start + left);
                let first = if self.rows == Index::Shared { 0 } else { row * length };
                let to = to.at(0).cast::<W>().wrapping_add(row * length);
                let from = from.at(0).cast::<W>().wrapping_offset(base);
                for (i, &position) in (start..end).zip(&self.positions[first + start..first + end]) {
                    if position.cast_unsigned() < self.along.0 {
                        // Positions are below the size of a dimension, which fits.
                        #[expect(clippy::cast_possible_truncation, reason = "as said")]
                        let place = i.cast_signed() * step + position as isize * self.along.1;
                        // SAFETY: as the caller says.
                        unsafe { to.add(i).write(from.offset(place).read()) };
                    } else {
                        inside = false;
                    }
                }
                left -= end - start;
                (row, start) = (row + 1, 0);
                for (at, (size, step)) in at.iter_mut().zip(&self.outer) {
                    *at += 1;
                    base += step;
                    if *at < *size {
                        break;
                    }
                    base -= step * size.cast_signed();
                    *at = 0;
                }
            }
            if !inside {
                all_inside.store(false, Ordering::Relaxed);
            }
        });
        all_inside.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(result: Result<Tensor>) -> Problem {
        let error = result.err().unwrap();
        std::error::Error::source(&error).unwrap().downcast_ref::<BadArgument>().unwrap().problem.clone()
    }

    #[test]
    fn rows_are_found_whatever_the_pieces_and_the_strides() {
        let (high, wide) = (70, 1500);
        let elements: Vec<i32> = (0..high * wide).collect();
        let flat = Tensor::from_slice(&elements);
        let view =
            |sizes: &[i64], strides: &[i64]| flat.restride(Geometry::strided(sizes, strides, 0).unwrap()).unwrap();
        let (rows, cols) = (i64::from(high), i64::from(wide));
        let straight = view(&[rows, cols], &[cols, 1]);
        let positions: Vec<i64> = (0..i64::from(high * wide)).map(|i| i * 7919 % rows).collect();
        let index = Tensor::from_slice(&positions).restride(Geometry::contiguous(&[rows, cols])).unwrap();
        let down = aten::gather(&straight, 0, &index, false).unwrap().to_vec::<i32>().unwrap();
        let turned = view(&[cols, rows], &[1, cols]);
        let across = aten::gather(&turned, 1, &aten::t(&index).unwrap(), false).unwrap();
        let across = aten::alias_copy(&aten::t(&across).unwrap()).unwrap().to_vec::<i32>().unwrap();
        for (i, position) in positions.iter().enumerate() {
            let expected = i32::try_from(*position).unwrap() * wide + i32::try_from(i).unwrap() % wide;
            assert_eq!((down[i], across[i]), (expected, expected));
        }
    }

    #[test]
    fn positions_outside_are_refused() {
        let row = Tensor::from_slice(&[1.0_f64, 2.0, 3.0]);
        for position in [-1, 3, i64::MIN, i64::MAX] {
            let expected = Problem::Index { index: position, size: 3 };
            let index = Tensor::from_slice(&[0, position]);
            assert_eq!(problem(aten::gather(&row, 0, &index, false)), expected);
            assert_eq!(problem(aten::index_select(&row, 0, &index)), expected);
        }
    }
}
