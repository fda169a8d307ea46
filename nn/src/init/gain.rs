//! Gains: factors for initial weights that keep the scale of activations.

use std::str::FromStr;

use dispatch_runtime::BadArgument;

/// The activation after a layer, for [`calculate_gain`].
///
/// ```
/// use dispatch_nn::init::Nonlinearity;
/// assert_eq!("leaky_relu".parse(), Ok(Nonlinearity::LeakyReLU(0.01)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Nonlinearity {
    /// None.
    Linear,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `max(x, 0)`.
    ReLU,
    /// `max(x, slope * x)`, with the slope of negative elements.
    LeakyReLU(f64),
    /// The self-normalising exponential unit.
    SELU,
}

impl FromStr for Nonlinearity {
    type Err = BadArgument;

    fn from_str(word: &str) -> Result<Self, BadArgument> {
        match word {
            "linear" => Ok(Self::Linear),
            "sigmoid" => Ok(Self::Sigmoid),
            "tanh" => Ok(Self::Tanh),
            "relu" => Ok(Self::ReLU),
            "leaky_relu" => Ok(Self::LeakyReLU(0.01)),
            "selu" => Ok(Self::SELU),
            _ => Err(BadArgument::keyword(
                "nonlinearity",
                word,
                &["linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu"],
            )),
        }
    }
}

/// The number of weights that `kaiming_*` divides by.
///
/// ```
/// use dispatch_nn::init::FanMode;
/// assert_eq!("fan_out".parse(), Ok(FanMode::FanOut));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FanMode {
    /// The weights of an output, which keeps the variance in the forward pass. This is the default.
    #[default]
    FanIn,
    /// The weights of an input, which keeps the variance in the backward pass.
    FanOut,
}

impl FromStr for FanMode {
    type Err = BadArgument;

    fn from_str(word: &str) -> Result<Self, BadArgument> {
        match word {
            "fan_in" => Ok(Self::FanIn),
            "fan_out" => Ok(Self::FanOut),
            _ => Err(BadArgument::keyword("mode", word, &["fan_in", "fan_out"])),
        }
    }
}

/// The options of [`kaiming_uniform_`](super::kaiming_uniform_) and [`kaiming_normal_`](super::kaiming_normal_).
///
/// ```
/// use dispatch_nn::init::{KaimingOptions, Nonlinearity};
/// assert_eq!(KaimingOptions::default().nonlinearity, Nonlinearity::LeakyReLU(0.0));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KaimingOptions {
    /// The number of weights to divide by. The default is that of an output.
    pub mode: FanMode,
    /// The activation after the layer. The default, `LeakyReLU(0.0)`, has the gain of `ReLU`. PyTorch's `a` is the slope.
    pub nonlinearity: Nonlinearity,
}

impl Default for KaimingOptions {
    fn default() -> Self {
        Self { mode: FanMode::FanIn, nonlinearity: Nonlinearity::LeakyReLU(0.0) }
    }
}

/// Returns the factor of initial weights before an activation.
///
/// ```
/// use dispatch_nn::init::{Nonlinearity, calculate_gain};
/// assert_eq!(calculate_gain(Nonlinearity::ReLU), 2_f64.sqrt());
/// ```
#[must_use]
pub fn calculate_gain(nonlinearity: Nonlinearity) -> f64 {
    match nonlinearity {
        Nonlinearity::Linear | Nonlinearity::Sigmoid => 1.0,
        Nonlinearity::Tanh => 5.0 / 3.0,
        Nonlinearity::ReLU => 2_f64.sqrt(),
        Nonlinearity::LeakyReLU(slope) => (2.0 / slope.mul_add(slope, 1.0)).sqrt(),
        Nonlinearity::SELU => 3.0 / 4.0,
    }
}
