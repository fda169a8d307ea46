//! Fourier transforms of one dimension.
//!
//! The dimension is first cut to the length `n`, or filled with zeros. `norm` is `backward` (divides the inverse by `n`), `forward`
//! (divides the forward transform), or `ortho` (divides both by the square root of `n`).

use dispatch_runtime::prelude::*;

use super::arguments::{
    Direction, check_length, default_real_length, promote, promote_real, promote_to_complex, resize_dims,
    transformed_dim,
};
use crate::{_fft_c2c, _fft_c2r, _fft_r2c};

/// Computes the discrete Fourier transform along a dimension.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let wave = Tensor::from([1.0_f32, 0.0, -1.0, 0.0]);
/// let frequencies = aten::fft_fft!(&wave)?;
/// assert_eq!(frequencies.real()?.to_vec::<f32>()?, [0.0, 2.0, 0.0, 2.0]);
/// assert_eq!(aten::fft_ifft!(&frequencies)?.real()?.to_vec::<f32>()?, wave.to_vec::<f32>()?);
/// # Ok(())
/// # }
/// ```
#[op_def("fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", out = "out")]
pub fn fft_fft(_: ...) -> Result<Tensor> {
    full_transform(this, n, dim, norm, Direction::Forward)
}

/// Computes the inverse of [`fft_fft`].
#[op_def("fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", out = "out")]
pub fn fft_ifft(_: ...) -> Result<Tensor> {
    full_transform(this, n, dim, norm, Direction::Inverse)
}

/// Computes the first half of the frequencies of a real tensor. The other half are conjugates of these.
#[op_def("fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", out = "out")]
pub fn fft_rfft(_: ...) -> Result<Tensor> {
    real_to_complex(&promote_real(this)?, n, dim, norm, Direction::Forward, true)
}

/// Computes the inverse of [`fft_rfft`]. The default of `n` is even: `2 * (size - 1)`.
#[op_def("fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", out = "out")]
pub fn fft_irfft(_: ...) -> Result<Tensor> {
    complex_to_real(this, n, dim, norm, Direction::Inverse)
}

/// Computes the real frequencies of a signal with `x[-t] = conj(x[t])`, given its first half.
#[op_def("fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", out = "out")]
pub fn fft_hfft(_: ...) -> Result<Tensor> {
    complex_to_real(this, n, dim, norm, Direction::Forward)
}

/// Computes the inverse of [`fft_hfft`].
#[op_def("fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", out = "out")]
pub fn fft_ihfft(_: ...) -> Result<Tensor> {
    real_to_complex(&promote_real(this)?, n, dim, norm, Direction::Inverse, true)
}

/// Computes all frequencies of a real or complex tensor.
fn full_transform(this: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>, direction: Direction) -> Result<Tensor> {
    let input = promote(this)?;
    if !input.dtype().is_complex() {
        return real_to_complex(&input, n, dim, norm, direction, false);
    }
    let (dim, input) = resize_dim(&input, n, dim)?;
    _fft_c2c(&input, &[dim], direction.normalization(norm)?, direction == Direction::Forward)
}

fn real_to_complex(
    input: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
    direction: Direction,
    onesided: bool,
) -> Result<Tensor> {
    let (dim, input) = resize_dim(input, n, dim)?;
    let forward = _fft_r2c(&input, &[dim], direction.normalization(norm)?, onesided)?;
    // The inverse of real numbers is the conjugate.
    if direction == Direction::Forward { Ok(forward) } else { crate::conj(&forward) }
}

fn complex_to_real(
    this: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
    direction: Direction,
) -> Result<Tensor> {
    let input = promote_to_complex(this)?;
    let at = transformed_dim(&input, dim)?;
    let length = n.map_or_else(|| default_real_length(&input, at), |n| check_length("n", n))?;
    let half = resize_dims(&input, &[at], &[length / 2 + 1])?;
    let half = if direction == Direction::Forward { crate::conj(&half)? } else { half };
    _fft_c2r(&half, &[i64::try_from(at).unwrap_or(0)], direction.normalization(norm)?, length)
}

/// Returns the index of a dimension, and the tensor with `n` elements along it.
fn resize_dim(input: &Tensor, n: Option<i64>, dim: i64) -> Result<(i64, Tensor)> {
    let at = transformed_dim(input, dim)?;
    let resized = match n {
        Some(n) => resize_dims(input, &[at], &[check_length("n", n)?])?,
        None if input.sizes()[at] == 0 => {
            let error = dispatch_runtime::BadArgument::size("self", input.sizes(), at, 1..);
            return Err(error.because("this dimension is transformed").into());
        }
        None => input.clone(),
    };
    Ok((i64::try_from(at).unwrap_or(0), resized))
}
