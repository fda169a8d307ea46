//! CUDA kernels of `arange`, `linspace` and `logspace`.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::REAL_DTYPES;
use crate::prelude::*;

kernel! {
    // SAFETY: each launch writes `count` elements of a tensor allocated for it, which has as many.
    static SEQUENCE_KERNEL = unsafe { Kernel::new("sequence", include_str!("../../../kernels/factories/sequence.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["integer_sequence", "float_sequence", "equally_spaced"], &REAL_DTYPES);
    }) };
}

#[op_impl(aten::arange_start_step, CUDA)]
fn arange_start_step(_plan: &(), out: &mut Tensor, start: Scalar, step: Scalar) -> Result<()> {
    let (launch, count, dtypes) = (Launch::on_device_of(out)?, out.geometry().count(), [out.dtype()]);
    if out.dtype().is_floating() {
        launch.run_per_element(
            &SEQUENCE_KERNEL,
            "float_sequence",
            &dtypes,
            count,
            (out, count, scalar_to_f64(start), scalar_to_f64(step)),
        )
    } else {
        launch.run_per_element(
            &SEQUENCE_KERNEL,
            "integer_sequence",
            &dtypes,
            count,
            (out, count, scalar_to_i64(start), scalar_to_i64(step)),
        )
    }
}

fn scalar_to_f64(number: Scalar) -> f64 {
    number.to_f64().unwrap_or(f64::NAN)
}

#[expect(clippy::cast_possible_truncation, reason = "a number of a sequence of integers")]
fn scalar_to_i64(number: Scalar) -> i64 {
    if let Scalar::Int(value) = number { value } else { scalar_to_f64(number) as i64 }
}

/// Writes equally spaced numbers, or powers of `base` with equally spaced exponents.
fn write_equally_spaced(out: &Tensor, start: Scalar, end: Scalar, base: Option<f64>) -> Result<()> {
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let end_of = |number| if out.dtype().is_floating() { scalar_to_f64(number) } else { scalar_to_f64(number).trunc() };
    let arguments = (out, count, end_of(start), end_of(end), base.unwrap_or(0.0));
    launch.run_per_element(&SEQUENCE_KERNEL, "equally_spaced", &[out.dtype()], count, arguments)
}

#[op_impl(aten::linspace, CUDA)]
fn linspace(_plan: &(), out: &mut Tensor, start: Scalar, end: Scalar) -> Result<()> {
    write_equally_spaced(out, start, end, None)
}

#[op_impl(aten::logspace, CUDA)]
fn logspace(_plan: &(), out: &mut Tensor, start: Scalar, end: Scalar, base: f64) -> Result<()> {
    write_equally_spaced(out, start, end, Some(base))
}
