//! Fourier transforms of several dimensions.
//!
//! `s` has the length of each transformed dimension, which is cut or filled with zeros; -1 keeps its size. Without `dim`, the last
//! dimensions are transformed, or all. `norm` is that of one dimension, with the number of all transformed elements.

use dispatch_runtime::prelude::*;

use super::arguments::{Direction, TransformedDims, promote_real, promote_to_complex};
use crate::{_fft_c2c, _fft_c2r, _fft_r2c};

/// Computes the discrete Fourier transform over dimensions.
#[op_def("fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", out = "out")]
pub fn fft_fftn(_: ...) -> Result<Tensor> {
    full_transform(this, s, dim, norm, Direction::Forward)
}

/// Computes the inverse of [`fft_fftn`].
#[op_def("fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", out = "out")]
pub fn fft_ifftn(_: ...) -> Result<Tensor> {
    full_transform(this, s, dim, norm, Direction::Inverse)
}

/// Computes the frequencies of a real tensor. The last dimension keeps only the first half, because the others are conjugates of these.
#[op_def("fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", out = "out")]
pub fn fft_rfftn(_: ...) -> Result<Tensor> {
    let input = promote_real(this)?;
    let dims = TransformedDims::at_least_one(&input, s, dim)?;
    _fft_r2c(&dims.resize(&input)?, &dims.to_arguments(), Direction::Forward.normalization(norm)?, true)
}

/// Computes the inverse of [`fft_rfftn`]. The default of the last length is even: `2 * (size - 1)`.
#[op_def("fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", out = "out")]
pub fn fft_irfftn(_: ...) -> Result<Tensor> {
    let input = promote_to_complex(this)?;
    let (dims, length) = TransformedDims::of_half(&input, s, dim)?;
    _fft_c2r(&dims.resize(&input)?, &dims.to_arguments(), Direction::Inverse.normalization(norm)?, length)
}

/// Computes the real frequencies of a signal that equals the conjugate of its mirror image, given the first half of its last dimension.
#[op_def("fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", out = "out")]
pub fn fft_hfftn(_: ...) -> Result<Tensor> {
    let input = promote_to_complex(this)?;
    let (dims, length) = TransformedDims::of_half(&input, s, dim)?;
    let normalization = Direction::Forward.normalization(norm)?;
    let arguments = dims.to_arguments();
    let (last, others) = (&arguments[arguments.len() - 1..], &arguments[..arguments.len() - 1]);
    let mut half = dims.resize(&input)?;
    if !others.is_empty() {
        half = _fft_c2c(&half, others, normalization, true)?;
    }
    _fft_c2r(&crate::conj(&half)?, last, normalization, length)
}

/// Computes the inverse of [`fft_hfftn`].
#[op_def("fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", out = "out")]
pub fn fft_ihfftn(_: ...) -> Result<Tensor> {
    let input = promote_real(this)?;
    let dims = TransformedDims::at_least_one(&input, s, dim)?;
    let normalization = Direction::Inverse.normalization(norm)?;
    let arguments = dims.to_arguments();
    let (last, others) = (&arguments[arguments.len() - 1..], &arguments[..arguments.len() - 1]);
    let half = _fft_r2c(&dims.resize(&input)?, last, normalization, true)?;
    match others {
        [] => crate::conj(&half),
        _ => _fft_c2c(&crate::conj_physical(&half)?, others, normalization, false),
    }
}

/// Computes all frequencies.
fn full_transform(
    this: &Tensor,
    s: Option<&[i64]>,
    dim: Option<&[i64]>,
    norm: Option<&str>,
    direction: Direction,
) -> Result<Tensor> {
    let input = promote_to_complex(this)?;
    let dims = TransformedDims::new(&input, s, dim)?;
    let normalization = direction.normalization(norm)?;
    _fft_c2c(&dims.resize(&input)?, &dims.to_arguments(), normalization, direction == Direction::Forward)
}

macro_rules! define_transforms_of_two_dims {
    ($($name:ident $schema:literal = $general:ident;)*) => {$(
        /// Computes the transform of several dimensions that has the same name with an `n`, over the last two dimensions by default.
        #[op_def($schema, out = "out", calls = $general(this, s, Some(dim), norm))]
        pub fn $name(_: ...) -> Result<Tensor>;
    )*};
}

define_transforms_of_two_dims! {
    fft_fft2 "fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor" = fft_fftn;
    fft_ifft2 "fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor" = fft_ifftn;
    fft_rfft2 "fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor" = fft_rfftn;
    fft_irfft2 "fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor" = fft_irfftn;
    fft_hfft2 "fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor" = fft_hfftn;
    fft_ihfft2 "fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor" = fft_ihfftn;
}
