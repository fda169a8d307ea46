//! The points at which a bin of a region is sampled, and the interpolation between the four pixels around a point.

use std::ops::Range;

use dispatch_runtime::{BadArgument, prelude::*};

use super::elements::to_number;
use super::regions::{Region, read_regions};
use crate::RegionSizes;

/// The largest number of samples along an axis of a bin. A region with more is far larger than any image.
const MAX_SAMPLES_PER_BIN: i64 = 1 << 16;

/// The options of a call that decide the points.
#[derive(Clone, Copy)]
pub(super) struct GridOptions {
    pub(super) spatial_scale: f64,
    /// The number of samples along each axis of a bin, or 0 or less for one sample for each pixel.
    pub(super) sampling_ratio: i64,
    /// The number of pixels by which all edges move to the left and up.
    pub(super) shift: f64,
    /// The least height and width of a region, if there is one.
    pub(super) least_length: Option<f64>,
}

/// The points of a region, which are all combinations of its rows and columns.
pub(super) struct SampleGrid<T> {
    /// The number of the image.
    pub(super) image: usize,
    rows: AxisSamples<T>,
    columns: AxisSamples<T>,
}

impl<T: Floating> SampleGrid<T> {
    /// Returns the points of all regions.
    pub(super) fn for_regions(rois: &Tensor, sizes: &RegionSizes, options: GridOptions) -> Result<Vec<Self>> {
        let grid = |region: &Region<T>| Self::new(region, sizes, options);
        Ok(read_regions(rois, sizes.images)?.iter().map(grid).collect::<Result<_, BadArgument>>()?)
    }

    fn new(region: &Region<T>, sizes: &RegionSizes, options: GridOptions) -> Result<Self, BadArgument> {
        let (scale, shift) = (T::from_f64(options.spatial_scale), T::from_f64(options.shift));
        let [left, upper, right, lower] = region.edges.map(|edge| edge * scale - shift);
        let least = options.least_length.map(T::from_f64);
        let axis = |start: T, end: T, bins: usize, size: usize| {
            let length = end - start;
            let length = least.map_or(length, |least| if length < least { least } else { length });
            AxisSamples::new(start, length, bins, size, options.sampling_ratio)
        };
        Ok(Self {
            image: region.image,
            rows: axis(upper, lower, sizes.pooled_height, sizes.height)?,
            columns: axis(left, right, sizes.pooled_width, sizes.width)?,
        })
    }

    /// Returns the number of points of a bin. It counts the points outside of the image, too.
    pub(super) fn sample_count(&self) -> T {
        #[expect(clippy::cast_precision_loss, reason = "the kernels of torchvision convert so, too")]
        T::from_f64((self.rows.samples_per_bin * self.columns.samples_per_bin) as f64)
    }

    /// Returns the sum of a bin's samples. `pixels` is a channel of an image of this width.
    pub(super) fn sum(&self, pixels: &[T], width: usize, [row_bin, column_bin]: [usize; 2]) -> T {
        let mut sum = T::ZERO;
        for row in self.rows.of_bin(row_bin) {
            let upper = &pixels[row.low * width..][..width];
            let lower = &pixels[row.high * width..][..width];
            for column in self.columns.of_bin(column_bin) {
                let [a, b, c, d] = corner_weights(row, column);
                let (left, right) = (column.low, column.high);
                sum = sum + (a * upper[left] + b * upper[right] + c * lower[left] + d * lower[right]);
            }
        }
        sum
    }

    /// Adds to each pixel the gradient of a bin's mean: `grad`, times the pixel's weight in the sum, divided by `count`.
    pub(super) fn add_gradient(
        &self,
        pixels: &mut [T],
        width: usize,
        [row_bin, column_bin]: [usize; 2],
        grad: T,
        count: T,
    ) {
        for row in self.rows.of_bin(row_bin) {
            for column in self.columns.of_bin(column_bin) {
                let corners =
                    [(row.low, column.low), (row.low, column.high), (row.high, column.low), (row.high, column.high)];
                for (weight, (y, x)) in corner_weights(row, column).into_iter().zip(corners) {
                    let pixel = &mut pixels[y * width + x];
                    *pixel = *pixel + grad * weight / count;
                }
            }
        }
    }
}

/// The points of some bins of a region, for sums over many channels: the indices and weights of the four pixels around each.
pub(super) struct BinPoints<T> {
    points: Vec<([usize; 4], [T; 4])>,
    /// The range of `points` of each bin.
    bins: Vec<Range<usize>>,
}

/// The number of points from which a region is processed in several parts, so that the points stay in the cache.
const MAX_POINTS: usize = 1 << 12;

impl<T: Floating> SampleGrid<T> {
    /// Calls `visit` with the points of all bins, in parts: with the range of bins, counted row by row, and their points.
    pub(super) fn for_each_part(&self, width: usize, mut visit: impl FnMut(Range<usize>, &BinPoints<T>)) {
        let (rows, columns) = (self.rows.bins.len(), self.columns.bins.len());
        let points_per_bin =
            (self.rows.samples.len() / rows.max(1) + 1) * (self.columns.samples.len() / columns.max(1) + 1);
        let step = (MAX_POINTS / points_per_bin).max(1);
        let mut part = BinPoints { points: Vec::new(), bins: Vec::new() };
        for start in (0..rows * columns).step_by(step) {
            let bins = start..(start + step).min(rows * columns);
            part.points.clear();
            part.bins.clear();
            for bin in bins.clone() {
                let begin = part.points.len();
                for row in self.rows.of_bin(bin / columns) {
                    let point = |column: &AxisSample<T>| {
                        let (upper, lower) = (row.low * width, row.high * width);
                        let pixels = [upper + column.low, upper + column.high, lower + column.low, lower + column.high];
                        (pixels, corner_weights(row, column))
                    };
                    part.points.extend(self.columns.of_bin(bin % columns).iter().map(point));
                }
                part.bins.push(begin..part.points.len());
            }
            visit(bins, &part);
        }
    }
}

impl<T: Floating> BinPoints<T> {
    /// Returns the sum of the samples of each bin in a channel of the image.
    pub(super) fn sums(&self, pixels: &[T]) -> impl Iterator<Item = T> {
        self.bins.iter().map(|bin| {
            let points = self.points[bin.clone()].iter();
            points.fold(T::ZERO, |sum, (at, weight)| {
                let [a, b, c, d] = *weight;
                sum + (a * pixels[at[0]] + b * pixels[at[1]] + c * pixels[at[2]] + d * pixels[at[3]])
            })
        })
    }
}

/// Returns the weights of the pixels around a point: upper left, upper right, lower left, lower right.
fn corner_weights<T: Floating>(row: &AxisSample<T>, column: &AxisSample<T>) -> [T; 4] {
    [
        row.low_weight * column.low_weight,
        row.low_weight * column.high_weight,
        row.high_weight * column.low_weight,
        row.high_weight * column.high_weight,
    ]
}

/// A point on an axis, between two pixels.
struct AxisSample<T> {
    low: usize,
    high: usize,
    low_weight: T,
    high_weight: T,
}

/// The points on one axis of a region that are not outside of the image.
struct AxisSamples<T> {
    samples: Vec<AxisSample<T>>,
    /// The range of `samples` of each bin.
    bins: Vec<Range<usize>>,
    /// The number of samples of a bin, with those outside of the image. It is negative if the edges are exchanged.
    samples_per_bin: i64,
}

impl<T: Floating> AxisSamples<T> {
    fn new(start: T, length: T, bins: usize, size: usize, sampling_ratio: i64) -> Result<Self, BadArgument> {
        let bin_length = length / to_number(bins.max(1));
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        let samples_per_bin = if sampling_ratio > 0 { sampling_ratio } else { bin_length.to_f64().ceil() as i64 }
            .max(-MAX_SAMPLES_PER_BIN);
        if samples_per_bin > MAX_SAMPLES_PER_BIN {
            let found = format!("a region of {} pixels along an axis", length.to_f64());
            return Err(BadArgument::value(
                "rois",
                found,
                format!("at most {MAX_SAMPLES_PER_BIN} pixels for each bin"),
            ));
        }
        let count = usize::try_from(samples_per_bin).unwrap_or(0);
        let mut axis = Self { samples: Vec::new(), bins: Vec::with_capacity(bins), samples_per_bin };
        for bin in 0..bins {
            let begin = axis.samples.len();
            let bin_start = start + to_number::<T>(bin) * bin_length;
            let position = |sample| {
                let middle = to_number::<T>(sample) + T::from_f64(0.5);
                bin_start + middle * bin_length / to_number(count)
            };
            axis.samples.extend((0..count).filter_map(|sample| AxisSample::between_pixels(position(sample), size)));
            axis.bins.push(begin..axis.samples.len());
        }
        Ok(axis)
    }

    fn of_bin(&self, bin: usize) -> &[AxisSample<T>] {
        &self.samples[self.bins[bin].clone()]
    }
}

impl<T: Floating> AxisSample<T> {
    /// Returns the pixels around a point on an axis with `size` pixels, or `None` if it is more than a pixel away from all of them. The
    /// pixels on the edges continue up to there.
    fn between_pixels(position: T, size: usize) -> Option<Self> {
        let is_inside = -T::ONE <= position && position <= to_number(size);
        let last = size.checked_sub(1).filter(|_| is_inside)?;
        let position = if position <= T::ZERO { T::ZERO } else { position };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to the size")]
        let low = position.to_f64() as usize;
        if low >= last {
            return Some(Self { low: last, high: last, low_weight: T::ONE, high_weight: T::ZERO });
        }
        let high_weight = position - to_number(low);
        Some(Self { low, high: low + 1, low_weight: T::ONE - high_weight, high_weight })
    }
}
