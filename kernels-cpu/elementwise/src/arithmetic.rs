//! Kernels of elementwise arithmetic on several operands.

use dispatch_runtime::{Arithmetic, Complex32, Complex64, DType, Scalar, Tensor, bf16, f16, result_dtype};

use engine::compute::{ComputeType, Divide, Ordered, RealFloat, narrow_complex, widen_complex};
use engine::elementwise::{LoopReceiver, Loops, elementwise, loops, scalar_functions};
use engine::inlined::inlined;
use engine::math::Real;
use engine::math::complex;

elementwise! {
    add [few] => cheap add_scaled;
    _add_relu => by { add_relu_loops(result_dtype([this, other]), alpha) };
    sub [few] => cheap sub_scaled;
    rsub [few] => cheap rsub_scaled;
    mul [few] [keeps 1] => cheap times;
    addcmul => |[a, b, c]| a.plus(value.times(b).times(c));
    addcdiv => |[a, b, c]| a.plus(value.times(b).divide(c));
    lerp [keeps 2] => |[a, b, weight]| interpolate(a, b, weight);
    hypot => |[a, b]| Real::hypot(a, b);
    atan2 => |[y, x]| Real::atan2(y, x);
    xlogy => |[a, b]| times_log(a, b, Real::log);
    logaddexp => |[a, b]| a.log_add_exp(b);
    logaddexp2 => |[a, b]| log_add_exp(a, b, Real::exp2, log2_1p);
    copysign => |[a, b]| Real::copysign(a, b);
    nextafter => by { nextafter_loops(this, other) };
    gcd => |[a, b]| greatest_common_divisor(a, b);
    lcm => |[a, b]| least_common_multiple(a, b);
}

/// Returns the loops of `relu(a + alpha * b)`. A sum of narrow integers wraps in their own dtype before it is compared with zero.
fn add_relu_loops(
    dtype: DType,
    alpha: Scalar,
) -> impl Fn(DType, &mut LoopReceiver<'_, 2>) -> Result<(), &'static [DType]> {
    let unused = match dtype {
        DType::I8 => 24,
        DType::I16 => 16,
        _ => 0,
    };
    move |computed, loop_input: &mut LoopReceiver<'_, 2>| match computed {
        DType::I32 => {
            loops!([i32] | [a, b] | (add_scaled(a, b, alpha) << unused >> unused).larger(0))(computed, loop_input)
        }
        _ => loops!([f32 f64 i64] |[a, b]| add_scaled(a, b, alpha).larger(Default::default()))(computed, loop_input),
    }
}

#[inline(always)]
fn add_scaled<T: ComputeType>(a: T, b: T, factor: Scalar) -> T {
    scalar_functions::add_scaled([a, b, T::from_scalar(factor)])
}

/// Interpolates linearly from `a` to `b`. It starts at the nearer end, so that both ends are exact.
#[inline(always)]
fn interpolate<T: FloatOrComplex>(a: T, b: T, weight: T) -> T {
    let difference = b.minus(a);
    if weight.has_magnitude_below_half() {
        a.plus(weight.times(difference))
    } else {
        b.minus(difference.times(T::ONE.minus(weight)))
    }
}

trait FloatOrComplex: Divide {
    /// Returns whether the magnitude is below a half.
    fn has_magnitude_below_half(self) -> bool;

    /// Returns `log(exp(self) + exp(other))`.
    fn log_add_exp(self, other: Self) -> Self;
}

inlined! {
    impl FloatOrComplex for f32, f64 {
        fn has_magnitude_below_half(self) -> bool = Real::abs(self) < 0.5;
        fn log_add_exp(self, other: Self) -> Self = log_add_exp(self, other, Real::exp, Real::log1p);
    }

    impl FloatOrComplex for Complex32 {
        fn has_magnitude_below_half(self) -> bool = self.norm_sqr() < 0.25;
        fn log_add_exp(self, other: Self) -> Self = narrow_complex(complex::log_add_exp(widen_complex(self), widen_complex(other)));
    }

    impl FloatOrComplex for Complex64 {
        fn has_magnitude_below_half(self) -> bool = self.norm_sqr() < 0.25;
        fn log_add_exp(self, other: Self) -> Self = complex::log_add_exp(self, other);
    }
}

/// Returns `a * log(b)`, or zero if `a` is zero; NaN if `b` is NaN.
#[inline(always)]
pub(crate) fn times_log<T: RealFloat>(a: T, b: T, log: impl Fn(T) -> T) -> T {
    let zero = T::from_f64(0.0);
    if RealFloat::is_nan(b) {
        b
    } else if a == zero {
        zero
    } else {
        a * log(b)
    }
}

/// Returns `log(exp(a) + exp(b))`, without intermediate overflow.
#[inline(always)]
fn log_add_exp<T: RealFloat + Ordered>(a: T, b: T, exp: impl Fn(T) -> T, log_1p: impl Fn(T) -> T) -> T {
    let largest = Ordered::larger(a, b);
    if a == b && Real::abs(a) == T::from_f64(f64::INFINITY) { a } else { largest + log_1p(exp(-Real::abs(a - b))) }
}

#[inline(always)]
fn log2_1p<T: RealFloat>(x: T) -> T {
    Real::log1p(x) * T::from_f64(std::f64::consts::LOG2_E)
}

/// Returns the loops of `nextafter`. The next value is that of the operands' dtype, not of the type that loops compute in.
fn nextafter_loops(this: &Tensor, other: &Tensor) -> Loops<'static, 2> {
    match result_dtype([this, other]) {
        DType::BF16 => &loops!(
            [f32] | [a, b] | next_narrow_float(a, b, |x| bf16::from_f32(x).to_bits(), |x| bf16::from_bits(x).to_f32())
        ),
        DType::F16 => &loops!(
            [f32] | [a, b] | next_narrow_float(a, b, |x| f16::from_f32(x).to_bits(), |x| f16::from_bits(x).to_f32())
        ),
        _ => &loops!([f32 f64] |[a, b]| a.next_after(b)),
    }
}

/// Returns the next value after `a` towards `b`, in a dtype whose bits are a sign and a magnitude.
fn next_narrow_float(a: f32, b: f32, bits: impl Fn(f32) -> u16, number: impl Fn(u16) -> f32) -> f32 {
    const SIGN_BIT: u16 = 1 << 15;
    if a == b || a.is_nan() || b.is_nan() {
        return if a.is_nan() { a } else { b };
    }
    let (bits, up) = (bits(a), a < b);
    number(match bits & !SIGN_BIT {
        0 if up => 1,
        0 => SIGN_BIT | 1,
        _ if up == (bits & SIGN_BIT == 0) => bits + 1,
        _ => bits - 1,
    })
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a.wrapping_rem(b));
    }
    a.wrapping_abs()
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    match greatest_common_divisor(a, b) {
        0 => 0,
        divisor => a.wrapping_div(divisor).wrapping_mul(b).wrapping_abs(),
    }
}
