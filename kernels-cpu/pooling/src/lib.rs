//! Maxima and averages of parts of images.
//!
//! A part is a box: a span in each of three dimensions. Windows that move and parts that adapt differ in their spans only.
#![allow(clippy::needless_bitwise_bool, reason = "a condition without branches becomes vector instructions")]

mod fractional;
mod pool_nd;
mod windows;

use engine::compute::Compute;
use engine::inlined::inlined;
use engine::reduce::min_max::Ordered;

/// What averages and maxima are computed in.
trait Part: Compute + Ordered {
    /// `self / count`
    fn over(self, count: i64) -> Self;
}

inlined! {
    impl Part for f32, f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of elements are small")]
        fn over(self, count: i64) -> Self = self / count as Self;
    }

    impl Part for i64 {
        fn over(self, count: i64) -> Self = self.wrapping_div(count);
    }
}

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 14;
