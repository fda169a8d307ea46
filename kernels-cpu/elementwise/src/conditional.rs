//! Kernels that select elements by a condition.

use engine::compute::{Compute, Ordered};
use engine::elementwise::elementwise;

elementwise! {
    where_self [few] => |[condition, a, b]| if condition.holds() { a } else { b };
    masked_fill [few] => |[x, mask, value]| if mask.holds() { value } else { x };
    heaviside => |[x, at_zero]| step(x, at_zero);
}

#[inline(always)]
fn step<T: Ordered>(x: T, at_zero: T) -> T {
    if !x.holds() {
        at_zero
    } else if x > T::from_scalar(0.into()) {
        T::from_scalar(1.into())
    } else {
        T::from_scalar(0.into())
    }
}
