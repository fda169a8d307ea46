//! The types that loops compute in.

mod field;
mod fraction;
mod ordered;
mod precision;

use dispatch_runtime::{Arithmetic, Complex32, Complex64, Scalar};

pub use field::{Field, Power, narrowed as narrowed_complex, widened};
pub use fraction::Fraction;
pub use ordered::Ordered;
pub use precision::Precision;

/// A type that loops compute in. Elements of narrower dtypes are converted by [`convert`](crate::convert).
pub trait Compute: Arithmetic {
    /// Converts a scalar to this type.
    fn from_scalar(value: Scalar) -> Self;

    /// Returns the value with the opposite sign; integers wrap.
    fn negated(self) -> Self;

    /// Returns whether the value is not zero.
    #[inline(always)]
    fn holds(self) -> bool {
        self != Self::ZERO
    }
}

/// Returns the sum of all lanes, added pairwise.
#[inline(always)]
pub fn joined<T: Arithmetic, const N: usize>(mut lanes: [T; N]) -> T {
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

macro_rules! floats {
    ($($ty:ty: |$value:ident| $from:expr;)*) => {$(
        impl Compute for $ty {
            #[inline]
            fn from_scalar(value: Scalar) -> Self {
                let $value = complex(value);
                $from
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }
        }
    )*};
}

floats! {
    f32: |value| narrowed(value.re);
    f64: |value| value.re;
    Complex32: |value| Self::new(narrowed(value.re), narrowed(value.im));
    Complex64: |value| value;
}

macro_rules! integers {
    ($($ty:ty: |$value:ident| $from:expr;)*) => {$(
        impl Compute for $ty {
            #[inline]
            fn from_scalar(value: Scalar) -> Self {
                let $value = whole(value);
                $from
            }

            #[inline(always)]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
        }
    )*};
}

integers! {
    i64: |value| value;
    i32: |value| Self::try_from(value).unwrap_or(if value < 0 { Self::MIN } else { Self::MAX });
}

fn whole(value: Scalar) -> i64 {
    match value {
        Scalar::Int(value) => value,
        #[expect(clippy::cast_possible_truncation, reason = "the integer part is what is asked for")]
        _ => complex(value).re as i64,
    }
}

fn complex(value: Scalar) -> Complex64 {
    match value {
        Scalar::Complex(value) => value,
        real => Complex64::new(real.to_f64().unwrap_or(0.0), 0.0),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
fn narrowed(value: f64) -> f32 {
    value as f32
}
