//! Contiguous lines of elements, and the number of threads that share one (kernels/norm/lines.cuh).

use crate::prelude::*;

/// The number of elements that a thread holds, and the number of adjacent ones that it loads at once.
const ELEMENTS_PER_THREAD: u64 = 16;
const ELEMENTS_PER_PACK: u64 = 4;
/// The maximum number of threads that share a line. It leaves each thread enough registers for several operands.
const MAX_THREADS_PER_LINE: u64 = 512;

define_parameters! {
    /// The kernels' `struct Lines`: the lines of a launch and the threads that share one.
    #[derive(Debug)]
    pub(crate) struct Lines {
        length: u32,
        count: u32,
        lanes: u32,
        packed: u32,
    }
}

impl Lines {
    /// Divides `count` lines of `length` elements, of several operands, among threads. The number of threads of a line follows its length.
    /// It is larger if there are too few lines for the device.
    pub(crate) fn divide_among_threads(
        launch: Launch,
        count: i64,
        length: i64,
        operands: &[(DevicePointer, DType)],
    ) -> Self {
        let (length, count) = (length.unsigned_abs(), count.unsigned_abs());
        let threads = |elements: u64| length.div_ceil(elements).clamp(1, MAX_THREADS_PER_LINE).next_power_of_two();
        let (few, many) = (threads(ELEMENTS_PER_THREAD), threads(ELEMENTS_PER_PACK));
        let idle = count * few < u64::from(launch.multiprocessors()) * 1024;
        let lanes = if many <= 32 || idle { many } else { few.max(32) };
        let aligned =
            operands.iter().all(|(address, dtype)| address.is_aligned_to(ELEMENTS_PER_PACK * dtype.size() as u64));
        Self {
            length: u32::try_from(length).unwrap_or(u32::MAX),
            count: u32::try_from(count).unwrap_or(u32::MAX),
            lanes: u32::try_from(lanes).unwrap_or(32),
            packed: u32::from(length % ELEMENTS_PER_PACK == 0 && aligned),
        }
    }

    pub(crate) fn grid(&self) -> Grid {
        // Threads that share a line are synchronised within a warp, or within a block.
        let threads = if self.lanes > 32 { self.lanes } else { 256 };
        Grid::new(self.count.div_ceil(threads / self.lanes), threads)
    }

    /// Returns a grid of the blocks that run at once, if a line fits into one tile: then a block loops over lines.
    pub(crate) fn looping_grid(&self, launch: Launch) -> Grid {
        let Grid { blocks: [blocks, ..], threads: [threads, ..], .. } = self.grid();
        let is_one_tile = u64::from(self.length) <= u64::from(self.lanes) * ELEMENTS_PER_THREAD;
        let most = if is_one_tile { launch.multiprocessors() * (1024 / threads) } else { blocks };
        Grid::new(blocks.min(most), threads)
    }
}
