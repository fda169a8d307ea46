//! The operators of the recorded program `writes`, which write their arguments.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

/// Adds to a row, doubles a tensor and adds the sum of the row to another one.
#[op_def(
    "recorded::accumulate_(Tensor(a!) row, float factor, Tensor(b!)[] others, Tensor(c!)? unused, int times=3) -> Tensor"
)]
pub fn accumulate_(
    row: &mut Tensor,
    factor: f64,
    others: &mut [Tensor],
    unused: Option<&mut Tensor>,
    times: i64,
) -> Result<Tensor>;

#[op_impl(accumulate_, CompositeExplicitAutograd)]
fn accumulate_any(
    row: &mut Tensor,
    factor: f64,
    others: &mut [Tensor],
    _: Option<&mut Tensor>,
    times: i64,
) -> Result<Tensor> {
    row.add_(factor)?;
    if let [first, second] = others {
        first.mul_(2.0)?;
        second.add_(&row.sum()?)?;
    }
    &*row * times
}

/// Adds 1.
#[op_def("recorded::increment_(Tensor(a!) x) -> ()")]
pub fn increment_(x: &mut Tensor) -> Result<()>;

#[op_impl(increment_, CompositeExplicitAutograd)]
fn increment_any(x: &mut Tensor) -> Result<()> {
    x.add_(1.0).map(drop)
}
