//! Tiled copies between tensors with different innermost dimensions.
//!
//! A copy row by row would load a cache line for every element. Instead, a tile is read line by line, transposed in a buffer that stays in
//! the cache, and written line by line, so every cache line is loaded once. The lines of the next tile are prefetched, because the
//! processor does not predict lines that are far apart.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use super::{LoopNest, prefetch};
use crate::data_movement::BasePointer;
use crate::thread_pool::parallel_for;

/// Bytes that a tile reads or writes at once.
const TILE_LINE_BYTES: usize = 128;

/// The fewest elements of a dimension that is copied in tiles; shorter ones are copied row by row.
const MIN_TILED_DIM_SIZE: usize = 8;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 32 * 1024;

/// The two dimensions of the tiles, one innermost in the written and one in the read operand, and all other dimensions.
pub(super) struct TransposeTiles {
    /// The dimension that is innermost in the written operand: its size, and the stride of the read operand.
    across: (usize, isize),
    /// The dimension that is innermost in the read operand: its size, and the stride of the written operand.
    down: (usize, isize),
    outer_dims: Vec<(usize, [isize; 2])>,
    /// The size of an element.
    size: usize,
}

impl TransposeTiles {
    /// Returns the tiles of a copy; `None` if a copy row by row is as fast.
    pub(super) fn for_nest(nest: &LoopNest<2>, size: usize) -> Option<Self> {
        let step = size.cast_signed();
        let [(across, [to, from]), rest @ ..] = nest.dims() else { return None };
        let at = rest.iter().position(|(_, [_, from])| *from == step)?;
        let (down, [down_step, _]) = rest[at];
        if *to != step || *from == step || *from == 0 || *across < MIN_TILED_DIM_SIZE || down < MIN_TILED_DIM_SIZE {
            return None;
        }
        let outer_dims = rest.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, dim)| *dim).collect();
        Some(Self { across: (*across, *from), down: (down, down_step), outer_dims, size })
    }

    /// # Safety
    ///
    /// All elements of the nest's operands are inside blocks of memory that begin at `to` and `from`. The blocks do not overlap.
    pub(super) unsafe fn copy_in_tiles(&self, to: *mut u8, from: *const u8) {
        let ends = [BasePointer(to), BasePointer(from.cast_mut())];
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.size {
                1 => self.copy_elements_of_size::<1>(ends),
                2 => self.copy_elements_of_size::<2>(ends),
                4 => self.copy_elements_of_size::<4>(ends),
                8 => self.copy_elements_of_size::<8>(ends),
                _ => self.copy_elements_of_size::<16>(ends),
            }
        }
    }

    /// # Safety
    ///
    /// The safety conditions of [`copy_in_tiles`](Self::copy_in_tiles) hold for elements of `SIZE` bytes.
    unsafe fn copy_elements_of_size<const SIZE: usize>(&self, [to, from]: [BasePointer; 2]) {
        let side = TILE_LINE_BYTES / SIZE;
        let (wide, high) = (self.across.0.div_ceil(side), self.down.0.div_ceil(side));
        let count = wide * high * self.outer_dims.iter().map(|(size, _)| size).product::<usize>();
        let tile_location = |number: usize| {
            let (column, row) = (number % wide * side, number / wide % high * side);
            let [to_offset, from_offset] = self.outer_offsets(number / wide / high);
            let (columns, rows) = (side.min(self.across.0 - column), side.min(self.down.0 - row));
            let (column, row) = (column.cast_signed(), row.cast_signed());
            let to = to.at_byte_offset(to_offset + row * self.down.1 + column * SIZE.cast_signed());
            let from = from.at_byte_offset(from_offset + column * self.across.1 + row * SIZE.cast_signed());
            TileLocation { to, from, columns, rows }
        };
        parallel_for(0..count, (GRAIN_SIZE / (side * side)).max(1), |piece| {
            let mut tile = vec![[0_u8; SIZE]; side * side];
            let mut here = tile_location(piece.start);
            for number in piece {
                let next = tile_location(number + 1);
                // SAFETY: the tile is inside both operands, and no other piece has it.
                unsafe { self.copy_tile(&mut tile, &here, &next) };
                here = next;
            }
        });
    }

    /// Copies a tile and transposes it.
    ///
    /// # Safety
    ///
    /// `columns` lines of `rows` elements of the source can be read, and `rows` lines of `columns` elements of the destination can be
    /// written. They do not overlap.
    unsafe fn copy_tile<const SIZE: usize>(&self, tile: &mut [[u8; SIZE]], here: &TileLocation, next: &TileLocation) {
        let side = TILE_LINE_BYTES / SIZE;
        let mut line = [[0_u8; SIZE]; TILE_LINE_BYTES];
        for column in 0..here.columns {
            let offset = column.cast_signed() * self.across.1;
            prefetch::prefetch_for_reading(next.from.wrapping_offset(offset), TILE_LINE_BYTES);
            let from = here.from.wrapping_offset(offset);
            // SAFETY: guaranteed by the caller; a line has room for `TILE_LINE_BYTES` elements, and there are fewer rows.
            unsafe { std::ptr::copy_nonoverlapping(from, line.as_mut_ptr().cast(), here.rows * SIZE) };
            for (row, element) in line[..here.rows].iter().enumerate() {
                tile[row * side + column] = *element;
            }
        }
        for row in 0..here.rows {
            let offset = row.cast_signed() * self.down.1;
            prefetch::prefetch_for_writing(next.to.wrapping_offset(offset), TILE_LINE_BYTES);
            let line = &tile[row * side..row * side + here.columns];
            // SAFETY: guaranteed by the caller.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    line.as_ptr().cast(),
                    here.to.wrapping_offset(offset),
                    here.columns * SIZE,
                );
            };
        }
    }

    /// Returns the operands' byte offsets at a position of the other dimensions.
    fn outer_offsets(&self, mut rest: usize) -> [isize; 2] {
        let mut offsets = [0; 2];
        for (size, steps) in &self.outer_dims {
            let position = (rest % size).cast_signed();
            rest /= size;
            offsets = [offsets[0] + steps[0] * position, offsets[1] + steps[1] * position];
        }
        offsets
    }
}

/// The location and size of a tile.
struct TileLocation {
    to: *mut u8,
    from: *mut u8,
    columns: usize,
    rows: usize,
}

#[cfg(test)]
mod tests {
    use dispatch_runtime::{Element, Geometry, Tensor};

    fn check_transposed_copy<T: Element>(of: impl Fn(i64) -> T) {
        let sizes = [3_i64, 37, 2, 150];
        let strides = [37 * 2, 1, 37, 3 * 37 * 2];
        let count = sizes.iter().product::<i64>();
        let elements: Vec<T> = (0..count).map(of).collect();
        let view = Tensor::from_slice(&elements).restride(Geometry::strided(&sizes, &strides, 0).unwrap()).unwrap();
        let copied = aten::contiguous(&view, dispatch_runtime::MemoryFormat::Contiguous).unwrap();
        let mut expected = Vec::new();
        for flat in 0..count {
            let at = [flat / (37 * 2 * 150), flat / (2 * 150) % 37, flat / 150 % 2, flat % 150];
            let place: i64 = at.iter().zip(strides).map(|(at, stride)| at * stride).sum();
            expected.push(elements[usize::try_from(place).unwrap()]);
        }
        assert!(*copied.read::<T>().unwrap() == expected[..], "{}", T::DTYPE);
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any distinct values are enough")]
    fn transposed_copies_are_right_for_each_element_size() {
        check_transposed_copy(|i| i as i8);
        check_transposed_copy(|i| i as i16);
        check_transposed_copy(|i| i as f32);
        check_transposed_copy(|i| i);
        check_transposed_copy(|i| dispatch_runtime::Complex32::new(i as f32, -1.0));
        check_transposed_copy(|i| dispatch_runtime::Complex64::new(i as f64, -1.0));
    }
}
