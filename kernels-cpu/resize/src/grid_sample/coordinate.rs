//! The floating-point types that grids are computed in.

use dispatch_runtime::{bf16, f16};

use engine::compute::{Compute, Precision};
use engine::inlined::inlined;
use engine::math::Real;

/// A type that positions in images are computed in.
pub(super) trait Coordinate: Precision + Into<f64> + Send + Sync {
    /// The type of packed elements, which has room for each value of this one.
    type Packed: Compute;

    /// A packed element, which is a value of this type.
    fn of(packed: Self::Packed) -> Self;

    /// The same value as a packed element.
    fn packed(self) -> Self::Packed;

    /// The largest whole number that is not larger.
    fn floor(self) -> Self;

    /// The nearest whole number, an even one if two are equally near.
    fn nearest(self) -> Self;

    /// The distance to zero.
    fn abs(self) -> Self;

    /// The remainder of a division, which is exact in each type.
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
