//! Initial values of parameters, under PyTorch's names. The functions write to tensors in place, and autograd does not record them.
//!
//! ```
//! # use kernels_cpu as _;
//! use dispatch_nn::{self as nn, init};
//!
//! let layer = nn::Linear::new(64, 64)?;
//! init::kaiming_normal_(&layer.weight, init::KaimingOptions { nonlinearity: init::Nonlinearity::ReLU, ..Default::default() })?;
//! # Ok::<(), dispatch_runtime::Error>(())
//! ```

mod gain;
mod structured;

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::Range;

use aten::prelude::*;
use dispatch_runtime::{BadArgument, DType, Result, Scalar, Tensor, guard};

pub use gain::{FanMode, KaimingOptions, Nonlinearity, calculate_gain};
pub use structured::{dirac_, eye_, orthogonal_, sparse_};

/// Draws elements evenly from a range.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Linear, init};
///
/// let layer = Linear::new(4, 4)?;
/// init::uniform_(&layer.weight, 1.0..2.0)?;
/// assert!(layer.weight.ge(1)?.all()?.item::<bool>()?);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub fn uniform_(tensor: &Tensor, range: Range<f64>) -> Result<()> {
    let _no_grad = guard::no_grad();
    tensor.uniform_(range)
}

/// Draws elements from a normal distribution.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_nn::{Linear, init};
/// init::normal_(&Linear::new(4, 4)?.weight, 0.0, 0.02)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub fn normal_(tensor: &Tensor, mean: f64, std: f64) -> Result<()> {
    let _no_grad = guard::no_grad();
    tensor.normal_(mean, std)
}

/// Draws elements from a normal distribution, on condition that they are in a range.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Linear, init};
///
/// let layer = Linear::new(4, 4)?;
/// init::trunc_normal_(&layer.weight, 0.0, 1.0, -0.5..0.5)?;
/// assert!(layer.weight.abs()?.le(0.5)?.all()?.item::<bool>()?);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if the deviation is not positive, or if the range is empty.
pub fn trunc_normal_(tensor: &Tensor, mean: f64, std: f64, range: Range<f64>) -> Result<()> {
    if std.is_nan() || std <= 0.0 {
        return Err(BadArgument::value("std", std, "positive").into());
    }
    if range.is_empty() {
        return Err(BadArgument::value("range", format!("{range:?}"), "a range with its start before its end").into());
    }
    let _no_grad = guard::no_grad();
    let (mut start, mut end) = ((range.start - mean) / std, (range.end - mean) / std);
    // Probabilities are precise in the lower tail, so a range in the upper one is mirrored.
    let mirrored = start > 0.0;
    if mirrored {
        (start, end) = (-end, -start);
    }
    let probability = |x: f64| (Tensor::from(-x * FRAC_1_SQRT_2).erfc()? * 0.5)?.item::<f64>();
    let probabilities = Tensor::empty(tensor.sizes(), (DType::F64, tensor.device()))?;
    let (low, high) = (probability(start)?, probability(end)?);
    if low < high {
        probabilities.uniform_(low..high)?;
    } else {
        probabilities.fill_(low)?;
    }
    let standard = aten::special_ndtri(&probabilities)?.clamp(start..=end)?;
    let scaled = ((standard * if mirrored { -std } else { std })? + mean)?;
    tensor.copy_(&scaled)?;
    // A bound that the dtype rounds is kept, too.
    tensor.clamp_(range.start..=range.end)
}

/// Sets elements to a value.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_nn::{Linear, init};
/// init::constant_(&Linear::new(4, 4)?.weight, 0.5)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub fn constant_(tensor: &Tensor, value: impl Into<Scalar>) -> Result<()> {
    let _no_grad = guard::no_grad();
    tensor.fill_(value.into())
}

/// Sets elements to 1.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_nn::{Linear, init};
/// init::ones_(&Linear::new(4, 4)?.weight)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub fn ones_(tensor: &Tensor) -> Result<()> {
    constant_(tensor, 1)
}

/// Sets elements to 0.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_nn::{Linear, init};
/// init::zeros_(&Linear::new(4, 4)?.weight)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub fn zeros_(tensor: &Tensor) -> Result<()> {
    constant_(tensor, 0)
}

/// Draws elements evenly from `±gain * sqrt(6 / (fan_in + fan_out))`, as Glorot and Bengio propose.
///
/// The first dimension of a weight is that of the outputs, and the second that of the inputs. The fans are these sizes, times the elements
/// of a window.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_nn::{Linear, init};
/// init::xavier_uniform_(&Linear::new(4, 4)?.weight, init::calculate_gain(init::Nonlinearity::Tanh))?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor of fewer than two dimensions.
pub fn xavier_uniform_(tensor: &Tensor, gain: f64) -> Result<()> {
    let bound = 3_f64.sqrt() * xavier_std(tensor, gain)?;
    uniform_(tensor, -bound..bound)
}

/// Draws elements from a normal distribution with the deviation `gain * sqrt(2 / (fan_in + fan_out))`, as Glorot and Bengio propose.
///
/// [`xavier_uniform_`] defines the fans.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_nn::{Linear, init};
/// init::xavier_normal_(&Linear::new(4, 4)?.weight, 1.0)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor of fewer than two dimensions.
pub fn xavier_normal_(tensor: &Tensor, gain: f64) -> Result<()> {
    normal_(tensor, 0.0, xavier_std(tensor, gain)?)
}

/// Draws elements evenly from `±gain * sqrt(3 / fan)`, as He and others propose. The options give the gain and the fan.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_nn::{Linear, init};
/// init::kaiming_uniform_(&Linear::new(4, 4)?.weight, init::KaimingOptions::default())?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor of fewer than two dimensions.
pub fn kaiming_uniform_(tensor: &Tensor, options: KaimingOptions) -> Result<()> {
    let bound = 3_f64.sqrt() * kaiming_std(tensor, options)?;
    uniform_(tensor, -bound..bound)
}

/// Draws elements from a normal distribution with the deviation `gain / sqrt(fan)`, as He and others propose. The options give the gain
/// and the fan.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Conv2d, init};
///
/// let options = init::KaimingOptions { mode: init::FanMode::FanOut, nonlinearity: init::Nonlinearity::ReLU };
/// init::kaiming_normal_(&Conv2d::new(3, 8, 3)?.weight, options)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor of fewer than two dimensions.
pub fn kaiming_normal_(tensor: &Tensor, options: KaimingOptions) -> Result<()> {
    normal_(tensor, 0.0, kaiming_std(tensor, options)?)
}

fn xavier_std(tensor: &Tensor, gain: f64) -> Result<f64> {
    let [inputs, outputs] = fans(tensor)?;
    Ok(gain * (2.0 / (inputs + outputs).max(1.0)).sqrt())
}

fn kaiming_std(tensor: &Tensor, options: KaimingOptions) -> Result<f64> {
    let [inputs, outputs] = fans(tensor)?;
    let fan = match options.mode {
        FanMode::FanIn => inputs,
        FanMode::FanOut => outputs,
    };
    Ok(calculate_gain(options.nonlinearity) / fan.max(1.0).sqrt())
}

/// Returns the number of weights of an output, and of an input.
#[expect(clippy::cast_precision_loss, reason = "sizes of layers are small")]
fn fans(tensor: &Tensor) -> Result<[f64; 2]> {
    match tensor.sizes() {
        [outputs, inputs, window @ ..] => {
            let window: f64 = window.iter().map(|&size| size as f64).product();
            Ok([*inputs as f64 * window, *outputs as f64 * window])
        }
        other => Err(BadArgument::rank("tensor", other.len(), 2..).because("a weight has outputs and inputs").into()),
    }
}
