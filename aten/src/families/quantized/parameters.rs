//! The choice of a scale and a zero point for the numbers of a tensor.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::prelude::*;

/// Scales below this number are subnormal in half precision, and are raised to it.
const LEAST_SCALE: f32 = 6.1e-5;

/// Chooses the scale and the zero point for the numbers of a tensor and integers of 8 bits, or of 7 bits with `reduce_range`.
#[op_def(
    "_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int)",
    data_dependent, body = CompositeExplicitAutograd
)]
pub fn _choose_qparams_per_tensor(this: &Tensor, reduce_range: bool) -> Result<(f64, i64)> {
    if !(this.dtype().is_floating() || this.dtype().is_integral()) {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrIntegral).into());
    }
    if this.geometry().count() == 0 {
        return Err(BadArgument::sizes("self", this.sizes(), "one element or more").into());
    }
    let (least, most) = crate::aminmax(this, None, false)?;
    let range = Interval { least: read_f32(&least)?, most: read_f32(&most)? };
    if range.least.is_nan() {
        return Err(BadArgument::value("self", "a tensor with NaN", "a tensor of numbers").into());
    }
    let Quantization { scale, zero_point } = range.quantization(0, if reduce_range { 127 } else { 255 }, false);
    Ok((scale, zero_point))
}

/// Chooses the greatest and the least number that integers of `bit_width` bits represent, so that the error of the first `numel` numbers is
/// small: starts at their range, and makes it smaller by one of `n_bins` steps at a time, down to `1 - ratio` of it.
#[op_def(
    "choose_qparams_optimized(Tensor input, int numel, int n_bins, float ratio, int bit_width) -> (Tensor, Tensor)",
    data_dependent, body = CompositeExplicitAutograd
)]
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the search is in single precision")]
pub fn choose_qparams_optimized(_: ...) -> Result<(Tensor, Tensor)> {
    if input.dtype() != DType::F32 {
        return Err(BadArgument::dtype("input", input.dtype(), DType::F32).into());
    }
    let count = input.geometry().count();
    let Some(used) = usize::try_from(numel).ok().filter(|_| (1..=count).contains(&numel)) else {
        return Err(BadArgument::number("numel", numel, 1..=count).into());
    };
    if !(1..=MAX_STEPS).contains(&n_bins) {
        return Err(BadArgument::number("n_bins", n_bins, 1..=MAX_STEPS).into());
    }
    if !(1..=30).contains(&bit_width) {
        return Err(BadArgument::number("bit_width", bit_width, 1..=30).into());
    }
    let numbers =
        crate::contiguous(&input.to(Device::CPU)?, dispatch_runtime::MemoryFormat::Contiguous)?.to_vec::<f32>()?;
    let numbers = &numbers[..used];
    let greatest_integer = ((1_i64 << bit_width) - 1) as f32;
    let fold = |pick: fn(f32, f32) -> f32| numbers.iter().copied().fold(numbers[0], pick);
    let mut best = Interval { least: fold(f32::min), most: fold(f32::max) };
    let step = (best.most - best.least) / n_bins as f32;
    let least_width = n_bins as f32 * (1.0 - ratio as f32) * step;
    let mut current = best;
    let mut error = current.rounding_error(numbers, greatest_integer);
    let mut best_error = error;
    for _ in 0..n_bins.saturating_mul(2) {
        if current.least + least_width >= current.most || step == 0.0 || !step.is_finite() {
            break;
        }
        let from_left = Interval { least: current.least + step, ..current };
        let from_right = Interval { most: current.most - step, ..current };
        let (left_error, right_error) =
            (from_left.rounding_error(numbers, greatest_integer), from_right.rounding_error(numbers, greatest_integer));
        if error < left_error && error < right_error && error < best_error {
            (best, best_error) = (current, error);
        }
        (current, error) = if left_error < right_error { (from_left, left_error) } else { (from_right, right_error) };
    }
    let tensor = |number: f32| Tensor::from([number]).to(input.device());
    Ok((tensor(best.most)?, tensor(best.least)?))
}

/// The most steps of a search.
const MAX_STEPS: i64 = 1 << 24;

/// The integer to which a processor converts the zero point of infinite and undefined numbers.
const ZERO_POINT_OF_NAN: i64 = i32::MIN as i64;

/// A scale and a zero point.
pub(super) struct Quantization {
    pub(super) scale: f64,
    pub(super) zero_point: i64,
}

/// The range of the numbers of a tensor.
#[derive(Clone, Copy)]
pub(super) struct Interval {
    pub(super) least: f32,
    pub(super) most: f32,
}

impl Interval {
    /// Returns the scale and the zero point for integers from `least` to `most`. Zero is represented exactly. With `symmetric`, it is the
    /// middle of the integers if there are numbers of both signs.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the range is in single precision"
    )]
    pub(super) fn quantization(self, least: i64, most: i64, symmetric: bool) -> Quantization {
        let Self { least: mut low, most: mut high } = self;
        if low.is_nan() || high.is_nan() {
            return Quantization { scale: f64::NAN, zero_point: ZERO_POINT_OF_NAN };
        }
        let (bottom, top) = (least as f64, most as f64);
        let is_centred = |low: f32, high: f32| symmetric && low < 0.0 && high > 0.0;
        if is_centred(low, high) {
            let positive = most.saturating_sub(least) / 2;
            let (negative_bound, positive_bound) = (-(positive as f64) - 1.0, positive as f64);
            let largest =
                (f64::from(low / negative_bound as f32).abs()).max(f64::from(high / positive_bound as f32).abs());
            (low, high) = ((largest * negative_bound) as f32, (largest * positive_bound) as f32);
        }
        (low, high) = (low.min(0.0), high.max(0.0));
        let mut scale = (f64::from(high) - f64::from(low)) / (top - bottom);
        if scale as f32 == 0.0 || (1.0 / scale as f32).is_infinite() {
            scale = 0.1;
        }
        if scale < f64::from(LEAST_SCALE) {
            let original = scale as f32;
            scale = f64::from(LEAST_SCALE);
            if low == 0.0 {
                high = LEAST_SCALE * (top - bottom) as f32;
            } else if high == 0.0 {
                low = -LEAST_SCALE * (top - bottom) as f32;
            } else {
                (low, high) = (low * (LEAST_SCALE / original), high * (LEAST_SCALE / original));
            }
        }
        let (from_low, from_high) = (f64::from(low) / scale, f64::from(high) / scale);
        let is_low_nearer = bottom.abs() - from_low.abs() < top.abs() - from_high.abs();
        let zero_point = match () {
            () if is_centred(low, high) => f64::midpoint(bottom, top),
            () if is_low_nearer => bottom - from_low,
            () => top - from_high,
        };
        let zero_point = if zero_point.is_nan() {
            ZERO_POINT_OF_NAN
        } else {
            zero_point.clamp(bottom, top).round_ties_even() as i64
        };
        Quantization { scale, zero_point }
    }

    /// Returns the error of rounding numbers to the integers from 0 that represent the interval, in half precision.
    fn rounding_error(self, numbers: &[f32], greatest_integer: f32) -> f32 {
        let round_to_half = |number: f32| dispatch_runtime::f16::from_f32(number).to_f32();
        let least = round_to_half(self.least);
        let width = self.most - least;
        let scale = if width == 0.0 { 1.0 } else { round_to_half(width / greatest_integer) };
        let inverse = if scale == 0.0 { 1.0 } else { 1.0 / scale };
        let square = |number: &f32| {
            let integer = ((number - least) * inverse).round_ties_even().min(greatest_integer).max(0.0);
            let error = number - (integer * scale + least);
            error * error
        };
        numbers.iter().map(square).sum::<f32>().sqrt()
    }
}

/// Reads the only element of a tensor in single precision.
#[expect(clippy::cast_possible_truncation, reason = "the element is rounded")]
fn read_f32(tensor: &Tensor) -> Result<f32> {
    Ok(crate::item(tensor)?.to_f64().unwrap_or(f64::NAN) as f32)
}
