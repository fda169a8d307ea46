//! Lines of elements side by side, and how many threads share one (kernels/norm/lines.cuh).

use crate::prelude::*;

/// How many elements a thread holds, and how many of them are side by side.
const HELD: u64 = 16;
const PACK: u64 = 4;
/// How many threads share a line at most, so that there are registers for what each holds of several operands.
const MOST: u64 = 512;

parameters! {
    /// `struct Lines` of the kernels.
    #[derive(Debug)]
    pub(crate) struct Lines {
        length: u32,
        count: u32,
        lanes: u32,
        packed: u32,
    }
}

impl Lines {
    /// So many lines of this length, in several operands. A line's threads are as many as its elements want, and more where there are too
    /// few lines for the device.
    pub(crate) fn of(launch: Launch, count: i64, length: i64, operands: &[(Place, DType)]) -> Self {
        let (length, count) = (length.unsigned_abs(), count.unsigned_abs());
        let threads = |elements: u64| length.div_ceil(elements).clamp(1, MOST).next_power_of_two();
        let (few, many) = (threads(HELD), threads(PACK));
        let idle = count * few < u64::from(launch.multiprocessors()) * 1024;
        let lanes = if many <= 32 || idle { many } else { few.max(32) };
        let aligned = operands.iter().all(|(place, dtype)| place.is_aligned_to(PACK * dtype.size() as u64));
        Self {
            length: u32::try_from(length).unwrap_or(u32::MAX),
            count: u32::try_from(count).unwrap_or(u32::MAX),
            lanes: u32::try_from(lanes).unwrap_or(32),
            packed: u32::from(length % PACK == 0 && aligned),
        }
    }

    pub(crate) fn grid(&self) -> Grid {
        // Threads that share a line wait for each other as a warp does, or as a block.
        let threads = if self.lanes > 32 { self.lanes } else { 256 };
        Grid::new(self.count.div_ceil(threads / self.lanes), threads)
    }

    /// As many blocks as run at once, if a block takes one line of a tile after another.
    pub(crate) fn grid_at_once(&self, launch: Launch) -> Grid {
        let Grid { blocks: [blocks, ..], threads: [threads, ..], .. } = self.grid();
        let is_one_tile = u64::from(self.length) <= u64::from(self.lanes) * HELD;
        let most = if is_one_tile { launch.multiprocessors() * (1024 / threads) } else { blocks };
        Grid::new(blocks.min(most), threads)
    }
}
