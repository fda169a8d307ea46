//! Signs, magnitudes, and integer parts.

use dispatch_runtime::{BadArgument, Complex32, Complex64, DType, Promotion, Result, Tensor, bf16, f16, op_impl};

use crate::compute::{Compute, Fraction, Ordered, narrowed_complex, widened};
use crate::elementwise::{Bound, Lanes, Loops, elementwise, forms, fresh, fusible, in_place, into, loops, part};
use crate::math::Real;
use crate::special::by;

elementwise! {
    neg neg_ neg_out [f32 f64 i32 i64 Complex32 Complex64] (this) if aten::check_negation => cheap negated;
    sign sign_ sign_out [f32 f64 i32 i64] (this) => |[x]| Ordered::signum(x);
    sgn sgn_ sgn_out [f32 f64 i64 Complex32 Complex64] (this) => |[x]| x.direction();
    floor floor_ floor_out [f32 f64 i64] (this) => |[x]| x.rounded(Rounded::Down);
    ceil ceil_ ceil_out [f32 f64 i64] (this) => |[x]| x.rounded(Rounded::Up);
    trunc trunc_ trunc_out [f32 f64 i64] (this) => |[x]| x.rounded(Rounded::ToZero);
    round round_ round_out [f32 f64 i64] (this) => |[x]| x.rounded(Rounded::ToNearest);
    frac frac_ frac_out [f32 f64] (this) => |[x]| x - Real::trunc(x);
}

forms! {
    abs abs_ abs_out (this) => abs_loops;
    round_decimals round__decimals round_decimals_out (this; decimals: i64) => round_loops;
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
fn frexp(this: &Tensor) -> Result<(Tensor, Tensor)> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), "floating").into());
    }
    let either = |loops: Loops<'_, 1>| part::<aten::frexp, _>(Promotion::Common, [this], loops);
    let mantissa = either(&loops!([f32 f64] |[x]| by(x, |x| parts(x).0)))?;
    let exponent = either(&loops!([f32 f64] |[x]| by(x, |x| parts(x).1)))?;
    Ok((mantissa, aten::to_dtype(&exponent, DType::I32, false, false, None)?))
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

fusible! {
    #[op_impl(aten::nan_to_num, CPU)]
    fn nan_to_num(this: &Tensor, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<Tensor> {
        fresh::<aten::nan_to_num, _>([this], &nan_to_num_loops(this.dtype(), nan, posinf, neginf))
    }

    |this: &Tensor, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>| {
        Bound::of::<aten::nan_to_num, _>([this], &nan_to_num_loops(this.dtype(), nan, posinf, neginf))
    }
}

#[op_impl(aten::nan_to_num_, CPU)]
fn nan_to_num_(this: &mut Tensor, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<()> {
    let loops = nan_to_num_loops(this.dtype(), nan, posinf, neginf);
    in_place::<aten::nan_to_num, aten::nan_to_num_, _>(this, [None], &loops)
}

#[op_impl(aten::nan_to_num_out, CPU)]
fn nan_to_num_out(
    this: &Tensor,
    nan: Option<f64>,
    posinf: Option<f64>,
    neginf: Option<f64>,
    out: &mut Tensor,
) -> Result<()> {
    into::<aten::nan_to_num, _>(out, [this], &nan_to_num_loops(this.dtype(), nan, posinf, neginf))
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
