//! The types that loops compute in.

mod divide_power;
mod ordered;
mod real_float;

use dispatch_runtime::{Arithmetic, Complex32, Complex64, Scalar};

pub use divide_power::{Divide, Power, narrow_complex, widen_complex};
pub use ordered::Ordered;
pub use real_float::RealFloat;

/// A type that loops compute in. Elements of narrower dtypes are converted by [`convert`](crate::convert).
pub trait ComputeType: Arithmetic {
    /// Converts a scalar to this type.
    fn from_scalar(value: Scalar) -> Self;

    /// Returns the value with the opposite sign; integers wrap.
    fn negated(self) -> Self;

    /// Returns whether the value is not zero.
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self != Self::ZERO
    }
}

/// Returns the sum of all lanes, added pairwise.
#[inline(always)]
pub fn sum_lanes<T: Arithmetic, const N: usize>(mut lanes: [T; N]) -> T {
    let mut width = N / 2;
    while width > 0 {
        let (low, high) = lanes.split_at_mut(width);
        for (a, b) in low.iter_mut().zip(high) {
            *a = a.plus(*b);
        }
        width /= 2;
    }
    lanes[0]
}

/// Implements [`ComputeType`] for floating-point and complex numbers.
macro_rules! impl_compute_for_floats {
    ($($ty:ty: |$value:ident| $from:expr;)*) => {$(
        impl ComputeType for $ty {
            #[inline]
            fn from_scalar(value: Scalar) -> Self {
                let $value = scalar_to_complex(value);
                $from
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }
        }
    )*};
}

impl_compute_for_floats! {
    f32: |value| to_f32(value.re);
    f64: |value| value.re;
    Complex32: |value| Self::new(to_f32(value.re), to_f32(value.im));
    Complex64: |value| value;
}

/// Implements [`ComputeType`] for integers.
macro_rules! impl_compute_for_integers {
    ($($ty:ty: |$value:ident| $from:expr;)*) => {$(
        impl ComputeType for $ty {
            #[inline]
            fn from_scalar(value: Scalar) -> Self {
                let $value = scalar_to_i64(value);
                $from
            }

            #[inline(always)]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
        }
    )*};
}

impl_compute_for_integers! {
    i64: |value| value;
    i32: |value| Self::try_from(value).unwrap_or(if value < 0 { Self::MIN } else { Self::MAX });
}

/// Converts a scalar to an integer, rounded towards zero.
fn scalar_to_i64(value: Scalar) -> i64 {
    match value {
        Scalar::Int(value) => value,
        #[expect(clippy::cast_possible_truncation, reason = "the conversion truncates")]
        _ => scalar_to_complex(value).re as i64,
    }
}

fn scalar_to_complex(value: Scalar) -> Complex64 {
    match value {
        Scalar::Complex(value) => value,
        real => Complex64::new(real.to_f64().unwrap_or(0.0), 0.0),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the conversion rounds")]
fn to_f32(value: f64) -> f32 {
    value as f32
}
