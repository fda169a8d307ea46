//! Signs, magnitudes, and integer parts.

use dispatch_runtime::{Complex32, Complex64, DType, Promotion, Result, Tensor, bf16, f16, op_impl};

use crate::special::by;
use engine::compute::{Compute, Fraction, Ordered, Precision, narrowed_complex, widened};
use engine::elementwise::{Lanes, Loops, elementwise, loops, part};
use engine::inlined::inlined;
use engine::math::Real;

elementwise! {
    neg [few] => cheap negated;
    sign [few] => |[x]| Ordered::signum(x);
    sgn => |[x]| x.direction();
    floor => |[x]| x.down();
    ceil => |[x]| x.up();
    trunc => |[x]| x.to_zero();
    round => |[x]| x.to_nearest();
    frac => |[x]| x - Real::trunc(x);
    abs => by { abs_loops() };
    round_decimals => by { round_loops(decimals) };
    nan_to_num => by { nan_to_num_loops(this.dtype(), nan, posinf, neginf) };
}

fn abs_loops() -> impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]> {
    |dtype, lanes: &mut Lanes<'_, 1>| match dtype {
        DType::C64 | DType::C128 => loops!([Complex32 Complex64] |[z]| Real::hypot(z.re, z.im))(dtype, lanes),
        _ => loops!([f32 f64 i32 i64] cheap magnitude)(dtype, lanes),
    }
}

trait Signed: Compute {
    fn direction(self) -> Self;
}

inlined! {
    impl Signed for f32, f64, i64 {
        fn direction(self) -> Self = Ordered::signum(self);
    }
}

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

/// Rounding to an integer, which an integer is.
trait Round {
    fn down(self) -> Self;
    fn up(self) -> Self;
    fn to_zero(self) -> Self;
    fn to_nearest(self) -> Self;
}

inlined! {
    impl Round for i64 {
        fn down(self) -> Self = self;
        fn up(self) -> Self = self;
        fn to_zero(self) -> Self = self;
        fn to_nearest(self) -> Self = self;
    }

    impl Round for f32, f64 {
        fn down(self) -> Self = Real::floor(self);
        fn up(self) -> Self = Real::ceil(self);
        fn to_zero(self) -> Self = Real::trunc(self);
        fn to_nearest(self) -> Self = Real::round(self);
    }
}

fn round_loops(decimals: i64) -> impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]> {
    let places = i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX);
    let (scale, is_left) = (10_f64.powi(places), decimals < 0);
    loops!([f32 f64] |[x]| round_to(x, scale, is_left))
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

inlined! {
    impl Stand for i64 {
        fn or(self, _nan: f64, _above: Option<f64>, _below: Option<f64>) -> Self = self;
    }

    impl Stand for f32, f64 {
        fn or(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self = if Fraction::is_nan(self) {
            Precision::near(nan)
        } else if self == Self::INFINITY {
            above.map_or(Self::MAX, Precision::near)
        } else if self == Self::NEG_INFINITY {
            below.map_or(Self::MIN, Precision::near)
        } else {
            self
        };
    }

    impl Stand for Complex32, Complex64 {
        fn or(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self =
            Self::new(self.re.or(nan, above, below), self.im.or(nan, above, below));
    }
}

fn nan_to_num_loops(
    dtype: DType,
    nan: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
) -> impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]> {
    // What is computed in a wider type is bounded by its own.
    let largest = match dtype {
        DType::F16 => Some(f16::MAX.to_f64()),
        DType::BF16 => Some(bf16::MAX.to_f64()),
        _ => None,
    };
    let (above, below) = (above.or(largest), below.or_else(|| largest.map(|largest| -largest)));
    loops!([f32 f64 i64 Complex32 Complex64] |[x]| x.or(nan.unwrap_or(0.0), above, below))
}
