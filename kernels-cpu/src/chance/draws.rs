//! Positions by weight.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::continuous::exponential_of;
use super::on_cpu;
use crate::moves::packed;

#[op_impl(aten::multinomial, CPU)]
fn multinomial(this: &Tensor, num_samples: i64, replacement: bool, generator: Option<&Generator>) -> Result<Tensor> {
    let mut out = aten::multinomial_spec(this, num_samples, replacement)?.on(this.device())?;
    let generator = on_cpu(generator)?;
    let weights = packed(this, DType::F64)?;
    let weights = weights.read::<f64>()?;
    let (width, samples) = (extent(this.sizes().last()), extent(Some(&num_samples)));
    for row in weights.chunks_exact(width.max(1)) {
        if row.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
            return Err(
                BadArgument::value("self", "a weight that is negative, infinite or no number", "weights").into()
            );
        }
        if row.iter().sum::<f64>() <= 0.0 {
            return Err(BadArgument::value("self", "a row of zeros", "weights that are not all zero").into());
        }
    }
    let drawn = if replacement { out.sizes() } else { this.sizes() };
    let mut numbers = Spec::contiguous(DType::F64, drawn).on(Device::CPU)?;
    let draw = if replacement { uniform } else { waiting_times };
    draw(&mut numbers, &generator)?;
    let numbers = numbers.read::<f64>()?;
    {
        let mut positions = out.write::<i64>()?;
        let rows = positions.chunks_exact_mut(samples.max(1)).zip(weights.chunks_exact(width.max(1)));
        let each = if replacement { samples } else { width };
        for ((to, weights), numbers) in rows.zip(numbers.chunks_exact(each.max(1))) {
            if replacement { with_replacement(to, weights, numbers) } else { without(to, weights, numbers) }
        }
    }
    Ok(out)
}

fn extent(size: Option<&i64>) -> usize {
    size.and_then(|&size| usize::try_from(size).ok()).unwrap_or(0)
}

fn uniform(numbers: &mut Tensor, generator: &Generator) -> Result<()> {
    aten::uniform_(numbers, 0.0, 1.0, Some(generator))
}

fn waiting_times(numbers: &mut Tensor, generator: &Generator) -> Result<()> {
    exponential_of::<f64, 2>(numbers, Some(generator), 1.0)
}

/// Where in the sum of the weights the numbers fall.
fn with_replacement(to: &mut [i64], weights: &[f64], numbers: &[f64]) {
    let mut sum = 0.0;
    let sums: Vec<f64> = weights
        .iter()
        .map(|weight| {
            sum += weight;
            sum
        })
        .collect();
    // Rounding must not lead past the last position that can be drawn.
    let last = sums.partition_point(|&below| below < sum);
    for (to, number) in to.iter_mut().zip(numbers) {
        *to = sums.partition_point(|&below| below <= number * sum).min(last).cast_signed() as i64;
    }
}

/// The positions whose turn comes first, if each waits for a time with its weight as the rate.
fn without(to: &mut [i64], weights: &[f64], times: &[f64]) {
    let mut order: Vec<(f64, i64)> = times.iter().zip(weights).map(|(time, weight)| time / weight).zip(0..).collect();
    let earlier = |a: &(f64, i64), b: &(f64, i64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if to.len() < order.len() {
        order.select_nth_unstable_by(to.len(), earlier);
    }
    order.truncate(to.len());
    order.sort_unstable_by(earlier);
    to.iter_mut().zip(&order).for_each(|(to, (_, position))| *to = *position);
}
