//! Kernels of evenly spaced numbers: `arange`, `linspace` and `logspace`.

use dispatch_runtime::Complex64;
use dispatch_runtime::prelude::*;

use engine::allocation::{reserve, usized};
use engine::compute::Compute;
use engine::fill::fill_in_order;

#[op_impl(aten::arange_start_step, CPU)]
fn arange_start_step(_plan: &(), out: &mut Tensor, start: Scalar, step: Scalar) -> Result<()> {
    let count = out.geometry().count();
    if out.dtype().is_floating() {
        let (start, step) = (f64::from_scalar(start), f64::from_scalar(step));
        let mut numbers = reserve(usized(count))?;
        #[expect(clippy::cast_precision_loss, reason = "counts are far below where floats skip numbers")]
        numbers.extend((0..count).map(|i| start + step * i as f64));
        return fill_in_order(out, &numbers);
    }
    let (start, step) = (i64::from_scalar(start), i64::from_scalar(step));
    let mut numbers = reserve(usized(count))?;
    numbers.extend((0..count).map(|i| start.wrapping_add(step.wrapping_mul(i))));
    fill_in_order(out, &numbers)
}

/// Writes evenly spaced numbers, or powers of `base` with such exponents. Each is computed from the nearer end.
fn spaced(out: &mut Tensor, start: Scalar, end: Scalar, base: Option<f64>) -> Result<()> {
    let (steps, dtype) = (out.geometry().count(), out.dtype());
    let power = |x: Complex64| match base {
        Some(base) if x.im == 0.0 => Complex64::new(base.powf(x.re), 0.0),
        Some(base) => Complex64::new(base, 0.0).powc(x),
        None => x,
    };
    let (mut start, mut end) = (Complex64::from_scalar(start), Complex64::from_scalar(end));
    if !dtype.is_floating() && !dtype.is_complex() {
        (start.re, end.re) = (start.re.trunc(), end.re.trunc());
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below where floats skip numbers")]
    let at = |i: i64| i as f64;
    let step = (end - start) / at((steps - 1).max(1));
    let mut numbers = reserve::<Complex64>(usized(steps))?;
    for i in 0..steps {
        numbers.push(power(if i < steps / 2 || steps == 1 {
            start + step * at(i)
        } else {
            end - step * at(steps - 1 - i)
        }));
    }
    if dtype.is_complex() {
        return fill_in_order(out, &numbers);
    }
    fill_in_order(out, &numbers.into_iter().map(|number| number.re).collect::<Vec<_>>())
}

#[op_impl(aten::linspace, CPU)]
fn linspace(_plan: &(), out: &mut Tensor, start: Scalar, end: Scalar) -> Result<()> {
    spaced(out, start, end, None)
}

#[op_impl(aten::logspace, CPU)]
fn logspace(_plan: &(), out: &mut Tensor, start: Scalar, end: Scalar, base: f64) -> Result<()> {
    spaced(out, start, end, Some(base))
}
