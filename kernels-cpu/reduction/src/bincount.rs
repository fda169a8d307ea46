//! Kernels of `bincount` and `histc`.

use dispatch_runtime::{BadArgument, DType, Result, Scalar, Spec, Tensor, op_impl};

use engine::allocation::{filled_vec, to_usize};
use engine::compute::{ComputeType, RealFloat};
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::reduce::with_compute_type;

#[op_impl(aten::bincount, CPU)]
fn bincount(_plan: &(), this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    let numbers = convert_to_vec::<i64>(this)?;
    if let Some(&index) = numbers.iter().find(|&&number| number < 0) {
        return Err(BadArgument::number("self", index, 0..).because("each element is the index of a bin").into());
    }
    let length = numbers.iter().max().map_or(0, |largest| largest.saturating_add(1)).max(minlength);
    match weights {
        None => {
            let mut out = Spec::contiguous(DType::I64, &[length]).on(this.device())?;
            let mut counts = out.write::<i64>()?;
            counts.fill(0);
            for &number in &numbers {
                counts[to_usize(number)] += 1;
            }
            drop(counts);
            Ok(out)
        }
        Some(weights) => {
            let mut sums = Spec::contiguous(DType::F64, &[length]).on(this.device())?;
            let values = convert_to_vec::<f64>(weights)?;
            let mut bins = sums.write::<f64>()?;
            bins.fill(0.0);
            numbers.iter().zip(values).for_each(|(&number, weight)| bins[to_usize(number)] += weight);
            drop(bins);
            let dtype = if weights.dtype() == DType::F32 { DType::F32 } else { DType::F64 };
            aten::to_dtype(&sums, dtype, false, false, None)
        }
    }
}

#[op_impl(aten::histc, CPU)]
fn histc(_plan: &(), out: &mut Tensor, this: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<()> {
    let counts = with_compute_type!(aten::histc, this.dtype(), T: [f32, f64] => {
        let values = convert_to_vec::<T>(this)?;
        let given = [min, max].map(<T as ComputeType>::from_scalar);
        count_values_per_bin(&values, bin_range(&values, given)?, to_usize(bins))
    })?;
    write_f64_values(out, &counts)
}

/// Returns the range of the bins: the given range, or the range of the values. If all values are equal, it extends by 1 on both sides.
fn bin_range<T: RealFloat>(values: &[T], [min, max]: [T; 2]) -> Result<[T; 2], BadArgument> {
    let one = T::from_f64(1.0);
    let [min, max] = match values.split_first() {
        Some((&first, rest)) if min == max => rest.iter().fold([first; 2], |[min, max], &x| {
            [if x < min || x.is_nan() { x } else { min }, if x > max || x.is_nan() { x } else { max }]
        }),
        _ => [min, max],
    };
    if min == max {
        return Ok([min - one, max + one]);
    }
    if (max - min).is_nan() || max - min == T::from_f64(f64::INFINITY) {
        return Err(BadArgument::value("self", "a list of values without a finite range", "finite"));
    }
    Ok([min, max])
}

/// Counts the values in each of the equal bins of a range. The upper end belongs to the last bin.
fn count_values_per_bin<T: RealFloat + Into<f64>>(values: &[T], [min, max]: [T; 2], bins: usize) -> Result<Vec<f64>> {
    let mut counts = filled_vec(0.0, bins)?;
    #[expect(clippy::cast_precision_loss, reason = "the number of bins is limited by memory")]
    let parts = T::from_f64(bins as f64);
    for &x in values {
        if x >= min && x <= max {
            let part: f64 = ((x - min) * parts / (max - min)).into();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is at most `bins`")]
            let part = part as usize;
            counts[part.min(bins - 1)] += 1.0;
        }
    }
    Ok(counts)
}
