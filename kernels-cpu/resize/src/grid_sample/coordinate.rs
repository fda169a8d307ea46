//! Floating-point types in which grids are sampled.

use dispatch_runtime::{bf16, f16};

use engine::compute::{Compute, Precision};
use engine::inlined::inlined;
use engine::math::Real;

/// A floating-point type in which positions in images are computed.
pub(super) trait Coordinate: Precision + Into<f64> + Send + Sync {
    /// The type of packed elements, which represents each value of this type.
    type Packed: Compute;

    /// Converts a packed element whose value this type represents.
    fn of(packed: Self::Packed) -> Self;

    /// Converts to a packed element of the same value.
    fn packed(self) -> Self::Packed;

    /// Rounds down to an integer.
    fn floor(self) -> Self;

    /// Rounds to the nearest integer, and to an even one if two are equally near.
    fn nearest(self) -> Self;

    /// Returns the absolute value.
    fn abs(self) -> Self;

    /// Returns the remainder of a division, which is exact in each type.
    fn remainder(self, divisor: Self) -> Self;
}

inlined! {
    impl Coordinate for f32, f64 {
        type Packed = Self;
        fn of(packed: Self) -> Self = packed;
        fn packed(self) -> Self = self;
        fn floor(self) -> Self = Real::floor(self);
        fn nearest(self) -> Self = Real::round(self);
        fn abs(self) -> Self = Real::abs(self);
        fn remainder(self, divisor: Self) -> Self = Real::fmod(self, divisor);
    }

    impl Coordinate for bf16, f16 {
        type Packed = f32;
        fn of(packed: f32) -> Self = Self::from_f32(packed);
        fn packed(self) -> f32 = self.to_f32();
        fn floor(self) -> Self = Self::from_f32(Real::floor(self.to_f32()));
        fn nearest(self) -> Self = Self::from_f32(Real::round(self.to_f32()));
        fn abs(self) -> Self = Self::from_f32(Real::abs(self.to_f32()));
        fn remainder(self, divisor: Self) -> Self = Self::from_f32(Real::fmod(self.to_f32(), divisor.to_f32()));
    }
}
