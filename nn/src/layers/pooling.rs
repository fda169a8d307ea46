//! Pooling: maxima, means and norms under a sliding window, or under windows that give an output of a fixed size.

mod adaptive;
mod average;
mod fractional;
mod maximum;
mod norm;
mod unpooling;

pub use adaptive::{
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d,
};
pub use average::{AvgPool1d, AvgPool2d, AvgPool3d};
pub use fractional::{FractionalMaxPool2d, FractionalMaxPool3d};
pub use maximum::{MaxPool1d, MaxPool2d, MaxPool3d};
pub use norm::{LPPool1d, LPPool2d, LPPool3d, LPPoolOptions};
pub use unpooling::{MaxUnpool1d, MaxUnpool2d, MaxUnpool3d, MaxUnpoolOptions};

use dispatch_runtime::{BadArgument, Expected, Result};

/// Returns an error if the padding is more than half of a window, so that a window could lie in the padding.
fn check_padding<const N: usize>(padding: [i64; N], kernel_size: [i64; N], dilation: [i64; N]) -> Result<()> {
    for ((padding, kernel), dilation) in padding.into_iter().zip(kernel_size).zip(dilation) {
        let half = dilation.saturating_mul(kernel - 1).saturating_add(1) / 2;
        if padding > half {
            return Err(BadArgument::number("padding", padding, Expected::AtMost(half.into()))
                .because("this is half of a window")
                .into());
        }
    }
    Ok(())
}
