//! Floating-point types in which grids are sampled.

use dispatch_runtime::{Floating, bf16, f16};

use engine::compute::ComputeType;
use engine::inlined::inlined;
use engine::math::Real;

/// A floating-point type in which positions in images are computed.
pub(super) trait Coordinate: Floating + Into<f64> + Send + Sync {
    /// The type that loops compute in. It represents each value of this type.
    type LoopType: ComputeType;

    /// Converts a value of [`LoopType`](Self::LoopType) that this type represents.
    fn from_loop_type(value: Self::LoopType) -> Self;

    /// Converts to the same value of [`LoopType`](Self::LoopType).
    fn to_loop_type(self) -> Self::LoopType;

    /// Rounds down to an integer.
    fn floor(self) -> Self;

    /// Rounds to the nearest integer, and to an even one if two are equally near.
    fn round_to_nearest(self) -> Self;

    /// Returns the absolute value.
    fn abs(self) -> Self;

    /// Returns the remainder of a division, which is exact in each type.
    fn remainder(self, divisor: Self) -> Self;
}

inlined! {
    impl Coordinate for f32, f64 {
        type LoopType = Self;
        fn from_loop_type(value: Self) -> Self = value;
        fn to_loop_type(self) -> Self = self;
        fn floor(self) -> Self = Real::floor(self);
        fn round_to_nearest(self) -> Self = Real::round(self);
        fn abs(self) -> Self = Real::abs(self);
        fn remainder(self, divisor: Self) -> Self = Real::fmod(self, divisor);
    }

    impl Coordinate for bf16, f16 {
        type LoopType = f32;
        fn from_loop_type(value: f32) -> Self = Self::from_f32(value);
        fn to_loop_type(self) -> f32 = self.to_f32();
        fn floor(self) -> Self = Self::from_f32(Real::floor(self.to_f32()));
        fn round_to_nearest(self) -> Self = Self::from_f32(Real::round(self.to_f32()));
        fn abs(self) -> Self = Self::from_f32(Real::abs(self.to_f32()));
        fn remainder(self, divisor: Self) -> Self = Self::from_f32(Real::fmod(self.to_f32(), divisor.to_f32()));
    }
}
