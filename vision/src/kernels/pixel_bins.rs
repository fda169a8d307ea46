//! The pixels of the bins of a region, without interpolation.

use std::ops::Range;

use dispatch_runtime::prelude::*;

use super::elements::to_number;
use super::regions::{Region, read_regions};
use crate::RegionSizes;

/// The pixels of each bin of a region: the combinations of a range of rows and a range of columns.
pub(super) struct PixelBins {
    /// The number of the image.
    pub(super) image: usize,
    rows: Vec<Range<usize>>,
    columns: Vec<Range<usize>>,
    image_width: usize,
}

/// The rules by which two operators differ.
#[derive(Clone, Copy)]
pub(super) struct BinRules {
    /// Whether the pixels on the right and lower edge belong to the region.
    pub(super) includes_last_pixel: bool,
    /// Whether the last row and column of the image belong to no bin.
    pub(super) ends_before_last_pixel: bool,
}

impl PixelBins {
    /// Returns the bins of all regions.
    pub(super) fn for_regions<T: Floating>(
        rois: &Tensor,
        sizes: &RegionSizes,
        spatial_scale: f64,
        rules: BinRules,
    ) -> Result<Vec<Self>> {
        let regions = read_regions::<T>(rois, sizes.images)?;
        Ok(regions.iter().map(|region| Self::new(region, sizes, spatial_scale, rules)).collect())
    }

    fn new<T: Floating>(region: &Region<T>, sizes: &RegionSizes, spatial_scale: f64, rules: BinRules) -> Self {
        let [left, upper, right, lower] = region.edges.map(|edge| round(edge * T::from_f64(spatial_scale)));
        Self {
            image: region.image,
            rows: axis_bins::<T>(upper, lower, sizes.pooled_height, sizes.height, rules),
            columns: axis_bins::<T>(left, right, sizes.pooled_width, sizes.width, rules),
            image_width: sizes.width,
        }
    }

    /// Returns, for each row of a bin, the range of its pixels in a channel of the image.
    pub(super) fn rows(&self, bin: usize) -> impl Iterator<Item = Range<usize>> {
        let Range { start, end } = self.columns[bin % self.columns.len()];
        let width = self.image_width;
        self.rows[bin / self.columns.len()].clone().map(move |row| row * width + start..row * width + end)
    }

    /// Returns the number of pixels of a bin.
    pub(super) fn pixel_count(&self, bin: usize) -> usize {
        self.rows[bin / self.columns.len()].len() * self.columns[bin % self.columns.len()].len()
    }
}

/// The farthest pixel that an edge is rounded to; all images are smaller.
const MAX_EDGE: f64 = 1e15;

#[expect(clippy::cast_possible_truncation, reason = "it is in the range")]
fn round<T: Floating>(edge: T) -> i64 {
    edge.to_f64().round().clamp(-MAX_EDGE, MAX_EDGE) as i64
}

/// Returns the pixels of each bin along an axis with `size` pixels.
fn axis_bins<T: Floating>(first: i64, last: i64, bins: usize, size: usize, rules: BinRules) -> Vec<Range<usize>> {
    let size = size.saturating_sub(usize::from(rules.ends_before_last_pixel));
    let length = (last - first + i64::from(rules.includes_last_pixel)).max(1);
    #[expect(clippy::cast_precision_loss, reason = "the kernels of torchvision convert so, too")]
    let bin_length = T::from_f64(length as f64) / to_number(bins);
    let pixel = |edge: f64| {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        usize::try_from((edge as i64).saturating_add(first).clamp(0, size)).unwrap_or(0)
    };
    (0..bins)
        .map(|bin| {
            let start = (to_number::<T>(bin) * bin_length).to_f64().floor();
            let end = (to_number::<T>(bin + 1) * bin_length).to_f64().ceil();
            let (start, end) = (pixel(start), pixel(end));
            start..end.max(start)
        })
        .collect()
}
