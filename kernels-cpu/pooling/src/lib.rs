//! CPU kernels of pooling.
//!
//! A window is a box: a span in each of three dimensions. Sliding, adaptive and fractional windows differ only in their spans.
#![allow(clippy::needless_bitwise_bool, reason = "a condition without branches becomes vector instructions")]

mod fractional;
mod pool_nd;
mod windows;

use engine::compute::ComputeType;
use engine::inlined::inlined;
use engine::reduce::min_max::Comparable;

/// An element type in which averages and maxima are computed.
trait PoolElement: ComputeType + Comparable {
    /// Returns `self / count`.
    fn divided_by(self, count: i64) -> Self;
}

inlined! {
    impl PoolElement for f32, f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of elements are small")]
        fn divided_by(self, count: i64) -> Self = self / count as Self;
    }

    impl PoolElement for i64 {
        fn divided_by(self, count: i64) -> Self = self.wrapping_div(count);
    }
}

/// The minimum number of elements for each thread.
const GRAIN_SIZE: usize = 1 << 14;
