//! The kernel of `multinomial`.

use aten::MultinomialPlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::cpu_generator;
use super::distributions::fill_exponential;
use engine::data_movement::to_contiguous;

#[op_impl(aten::multinomial, CPU)]
fn multinomial(_plan: &MultinomialPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let generator = cpu_generator(generator)?;
    let weights = to_contiguous(this, DType::F64)?;
    let weights = weights.read::<f64>()?;
    let (width, samples) = (size_or_one(this.sizes().last()), size_or_one(Some(&num_samples)));
    let rows = || weights.chunks_exact(width);
    if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
        return Err(BadArgument::value(
            "self",
            "a weight that is negative, infinite or NaN",
            "finite weights of at least 0",
        )
        .into());
    }
    if rows().any(|row| row.iter().all(|weight| *weight == 0.0)) {
        return Err(BadArgument::value("self", "a row of zeros", "weights that are not all zero").into());
    }
    if replacement {
        let rows = rows().map(RunningSums::from_weights).collect::<Result<Vec<RunningSums>, BadArgument>>()?;
        let mut numbers = Spec::contiguous(DType::F64, out.sizes()).on(Device::CPU)?;
        aten::uniform_(&mut numbers, 0.0, 1.0, Some(&generator))?;
        let numbers = numbers.read::<f64>()?;
        let mut positions = out.write::<i64>()?;
        for (at, (to, number)) in positions.iter_mut().zip(numbers.iter()).enumerate() {
            *to = rows[at / samples].find_index(*number).cast_signed() as i64;
        }
    } else {
        let mut times = Spec::contiguous(DType::F64, this.sizes()).on(Device::CPU)?;
        fill_exponential::<f64, 2>(&mut times, Some(&generator), 1.0)?;
        let times = times.read::<f64>()?;
        let mut positions = out.write::<i64>()?;
        for ((to, weights), times) in positions.chunks_exact_mut(samples).zip(rows()).zip(times.chunks_exact(width)) {
            write_shortest_wait_indices(to, weights, times);
        }
    }
    Ok(())
}

/// Returns a size, or 1 instead of 0. Only empty tensors have a size of 0.
fn size_or_one(size: Option<&i64>) -> usize {
    size.and_then(|&size| usize::try_from(size).ok()).unwrap_or(1).max(1)
}

/// The running sums of a row of weights, in pieces.
struct RunningSums {
    /// The running sums within each piece.
    within: Vec<f64>,
    /// The sum of the weights before each piece.
    before: Vec<f64>,
    all: f64,
}

impl RunningSums {
    fn from_weights(weights: &[f64]) -> Result<Self, BadArgument> {
        let (mut within, mut before, mut all) = (Vec::with_capacity(weights.len()), Vec::new(), 0.0);
        for piece in weights.chunks(MultinomialPlan::SCAN_CHUNK_SIZE) {
            let mut sum = 0.0;
            within.extend(piece.iter().map(|weight| {
                sum += weight;
                sum
            }));
            before.push(all);
            all += sum;
        }
        if all.is_finite() {
            return Ok(Self { within, before, all });
        }
        Err(BadArgument::value("self", "a row with an infinite sum", "weights with a finite sum"))
    }

    /// Returns the index of the weight in whose interval of the running sums `number * all` lies. The number is from zero up to below one.
    fn find_index(&self, number: f64) -> usize {
        let point = number * self.all;
        // Because of rounding, the product may reach the end of the last interval.
        let point = if point < self.all { point } else { 0.0 };
        let piece = self.before[1..].partition_point(|before| *before <= point);
        let (first, before) = (piece * MultinomialPlan::SCAN_CHUNK_SIZE, self.before[piece]);
        let within = &self.within[first..self.within.len().min(first + MultinomialPlan::SCAN_CHUNK_SIZE)];
        first + within.partition_point(|sum| before + sum <= point)
    }
}

/// Writes the indices with the shortest waiting times. A waiting time is an exponential number divided by the weight.
fn write_shortest_wait_indices(to: &mut [i64], weights: &[f64], times: &[f64]) {
    // Indices with weight zero have an infinite waiting time, so they are last.
    let wait = |(time, weight): (&f64, &f64)| if *weight > 0.0 { (time / weight).min(f64::MAX) } else { f64::INFINITY };
    let mut order: Vec<(f64, i64)> = times.iter().zip(weights).map(wait).zip(0..).collect();
    let earlier = |a: &(f64, i64), b: &(f64, i64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if to.len() < order.len() {
        order.select_nth_unstable_by(to.len(), earlier);
    }
    order.truncate(to.len());
    order.sort_unstable_by(earlier);
    to.iter_mut().zip(&order).for_each(|(to, (_, position))| *to = *position);
}
