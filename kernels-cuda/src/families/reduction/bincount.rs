//! CUDA kernels of `bincount` and `histc`.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::gather::combine_dtype;
use crate::engine::transfer::contiguous_copy;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, with their counts. A value is checked against the number of counts.
    static BINCOUNT_KERNEL = unsafe { Kernel::new("bincount", include_str!("../../../kernels/reduction/bincount.cu"), |instances| {
        for template in ["min_max", "count_integers", "sum_weights"] {
            instances.add(template, &[]);
        }
        instances.add_for_each_dtype("histogram", &[DType::F32, DType::F64]);
    }) };
}

fn zero_vector(dtype: DType, size: i64, device: Device) -> Result<Tensor> {
    let mut zeros = Spec::contiguous(dtype, &[size]).on(device)?;
    copy_into(&mut zeros, &Tensor::number(0.into()))?;
    Ok(zeros)
}

#[op_impl(aten::bincount, CUDA)]
fn bincount(_plan: &(), this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    let numbers = contiguous(this, DType::I64)?;
    let (launch, count, device) = (Launch::on_device_of(&numbers)?, numbers.geometry().count(), numbers.device());
    let mut length = minlength;
    if count > 0 {
        let extent = to_device(&Tensor::from_slice(&[i64::MAX, i64::MIN]), device)?;
        let grid = Grid::new(Grid::for_elements(count).blocks[0].min(4 * launch.multiprocessors()), 256);
        launch.run(&BINCOUNT_KERNEL, "min_max", &[], grid, (count, &numbers, &extent))?;
        let extent = aten::to_device(&extent, Device::CPU, DType::I64, false, false, None)?.to_vec::<i64>()?;
        if extent[0] < 0 {
            return Err(BadArgument::number("self", extent[0], 0..).because("elements are counted by number").into());
        }
        length = length.max(extent[1].saturating_add(1));
    }
    let Some(weights) = weights else {
        let counts = zero_vector(DType::I64, length, device)?;
        launch.run_per_element(&BINCOUNT_KERNEL, "count_integers", &[], count, (count, &numbers, length, &counts))?;
        return Ok(counts);
    };
    let (sums, values) = (zero_vector(DType::F64, length, device)?, contiguous(weights, DType::F64)?);
    launch.run_per_element(&BINCOUNT_KERNEL, "sum_weights", &[], count, (count, &numbers, &values, length, &sums))?;
    if weights.dtype() == DType::F32 { contiguous_copy(&sums, DType::F32) } else { Ok(sums) }
}

#[op_impl(aten::histc, CUDA)]
fn histc(_plan: &(), out: &mut Tensor, this: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<()> {
    let computed = combine_dtype(this.dtype());
    let (values, count) = (contiguous(this, computed)?, this.geometry().count());
    let range = to_device(&Tensor::from_slice(&histogram_range(this, [min, max])?), this.device())?;
    let (range, launch) = (contiguous(&range, computed)?, Launch::on_device_of(out)?);
    let counts = zero_vector(DType::I64, bins, this.device())?;
    let grid = Grid::new(Grid::for_elements(count).blocks[0].min(8 * launch.multiprocessors()), 256);
    let arguments = (count, &values, bins, &range, &counts);
    launch.run(&BINCOUNT_KERNEL, "histogram", &[computed], grid, arguments)?;
    copy_into(out, &counts)
}

/// Returns the range of a histogram: the given one, or that of the values. If all values are equal, the range extends by one to both sides.
#[expect(clippy::float_cmp, reason = "a range is empty if its ends are the same number")]
fn histogram_range(this: &Tensor, given: [Scalar; 2]) -> Result<[f64; 2]> {
    let real = |number: Scalar| f64::from_bits(crate::engine::scalars::encode_scalar(number, DType::F64));
    let [mut min, mut max] = given.map(real);
    if min == max && this.geometry().count() > 0 {
        let (least, most) = aten::aminmax(this, None, false)?;
        [min, max] = [real(aten::_local_scalar_dense(&least)?), real(aten::_local_scalar_dense(&most)?)];
    }
    if min == max {
        return Ok([min - 1.0, max + 1.0]);
    }
    if !(max - min).is_finite() {
        return Err(BadArgument::value("self", "without a range", "finite").into());
    }
    Ok([min, max])
}
