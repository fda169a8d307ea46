//! Random integers in the sizes of a given tensor.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected};

use super::plan_with_output_like;

/// Draws integers from zero to the largest of the dtype. For a floating dtype, the largest up to which it represents all integers.
#[op_def("random(Tensor self, *, Generator? generator=None) -> Tensor", plan, inplace, out = "out")]
pub fn random(_: ...) -> Result<Tensor>;

#[op_plan(random)]
fn random_plan(this: &Tensor) -> Result<Plan<IntegerRange>, BadArgument> {
    let (_, _, max) = integer_limits_of_dtype(this)?;
    Ok(plan_with_output_like(this, IntegerRange { min: 0, max }))
}

/// Draws integers from `from` up to below `to`. Without `to`, up to the largest of the dtype.
#[op_def(
    "random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
    plan,
    inplace,
    out = "from_out"
)]
pub fn random_from(_: ...) -> Result<Tensor>;

#[op_plan(random_from)]
fn random_from_plan(this: &Tensor, from: i64, to: Option<i64>) -> Result<Plan<IntegerRange>, BadArgument> {
    Ok(plan_with_output_like(this, checked_integer_range(this, from, to)?))
}

/// Draws integers from zero up to below `to`.
#[op_def("random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", plan, inplace, out = "to_out")]
pub fn random_to(_: ...) -> Result<Tensor>;

#[op_plan(random_to)]
fn random_to_plan(this: &Tensor, to: i64) -> Result<Plan<IntegerRange>, BadArgument> {
    Ok(plan_with_output_like(this, checked_integer_range(this, 0, Some(to))?))
}

/// The range of the integers to draw.
pub struct IntegerRange {
    /// The smallest integer.
    pub min: i64,
    /// The largest integer.
    pub max: i64,
}

/// Returns the smallest and the largest integer allowed as a bound, and the largest up to which the dtype represents all integers.
fn integer_limits_of_dtype(this: &Tensor) -> Result<(i64, i64, i64), BadArgument> {
    Ok(match this.dtype() {
        DType::Bool => (0, 1, 1),
        DType::U8 => (0, i64::from(u8::MAX), i64::from(u8::MAX)),
        DType::I8 => (i64::from(i8::MIN), i64::from(i8::MAX), i64::from(i8::MAX)),
        DType::I16 => (i64::from(i16::MIN), i64::from(i16::MAX), i64::from(i16::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX), i64::from(i32::MAX)),
        DType::I64 => (i64::MIN, i64::MAX, i64::MAX),
        DType::F16 => (-65504, 65504, 1 << 11),
        DType::BF16 => (i64::MIN, i64::MAX, 1 << 8),
        DType::F32 => (i64::MIN, i64::MAX, 1 << 24),
        DType::F64 => (i64::MIN, i64::MAX, 1 << 53),
        other => return Err(BadArgument::dtype("self", other, DTypes::Real)),
    })
}

/// Checks the bounds, and returns the range of the integers to draw.
fn checked_integer_range(this: &Tensor, from: i64, to: Option<i64>) -> Result<IntegerRange, BadArgument> {
    let (lowest, highest, max_exact) = integer_limits_of_dtype(this)?;
    let check_bound = |argument, value, bound| {
        if (lowest..=highest).contains(&bound) {
            Ok(())
        } else {
            Err(BadArgument::number(argument, value, lowest..=highest)
                .because(format!("{} cannot represent others", this.dtype())))
        }
    };
    check_bound("from", from, from)?;
    let max = match to {
        Some(to) if from < to => to - 1,
        Some(to) => {
            return Err(
                BadArgument::number("to", to, Expected::Above(from.into())).because(format!("`from` is {from}"))
            );
        }
        None => max_exact.max(from),
    };
    check_bound("to", to.unwrap_or(max), max)?;
    Ok(IntegerRange { min: from, max })
}
