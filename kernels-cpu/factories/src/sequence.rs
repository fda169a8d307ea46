//! Kernels of evenly spaced numbers: `arange`, `linspace` and `logspace`.

use dispatch_runtime::Complex64;
use dispatch_runtime::prelude::*;

use engine::allocation::{to_usize, try_with_capacity};
use engine::compute::ComputeType;
use engine::fill::fill_from_slice;

#[op_impl(aten::arange_start_step, CPU)]
fn arange_start_step(_plan: &(), out: &mut Tensor, start: Scalar, step: Scalar) -> Result<()> {
    let count = out.geometry().count();
    if out.dtype().is_floating() {
        let (start, step) = (f64::from_scalar(start), f64::from_scalar(step));
        let mut numbers = try_with_capacity(to_usize(count))?;
        #[expect(clippy::cast_precision_loss, reason = "every count is below 2^53")]
        numbers.extend((0..count).map(|i| start + step * i as f64));
        return fill_from_slice(out, &numbers);
    }
    let (start, step) = (i64::from_scalar(start), i64::from_scalar(step));
    let mut numbers = try_with_capacity(to_usize(count))?;
    numbers.extend((0..count).map(|i| start.wrapping_add(step.wrapping_mul(i))));
    fill_from_slice(out, &numbers)
}

/// Writes evenly spaced numbers, or powers of `base` with evenly spaced exponents. Each is computed from the nearer end.
fn write_evenly_spaced(out: &mut Tensor, start: Scalar, end: Scalar, base: Option<f64>) -> Result<()> {
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
    #[expect(clippy::cast_precision_loss, reason = "every count is below 2^53")]
    let at = |i: i64| i as f64;
    let step = (end - start) / at((steps - 1).max(1));
    let mut numbers = try_with_capacity::<Complex64>(to_usize(steps))?;
    for i in 0..steps {
        numbers.push(power(if i < steps / 2 || steps == 1 {
            start + step * at(i)
        } else {
            end - step * at(steps - 1 - i)
        }));
    }
    if dtype.is_complex() {
        return fill_from_slice(out, &numbers);
    }
    fill_from_slice(out, &numbers.into_iter().map(|number| number.re).collect::<Vec<_>>())
}

#[op_impl(aten::linspace, CPU)]
fn linspace(_plan: &(), out: &mut Tensor, start: Scalar, end: Scalar) -> Result<()> {
    write_evenly_spaced(out, start, end, None)
}

#[op_impl(aten::logspace, CPU)]
fn logspace(_plan: &(), out: &mut Tensor, start: Scalar, end: Scalar, base: f64) -> Result<()> {
    write_evenly_spaced(out, start, end, Some(base))
}
