//! CUDA kernels of `repeat`, `flip`, `roll` and `repeat_interleave`.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::RollShifts;

use crate::engine::data_movement::{StridedPointer, concatenate, copy_strided};
use crate::engine::prefix_sum::{exclusive_prefix_sum, read_device_integer};
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, with their counts, and `starts` has one element for each of `size` rows.
    static REPEAT_INTERLEAVE_KERNEL = unsafe { Kernel::new("repeat_interleave", include_str!("../../../kernels/views/repeat_interleave.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["check_repeats", "repeat_indices"], &[DType::I32, DType::I64]);
    }) };
}

#[op_impl(aten::repeat, CUDA)]
fn repeat(plan: &usize, out: &mut Tensor, this: &Tensor, repeats: &[i64]) -> Result<()> {
    let (mut sizes, mut to, mut from) = (Dims::new(), Dims::new(), Dims::new());
    for (dim, &times) in repeats.iter().enumerate() {
        let stride = out.strides()[dim];
        let (size, own) = match dim.checked_sub(*plan) {
            Some(own) => (this.sizes()[own], this.strides()[own]),
            None => (1, 0),
        };
        sizes.extend([times, size]);
        to.extend([stride.saturating_mul(size), stride]);
        from.extend([0, own]);
    }
    let launch = Launch::on_device_of(out)?;
    let element = element_size(this);
    let pointer = |address, strides: Dims| StridedPointer {
        address,
        byte_strides: strides.iter().map(|stride| stride * element).collect(),
    };
    copy_strided(
        launch,
        this.dtype(),
        &sizes,
        &pointer(launch.pointer(out)?, to),
        &pointer(launch.pointer(this)?, from),
    )
}

#[op_impl(aten::flip, CUDA)]
fn flip(plan: &Vec<bool>, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let launch = Launch::on_device_of(out)?;
    let mut from = StridedPointer::from_tensor(launch, this, this.sizes())?;
    for dim in (0..plan.len()).filter(|&dim| plan[dim] && this.sizes()[dim] > 0) {
        let step = &mut from.byte_strides[dim];
        from.address = from.address.offset((*step * (this.sizes()[dim] - 1)).cast_unsigned());
        *step = -*step;
    }
    copy_strided(launch, this.dtype(), this.sizes(), &StridedPointer::from_tensor(launch, out, out.sizes())?, &from)
}

#[op_impl(aten::roll, CUDA)]
fn roll(plan: &RollShifts, out: &mut Tensor, this: &Tensor) -> Result<()> {
    match plan {
        RollShifts::PerDim(by) => roll_dims(out, this, by),
        RollShifts::Flat(by) => {
            let (this, row) = (contiguous(this, this.dtype())?, Geometry::contiguous(&[out.geometry().count()]));
            let this = this.restride(row.clone().with_offset(this.geometry().offset()))?;
            roll_dims(&mut out.restride(row.with_offset(out.geometry().offset()))?, &this, &[*by])
        }
    }
}

/// Rolls each dimension by `by`: its last `by` elements come first.
fn roll_dims(out: &mut Tensor, this: &Tensor, by: &[i64]) -> Result<()> {
    let mut from = this.clone();
    let dims: Vec<usize> = (0..by.len()).filter(|&dim| by[dim] != 0).collect();
    let Some(&last) = dims.last() else { return copy_into(out, this) };
    for dim in dims {
        let (at, by) = (i64::try_from(dim).unwrap_or(0), by[dim]);
        let stays = from.sizes()[dim] - by;
        let parts = [aten::narrow(&from, at, stays, by)?, aten::narrow(&from, at, 0, stays)?];
        let to = if dim == last { out.clone() } else { out.allocate_like(out.dtype())? };
        concatenate(&to, &[&parts[0], &parts[1]], dim)?;
        from = to;
    }
    Ok(())
}

#[op_impl(aten::repeat_interleave, CUDA)]
fn repeat_interleave(_plan: &(), repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    let (dtype, count) = (repeats.dtype(), repeats.geometry().count());
    if !matches!(dtype, DType::I32 | DType::I64) {
        let converted = |from: &Tensor, dtype| aten::to_dtype(from, dtype, false, false, None);
        return converted(&aten::repeat_interleave(&converted(repeats, DType::I64)?, output_size)?, dtype);
    }
    let repeats = contiguous(repeats, dtype)?;
    let launch = Launch::on_device_of(&repeats)?;
    let starts = Spec::contiguous(DType::I64, &[count]).on(repeats.device())?;
    let site = fault_site!("aten::repeat_interleave", "repeats");
    let arguments = (count, &repeats, &starts, site, launch.fault_record());
    launch.run_per_element(&REPEAT_INTERLEAVE_KERNEL, "check_repeats", &[dtype], count, arguments)?;
    let total = read_device_integer(launch, &exclusive_prefix_sum(launch, &starts)?)?;
    if let Some(wanted) = output_size.filter(|wanted| *wanted != total) {
        return Err(BadArgument::number("output_size", wanted, total).because("the sum of `repeats` is").into());
    }
    let out = Spec::contiguous(dtype, &[total]).on(repeats.device())?;
    launch.run_per_element(
        &REPEAT_INTERLEAVE_KERNEL,
        "repeat_indices",
        &[dtype],
        total,
        (total, &out, count, &starts),
    )?;
    Ok(out)
}
