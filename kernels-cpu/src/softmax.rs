//! Softmax and its logarithm.

use crate::math::vectorised;
use crate::reduction::extremes::{Ordered, larger};

/// The largest element of a line, or what is not a number.
pub(crate) fn highest<T: Ordered>(line: &[T]) -> T {
    vectorised(
        #[inline(always)]
        || {
            let mut lanes = [T::LOWEST; 16];
            let (wide, rest) = line.as_chunks::<16>();
            for values in wide {
                for (lane, &value) in lanes.iter_mut().zip(values) {
                    *lane = larger(*lane, value);
                }
            }
            let highest = lanes.into_iter().fold(T::LOWEST, larger);
            rest.iter().fold(highest, |highest, &value| larger(highest, value))
        },
    )
}
