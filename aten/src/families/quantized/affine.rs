//! Affine maps between real numbers and integers, which quantisation rounds by.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::prelude::*;

/// The numbers below this magnitude convert to `i64` without overflow.
const I64_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// An affine map from real numbers to the integers of a range: the real number `scale * (i - zero_point)` becomes `i`.
pub(super) struct AffineMap {
    /// The distance of the real numbers of two neighbouring integers: a number, or a tensor that broadcasts to the elements.
    pub(super) scale: Tensor,
    /// The reciprocal of the scale, in single precision.
    inverse_scale: Tensor,
    /// The integer of the real number zero; like the scale.
    zero_point: Tensor,
    /// The least and the greatest integer.
    range: (i64, i64),
    /// Whether the zero point has a fraction, so that it is added before rounding.
    is_zero_point_fractional: bool,
}

impl AffineMap {
    /// Creates the map of a whole tensor.
    #[expect(clippy::cast_possible_truncation, reason = "maps are in single precision")]
    pub(super) fn for_tensor(scale: f64, zero_point: i64, range: (i64, i64)) -> Self {
        let scale = scale as f32;
        Self {
            scale: Tensor::number(scale.into()),
            inverse_scale: Tensor::number((1.0 / scale).into()),
            zero_point: Tensor::number(zero_point.into()),
            range,
            is_zero_point_fractional: false,
        }
    }

    /// Creates the map with a scale in single precision and a zero point that broadcast to the elements. The zero point may have a fraction.
    pub(super) fn from_tensors(scale: Tensor, zero_point: Tensor, range: (i64, i64)) -> Result<Self> {
        Ok(Self {
            inverse_scale: scale.reciprocal()?,
            scale,
            is_zero_point_fractional: zero_point.dtype().is_floating(),
            zero_point,
            range,
        })
    }

    /// Creates the map of a tensor with a scale and a zero point for each index of `axis`.
    pub(super) fn for_channels(
        this: &Tensor,
        (scale, zero_point): (&Tensor, &Tensor),
        axis: usize,
        range: (i64, i64),
    ) -> Result<Self> {
        let scale = along_axis(&scale.to(DType::F32)?, axis, this)?;
        Self::from_tensors(scale, along_axis(zero_point, axis, this)?, range)
    }

    /// Returns the map with a whole zero point, as that of an integer tensor.
    pub(super) fn with_whole_zero_point(self) -> Self {
        Self { is_zero_point_fractional: false, ..self }
    }

    /// Returns the integer of each element, which may be outside of the range.
    pub(super) fn unclamped(&self, this: &Tensor) -> Result<Tensor> {
        let scaled = (&this.to(wide_dtype(this))? * &self.inverse_scale)?;
        if self.is_zero_point_fractional {
            (scaled + &self.zero_point.to(DType::F32)?)?.round()
        } else {
            scaled.round()? + &self.zero_point
        }
    }

    /// Returns the integers clamped to the range; NaN becomes the least integer.
    pub(super) fn clamped(&self, unclamped: &Tensor) -> Result<Tensor> {
        let (least, most) = self.range;
        unclamped.fmax(float_number(least))?.fmin(float_number(most))
    }

    /// Returns whether each integer is in the range.
    pub(super) fn is_in_range(&self, unclamped: &Tensor) -> Result<Tensor> {
        let (least, most) = self.range;
        unclamped.ge(least)?.logical_and(&unclamped.le(most)?)
    }

    /// Returns the distances of integers from the zero point, in single precision.
    pub(super) fn distance_from_zero_point(&self, integers: &Tensor) -> Result<Tensor> {
        (integers - &self.zero_point)?.to(DType::F32)
    }

    /// Returns the elements rounded by the map, and whether each is in the range.
    pub(super) fn round_trip(&self, this: &Tensor, unclamped: &Tensor) -> Result<(Tensor, Tensor)> {
        let rounded = (self.distance_from_zero_point(&self.clamped(unclamped)?)? * &self.scale)?.to(this.dtype())?;
        Ok((rounded, self.is_in_range(unclamped)?))
    }
}

/// Returns the integers with NaN in place of those that overflow 64 bits, as the conversion of a processor marks them.
pub(super) fn with_overflow_as_nan(unclamped: &Tensor) -> Result<Tensor> {
    let fits = unclamped.abs()?.lt(I64_LIMIT)?;
    crate::where_scalarother(&fits, unclamped, f64::NAN.into())
}

/// Returns a tensor with one dimension in the place of dimension `axis` of `like`.
pub(super) fn along_axis(channels: &Tensor, axis: usize, like: &Tensor) -> Result<Tensor> {
    let mut sizes = vec![1; like.sizes().len()];
    sizes[axis] = channels.geometry().count();
    channels.reshape(&sizes)
}

/// Returns a number in floating point.
#[expect(clippy::cast_precision_loss, reason = "bounds are rounded to the elements' dtype")]
fn float_number(number: i64) -> Tensor {
    Tensor::number((number as f64).into())
}

/// Returns the dtype in which elements are mapped to integers: double precision for itself, else single precision.
fn wide_dtype(this: &Tensor) -> DType {
    if this.dtype() == DType::F64 { DType::F64 } else { DType::F32 }
}

/// Refuses elements that are not floating-point numbers, and an empty range of integers.
pub(super) fn check_elements_and_range(this: &Tensor, quant_min: i64, quant_max: i64) -> Result<(), BadArgument> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
    }
    check_range(quant_min, quant_max)
}

/// Refuses an empty range of integers.
pub(super) fn check_range(quant_min: i64, quant_max: i64) -> Result<(), BadArgument> {
    if quant_min > quant_max {
        return Err(BadArgument::number("quant_max", quant_max, quant_min..).because("`quant_min` is not above it"));
    }
    Ok(())
}

/// Refuses a tensor that does not have one element.
pub(super) fn check_single(name: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    match tensor.geometry().count() {
        1 => Ok(()),
        _ => Err(BadArgument::sizes(name, tensor.sizes(), "one element")),
    }
}

/// Refuses a scale and a zero point that are not vectors with one element for each index of an axis. Returns the axis.
pub(super) fn check_channels(
    this: &Tensor,
    channels: [(&'static str, &Tensor); 2],
    axis: i64,
) -> Result<usize, BadArgument> {
    let rank = this.sizes().len();
    if rank == 0 {
        return Err(BadArgument::rank("self", 0, 1..));
    }
    let axis = usize::try_from(axis)
        .ok()
        .filter(|axis| *axis < rank)
        .ok_or_else(|| BadArgument::number("axis", axis, 0..=i64::try_from(rank).unwrap_or(i64::MAX) - 1))?;
    for (name, tensor) in channels {
        if tensor.sizes() != [this.sizes()[axis]] {
            return Err(BadArgument::sizes(name, tensor.sizes(), &[this.sizes()[axis]][..]).like_dim("self", axis));
        }
    }
    Ok(axis)
}
