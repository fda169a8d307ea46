//! Tensors that count.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, Layout, Spec};

use crate::copying::write;
use crate::elementwise::DTYPES;
use crate::factory::on;
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::machine::Grid;

kernel! {
    // SAFETY: each launch writes `count` elements of a tensor made for it, which has as many.
    static SEQUENCE = unsafe { Kernel::new("sequence", include_str!("../kernels/sequence.cu"), |instances| {
        for template in ["counted", "measured", "spaced"] {
            instances.each(template, &DTYPES);
        }
    }) };
}

#[op_impl(aten::arange_start_step, CUDA)]
fn arange_start_step(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let out = aten::arange_spec(start, end, step, dtype)?.on(on(device))?;
    let count = out.geometry().count();
    if count == 0 {
        return Ok(out);
    }
    let launch = Launch::on(&out)?;
    let (place, grid) = (launch.place(&out)?, Grid::cover(count));
    if out.dtype().is_floating() {
        launch.run(&SEQUENCE, "measured", &[out.dtype()], grid, (place, count, real(start), real(step)))?;
    } else {
        launch.run(&SEQUENCE, "counted", &[out.dtype()], grid, (place, count, whole(start), whole(step)))?;
    }
    Ok(out)
}

fn real(number: Scalar) -> f64 {
    number.to_f64().unwrap_or(f64::NAN)
}

#[expect(clippy::cast_possible_truncation, reason = "a number of a sequence of integers")]
fn whole(number: Scalar) -> i64 {
    if let Scalar::Int(value) = number { value } else { real(number) as i64 }
}

/// Numbers equally far apart, or powers of `base` with such exponents.
fn spaced(start: Scalar, end: Scalar, base: Option<f64>, spec: Spec, device: Option<Device>) -> Result<Tensor> {
    let out = spec.on(on(device))?;
    let count = out.geometry().count();
    if count == 0 {
        return Ok(out);
    }
    let launch = Launch::on(&out)?;
    let end_of = |number| if out.dtype().is_floating() { real(number) } else { real(number).trunc() };
    let arguments = (launch.place(&out)?, count, end_of(start), end_of(end), base.unwrap_or(0.0));
    launch.run(&SEQUENCE, "spaced", &[out.dtype()], Grid::cover(count), arguments)?;
    Ok(out)
}

#[op_impl(aten::linspace, CUDA)]
fn linspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let spec = aten::spaced_between(start, end, steps, dtype)?;
    spaced(start, end, None, spec, device)
}

#[op_impl(aten::logspace, CUDA)]
fn logspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    base: f64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let spec = aten::spaced_between(start, end, steps, dtype)?;
    spaced(start, end, Some(base), spec, device)
}

#[op_impl(aten::eye_m, CUDA)]
fn eye_m(
    n: i64,
    m: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<Device>,
    _pin_memory: Option<bool>,
) -> Result<Tensor> {
    let mut out = aten::eye_spec(n, m, dtype)?.on(on(device))?;
    write(&mut out, &Tensor::number(0.into()))?;
    if let Some(diagonal) = Geometry::strided(&[n.min(m)], &[m.saturating_add(1)], 0) {
        write(&mut out.restride(diagonal)?, &Tensor::number(1.into()))?;
    }
    Ok(out)
}
