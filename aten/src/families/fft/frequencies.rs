//! The frequencies of a transform's results, and the order that puts the frequency 0 in the middle.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Layout, wrap_dim};

/// The frequency of each element of a transform of `n` samples that are `d` apart: first the positive ones, then the negative ones.
#[op_def(
    "fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn fft_fftfreq(_: ...) -> Result<Tensor> {
    check_count_and_dtype(n, dtype)?;
    let options = FrequencyOptions { dtype, layout, device, pin_memory };
    let rising = options.numbers(0, n - n / 2)?;
    divide_by_length(&crate::cat(&[rising, options.numbers(-(n / 2), 0)?], 0)?, n, d)
}

/// The frequencies of the first half of a transform: those that [`fft_rfft`](crate::fft_rfft) computes.
#[op_def(
    "fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn fft_rfftfreq(_: ...) -> Result<Tensor> {
    check_count_and_dtype(n, dtype)?;
    let options = FrequencyOptions { dtype, layout, device, pin_memory };
    divide_by_length(&options.numbers(0, n / 2 + 1)?, n, d)
}

fn check_count_and_dtype(n: i64, dtype: Option<DType>) -> Result<(), BadArgument> {
    if n < 0 {
        return Err(BadArgument::number("n", n, 0..));
    }
    match dtype.filter(|dtype| !dtype.is_floating()) {
        Some(other) => Err(BadArgument::dtype("dtype", other, DTypes::Floating)),
        None => Ok(()),
    }
}

/// The tensor options of the frequencies.
struct FrequencyOptions {
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
}

impl FrequencyOptions {
    /// The whole numbers from `start` to `end`, excluded.
    fn numbers(&self, start: i64, end: i64) -> Result<Tensor> {
        let dtype = Some(self.dtype.unwrap_or(DType::F32));
        let &Self { layout, device, pin_memory, .. } = self;
        crate::arange_start_step(start.into(), end.into(), 1.into(), dtype, layout, device, pin_memory)
    }
}

/// Divides whole numbers by the length of `n` samples that are `d` apart.
#[expect(clippy::cast_precision_loss, reason = "a frequency is a float")]
fn divide_by_length(numbers: &Tensor, n: i64, d: f64) -> Result<Tensor> {
    numbers * (1.0 / (n as f64 * d))
}

/// Moves the frequency 0 from the start to the middle of dimensions, or of all.
#[op_def("fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor")]
pub fn fft_fftshift(_: ...) -> Result<Tensor> {
    roll_dims(this, dim, |size| size / 2)
}

/// Computes the inverse of [`fft_fftshift`].
#[op_def("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor")]
pub fn fft_ifftshift(_: ...) -> Result<Tensor> {
    roll_dims(this, dim, |size| size - size / 2)
}

/// Rolls each of these dimensions, or all, by a part of its size.
fn roll_dims(this: &Tensor, dim: Option<&[i64]>, shift: impl Fn(i64) -> i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let dims = dim.map_or_else(|| (0..rank).map(|dim| i64::try_from(dim).unwrap_or(0)).collect(), Dims::from_slice);
    if rank == 0 {
        return Err(BadArgument::rank("self", 0, 1..).into());
    }
    if dims.is_empty() {
        return Err(BadArgument::length("dim", 0, 1..).into());
    }
    let shifts = dims.iter().map(|&dim| Ok(shift(this.sizes()[wrap_dim("dim", dim, rank)?])));
    crate::roll(this, &shifts.collect::<Result<Dims, BadArgument>>()?, &dims)
}
