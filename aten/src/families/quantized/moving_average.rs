//! Fake quantisation with a scale and a zero point from moving averages of the least and the greatest number.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

use super::affine::{check_elements_and_range, check_single};
use super::fake_quantize::{rounded_and_mask, unchanged_and_full_mask};
use super::parameters::Interval;
use crate::prelude::*;

/// Updates the moving averages of the least and the greatest number if `observer_on` is not zero. If `fake_quant_on` is not zero, updates
/// the scale and the zero point, and rounds the numbers to those that integers represent.
#[op_def(
    "fused_moving_avg_obs_fake_quant(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> Tensor"
)]
pub fn fused_moving_avg_obs_fake_quant(_: ...) -> Result<Tensor> {
    if this.geometry().count() == 0 {
        return crate::clone(this, None);
    }
    let (rounded, _) = _fused_moving_avg_obs_fq_helper(
        this,
        observer_on,
        fake_quant_on,
        running_min,
        running_max,
        scale,
        zero_point,
        averaging_const,
        quant_min,
        quant_max,
        ch_axis,
        per_row_fake_quant,
        symmetric_quant,
    )?;
    Ok(rounded)
}

/// Computes [`fused_moving_avg_obs_fake_quant`]. Also returns whether each number is in the range of the integers.
#[op_def(
    "_fused_moving_avg_obs_fq_helper(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> (Tensor output, Tensor mask)",
    body = CompositeExplicitAutograd
)]
pub fn _fused_moving_avg_obs_fq_helper(_: ...) -> Result<(Tensor, Tensor)> {
    let range = (quant_min, quant_max);
    check_observed(this, observer_on, fake_quant_on, range, (ch_axis, per_row_fake_quant))?;
    if crate::item(observer_on)?.to_i64() != 0 {
        if this.dtype() != DType::F32 {
            return Err(BadArgument::dtype("self", this.dtype(), DType::F32).because("its averages are").into());
        }
        let (least, most) = if per_row_fake_quant {
            crate::aminmax(&this.flatten_dims(1, -1)?, Some(1), false)?
        } else {
            let (least, most) = crate::aminmax(this, None, false)?;
            (least.reshape(1)?, most.reshape(1)?)
        };
        update_average(("running_min", running_min), &least, averaging_const)?;
        update_average(("running_max", running_max), &most, averaging_const)?;
    }
    if crate::item(fake_quant_on)?.to_i64() == 0 {
        return unchanged_and_full_mask(this);
    }
    let count = if per_row_fake_quant { this.sizes()[0] } else { 1 };
    let (least, most) = (averages("running_min", running_min, count)?, averages("running_max", running_max, count)?);
    let chosen = least
        .iter()
        .zip(&most)
        .map(|(&least, &most)| Interval { least, most }.quantization(quant_min, quant_max, symmetric_quant));
    let (scales, zero_points): (Vec<f64>, Vec<i64>) = chosen.map(|chosen| (chosen.scale, chosen.zero_point)).unzip();
    write_vector(("scale", scale), &Tensor::from(scales))?;
    write_vector(("zero_point", zero_point), &Tensor::from(zero_points))?;
    if per_row_fake_quant {
        return crate::fake_quantize_per_channel_affine_cachemask(
            this,
            &scale.to(DType::F32)?,
            &zero_point.to(DType::I32)?,
            0,
            quant_min,
            quant_max,
        );
    }
    crate::fake_quantize_per_tensor_affine_cachemask(
        this,
        crate::item(scale)?.to_f64().unwrap_or(f64::NAN),
        crate::item(zero_point)?.to_i64(),
        quant_min,
        quant_max,
    )
}

/// Computes [`_fused_moving_avg_obs_fq_helper`], and writes its results to `out0` and `out1`.
#[op_def(
    "_fused_moving_avg_obs_fq_helper.out(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False, *, Tensor(e!) out0, Tensor(f!) out1) -> (Tensor(e!), Tensor(f!))"
)]
pub fn _fused_moving_avg_obs_fq_helper_out(_: ...) -> Result<()> {
    check_observed(this, observer_on, fake_quant_on, (quant_min, quant_max), (ch_axis, per_row_fake_quant))?;
    let [rounded, mask] = rounded_and_mask(this).outputs;
    rounded.fit_output("out0", out0)?;
    mask.fit_output("out1", out1)?;
    let (rounded, mask) = _fused_moving_avg_obs_fq_helper(
        this,
        observer_on,
        fake_quant_on,
        running_min,
        running_max,
        scale,
        zero_point,
        averaging_const,
        quant_min,
        quant_max,
        ch_axis,
        per_row_fake_quant,
        symmetric_quant,
    )?;
    crate::copy_(out0, &rounded, false)?;
    crate::copy_(out1, &mask, false)
}

/// On Meta there are no elements, so nothing is written.
#[op_meta(_fused_moving_avg_obs_fq_helper)]
fn moving_average_meta(_: ...) -> Result<(Tensor, Tensor)> {
    check_observed(this, observer_on, fake_quant_on, (quant_min, quant_max), (ch_axis, per_row_fake_quant))?;
    let [rounded, mask] = rounded_and_mask(this).outputs;
    Ok((rounded.on(this.device())?, mask.on(this.device())?))
}

/// Computes [`fused_moving_avg_obs_fake_quant`], and returns the mask and the new averages, scale and zero point instead of writing them.
#[op_def(
    "_fused_moving_avg_obs_fq_helper_functional(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor running_min, Tensor running_max, Tensor scale, Tensor zero_point, float averaging_const, int quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> (Tensor output, Tensor mask, Tensor running_min_out, Tensor running_max_out, Tensor scale_out, Tensor zero_point_out)",
    plan, body = CompositeExplicitAutograd
)]
pub fn _fused_moving_avg_obs_fq_helper_functional(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)> {
    let copy = |tensor: &Tensor| crate::clone(tensor, None);
    let (mut least, mut most) = (copy(running_min)?, copy(running_max)?);
    let (mut scale, mut zero_point) = (copy(scale)?, copy(zero_point)?);
    let (rounded, mask) = _fused_moving_avg_obs_fq_helper(
        this,
        observer_on,
        fake_quant_on,
        &mut least,
        &mut most,
        &mut scale,
        &mut zero_point,
        averaging_const,
        quant_min,
        quant_max,
        ch_axis,
        per_row_fake_quant,
        symmetric_quant,
    )?;
    Ok((rounded, mask, least, most, scale, zero_point))
}

#[op_plan(_fused_moving_avg_obs_fq_helper_functional)]
fn functional_plan(_: ...) -> Result<Plan<(), 6>, BadArgument> {
    let _ = (averaging_const, symmetric_quant);
    check_observed(this, observer_on, fake_quant_on, (quant_min, quant_max), (ch_axis, per_row_fake_quant))?;
    let [rounded, mask] = rounded_and_mask(this).outputs;
    let [least, most, scale, zero_point] =
        [running_min, running_max, scale, zero_point].map(|tensor| Spec::like(tensor, tensor.dtype()));
    Ok(Plan::new((), [rounded, mask, least, most, scale, zero_point]))
}

fn check_observed(
    this: &Tensor,
    observer_on: &Tensor,
    fake_quant_on: &Tensor,
    (quant_min, quant_max): (i64, i64),
    (ch_axis, per_row): (i64, bool),
) -> Result<(), BadArgument> {
    if per_row && this.sizes().len() < 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..).because("each row has a scale"));
    }
    check_elements_and_range(this, quant_min, quant_max)?;
    if quant_min == quant_max {
        return Err(BadArgument::number("quant_max", quant_max, dispatch_runtime::Expected::Above(quant_min.into()))
            .like("quant_min"));
    }
    check_single("observer_on", observer_on)?;
    check_single("fake_quant_on", fake_quant_on)?;
    let rank = i64::try_from(this.sizes().len()).unwrap_or(i64::MAX);
    if ch_axis >= rank || per_row && ch_axis != 0 {
        let expected = if per_row {
            "0, because each row has a scale".to_owned()
        } else {
            format!("below {rank}, the rank of `self`")
        };
        return Err(BadArgument::value("ch_axis", ch_axis, expected));
    }
    if this.geometry().count() == 0 {
        return Err(BadArgument::sizes("self", this.sizes(), "one element or more"));
    }
    Ok(())
}

/// Moves an average towards the current numbers. An infinite average, the first one, becomes the current number.
fn update_average(average: (&'static str, &mut Tensor), current: &Tensor, averaging_const: f64) -> Result<()> {
    let (name, average) = average;
    check_average(name, average)?;
    Spec::contiguous(DType::F32, current.sizes()).fit_output(name, average)?;
    let moved = (&*average + ((current - &*average)? * averaging_const)?)?;
    let moved = crate::where_self(&average.isinf()?, current, &moved)?;
    crate::copy_(average, &moved, false)
}

/// Reads the averages of the rows.
fn averages(name: &'static str, average: &Tensor, count: i64) -> Result<Vec<f32>> {
    check_average(name, average)?;
    if average.geometry().count() != count {
        return Err(BadArgument::sizes(name, average.sizes(), &[count][..]).into());
    }
    crate::reshape(&average.to(Device::CPU)?, &[-1])?.to_vec::<f32>()
}

fn check_average(name: &'static str, average: &Tensor) -> Result<(), BadArgument> {
    if average.dtype() != DType::F32 {
        return Err(BadArgument::dtype(name, average.dtype(), DTypes::Is(DType::F32)));
    }
    Ok(())
}

/// Writes a vector to a tensor, which is resized if it is empty.
fn write_vector((name, to): (&'static str, &mut Tensor), numbers: &Tensor) -> Result<()> {
    if to.geometry().count() != numbers.geometry().count() {
        Spec::contiguous(to.dtype(), numbers.sizes()).fit_output(name, to)?;
    }
    let numbers = numbers.to((to.dtype(), to.device()))?.reshape(to.sizes())?;
    crate::copy_(to, &numbers, false)
}
