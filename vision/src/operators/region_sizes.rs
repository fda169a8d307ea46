//! The contract that all operators on regions share.

use dispatch_runtime::{BadArgument, Expected, Sizes, prelude::*};

use crate::checks::{check_at_least, check_floating, check_rank, check_same_kind, check_sizes, to_usize};

/// The sizes in a call of an operator on regions of images: the value of the plan, which kernels get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionSizes {
    /// The number of images.
    pub images: usize,
    /// The number of channels of an image.
    pub channels: usize,
    /// The height of an image, in pixels.
    pub height: usize,
    /// The width of an image, in pixels.
    pub width: usize,
    /// The number of bins that a region has from its upper to its lower edge.
    pub pooled_height: usize,
    /// The number of bins that a region has from its left to its right edge.
    pub pooled_width: usize,
}

/// The arguments of a call that all operators on regions check alike.
pub(super) struct RegionArguments<'a> {
    pub(super) rois: &'a Tensor,
    pub(super) pooled_height: i64,
    pub(super) pooled_width: i64,
}

impl RegionArguments<'_> {
    /// Checks a call with images, and returns the sizes and the number of regions.
    pub(super) fn check_images(&self, input: &Tensor) -> Result<(RegionSizes, i64), BadArgument> {
        let image_sizes: [i64; 4] = check_rank("input", input)?;
        check_floating("input", input)?;
        check_same_kind("rois", self.rois, ("input", input))?;
        Ok((self.sizes(image_sizes)?, self.check_rois()?))
    }

    /// Checks a call with the gradient of the result, whose images have these sizes. The result has `channels` channels.
    pub(super) fn check_gradient(
        &self,
        grad: &Tensor,
        image_sizes: [i64; 4],
        channels: impl FnOnce(&RegionSizes) -> Result<i64, BadArgument>,
    ) -> Result<RegionSizes, BadArgument> {
        check_floating("grad", grad)?;
        check_same_kind("rois", self.rois, ("grad", grad))?;
        for (name, size) in ["batch_size", "channels", "height", "width"].into_iter().zip(image_sizes) {
            check_at_least(name, size, 0)?;
        }
        let sizes = self.sizes(image_sizes)?;
        let expected = [self.check_rois()?, channels(&sizes)?, self.pooled_height, self.pooled_width];
        check_sizes("grad", grad, &expected, "the result has")?;
        Ok(sizes)
    }

    fn sizes(&self, [images, channels, height, width]: [i64; 4]) -> Result<RegionSizes, BadArgument> {
        check_at_least("pooled_height", self.pooled_height, 0)?;
        check_at_least("pooled_width", self.pooled_width, 0)?;
        Ok(RegionSizes {
            images: to_usize(images),
            channels: to_usize(channels),
            height: to_usize(height),
            width: to_usize(width),
            pooled_height: to_usize(self.pooled_height),
            pooled_width: to_usize(self.pooled_width),
        })
    }

    /// Checks that `rois` has rows of an image's number and four edges, and returns the number of rows.
    fn check_rois(&self) -> Result<i64, BadArgument> {
        match check_rank("rois", self.rois)? {
            [count, 5] => Ok(count),
            _ => Err(BadArgument::size("rois", self.rois.sizes(), 1, 5)),
        }
    }
}

impl RegionSizes {
    /// Returns the number of channels of the result of a position-sensitive operator, which reads each bin from a channel of its own.
    /// `given` is the tensor with the channels, or `None` if they are an argument.
    pub(super) fn channels_for_each_bin(&self, given: Option<&Tensor>) -> Result<i64, BadArgument> {
        let bins = self.pooled_height.saturating_mul(self.pooled_width);
        if bins == 0 {
            let name = if self.pooled_height == 0 { "pooled_height" } else { "pooled_width" };
            return Err(BadArgument::number(name, 0, 1..));
        }
        let (bins, channels) = (i64::try_from(bins).unwrap_or(i64::MAX), i64::try_from(self.channels).unwrap_or(0));
        if channels % bins == 0 {
            return Ok(channels / bins);
        }
        let reason = "each of the `pooled_height` times `pooled_width` bins has its own channels";
        let error = match given {
            Some(input) => {
                let size = Expected::MultipleOf(bins);
                BadArgument::sizes("input", input.sizes(), Sizes::Dim { dim: 1, size })
            }
            None => BadArgument::number("channels", channels, Expected::MultipleOf(bins.into())),
        };
        Err(error.because(reason))
    }
}

/// Checks a fixed number of samples along each axis of a bin. If it is 0 or less, the size of a region decides.
pub(super) fn check_sampling_ratio(sampling_ratio: i64) -> Result<(), BadArgument> {
    const MAX_SAMPLING_RATIO: i64 = 1024;
    if sampling_ratio <= MAX_SAMPLING_RATIO {
        return Ok(());
    }
    Err(BadArgument::number("sampling_ratio", sampling_ratio, ..=MAX_SAMPLING_RATIO))
}
