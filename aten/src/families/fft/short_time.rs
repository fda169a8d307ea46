//! The short-time Fourier transform: the frequencies of overlapping windows of a signal, and the signal of such frequencies.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected};

use crate::prelude::*;
use crate::{_fft_c2c, _fft_c2r, _fft_r2c};

/// Computes the Fourier transform of each window of a signal: column `t` has the frequencies of the `n_fft` elements from `t * hop_length`.
/// The default of `hop_length` is a quarter of `n_fft`.
///
/// `window` weights the elements. If it is shorter than `n_fft`, it is padded with zeros on both sides. With `align_to_window`, the first
/// column begins at the first element of the window, after the zeros.
#[op_def(
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor"
)]
pub fn stft(_: ...) -> Result<Tensor> {
    let windows = Windows::new(n_fft, hop_length, win_length, window)?;
    check_signal(this, window)?;
    windows.frequencies(this, normalized, onesided, return_complex, align_to_window.unwrap_or(false))
}

/// Computes [`stft`] with windows that are centred: column `t` has the frequencies around element `t * hop_length`. The ends of the signal
/// are padded in the mode `pad_mode`. With `center=False` it is [`stft`] itself.
#[op_def(
    "stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor"
)]
pub fn stft_center(_: ...) -> Result<Tensor> {
    let windows = Windows::new(n_fft, hop_length, win_length, window)?;
    check_signal(this, window)?;
    if !center {
        return windows.frequencies(this, normalized, onesided, return_complex, align_to_window.unwrap_or(false));
    }
    if let Some(given) = align_to_window {
        return Err(BadArgument::value("align_to_window", given, "omitted").because("`center` is true").into());
    }
    check_padding(this, n_fft / 2, pad_mode)?;
    // The modes of `pad` need two more dimensions than they pad.
    let missing_dims = this.sizes().len()..3;
    let mut padded = this.clone();
    for _ in missing_dims.clone() {
        padded = padded.unsqueeze(0)?;
    }
    padded = crate::pad(&padded, &[n_fft / 2, n_fft / 2], pad_mode, None)?;
    for _ in missing_dims {
        padded = padded.squeeze_dims(0)?;
    }
    windows.frequencies(&padded, normalized, onesided, return_complex, false)
}

/// Computes the signal whose [`stft`](crate::stft_center) is `self`: the overlapping windows are added, and divided by the sum of the
/// squared `window`s. That sum must not be zero.
#[op_def(
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor"
)]
pub fn istft(_: ...) -> Result<Tensor> {
    let windows = Windows::new(n_fft, hop_length, win_length, window)?;
    if windows.hop > windows.window_length {
        return Err(BadArgument::number("hop_length", windows.hop, ..=windows.window_length).like("win_length").into());
    }
    let frequencies = if this.sizes().len() == 2 { this.unsqueeze(0)? } else { this.clone() };
    let onesided = check_frequencies(this, frequencies.sizes(), n_fft, onesided)?;
    if return_complex && onesided {
        return Err(BadArgument::number("return_complex", true, false)
            .because("one half of the frequencies is given")
            .into());
    }
    if !return_complex && window.is_some_and(|window| window.dtype().is_complex()) {
        return Err(BadArgument::number("return_complex", false, true).because("`window` is complex").into());
    }
    let normalization = if normalized { 1 } else { 2 };
    let columns = frequencies.transpose(1, 2)?;
    let parts = if return_complex {
        _fft_c2c(&columns, &[2], normalization, false)?
    } else {
        _fft_c2r(&columns.narrow(2, 0, n_fft / 2 + 1)?, &[2], normalization, n_fft)?
    };
    let weights = if let Some(weights) = windows.padded_window()? {
        weights
    } else {
        let ones = Tensor::ones(windows.window_length, (this.dtype().to_real(), this.device()))?;
        crate::constant_pad_nd(&ones, &windows.margins(), 0.into())?
    };
    let count = parts.sizes()[1];
    let whole = windows.hop.saturating_mul(count - 1).saturating_add(n_fft);
    let add_windows = |parts: &Tensor| crate::unfold_backward(parts, &[parts.sizes()[0], whole], 1, n_fft, windows.hop);
    let signal = add_windows(&(&parts * &weights)?)?;
    let envelope = add_windows(&(&weights * &weights)?.expand([1, count, n_fft])?)?;
    let start = if center { n_fft / 2 } else { 0 };
    let end = match length {
        Some(length) if length < 1 => return Err(BadArgument::number("length", length, 1..).into()),
        Some(length) => start.saturating_add(length),
        None => whole - start,
    };
    let available = end.min(whole) - start;
    if available < 1 {
        let error = BadArgument::size("self", this.sizes(), this.sizes().len() - 1, 2..);
        return Err(error.because("the windows reach no element between the padded ends").into());
    }
    let (signal, envelope) = (signal.narrow(1, start, available)?, envelope.narrow(1, start, available)?);
    check_envelope(&envelope)?;
    let mut signal = (signal / envelope)?;
    if end > whole {
        signal = crate::constant_pad_nd(&signal, &[0, end - whole], 0.into())?;
    }
    if this.sizes().len() == 2 { signal.squeeze_dims(0) } else { Ok(signal) }
}

/// The windows of a signal.
struct Windows<'a> {
    /// The number of transformed elements.
    length: i64,
    /// The distance of two windows.
    hop: i64,
    /// The number of elements that have a weight.
    window_length: i64,
    weights: Option<&'a Tensor>,
}

impl<'a> Windows<'a> {
    fn new(
        n_fft: i64,
        hop_length: Option<i64>,
        win_length: Option<i64>,
        weights: Option<&'a Tensor>,
    ) -> Result<Self, BadArgument> {
        if n_fft < 1 {
            return Err(BadArgument::number("n_fft", n_fft, 1..));
        }
        let hop = hop_length.unwrap_or(n_fft / 4);
        if hop < 1 {
            let error = BadArgument::number("hop_length", hop, 1..);
            return Err(if hop_length.is_none() {
                error.because("its default is a quarter of `n_fft`")
            } else {
                error
            });
        }
        let window_length = win_length.unwrap_or(n_fft);
        if !(1..=n_fft).contains(&window_length) {
            return Err(BadArgument::number("win_length", window_length, 1..=n_fft).like("n_fft"));
        }
        if let Some(window) = weights.filter(|window| window.sizes() != [window_length]) {
            return Err(BadArgument::sizes("window", window.sizes(), &[window_length][..]).because("`win_length` says"));
        }
        Ok(Self { length: n_fft, hop, window_length, weights })
    }

    /// Returns the numbers of zeros before and after the weights.
    fn margins(&self) -> [i64; 2] {
        let missing = self.length - self.window_length;
        [missing / 2, missing - missing / 2]
    }

    /// Returns the weights of all transformed elements.
    fn padded_window(&self) -> Result<Option<Tensor>> {
        match self.weights {
            Some(weights) if self.window_length < self.length => {
                crate::constant_pad_nd(weights, &self.margins(), 0.into()).map(Some)
            }
            weights => Ok(weights.cloned()),
        }
    }

    /// Computes the frequencies of each window, as a column.
    fn frequencies(
        &self,
        this: &Tensor,
        normalized: bool,
        onesided: Option<bool>,
        return_complex: Option<bool>,
        align_to_window: bool,
    ) -> Result<Tensor> {
        let is_complex = this.dtype().is_complex() || self.weights.is_some_and(|window| window.dtype().is_complex());
        let Some(return_complex) = return_complex.or_else(|| is_complex.then_some(true)) else {
            return Err(BadArgument::value("return_complex", "None", "given, as the signal is real").into());
        };
        let onesided = onesided.unwrap_or(!is_complex);
        if is_complex && onesided {
            return Err(BadArgument::number("onesided", true, false).because("the signal is complex").into());
        }
        let size = this.sizes()[this.sizes().len() - 1];
        if self.length > size {
            let expected = Expected::AtMost(size.into());
            return Err(BadArgument::number("n_fft", self.length, expected)
                .because("the signal has this length")
                .into());
        }
        let mut signal = this.clone();
        if align_to_window {
            signal = crate::constant_pad_nd(&signal, &self.margins(), 0.into())?;
        }
        let mut columns = signal.unfold(-1, self.length, self.hop)?;
        if let Some(weights) = self.padded_window()? {
            columns = (columns * weights)?;
        } else if self.window_length < self.length {
            let weights = Tensor::ones(self.window_length, (this.dtype(), this.device()))?;
            columns = (columns * crate::constant_pad_nd(&weights, &self.margins(), 0.into())?)?;
        }
        let dim = i64::try_from(this.sizes().len()).unwrap_or(0);
        let normalization = i64::from(normalized);
        let frequencies = if is_complex {
            _fft_c2c(&columns, &[dim], normalization, true)?
        } else {
            _fft_r2c(&columns, &[dim], normalization, onesided)?
        };
        let frequencies = frequencies.transpose(dim - 1, dim)?;
        if return_complex { Ok(frequencies) } else { crate::view_as_real(&frequencies) }
    }
}

/// Refuses signals of more than two dimensions, and dtypes that no transform accepts.
fn check_signal(this: &Tensor, window: Option<&Tensor>) -> Result<(), BadArgument> {
    if !(1..=2).contains(&this.sizes().len()) {
        return Err(BadArgument::rank("self", this.sizes().len(), 1..=2));
    }
    match this.dtype() {
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => {}
        other => return Err(BadArgument::dtype("self", other, &[DType::F32, DType::F64, DType::C64, DType::C128])),
    }
    crate::check_same_device([("self", this), ("window", window.unwrap_or(this))])
}

/// Refuses a mode that cannot pad the signal.
fn check_padding(this: &Tensor, padding: i64, pad_mode: &str) -> Result<(), BadArgument> {
    let size = this.sizes()[this.sizes().len() - 1];
    let least = match pad_mode {
        "constant" => 0,
        "replicate" => 1,
        "reflect" => padding + 1,
        "circular" => padding.max(1),
        other => {
            return Err(BadArgument::keyword("pad_mode", other, &["constant", "reflect", "replicate", "circular"]));
        }
    };
    if size >= least {
        return Ok(());
    }
    let reason = format!("the mode `{pad_mode}` pads {padding} elements on each side");
    Err(BadArgument::size("self", this.sizes(), this.sizes().len() - 1, least..).because(reason))
}

/// Checks the frequencies of `istft`. Returns whether they are one half of all.
fn check_frequencies(this: &Tensor, sizes: &[i64], n_fft: i64, onesided: Option<bool>) -> Result<bool, BadArgument> {
    if !this.dtype().is_complex() {
        return Err(
            BadArgument::dtype("self", this.dtype(), DTypes::Complex).because("`stft` returns complex frequencies")
        );
    }
    let &[_, rows, _] = sizes else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..=3));
    };
    let onesided = onesided.unwrap_or(rows != n_fft);
    let expected = if onesided { n_fft / 2 + 1 } else { n_fft };
    let dim = this.sizes().len() - 2;
    if rows != expected {
        let reason = format!("`n_fft` is {n_fft} and `onesided` is {onesided}");
        return Err(BadArgument::size("self", this.sizes(), dim, expected).because(reason));
    }
    if this.sizes().contains(&0) {
        return Err(BadArgument::sizes("self", this.sizes(), "no dimension of size 0"));
    }
    Ok(onesided)
}

/// Refuses windows whose sum is zero for an element, because the signal is divided by it.
fn check_envelope(envelope: &Tensor) -> Result<()> {
    if envelope.device() != Device::META && envelope.abs()?.min()?.lt(1e-11)?.item()? {
        let expected = "windows that overlap so that the sum of their squares is nowhere zero";
        return Err(BadArgument::value("window", "a window with too many zeros", expected).into());
    }
    Ok(())
}
