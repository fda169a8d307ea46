//! Window functions of signal processing: Hann, Hamming, Bartlett, Blackman and Kaiser.

use std::f64::consts::TAU;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Layout};

use crate::arange_start_step;
use crate::prelude::*;

/// The tensor options of a window: dtype, layout, device and pinning.
struct WindowTensorOptions {
    dtype: DType,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
}

/// Makes a window of this length: `weights`, evaluated at evenly spaced points from 0 to 1. A periodic window leaves out the point 1.
fn make_window(
    length: i64,
    periodic: bool,
    options: &WindowTensorOptions,
    weights: impl Fn(Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let WindowTensorOptions { dtype, layout, device, pin_memory } = *options;
    if length < 0 {
        return Err(BadArgument::number("window_length", length, 0..).into());
    }
    if !dtype.is_floating() {
        return Err(BadArgument::dtype("dtype", dtype, DTypes::Floating)
            .because("the elements of a window are fractions")
            .into());
    }
    if length < 2 {
        return crate::full(&[length], Scalar::Int(1), Some(dtype), layout, device, pin_memory);
    }
    let (start, end, step) = (Scalar::Int(0), Scalar::Int(length), Scalar::Int(1));
    let points = arange_start_step(start, end, step, Some(DType::F64), layout, device, pin_memory)?;
    weights((points / if periodic { length } else { length - 1 })?)?.to(dtype)
}

/// `alpha - beta cos(2 pi x)`
fn generalized_hamming_weights(x: Tensor, alpha: f64, beta: f64) -> Result<Tensor> {
    ((x * TAU)?.cos()? * -beta)? + alpha
}

/// Computes the triangle function: 0 at the points 0 and 1, and 1 at 1/2.
fn bartlett_weights(x: Tensor) -> Result<Tensor> {
    let up = (x * 2.0)?;
    up.minimum(&(2.0 - &up)?)
}

fn blackman_weights(x: Tensor) -> Result<Tensor> {
    let angle = (x * TAU)?;
    ((angle.cos()? * -0.5)? + ((angle * 2.0)?.cos()? * 0.08)?)? + 0.42
}

/// Computes the Kaiser window: `i0(beta * sqrt(1 - (2x - 1)^2)) / i0(beta)`. It is narrower for larger `beta`.
fn kaiser_weights(x: Tensor, beta: f64) -> Result<Tensor> {
    let centered = ((x * 2.0)? - 1.0)?;
    let root = (1.0 - (&centered * &centered)?)?.sqrt()?;
    (root * beta)?.i0()? / centered.full_like(beta)?.i0()?
}

macro_rules! define_window_functions {
    ($($(#[$doc:meta])* $name:ident($($setting:ident: $ty:ty),*) $schema:literal $out:literal = $periodic:expr, |$x:ident| $weights:expr;)*) => {$(
        $(#[$doc])*
        #[op_def($schema, out = $out)]
        pub fn $name(_: ...) -> Result<Tensor>;

        const _: () = {
            #[op_impl($name, CompositeExplicitAutograd)]
            fn kernel(
                window_length: i64,
                $($setting: $ty,)*
                dtype: Option<DType>,
                layout: Option<Layout>,
                device: Option<Device>,
                pin_memory: Option<bool>,
            ) -> Result<Tensor> {
                let options = WindowTensorOptions { dtype: dtype.unwrap_or(DType::F32), layout, device, pin_memory };
                make_window(window_length, $periodic, &options, |$x| $weights)
            }
        };
    )*};
}

define_window_functions! {
    /// The periodic Hann window: `0.5 - 0.5 cos(2 pi x)`.
    hann_window()
    "hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| generalized_hamming_weights(x, 0.5, 0.5);
    /// [`hann_window`], periodic or symmetric.
    hann_window_periodic(periodic: bool)
    "hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| generalized_hamming_weights(x, 0.5, 0.5);
    /// The periodic Hamming window: `0.54 - 0.46 cos(2 pi x)`.
    hamming_window()
    "hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| generalized_hamming_weights(x, 0.54, 0.46);
    /// [`hamming_window`], periodic or symmetric.
    hamming_window_periodic(periodic: bool)
    "hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| generalized_hamming_weights(x, 0.54, 0.46);
    /// The periodic Bartlett window: a triangle.
    bartlett_window()
    "bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| bartlett_weights(x);
    /// [`bartlett_window`], periodic or symmetric.
    bartlett_window_periodic(periodic: bool)
    "bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| bartlett_weights(x);
    /// The periodic Blackman window: `0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x)`.
    blackman_window()
    "blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| blackman_weights(x);
    /// [`blackman_window`], periodic or symmetric.
    blackman_window_periodic(periodic: bool)
    "blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| blackman_weights(x);
    /// The Hamming window with the offset `alpha`: `alpha - 0.46 cos(2 pi x)`.
    hamming_window_periodic_alpha(periodic: bool, alpha: f64)
    "hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_alpha_out" = periodic, |x| generalized_hamming_weights(x, alpha, 0.46);
    /// The Hamming window with the offset `alpha` and the amplitude `beta`: `alpha - beta cos(2 pi x)`.
    hamming_window_periodic_alpha_beta(periodic: bool, alpha: f64, beta: f64)
    "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_alpha_beta_out" = periodic, |x| generalized_hamming_weights(x, alpha, beta);
    /// The periodic Kaiser window with `beta` 12.
    kaiser_window()
    "kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "out" = true, |x| kaiser_weights(x, 12.0);
    /// [`kaiser_window`], periodic or symmetric.
    kaiser_window_periodic(periodic: bool)
    "kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "periodic_out" = periodic, |x| kaiser_weights(x, 12.0);
    /// The Kaiser window with the shape `beta`. It is narrower for larger `beta`.
    kaiser_window_beta(periodic: bool, beta: f64)
    "kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    "beta_out" = periodic, |x| kaiser_weights(x, beta);
}
