//! Kernels that select elements by a condition.

use engine::compute::{ComputeType, Ordered};
use engine::elementwise::elementwise;

elementwise! {
    where_self [few] => |[condition, a, b]| if condition.is_nonzero() { a } else { b };
    masked_fill [few] => |[x, mask, value]| if mask.is_nonzero() { value } else { x };
    heaviside => |[x, at_zero]| heaviside_step(x, at_zero);
}

#[inline(always)]
fn heaviside_step<T: Ordered>(x: T, at_zero: T) -> T {
    if !x.is_nonzero() {
        at_zero
    } else if x > T::from_scalar(0.into()) {
        T::from_scalar(1.into())
    } else {
        T::from_scalar(0.into())
    }
}
