//! Maxima and minima of elements, and their positions.

use dispatch_runtime::Element;

use crate::inlined::{inlined, vectorised};

/// A comparable number; NaN wins every comparison.
pub trait Comparable: Element + PartialOrd {
    /// The smallest value.
    const MIN_VALUE: Self;
    /// The largest value.
    const MAX_VALUE: Self;

    /// Returns whether the value is NaN.
    fn is_nan(self) -> bool;
}

inlined! {
    impl Comparable for f32, f64 {
        const MIN_VALUE: Self = Self::NEG_INFINITY;
        const MAX_VALUE: Self = Self::INFINITY;
        fn is_nan(self) -> bool = self.is_nan();
    }

    impl Comparable for i64 {
        const MIN_VALUE: Self = Self::MIN;
        const MAX_VALUE: Self = Self::MAX;
        fn is_nan(self) -> bool = false;
    }
}

/// Returns the larger of two values; NaN if one is NaN.
#[inline(always)]
pub fn larger<T: Comparable>(a: T, b: T) -> T {
    if a > b || a.is_nan() { a } else { b }
}

/// Returns the smaller of two values; NaN if one is NaN.
#[inline(always)]
pub fn smaller<T: Comparable>(a: T, b: T) -> T {
    if a < b || a.is_nan() { a } else { b }
}

/// Returns the extreme element of a line and its first index. Two passes over the line, because each is a vectorised loop.
pub fn find_extreme_and_index<T: Comparable>(line: &[T], begin: T, choose: impl Fn(T, T) -> T) -> (T, usize) {
    let best = vectorised!({
        let mut lanes = [begin; 16];
        let (wide, rest) = line.as_chunks::<16>();
        for values in wide {
            for (lane, &value) in lanes.iter_mut().zip(values) {
                *lane = choose(value, *lane);
            }
        }
        let best = lanes.into_iter().fold(begin, &choose);
        rest.iter().fold(best, |best, &value| choose(best, value))
    });
    let is_best = |value: &T| *value == best || best.is_nan() && value.is_nan();
    let blocks = line.chunks(256);
    let block = vectorised!(
        blocks.into_iter().position(|block| block.iter().fold(false, |found, value| found | is_best(value)))
    );
    let start = block.unwrap_or(0) * 256;
    let within = line.get(start..).and_then(|rest| rest.iter().position(is_best));
    (best, start + within.unwrap_or(0))
}
