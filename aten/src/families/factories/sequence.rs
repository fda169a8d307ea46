//! Factories of evenly spaced values: `arange`, `range`, `linspace` and `logspace`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected, Spec};

use crate::prelude::*;

/// The values from `start` to `end`, excluded, with the step `step`.
#[op_def(
    "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    out = "start_out"
)]
pub fn arange_start_step(_: ...) -> Result<Tensor>;

#[op_plan(arange_start_step)]
fn arange_plan(start: Scalar, end: Scalar, step: Scalar, dtype: Option<DType>) -> Result<Plan<()>> {
    let whole = [start, end, step].iter().all(|number| matches!(number, Scalar::Int(_) | Scalar::Bool(_)));
    let dtype = dtype.unwrap_or(if whole { DType::I64 } else { DType::F32 });
    let real = |argument, number: Scalar| match number.to_f64() {
        Some(real) if real.is_finite() => Ok(real),
        _ => Err(BadArgument::value(argument, number, "a finite real number")),
    };
    let (from, to, by) = (real("start", start)?, real("end", end)?, real("step", step)?);
    crate::check_scalars_fit(arange_compute_dtype(dtype), [("start", start), ("end", end), ("step", step)])?;
    if by == 0.0 {
        return Err(BadArgument::number("step", step, Expected::Not(0.into())).into());
    }
    if by > 0.0 && from > to || by < 0.0 && from < to {
        return Err(
            BadArgument::value("end", end, format!("on the side of {start} in which the step {step} goes")).into()
        );
    }
    let count = if whole && dtype == DType::I64 {
        let (from, to, by) = (start.to_i64(), end.to_i64(), step.to_i64());
        let (span, by) = (i128::from(to) - i128::from(from), i128::from(by));
        i64::try_from((span + by - by.signum()) / by).unwrap_or(i64::MAX)
    } else {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a count that saturates is refused when memory is allocated"
        )]
        let count = ((to - from) / by).ceil() as i64;
        count
    };
    Ok(Plan::new((), [Spec::contiguous(dtype, &[count])]))
}

/// Returns the dtype in which the values of an `arange` are computed.
pub(crate) fn arange_compute_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        dtype if dtype.is_floating() => DType::F64,
        _ => DType::I64,
    }
}

/// The values from `start` to `end`, excluded, with the step 1.
#[op_def(
    "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn arange_start(_: ...) -> Result<Tensor> {
    arange_start_step(start, end, Scalar::Int(1), dtype, layout, device, pin_memory)
}

/// The values from 0 to `end`, excluded, with the step 1.
#[op_def(
    "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn arange(_: ...) -> Result<Tensor> {
    arange_start_step(Scalar::Int(0), end, Scalar::Int(1), dtype, layout, device, pin_memory)
}

/// `steps` evenly spaced values from `start` to `end`, both included.
#[op_def(
    "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn linspace(_: ...) -> Result<Tensor>;

#[op_plan(linspace)]
fn linspace_plan(start: Scalar, end: Scalar, steps: i64, dtype: Option<DType>) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan_of_scalars(start, end, steps, dtype)
}

/// [`linspace`] with `start` and `end` as tensors of one element.
#[op_def(
    "linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan, out = "Tensor_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn linspace_tensor_tensor(_: ...) -> Result<Tensor> {
    linspace(read_scalar("start", start)?, read_scalar("end", end)?, steps, dtype, layout, device, pin_memory)
}

#[op_plan(linspace_tensor_tensor)]
fn linspace_tensor_tensor_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan([is_complex_0d_tensor("start", start)?, is_complex_0d_tensor("end", end)?], steps, dtype)
}

/// [`linspace`] with `start` as a tensor of one element.
#[op_def(
    "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan, out = "Tensor_Scalar_out", body = CompositeExplicitAutograd
)]
pub fn linspace_tensor_scalar(_: ...) -> Result<Tensor> {
    linspace(read_scalar("start", start)?, end, steps, dtype, layout, device, pin_memory)
}

#[op_plan(linspace_tensor_scalar)]
fn linspace_tensor_scalar_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan([is_complex_0d_tensor("start", start)?, is_complex_scalar(end)], steps, dtype)
}

/// [`linspace`] with `end` as a tensor of one element.
#[op_def(
    "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan, out = "Scalar_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn linspace_scalar_tensor(_: ...) -> Result<Tensor> {
    linspace(start, read_scalar("end", end)?, steps, dtype, layout, device, pin_memory)
}

#[op_plan(linspace_scalar_tensor)]
fn linspace_scalar_tensor_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan([is_complex_scalar(start), is_complex_0d_tensor("end", end)?], steps, dtype)
}

/// `steps` powers of `base`, with evenly spaced exponents from `start` to `end`, both included.
#[op_def(
    "logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn logspace(_: ...) -> Result<Tensor>;

#[op_plan(logspace)]
fn logspace_plan(start: Scalar, end: Scalar, steps: i64, dtype: Option<DType>) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan_of_scalars(start, end, steps, dtype)
}

/// [`logspace`] with `start` and `end` as tensors of one element.
#[op_def(
    "logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan, out = "Tensor_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn logspace_tensor_tensor(_: ...) -> Result<Tensor> {
    logspace(read_scalar("start", start)?, read_scalar("end", end)?, steps, base, dtype, layout, device, pin_memory)
}

#[op_plan(logspace_tensor_tensor)]
fn logspace_tensor_tensor_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan([is_complex_0d_tensor("start", start)?, is_complex_0d_tensor("end", end)?], steps, dtype)
}

/// [`logspace`] with `start` as a tensor of one element.
#[op_def(
    "logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan, out = "Tensor_Scalar_out", body = CompositeExplicitAutograd
)]
pub fn logspace_tensor_scalar(_: ...) -> Result<Tensor> {
    logspace(read_scalar("start", start)?, end, steps, base, dtype, layout, device, pin_memory)
}

#[op_plan(logspace_tensor_scalar)]
fn logspace_tensor_scalar_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan([is_complex_0d_tensor("start", start)?, is_complex_scalar(end)], steps, dtype)
}

/// [`logspace`] with `end` as a tensor of one element.
#[op_def(
    "logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan, out = "Scalar_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn logspace_scalar_tensor(_: ...) -> Result<Tensor> {
    logspace(start, read_scalar("end", end)?, steps, base, dtype, layout, device, pin_memory)
}

#[op_plan(logspace_scalar_tensor)]
fn logspace_scalar_tensor_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    linspace_or_logspace_plan([is_complex_scalar(start), is_complex_0d_tensor("end", end)?], steps, dtype)
}

/// Whether a scalar is complex.
pub(crate) const fn is_complex_scalar(number: Scalar) -> bool {
    matches!(number, Scalar::Complex(_))
}

/// Refuses a tensor that has dimensions.
pub(crate) fn check_0d_tensor(argument: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    match tensor.sizes().len() {
        0 => Ok(()),
        rank => Err(BadArgument::rank(argument, rank, 0)),
    }
}

/// Whether a tensor without dimensions is complex. Refuses a tensor that has dimensions.
fn is_complex_0d_tensor(argument: &'static str, tensor: &Tensor) -> Result<bool, BadArgument> {
    check_0d_tensor(argument, tensor)?;
    Ok(tensor.dtype().is_complex())
}

/// Reads the element of a tensor without dimensions.
fn read_scalar(argument: &'static str, tensor: &Tensor) -> Result<Scalar> {
    check_0d_tensor(argument, tensor)?;
    crate::_local_scalar_dense(tensor)
}

/// Returns the plan of [`linspace`] and [`logspace`]. Refuses a `start` or `end` that the dtype cannot represent.
fn linspace_or_logspace_plan_of_scalars(
    start: Scalar,
    end: Scalar,
    steps: i64,
    dtype: Option<DType>,
) -> Result<Plan<()>, BadArgument> {
    let plan = linspace_or_logspace_plan([start, end].map(is_complex_scalar), steps, dtype)?;
    crate::check_scalars_fit(plan.outputs[0].dtype, [("start", start), ("end", end)])?;
    Ok(plan)
}

/// Returns the plan of [`linspace`] and [`logspace`], given whether `start` and `end` are complex.
fn linspace_or_logspace_plan(complex: [bool; 2], steps: i64, dtype: Option<DType>) -> Result<Plan<()>, BadArgument> {
    if steps < 0 {
        return Err(BadArgument::number("steps", steps, 0..));
    }
    let complex = complex.contains(&true);
    let dtype = dtype.unwrap_or(if complex { DType::C64 } else { DType::F32 });
    if complex && !dtype.is_complex() {
        return Err(BadArgument::dtype("dtype", dtype, DTypes::Complex).because("`start` or `end` is"));
    }
    Ok(Plan::new((), [Spec::contiguous(dtype, &[steps])]))
}

/// The values from `start` to `end`, included, with the step `step`.
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
    let compute_dtype = arange_compute_dtype(dtype);
    crate::check_scalars_fit(compute_dtype, [("start", start), ("end", end), ("step", step)])?;
    let [from, to, by] = [start, end, step].map(|number| match compute_dtype {
        DType::I64 => Scalar::Int(number.to_i64()),
        _ => Scalar::Float(round_to_compute_dtype(number, compute_dtype)),
    });
    let (span, by_real) = match (from, to) {
        (Scalar::Int(from), Scalar::Int(to)) => {
            (i128_to_f64(i128::from(to) - i128::from(from)), round_to_compute_dtype(by, DType::F64))
        }
        _ => (
            round_to_compute_dtype(to, compute_dtype) - round_to_compute_dtype(from, compute_dtype),
            round_to_compute_dtype(by, compute_dtype),
        ),
    };
    if by_real == 0.0 {
        return Err(BadArgument::number("step", step, Expected::Not(0.into())).into());
    }
    if span * by_real.signum() < 0.0 {
        return Err(
            BadArgument::value("end", end, format!("on the side of {start} in which the step {step} goes")).into()
        );
    }
    let computed = if compute_dtype == DType::I64 { DType::I64 } else { DType::F64 };
    let count = Scalar::Int(Scalar::from((span / by_real).floor()).to_i64().saturating_add(1));
    let indices = arange(count, Some(computed), layout, device, pin_memory)?;
    ((&indices * by)? + from)?.to(dtype)
}

/// Converts a scalar to a real number, rounded to single precision if `compute_dtype` is `f32`.
#[expect(clippy::cast_possible_truncation, reason = "the function rounds")]
fn round_to_compute_dtype(number: Scalar, compute_dtype: DType) -> f64 {
    let real = number.to_f64().unwrap_or(f64::NAN);
    if compute_dtype == DType::F32 { f64::from(real as f32) } else { real }
}

#[expect(clippy::cast_precision_loss, reason = "a span that is rounded has too many elements to allocate")]
const fn i128_to_f64(span: i128) -> f64 {
    span as f64
}

/// The values from `start` to `end`, included, with the step 1.
#[op_def(
    "range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out_", body = CompositeExplicitAutograd
)]
pub fn range(_: ...) -> Result<Tensor> {
    range_step(start, end, Scalar::Int(1), dtype, layout, device, pin_memory)
}

/// Returns the integers from 0 to the size of a dimension of `like`, on its device.
#[op_def("_dim_arange(Tensor like, int dim) -> Tensor")]
pub fn _dim_arange(like: &Tensor, dim: i64) -> Result<Tensor> {
    arange(crate::size_int(like, dim)?.into(), Some(DType::I64), None, Some(like.device()), None)
}
