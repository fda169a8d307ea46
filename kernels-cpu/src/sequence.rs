//! Tensors that count.

use std::ops::Range;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, Geometry, Layout, Spec};

use crate::compute::Compute;
use crate::factory::{fill, of};
use crate::numbers::{room, usized};

#[op_impl(aten::arange_start_step, CPU)]
fn arange_start_step(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    _device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let spec = aten::arange_spec(start, end, step, dtype)?;
    let count = spec.geometry.count();
    if spec.dtype.is_floating() {
        let (start, step) = (f64::from_scalar(start), f64::from_scalar(step));
        let mut numbers = room(usized(count))?;
        #[expect(clippy::cast_precision_loss, reason = "counts are far below where floats skip numbers")]
        numbers.extend((0..count).map(|i| start + step * i as f64));
        return of(&numbers, spec);
    }
    let (start, step) = (i64::from_scalar(start), i64::from_scalar(step));
    let mut numbers = room(usized(count))?;
    numbers.extend((0..count).map(|i| start.wrapping_add(step.wrapping_mul(i))));
    of(&numbers, spec)
}

/// Numbers equally far apart, each counted from the nearer end.
fn spaced(start: Scalar, end: Scalar, spec: Spec, base: Option<f64>) -> Result<Tensor> {
    let steps = spec.geometry.count();
    let power = |x: Complex64| match base {
        Some(base) if x.im == 0.0 => Complex64::new(base.powf(x.re), 0.0),
        Some(base) => Complex64::new(base, 0.0).powc(x),
        None => x,
    };
    let (mut start, mut end) = (Complex64::from_scalar(start), Complex64::from_scalar(end));
    if !spec.dtype.is_floating() && !spec.dtype.is_complex() {
        (start.re, end.re) = (start.re.trunc(), end.re.trunc());
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below where floats skip numbers")]
    let at = |i: i64| i as f64;
    let step = (end - start) / at((steps - 1).max(1));
    let mut numbers = room::<Complex64>(usized(steps))?;
    for i in 0..steps {
        numbers.push(power(if i < steps / 2 || steps == 1 {
            start + step * at(i)
        } else {
            end - step * at(steps - 1 - i)
        }));
    }
    if spec.dtype.is_complex() {
        return of(&numbers, spec);
    }
    let reals: Vec<f64> = numbers.into_iter().map(|number| number.re).collect();
    of(&reals, spec)
}

#[op_impl(aten::linspace, CPU)]
fn linspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    _device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    spaced(start, end, aten::spaced_between(start, end, steps, dtype)?, None)
}

#[op_impl(aten::logspace, CPU)]
fn logspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    base: f64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    _device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    spaced(start, end, aten::spaced_between(start, end, steps, dtype)?, Some(base))
}

#[op_impl(aten::eye_m, CPU)]
fn eye_m(
    n: i64,
    m: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    _device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let mut out = aten::eye_spec(n, m, dtype)?.on(Device::CPU)?;
    fill(&mut out, Scalar::Int(0))?;
    if let Some(diagonal) = Geometry::strided(&[n.min(m)], &[m.saturating_add(1)], 0) {
        crate::moves::copy(&mut out.restride(diagonal)?, &Tensor::from_slice(&[1_u8]))?;
    }
    Ok(out)
}

#[op_impl(aten::tril_indices, CPU)]
fn tril_indices(
    row: i64,
    col: i64,
    offset: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    _device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let spec = aten::triangle_spec(row, col, offset, true, Some(dtype.unwrap_or(DType::I64)))?;
    let first = offset.saturating_neg().clamp(0, row);
    triangle(first..row, col, spec, |r| 0..r.saturating_add(offset).saturating_add(1).clamp(0, col))
}

#[op_impl(aten::triu_indices, CPU)]
fn triu_indices(
    row: i64,
    col: i64,
    offset: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    _device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let spec = aten::triangle_spec(row, col, offset, false, Some(dtype.unwrap_or(DType::I64)))?;
    let end = col.saturating_sub(offset).clamp(0, row);
    triangle(0..end, col, spec, |r| r.saturating_add(offset).clamp(0, col)..col)
}

/// The rows are those in which there are columns, if there are any at all.
fn triangle(rows: Range<i64>, width: i64, spec: Spec, columns: impl Fn(i64) -> Range<i64>) -> Result<Tensor> {
    let mut places = room::<i64>(usized(spec.geometry.count()))?;
    let rows = if width == 0 { 0..0 } else { rows };
    rows.clone().for_each(|row| places.extend(columns(row).map(|_| row)));
    rows.for_each(|row| places.extend(columns(row)));
    of(&places, spec)
}
