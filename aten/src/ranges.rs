//! Numbers up to and with the last.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Layout};

use crate::prelude::*;
use crate::sequence::{check_counted, integer};

/// The numbers from `start` up to `end`, `step` apart.
#[op_def(
    "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out"
)]
pub fn range_step(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor>;

#[op_impl(range_step, CompositeExplicitAutograd)]
fn range_step_any(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(DType::F32);
    let real = |argument, number: Scalar| match number.to_f64() {
        Some(real) if real.is_finite() => Ok(if dtype.is_integral() { real.trunc() } else { real }),
        _ => Err(BadArgument::value(argument, number, "a finite real number")),
    };
    let (from, to, by) = (real("start", start)?, real("end", end)?, real("step", step)?);
    check_counted(dtype, [("start", start), ("end", end), ("step", step)])?;
    if by == 0.0 {
        return Err(BadArgument::value("step", step, "other than zero").into());
    }
    if (to - from) * by.signum() < 0.0 {
        return Err(BadArgument::value("end", end, format!("on the side of {start} to which {step} leads")).into());
    }
    let computed = if dtype.is_integral() { DType::I64 } else { DType::F64 };
    let count = Scalar::Int(integer(((to - from) / by).floor().into()).saturating_add(1));
    let places = crate::arange(count, Some(computed), layout, device, pin_memory)?;
    let exact = |number: Scalar| if dtype.is_integral() { integer(number).into() } else { number };
    places.mul_scalar(exact(step))?.add_scalar(exact(start), 1)?.to(dtype)
}

/// The numbers from `start` up to `end`, one apart.
#[op_def(
    "range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out_"
)]
pub fn range(
    start: Scalar,
    end: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor>;

#[op_impl(range, CompositeExplicitAutograd)]
fn range_any(
    start: Scalar,
    end: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    range_step(start, end, Scalar::Int(1), dtype, layout, device, pin_memory)
}
