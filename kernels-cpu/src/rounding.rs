//! Signs, magnitudes, and integer parts.

use dispatch_runtime::{Complex32, Complex64, DType, Promotion, Result, Tensor, bf16, f16, op_impl};

use crate::compute::{Compute, Fraction, Ordered, narrowed_complex, widened};
use crate::elementwise::{Lanes, Loops, elementwise, loops, part};
use crate::math::Real;
use crate::special::by;

elementwise! {
    neg [few] => cheap negated;
    sign [few] => |[x]| Ordered::signum(x);
    sgn => |[x]| x.direction();
    floor => |[x]| x.rounded(Rounded::Down);
    ceil => |[x]| x.rounded(Rounded::Up);
    trunc => |[x]| x.rounded(Rounded::ToZero);
    round => |[x]| x.rounded(Rounded::ToNearest);
    frac => |[x]| x - Real::trunc(x);
    abs => by { abs_loops() };
    round_decimals => by { round_loops(decimals) };
    nan_to_num => by { nan_to_num_loops(this.dtype(), nan, posinf, neginf) };
}

#[expect(clippy::unnecessary_wraps, reason = "others look at their numbers")]
fn abs_loops() -> Result<impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]>> {
    Ok(|dtype, lanes: &mut Lanes<'_, 1>| match dtype {
        DType::C64 | DType::C128 => loops!([Complex32 Complex64] |[z]| Real::hypot(z.re, z.im))(dtype, lanes),
        _ => loops!([f32 f64 i32 i64] cheap magnitude)(dtype, lanes),
    })
}

trait Signed: Compute {
    fn direction(self) -> Self;
}

macro_rules! real {
    ($($ty:ty)*) => {$(
        impl Signed for $ty {
            #[inline(always)]
            fn direction(self) -> Self {
                Ordered::signum(self)
            }
        }
    )*};
}

real! { f32 f64 i64 }

impl Signed for Complex64 {
    fn direction(self) -> Self {
        let length = self.norm();
        if length == 0.0 { Self::new(0.0, 0.0) } else { self / length }
    }
}

impl Signed for Complex32 {
    fn direction(self) -> Self {
        narrowed_complex(widened(self).direction())
    }
}

/// Where to.
#[derive(Clone, Copy)]
enum Rounded {
    Down,
    Up,
    ToZero,
    ToNearest,
}

trait Round {
    fn rounded(self, to: Rounded) -> Self;
}

impl Round for i64 {
    #[inline(always)]
    fn rounded(self, _: Rounded) -> Self {
        self
    }
}

macro_rules! fractions {
    ($($ty:ty)*) => {$(
        impl Round for $ty {
            #[inline(always)]
            fn rounded(self, to: Rounded) -> Self {
                match to {
                    Rounded::Down => Real::floor(self),
                    Rounded::Up => Real::ceil(self),
                    Rounded::ToZero => Real::trunc(self),
                    Rounded::ToNearest => Real::round(self),
                }
            }
        }
    )*};
}

fractions! { f32 f64 }

#[expect(clippy::unnecessary_wraps, reason = "others look at their numbers")]
fn round_loops(decimals: i64) -> Result<impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]>> {
    let places = i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX);
    let (scale, is_left) = (10_f64.powi(places), decimals < 0);
    Ok(loops!([f32 f64] |[x]| round_to(x, scale, is_left)))
}

#[inline(always)]
fn round_to<T: Fraction>(x: T, scale: f64, is_left: bool) -> T {
    let scale = T::near(scale);
    if is_left { Real::round(x / scale) * scale } else { Real::round(x * scale) / scale }
}

#[op_impl(aten::frexp, CPU)]
fn frexp(_plan: &(), [mantissa, exponent]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    let either = |loops: Loops<'_, 1>| part::<aten::frexp, _>(Promotion::Common, [this], loops);
    aten::copy_(mantissa, &either(&loops!([f32 f64] |[x]| by(x, |x| parts(x).0)))?, false)?;
    aten::copy_(exponent, &either(&loops!([f32 f64] |[x]| by(x, |x| parts(x).1)))?, false)
}

/// A number from a half to one, and the exponent that goes with it; what is zero or not finite has none.
fn parts(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (x, 0.0);
    }
    let (mantissa, exponent) = libm::frexp(x);
    (mantissa, exponent.into())
}

/// What stands in for what is not a number.
trait Stand: Compute {
    fn or(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self;
}

impl Stand for i64 {
    #[inline(always)]
    fn or(self, _: f64, _: Option<f64>, _: Option<f64>) -> Self {
        self
    }
}

macro_rules! stands {
    ($($ty:ty, $complex:ty;)*) => {$(
        impl Stand for $complex {
            #[inline(always)]
            fn or(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self {
                Self::new(self.re.or(nan, above, below), self.im.or(nan, above, below))
            }
        }

        impl Stand for $ty {
            #[inline(always)]
            fn or(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self {
                if Fraction::is_nan(self) {
                    Fraction::near(nan)
                } else if self == Self::INFINITY {
                    above.map_or(Self::MAX, Fraction::near)
                } else if self == Self::NEG_INFINITY {
                    below.map_or(Self::MIN, Fraction::near)
                } else {
                    self
                }
            }
        }
    )*};
}

stands! { f32, Complex32; f64, Complex64; }

#[expect(clippy::unnecessary_wraps, reason = "others look at their numbers")]
fn nan_to_num_loops(
    dtype: DType,
    nan: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
) -> Result<impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]>> {
    // What is computed in a wider type is bounded by its own.
    let largest = match dtype {
        DType::F16 => Some(f16::MAX.to_f64()),
        DType::BF16 => Some(bf16::MAX.to_f64()),
        _ => None,
    };
    let (above, below) = (above.or(largest), below.or_else(|| largest.map(|largest| -largest)));
    Ok(loops!([f32 f64 i64 Complex32 Complex64] |[x]| x.or(nan.unwrap_or(0.0), above, below)))
}
