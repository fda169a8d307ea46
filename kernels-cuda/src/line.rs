//! Lines of elements side by side, and how many threads share one (kernels/line.cuh).

use dispatch_runtime::DType;

use crate::kernel::{Launch, Parameter, Place};
use crate::machine::Grid;

/// How many elements a thread holds, and how many of them are side by side.
const HELD: i64 = 16;
const PACK: i64 = 4;

/// `struct Lines` of the kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Lines {
    length: i64,
    count: u32,
    lanes: u32,
    packed: u32,
}

impl Parameter for Lines {}

impl Lines {
    /// So many lines of this length, in several operands. A line's threads are as many as its elements want, and more where there are too
    /// few lines for the device.
    pub(crate) fn of(launch: Launch, count: i64, length: i64, operands: &[(Place, DType)]) -> Self {
        let threads = |elements: i64| threads(length.div_ceil(elements));
        let (few, many) = (threads(HELD), threads(PACK));
        let idle = count * few < i64::from(launch.multiprocessors()) * 1024;
        let lanes = if many <= 32 || idle { many } else { few.max(32) };
        let aligned =
            operands.iter().all(|(place, dtype)| place.is_aligned_to(PACK.unsigned_abs() * dtype.size() as u64));
        Self {
            length,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            lanes: u32::try_from(lanes).unwrap_or(32),
            packed: u32::from(length % PACK == 0 && aligned),
        }
    }

    pub(crate) fn grid(&self) -> Grid {
        let threads = self.lanes.max(256);
        // Threads that share a line wait for each other as a warp does, or as a block.
        let threads = if self.lanes > 32 { self.lanes } else { threads };
        Grid::new(self.count.div_ceil(threads / self.lanes), threads)
    }
}

fn threads(wanted: i64) -> i64 {
    wanted.clamp(1, 1024).unsigned_abs().next_power_of_two().cast_signed()
}
