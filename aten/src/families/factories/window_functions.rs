//! Windows: numbers that rise from the ends to the middle, to look at part of a signal.

use std::f64::consts::TAU;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Layout};

use crate::arange_start_step;
use crate::prelude::*;

/// What a factory is told beside its contents.
struct Wanted {
    dtype: DType,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
}

/// `weights` of the places from 0 to 1, of a window of this length; a periodic one lacks its last place.
fn window(length: i64, periodic: bool, wanted: &Wanted, weights: impl Fn(Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let Wanted { dtype, layout, device, pin_memory } = *wanted;
    if length < 0 {
        return Err(BadArgument::number("window_length", length, 0..).into());
    }
    if !dtype.is_floating() {
        return Err(BadArgument::dtype("dtype", dtype, DTypes::Floating).because("a window has fractions").into());
    }
    if length < 2 {
        return crate::full(&[length], Scalar::Int(1), Some(dtype), layout, device, pin_memory);
    }
    let (start, end, step) = (Scalar::Int(0), Scalar::Int(length), Scalar::Int(1));
    let places = arange_start_step(start, end, step, Some(DType::F64), layout, device, pin_memory)?;
    weights((places / if periodic { length } else { length - 1 })?)?.to(dtype)
}

/// `alpha - beta cos(2 pi x)`
fn cosine(x: Tensor, alpha: f64, beta: f64) -> Result<Tensor> {
    ((x * TAU)?.cos()? * -beta)? + alpha
}

/// Up to the middle, and down again.
fn triangle(x: Tensor) -> Result<Tensor> {
    let up = (x * 2.0)?;
    up.minimum(&(2.0 - &up)?)
}

fn blackman(x: Tensor) -> Result<Tensor> {
    let angle = (x * TAU)?;
    ((angle.cos()? * -0.5)? + ((angle * 2.0)?.cos()? * 0.08)?)? + 0.42
}

/// A bell, the narrower the larger `beta`.
fn bell(x: Tensor, beta: f64) -> Result<Tensor> {
    let off = ((x * 2.0)? - 1.0)?;
    let root = (1.0 - (&off * &off)?)?.sqrt()?;
    (root * beta)?.i0()? / off.full_like(beta)?.i0()?
}

macro_rules! windows {
    ($($(#[$doc:meta])* $name:ident($($setting:ident: $ty:ty),*) $schema:literal $out:literal = $periodic:expr, |$x:ident| $weights:expr;)*) => {$(
        $(#[$doc])*
        #[op_def($schema, out = $out)]
        pub fn $name(_: ...) -> Result<Tensor>;

        const _: () = {
            #[op_impl($name, CompositeExplicitAutograd)]
            fn any(
                window_length: i64,
                $($setting: $ty,)*
                dtype: Option<DType>,
                layout: Option<Layout>,
                device: Option<Device>,
                pin_memory: Option<bool>,
            ) -> Result<Tensor> {
                let wanted = Wanted { dtype: dtype.unwrap_or(DType::F32), layout, device, pin_memory };
                window(window_length, $periodic, &wanted, |$x| $weights)
            }
        };
    )*};
}

windows! {
    /// One hill of a cosine.
    hann_window()
    "hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| cosine(x, 0.5, 0.5);
    /// [`hann_window`], with its last place or without.
    hann_window_periodic(periodic: bool)
    "hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| cosine(x, 0.5, 0.5);
    /// One hill of a cosine on a plain.
    hamming_window()
    "hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| cosine(x, 0.54, 0.46);
    /// [`hamming_window`], with its last place or without.
    hamming_window_periodic(periodic: bool)
    "hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| cosine(x, 0.54, 0.46);
    /// A triangle.
    bartlett_window()
    "bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| triangle(x);
    /// [`bartlett_window`], with its last place or without.
    bartlett_window_periodic(periodic: bool)
    "bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| triangle(x);
    /// One hill of two cosines.
    blackman_window()
    "blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| blackman(x);
    /// [`blackman_window`], with its last place or without.
    blackman_window_periodic(periodic: bool)
    "blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| blackman(x);
    /// The same on a plain of `alpha - 0.46`.
    hamming_window_periodic_alpha(periodic: bool, alpha: f64)
    "hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_alpha_out" = periodic, |x| cosine(x, alpha, 0.46);
    /// The same from a cosine of this height, around `alpha`.
    hamming_window_periodic_alpha_beta(periodic: bool, alpha: f64, beta: f64)
    "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_alpha_beta_out" = periodic, |x| cosine(x, alpha, beta);
    /// A bell of Bessel's function.
    kaiser_window()
    "kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| bell(x, 12.0);
    /// [`kaiser_window`], with its last place or without.
    kaiser_window_periodic(periodic: bool)
    "kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| bell(x, 12.0);
    /// The same, the narrower the larger `beta`.
    kaiser_window_beta(periodic: bool, beta: f64)
    "kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "beta_out" = periodic, |x| bell(x, beta);
}
