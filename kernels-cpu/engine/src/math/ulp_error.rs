//! Measures the error of a function in units in the last place of its result.

use super::{Real, vectorised};

/// Arguments at which formulas often fail.
const SPECIAL_ARGUMENTS: [f64; 34] = [
    0.0,
    1.0,
    0.5,
    2.0,
    0.25,
    0.75,
    0.92,
    1.5,
    3.0,
    4.0,
    8.0,
    10.0,
    16.0,
    20.0,
    40.0,
    87.3,
    88.72,
    88.73,
    89.0,
    100.0,
    103.9,
    104.0,
    105.0,
    709.78,
    709.79,
    710.47,
    710.48,
    745.1,
    745.2,
    1e3,
    1e10,
    1e-10,
    f64::MAX,
    f64::INFINITY,
];

/// A type whose results can be compared with a reference.
pub(super) trait UlpFloat: Real + std::fmt::Debug {
    fn from_random_bits(random: u64) -> Self;
    /// Returns the number of representable values between a result and the reference, which is unrounded if it is wider.
    fn ulp_distance(self, reference: f64) -> f64;
    fn widen_to_f64(self) -> f64;
}

impl UlpFloat for f32 {
    fn from_random_bits(random: u64) -> Self {
        Self::from_bits((random >> 32) as u32)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the reference overflows if rounding overflows")]
    fn ulp_distance(self, reference: f64) -> f64 {
        let rounded = reference as Self;
        if are_identical(self, rounded) {
            return 0.0;
        }
        // The spacing around the reference; near overflow, the spacing below infinity.
        let near = rounded.abs().min(Self::MAX);
        let spacing = f64::from(near) - f64::from(near.next_down().max(0.0));
        (f64::from(self) - reference).abs() / spacing.max(f64::from(Self::from_bits(1)))
    }

    fn widen_to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl UlpFloat for f64 {
    fn from_random_bits(random: u64) -> Self {
        Self::from_bits(random)
    }

    #[expect(clippy::cast_precision_loss, reason = "a rounded distance is enough")]
    fn ulp_distance(self, reference: f64) -> f64 {
        if are_identical(self, reference) {
            return 0.0;
        }
        if self.is_nan() || reference.is_nan() || self.is_sign_negative() != reference.is_sign_negative() {
            return Self::INFINITY;
        }
        self.to_bits().abs_diff(reference.to_bits()) as Self
    }

    fn widen_to_f64(self) -> f64 {
        self
    }
}

/// Returns whether two values are equal, including the signs of zeros, or are both NaN.
#[expect(clippy::float_cmp, reason = "the function compares exactly")]
fn are_identical<T: UlpFloat>(a: T, b: T) -> bool {
    let (a, b) = (a.widen_to_f64(), b.widen_to_f64());
    (a.is_nan() && b.is_nan()) || (a == b && a.is_sign_negative() == b.is_sign_negative())
}

/// Returns pseudorandom numbers that are the same in every run (a Weyl sequence, mixed).
pub(super) fn random_words() -> impl Iterator<Item = u64> {
    (1_u64..).map(|i| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ (x >> 29)
    })
}

/// Returns special arguments, arguments of any bit pattern, and arguments from `[low, high]`.
#[expect(clippy::cast_precision_loss, reason = "the lost bits are random")]
pub(super) fn test_arguments<T: UlpFloat>(low: f64, high: f64) -> Vec<T> {
    let count = 20_000;
    let special = SPECIAL_ARGUMENTS.into_iter().chain([f64::NAN, 1e-40, 5e-324, f64::MIN_POSITIVE, 1.2e-38]);
    let special = special.flat_map(|x| [T::from_f64(x), T::from_f64(-x)]);
    let unit = |random: u64| (random >> 11) as f64 * f64::EPSILON / 2.0;
    let inside = random_words().skip(count).map(|random| T::from_f64(low + (high - low) * unit(random)));
    special.chain(random_words().take(count).map(T::from_random_bits)).chain(inside.take(2 * count)).collect()
}

/// Checks that `function` is within `bound` units of `reference`, and gives the same results for every instruction set.
pub(super) fn check_ulp_error<T: UlpFloat>(
    (low, high): (f64, f64),
    bound: f64,
    function: impl Fn(T) -> T,
    reference: impl Fn(f64) -> f64,
) {
    let arguments = test_arguments::<T>(low, high);
    let results: Vec<T> = vectorised!(arguments.iter().map(|&x| function(x)).collect());
    let mut worst = (0.0, 0.0);
    for (&x, &result) in arguments.iter().zip(&results) {
        assert!(are_identical(result, function(x)), "the vectorised result differs at {x:?}: {result:?}");
        let error = result.ulp_distance(reference(x.widen_to_f64()));
        if error.is_nan() || error > worst.0 {
            worst = (error, x.widen_to_f64());
        }
        assert!(error <= bound, "{error} units at {x:?}: {result:?}, not {:e}", reference(x.widen_to_f64()));
    }
    println!("{}: {:.2} units at {:e}", std::any::type_name::<T>(), worst.0, worst.1);
}

/// Checks a function of two arguments like [`check_ulp_error`]: with all pairs of special arguments, and with pairs from the range.
pub(super) fn check_ulp_error_of_pairs<T: UlpFloat>(
    range: (f64, f64),
    bound: f64,
    function: impl Fn(T, T) -> T,
    reference: impl Fn(f64, f64) -> f64,
) {
    let all = test_arguments::<T>(range.0, range.1);
    let special = &all[..2 * (SPECIAL_ARGUMENTS.len() + 5)];
    let crossed = special.iter().flat_map(|&a| special.iter().map(move |&b| (a, b)));
    let shifted = all.iter().zip(all.iter().skip(7)).map(|(&a, &b)| (a, b));
    let arguments: Vec<(T, T)> = crossed.chain(shifted).collect();
    let results: Vec<T> = vectorised!(arguments.iter().map(|&(a, b)| function(a, b)).collect());
    for (&(a, b), &result) in arguments.iter().zip(&results) {
        assert!(are_identical(result, function(a, b)), "the vectorised result differs at ({a:?}, {b:?}): {result:?}");
        let expected = reference(a.widen_to_f64(), b.widen_to_f64());
        let error = result.ulp_distance(expected);
        assert!(error <= bound, "{error} units at ({a:?}, {b:?}): {result:?}, not {expected:e}");
    }
}
