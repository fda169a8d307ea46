//! Kernels of `bincount` and `histc`.

use dispatch_runtime::{BadArgument, DType, Result, Scalar, Spec, Tensor, op_impl};

use engine::allocation::{times, usized};
use engine::compute::{Compute, Fraction};
use engine::contiguous::{elements, write};
use engine::reduce::computed;

#[op_impl(aten::bincount, CPU)]
fn bincount(_plan: &(), this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    let numbers = elements::<i64>(this)?;
    if let Some(&index) = numbers.iter().find(|&&number| number < 0) {
        return Err(BadArgument::number("self", index, 0..).because("elements are counted by number").into());
    }
    let length = numbers.iter().max().map_or(0, |largest| largest.saturating_add(1)).max(minlength);
    match weights {
        None => {
            let mut out = Spec::contiguous(DType::I64, &[length]).on(this.device())?;
            let mut counts = out.write::<i64>()?;
            counts.fill(0);
            for &number in &numbers {
                counts[usized(number)] += 1;
            }
            drop(counts);
            Ok(out)
        }
        Some(weights) => {
            let mut sums = Spec::contiguous(DType::F64, &[length]).on(this.device())?;
            let values = elements::<f64>(weights)?;
            let mut bins = sums.write::<f64>()?;
            bins.fill(0.0);
            numbers.iter().zip(values).for_each(|(&number, weight)| bins[usized(number)] += weight);
            drop(bins);
            let dtype = if weights.dtype() == DType::F32 { DType::F32 } else { DType::F64 };
            aten::to_dtype(&sums, dtype, false, false, None)
        }
    }
}

#[op_impl(aten::histc, CPU)]
fn histc(_plan: &(), out: &mut Tensor, this: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<()> {
    let counts = computed!(aten::histc, this.dtype(), T: [f32, f64] => {
        let values = elements::<T>(this)?;
        let given = [min, max].map(<T as Compute>::from_scalar);
        counts(&values, range(&values, given)?, usized(bins))
    })?;
    write(out, &counts)
}

/// Returns the range of the bins: the given range, or that of the values. If all values are equal, it extends by 1 on both sides.
fn range<T: Fraction>(values: &[T], [min, max]: [T; 2]) -> Result<[T; 2], BadArgument> {
    let one = T::near(1.0);
    let [min, max] = match values.split_first() {
        Some((&first, rest)) if min == max => rest.iter().fold([first; 2], |[min, max], &x| {
            [if x < min || x.is_nan() { x } else { min }, if x > max || x.is_nan() { x } else { max }]
        }),
        _ => [min, max],
    };
    if min == max {
        return Ok([min - one, max + one]);
    }
    if (max - min).is_nan() || max - min == T::near(f64::INFINITY) {
        return Err(BadArgument::value("self", "without a range", "finite"));
    }
    Ok([min, max])
}

/// Counts the values in each of the equal bins of a range. The upper end belongs to the last bin.
fn counts<T: Fraction + Into<f64>>(values: &[T], [min, max]: [T; 2], bins: usize) -> Result<Vec<f64>> {
    let mut counts = times(0.0, bins)?;
    #[expect(clippy::cast_precision_loss, reason = "there is no memory for so many bins")]
    let parts = T::near(bins as f64);
    for &x in values {
        if x >= min && x <= max {
            let part: f64 = ((x - min) * parts / (max - min)).into();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part is at most `bins`")]
            let part = part as usize;
            counts[part.min(bins - 1)] += 1.0;
        }
    }
    Ok(counts)
}
