//! Numbers up to and with the last.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected};

use super::sequence::counted_in;
use crate::prelude::*;

/// The numbers from `start` up to `end`, `step` apart.
#[op_def(
    "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn range_step(_: ...) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(DType::F32);
    for (argument, number) in [("start", start), ("end", end), ("step", step)] {
        if !number.to_f64().is_some_and(f64::is_finite) {
            return Err(BadArgument::value(argument, number, "a finite real number").into());
        }
    }
    let counted = counted_in(dtype);
    crate::check_numbers(counted, [("start", start), ("end", end), ("step", step)])?;
    let [from, to, by] = [start, end, step].map(|number| match counted {
        DType::I64 => Scalar::Int(number.integer()),
        _ => Scalar::Float(rounded(number, counted)),
    });
    let (span, by_real) = match (from, to) {
        (Scalar::Int(from), Scalar::Int(to)) => (wide(i128::from(to) - i128::from(from)), rounded(by, DType::F64)),
        _ => (rounded(to, counted) - rounded(from, counted), rounded(by, counted)),
    };
    if by_real == 0.0 {
        return Err(BadArgument::number("step", step, Expected::Not(0.into())).into());
    }
    if span * by_real.signum() < 0.0 {
        return Err(BadArgument::value("end", end, format!("on the side of {start} to which {step} leads")).into());
    }
    let computed = if counted == DType::I64 { DType::I64 } else { DType::F64 };
    let count = Scalar::Int(Scalar::from((span / by_real).floor()).integer().saturating_add(1));
    let places = crate::arange(count, Some(computed), layout, device, pin_memory)?;
    places.mul_scalar(by)?.add_scalar(from, 1)?.to(dtype)
}

/// A real number in single precision, or as it is.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
fn rounded(number: Scalar, counted: DType) -> f64 {
    let real = number.to_f64().unwrap_or(f64::NAN);
    if counted == DType::F32 { f64::from(real as f32) } else { real }
}

#[expect(clippy::cast_precision_loss, reason = "so many elements fit nowhere")]
const fn wide(span: i128) -> f64 {
    span as f64
}

/// The numbers from `start` up to `end`, one apart.
#[op_def(
    "range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out_", body = CompositeExplicitAutograd
)]
pub fn range(_: ...) -> Result<Tensor> {
    range_step(start, end, Scalar::Int(1), dtype, layout, device, pin_memory)
}
