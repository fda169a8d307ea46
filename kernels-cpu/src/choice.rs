//! Elements of one tensor or another.

use dispatch_runtime::{BadArgument, Complex32, Complex64, DType, Result, Tensor};

use crate::compute::{Compute, Ordered};
use crate::elementwise::elementwise;

elementwise! {
    where_self - where_self_out [f32 f64 i32 i64 Complex32 Complex64] (condition, this, other) if conditional => |[condition, a, b]| if condition.holds() { a } else { b };
    masked_fill masked_fill_ masked_fill_tensor_out [f32 f64 i32 i64 Complex32 Complex64] (this, mask, value) if maskable => |[x, mask, value]| if mask.holds() { value } else { x };
    heaviside heaviside_ heaviside_out [f32 f64 i64] (this, values) => |[x, at_zero]| step(x, at_zero);
}

fn is_truth(name: &'static str, tensor: &Tensor) -> Result<()> {
    match tensor.dtype() {
        DType::Bool => Ok(()),
        other => Err(BadArgument::dtype(name, other, "bool").into()),
    }
}

fn conditional(condition: &Tensor, _: &Tensor, _: &Tensor) -> Result<()> {
    is_truth("condition", condition)
}

fn maskable(this: &Tensor, mask: &Tensor, value: &Tensor) -> Result<()> {
    is_truth("mask", mask)?;
    aten::check_single(value)?;
    if !value.dtype().can_cast(this.dtype()) && !value.is_number() {
        let expected = format!("one that {} can hold, as `self` is", this.dtype());
        return Err(BadArgument::dtype("value", value.dtype(), expected).into());
    }
    Ok(())
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
