//! Resizing of sequences, images and volumes.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims};

use crate::{
    _upsample_nearest_exact1d_vec, _upsample_nearest_exact2d_vec, _upsample_nearest_exact3d_vec, adaptive_avg_pool1d,
    adaptive_avg_pool2d, adaptive_avg_pool3d, expand_list_to_rank, upsample_bicubic2d_vec, upsample_bilinear2d_vec,
    upsample_linear1d_vec, upsample_nearest1d_vec, upsample_nearest2d_vec, upsample_nearest3d_vec,
    upsample_trilinear3d_vec,
};

/// The size of a resized image. A single entry counts for all dimensions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OutputSize<'a> {
    /// The new sizes.
    Sizes(&'a [i64]),
    /// The factors by which the sizes are multiplied.
    ScaleFactors(&'a [f64]),
}

/// The computation of elements of a resized image from those of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InterpolationMode {
    /// The nearest element with a rounded-down index, as PyTorch's `nearest`.
    Nearest,
    /// The nearest element to the center of the new element.
    NearestExact,
    /// Linear interpolation of the two neighbours in each dimension.
    Linear {
        /// Whether the centers of the corner elements coincide, instead of their outer corners.
        align_corners: bool,
    },
    /// Cubic interpolation of four neighbours in each dimension.
    Cubic {
        /// Whether the centers of the corner elements coincide, instead of their outer corners.
        align_corners: bool,
    },
    /// The average of the elements in the same area.
    Area,
}

/// Parses PyTorch's word, without aligned corners.
///
/// ```
/// use aten::functional::InterpolationMode;
/// assert_eq!("bilinear".parse(), Ok(InterpolationMode::Linear { align_corners: false }));
/// ```
impl std::str::FromStr for InterpolationMode {
    type Err = BadArgument;

    fn from_str(word: &str) -> Result<Self, BadArgument> {
        Ok(match word {
            "nearest" => Self::Nearest,
            "nearest-exact" => Self::NearestExact,
            "linear" | "bilinear" | "trilinear" => Self::Linear { align_corners: false },
            "bicubic" => Self::Cubic { align_corners: false },
            "area" => Self::Area,
            _ => {
                let words = &["nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area"];
                return Err(BadArgument::keyword("mode", word, words));
            }
        })
    }
}

/// Resizes sequences, images or volumes.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// use aten::functional::{OutputSize, InterpolationMode, interpolate};
///
/// let line = Tensor::from([[[1.0, 3.0]]]);
/// assert_eq!(interpolate(&line, OutputSize::ScaleFactors(&[2.0]), InterpolationMode::Nearest)?.to_vec::<f64>()?, [1.0, 1.0, 3.0, 3.0]);
/// let linear = interpolate(&line, OutputSize::Sizes(&[3]), InterpolationMode::Linear { align_corners: true })?;
/// assert_eq!(linear.to_vec::<f64>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the input does not have three to five dimensions, or if the mode does not support its rank.
pub fn interpolate(input: &Tensor, size: OutputSize<'_>, mode: InterpolationMode) -> Result<Tensor> {
    let rank = match input.sizes().len() {
        rank @ 3..=5 => rank - 2,
        other => {
            return Err(BadArgument::rank("input", other, 3..=5)
                .because("it has a batch dimension, channels, and one to three more dimensions")
                .into());
        }
    };
    let (mut sizes, mut factors) = (None, None);
    match size {
        OutputSize::Sizes(size) => sizes = Some(expand_list_to_rank("size", size, rank, 1)?),
        OutputSize::ScaleFactors(&[factor]) => factors = Some(vec![factor; rank]),
        OutputSize::ScaleFactors(several) if several.len() == rank => factors = Some(several.to_vec()),
        OutputSize::ScaleFactors(other) => {
            return Err(BadArgument::length("size", other.len(), rank).into());
        }
    }
    // Averages need sizes, not factors.
    if mode == InterpolationMode::Area
        && let Some(factors) = factors.take()
    {
        sizes = Some(scaled_sizes(&input.sizes()[2..], &factors));
    }
    let (sizes, factors) = (sizes.as_deref(), factors.as_deref());
    match (mode, rank) {
        (InterpolationMode::Nearest, 1) => upsample_nearest1d_vec(input, sizes, factors),
        (InterpolationMode::Nearest, 2) => upsample_nearest2d_vec(input, sizes, factors),
        (InterpolationMode::Nearest, _) => upsample_nearest3d_vec(input, sizes, factors),
        (InterpolationMode::NearestExact, 1) => _upsample_nearest_exact1d_vec(input, sizes, factors),
        (InterpolationMode::NearestExact, 2) => _upsample_nearest_exact2d_vec(input, sizes, factors),
        (InterpolationMode::NearestExact, _) => _upsample_nearest_exact3d_vec(input, sizes, factors),
        (InterpolationMode::Linear { align_corners }, 1) => upsample_linear1d_vec(input, sizes, align_corners, factors),
        (InterpolationMode::Linear { align_corners }, 2) => {
            upsample_bilinear2d_vec(input, sizes, align_corners, factors)
        }
        (InterpolationMode::Linear { align_corners }, _) => {
            upsample_trilinear3d_vec(input, sizes, align_corners, factors)
        }
        (InterpolationMode::Cubic { align_corners }, 2) => upsample_bicubic2d_vec(input, sizes, align_corners, factors),
        (InterpolationMode::Cubic { .. }, _) => {
            Err(BadArgument::rank("input", rank + 2, 4).because("cubic interpolation is for images").into())
        }
        (InterpolationMode::Area, 1) => adaptive_avg_pool1d(input, sizes.unwrap_or_default()),
        (InterpolationMode::Area, 2) => adaptive_avg_pool2d(input, sizes.unwrap_or_default()),
        (InterpolationMode::Area, _) => adaptive_avg_pool3d(input, sizes.unwrap_or_default()),
    }
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "PyTorch computes sizes in this way")]
/// Multiplies each size by its factor, and rounds down.
fn scaled_sizes(sizes: &[i64], factors: &[f64]) -> Dims {
    sizes.iter().zip(factors).map(|(&size, factor)| (size as f64 * factor) as i64).collect()
}
