//! Elementary functions of complex numbers.

mod exponential;
mod inverse;

use dispatch_runtime::Complex64;

pub use exponential::{cos, cosh, exp, expm1, log, log1p, log2, log10, sin, sinh, tan, tanh};
pub use inverse::{acos, acosh, asin, asinh, atan, atanh, sqrt};

/// Returns the logarithm of `exp(a) + exp(b)`, without intermediate overflow.
pub fn log_add_exp(a: Complex64, b: Complex64) -> Complex64 {
    let (low, high) = if a.re < b.re { (a, b) } else { (b, a) };
    if a.is_nan() || b.is_nan() {
        Complex64::new(f64::NAN, f64::NAN)
    } else if high.re.is_finite() || high.re != low.re {
        log1p(exp(low - high)) + high
    } else if high.re < 0.0 {
        low
    } else {
        // Both numbers have an infinite real part.
        log1p(infinity_at_angle(low.im) + infinity_at_angle(high.im) - 1.0)
    }
}

/// Returns infinity in the direction of an angle. A component that is zero in that direction stays zero.
fn infinity_at_angle(angle: f64) -> Complex64 {
    let part = |part: f64| if part == 0.0 { 0.0 } else { part * f64::INFINITY };
    Complex64::new(part(angle.cos()), part(angle.sin()))
}
