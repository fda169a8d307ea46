//! Elements of one tensor or another.

use dispatch_runtime::{Complex32, Complex64};

use crate::compute::{Compute, Ordered};
use crate::elementwise::elementwise;

elementwise! {
    where_self - where_self_out [f32 f64 i32 i64 Complex32 Complex64] (condition, this, other) if aten::check_where => |[condition, a, b]| if condition.holds() { a } else { b };
    masked_fill masked_fill_ masked_fill_tensor_out [f32 f64 i32 i64 Complex32 Complex64] (this, mask, value) if aten::check_masked_fill => |[x, mask, value]| if mask.holds() { value } else { x };
    heaviside heaviside_ heaviside_out [f32 f64 i64] (this, values) => |[x, at_zero]| step(x, at_zero);
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
