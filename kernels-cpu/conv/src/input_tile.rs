//! Input tiles of convolutions: copies of parts of the source, laid out for contiguous reads.
//!
//! Each of the three sums goes over *taps*: the elements of the window, each with the source elements that it is multiplied with. If
//! adjacent results need adjacent source elements for a tap, that tap is a constant offset. An *input tile* is a copy of a
//! part of an image for which this holds. It is padded with zeros, and if the window has a stride, elements that are a stride apart are
//! stored next to each other.
//!
//! The rows of results then have gaps, because rows of the tile are longer than rows of results. Sums in the gaps have no meaning.

use std::ops::Range;

use crate::microkernel::{MAX_LANE_COUNT, MAX_ROW_ELEMENTS_IN_REGISTERS};
use engine::compute::ComputeType;

/// An element of the window.
pub(super) struct Tap {
    /// The index of the element in the window.
    pub(super) index: usize,
    /// The phase of the stride whose elements the tap reads.
    phase: usize,
    /// The offset from the result's own position in that phase.
    shift: [isize; 3],
}

/// One pass of a convolution: the results that need the same taps, which are the whole small side or one phase of the large side.
pub(super) struct ConvPass {
    /// The number of results, and the size of the result image.
    count: [usize; 3],
    result: [usize; 3],
    /// The coordinates of the first result in the result image, and the step to the next result.
    first: [usize; 3],
    step: [usize; 3],
    source: [usize; 3],
    /// The first source element of each phase, and the stride between elements of a phase.
    phases: Vec<[usize; 3]>,
    phase_stride: [usize; 3],
    pub(super) taps: Vec<Tap>,
    /// The number of different rows of a channel that one result needs.
    source_rows: usize,
    /// The smallest and the largest shift of the taps.
    min_shift: [isize; 3],
    max_shift: [isize; 3],
}

/// Results that are computed together: rows of a plane, or a part of a row. Short rows of several images are stored side by side.
#[derive(Clone)]
pub(super) struct ResultStrip {
    pub(super) images: usize,
    plane: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    /// The distance from a row of an image to the same row of the next image. It is the same for results and in the tile.
    image_stride: usize,
    /// The distance from a row of the strip to the next row.
    pub(super) pitch: usize,
    /// The number of elements of the tile per channel.
    pub(super) area: usize,
}

/// The rows of results that a strip has in one image.
pub(super) struct ImageResultRows {
    /// The position of the first row in the strip, and the index of its first result in the image.
    pub(super) strip_position: usize,
    pub(super) image_index: usize,
    pub(super) count: usize,
    pub(super) width: usize,
    /// The strides in the image, between rows and between results.
    pub(super) row_stride: usize,
    pub(super) step: usize,
}

impl ResultStrip {
    /// Returns the number of sums of the strip, including sums in the gaps between rows.
    pub(super) fn sum_count(&self) -> usize {
        (self.rows.len() - 1) * self.pitch + (self.images - 1) * self.image_stride + self.columns.len()
    }

    /// Returns the number of rows and the number of columns of the strip's results.
    pub(super) fn row_and_column_count(&self) -> [usize; 2] {
        [self.rows.len(), self.columns.len()]
    }
}

impl ConvPass {
    /// Finds the taps of a pass. For an element of the window and a dimension, `tap` returns the source element that result 0 needs, in
    /// elements that are `phase_stride`, or `None`. Taps that are outside the image for every result are left out.
    pub(super) fn new(
        [source, result]: [[usize; 3]; 2],
        [first, step, phase_stride]: [[usize; 3]; 3],
        window: usize,
        tap: impl Fn(usize, usize) -> Option<isize>,
    ) -> Self {
        let count = [0, 1, 2].map(|dim| result[dim].saturating_sub(first[dim]).div_ceil(step[dim]));
        let mut phases = Vec::new();
        let (mut min_shift, mut max_shift) = ([isize::MAX; 3], [isize::MIN; 3]);
        let mut taps = Vec::new();
        for index in 0..window {
            let [Some(z), Some(y), Some(x)] = [0, 1, 2].map(|dim| tap(index, dim)) else { continue };
            let at = [z, y, x];
            let phase = [0, 1, 2].map(|dim| at[dim].rem_euclid(phase_stride[dim].cast_signed()).unsigned_abs());
            let shift = [0, 1, 2].map(|dim| at[dim].div_euclid(phase_stride[dim].cast_signed()));
            // A tap that is outside the image for every result adds nothing, however far away it is.
            let meets = |dim: usize| {
                let inside = source[dim].saturating_sub(phase[dim]).div_ceil(phase_stride[dim]).cast_signed();
                -count[dim].cast_signed() < shift[dim] && shift[dim] < inside
            };
            if !(0..3).all(meets) {
                continue;
            }
            for dim in 0..3 {
                min_shift[dim] = min_shift[dim].min(shift[dim]);
                max_shift[dim] = max_shift[dim].max(shift[dim]);
            }
            let known = phases.iter().position(|&known| known == phase);
            let phase = known.unwrap_or_else(|| {
                phases.push(phase);
                phases.len() - 1
            });
            taps.push(Tap { index, phase, shift });
        }
        if taps.is_empty() {
            (min_shift, max_shift) = ([0; 3], [0; 3]);
        }
        let mut rows: Vec<_> = taps.iter().map(|tap: &Tap| (tap.phase, tap.shift[0], tap.shift[1])).collect();
        rows.sort_unstable();
        rows.dedup();
        let source_rows = rows.len().max(1);
        Self { count, result, first, step, source, phases, phase_stride, taps, source_rows, min_shift, max_shift }
    }

    /// Divides the results into strips whose tile has about `room` elements per channel, or into more strips if more are `wanted`. There
    /// are `images` images, of which a strip has at most `most`.
    pub(super) fn divide_into_strips(
        &self,
        [images, most]: [usize; 2],
        room: usize,
        wanted: usize,
    ) -> Vec<ResultStrip> {
        /// The length from which rows have few gaps.
        const MIN_LONG_ROW_LENGTH: usize = 4 * MAX_LANE_COUNT;
        let [planes, rows, columns] = self.count;
        if self.count.contains(&0) {
            return Vec::new();
        }
        let [more_rows, more_columns] = [1, 2].map(|dim| (self.max_shift[dim] - self.min_shift[dim]).unsigned_abs());
        let layers = self.tile_rows_per_channel_row();
        let fitting = (room / (layers * (columns + more_columns))).saturating_sub(more_rows).max(1);
        let height = fitting.min((planes * rows).div_ceil(wanted.max(1))).min(rows);
        let height = rows.div_ceil(rows.div_ceil(height));
        let fitting = (room / (layers * (height + more_rows))).saturating_sub(more_columns).max(64);
        let width = if height == 1 { columns.div_ceil(columns.div_ceil(fitting)) } else { columns };
        let fitting = room / (layers * (height + more_rows) * (width + more_columns));
        let images =
            images.div_ceil(images.div_ceil(fitting.min(MIN_LONG_ROW_LENGTH / (width + more_columns)).clamp(1, most)));
        let mut strips = Vec::new();
        for plane in 0..planes {
            for row in (0..rows).step_by(height) {
                for column in (0..columns).step_by(width) {
                    let (rows, columns) = (row..rows.min(row + height), column..columns.min(column + width));
                    let image_stride = self.row_pitch(&columns);
                    let pitch = images * image_stride;
                    let area = layers * (rows.len() + more_rows) * pitch;
                    strips.push(ResultStrip { images, plane, rows, columns, image_stride, pitch, area });
                }
            }
        }
        strips
    }

    /// Returns the distance between rows of the tile. The zeros at the end of a row are also those before the next row.
    fn row_pitch(&self, columns: &Range<usize>) -> usize {
        let widest = self.phases.iter().map(|phase| self.phase_length(2, phase[2])).max().unwrap_or(0);
        let end = columns.end.cast_signed() + self.max_shift[2];
        let before = (-self.min_shift[2] - columns.start.cast_signed()).max(0).unsigned_abs();
        let after = (end - widest.cast_signed()).max(0).unsigned_abs();
        let width = columns.len() + (self.max_shift[2] - self.min_shift[2]).unsigned_abs();
        (width - before.min(after)).max(columns.len())
    }

    /// Returns the number of elements of a phase along a dimension.
    fn phase_length(&self, dim: usize, phase: usize) -> usize {
        self.source[dim].saturating_sub(phase).div_ceil(self.phase_stride[dim])
    }

    /// Returns the offset of the element that a tap reads for the first result of a strip, in a channel's part of the tile.
    fn tap_offset(&self, tap: &Tap, strip: &ResultStrip) -> usize {
        let [deep, down, across] = [0, 1, 2].map(|dim| (tap.shift[dim] - self.min_shift[dim]).unsigned_abs());
        let [planes, more_rows] = [0, 1].map(|dim| (self.max_shift[dim] - self.min_shift[dim]).unsigned_abs());
        let rows = strip.rows.len() + more_rows;
        ((tap.phase * (planes + 1) + deep) * rows + down) * strip.pitch + across
    }

    /// Returns the number of rows of the tile per row of a channel.
    pub(super) fn tile_rows_per_channel_row(&self) -> usize {
        self.phases.len().max(1) * (self.max_shift[0] - self.min_shift[0] + 1).unsigned_abs()
    }

    /// Returns the index of a strip's first result in the image, and the distance to the next row.
    pub(super) fn result_start_and_row_stride(&self, strip: &ResultStrip) -> (usize, usize) {
        let at = |dim: usize, index: usize| self.first[dim] + index * self.step[dim];
        let [_, height, width] = self.result;
        let line = (at(0, strip.plane) * height + at(1, strip.rows.start)) * width;
        // If the step is longer than the image, there is no next row.
        (line + at(2, strip.columns.start), self.step[1].saturating_mul(width))
    }

    /// Calls `found` with the rows of results of each image that are among some positions of a strip. It is inlined like
    /// [`InputTile::copy_channels`], because convolutions of small images would otherwise take a tenth longer.
    #[inline(always)]
    pub(super) fn visit_result_rows(
        &self,
        strip: &ResultStrip,
        positions: Range<usize>,
        mut found: impl FnMut(usize, ImageResultRows),
    ) {
        let ((start, row_stride), step) = (self.result_start_and_row_stride(strip), self.step[2]);
        let end = positions.end.div_ceil(strip.pitch);
        for image in 0..strip.images {
            let mut row = positions.start / strip.pitch;
            while row < end {
                let line = row * strip.pitch + image * strip.image_stride;
                let from = positions.start.max(line);
                let to = positions.end.min(line + strip.columns.len());
                let is_whole = from == line && to == line + strip.columns.len();
                let count = if is_whole { ((positions.end - to) / strip.pitch + 1).min(end - row) } else { 1 };
                if from < to {
                    let image_index = start + row * row_stride + (from - line) * step;
                    found(
                        image,
                        ImageResultRows {
                            strip_position: from - positions.start,
                            image_index,
                            count,
                            width: to - from,
                            row_stride,
                            step,
                        },
                    );
                }
                row += count;
            }
        }
    }

    /// Copies a channel of an image into a tile that is filled with zeros.
    fn copy_channel_to_tile<T: ComputeType>(&self, image: &[T], index: usize, strip: &ResultStrip, tile: &mut [T]) {
        let lines = |dim: usize, from: usize, to: usize| {
            from.cast_signed() + self.min_shift[dim]..to.cast_signed() + self.max_shift[dim]
        };
        let [_, height, width] = self.source;
        let planes = lines(0, strip.plane, strip.plane + 1);
        let [rows, columns] =
            [(1, &strip.rows), (2, &strip.columns)].map(|(dim, range)| lines(dim, range.start, range.end));
        let mut layers = tile.chunks_exact_mut((rows.len() * strip.pitch).max(1));
        for phase in &self.phases {
            // The part of a range of indices that is inside the image: its offset in the range, its start and its length.
            let within = |dim: usize, range: &Range<isize>| {
                let first = range.start.max(0);
                let end = range.end.min(self.phase_length(dim, phase[dim]).cast_signed()).max(first);
                ((first - range.start).unsigned_abs(), first.unsigned_abs(), (end - first).unsigned_abs())
            };
            let at = |dim: usize, index: usize| index * self.phase_stride[dim] + phase[dim];
            let (above, first_row, height_inside) = within(1, &rows);
            let (before, first_column, count) = within(2, &columns);
            let before = index * strip.image_stride + before;
            for plane in planes.clone() {
                let Some(layer) = layers.next() else { return };
                let (outside, z, inside) = within(0, &(plane..plane + 1));
                if inside == 0 || outside > 0 || count == 0 {
                    continue;
                }
                let lines = layer.chunks_exact_mut(strip.pitch).skip(above).take(height_inside);
                for (row, line) in lines.enumerate() {
                    // A step may be longer than the image, so only existing rows are addressed.
                    let start = (at(0, z) * height + at(1, first_row + row)) * width + at(2, first_column);
                    let line = &mut line[before..before + count];
                    if self.phase_stride[2] == 1 {
                        copy_short_row(&image[start..start + count], line);
                    } else {
                        let elements = image[start..].iter().step_by(self.phase_stride[2]);
                        line.iter_mut().zip(elements).for_each(|(to, &from)| *to = from);
                    }
                }
            }
        }
    }
}

/// Channels of images, laid out for a strip of results.
pub(super) struct InputTile<T> {
    pub(super) elements: Vec<T>,
    /// The offset of the element that each tap of each channel reads for a strip's first result.
    pub(super) offsets: Vec<usize>,
    /// The geometry that the offsets belong to: numbers of channels and of strips' images, area and pitch.
    layout: Option<[usize; 4]>,
}

impl<T: ComputeType> InputTile<T> {
    pub(super) fn new() -> Self {
        Self { elements: Vec::new(), offsets: Vec::new(), layout: None }
    }

    /// Copies channels of several groups of images into the tile; those of a channel are stored side by side. `channel` returns a channel
    /// of an image.
    #[inline(always)]
    pub(super) fn copy_channels<'a>(
        &mut self,
        pass: &ConvPass,
        strip: &ResultStrip,
        [channels, images]: [usize; 2],
        channel: impl Fn(usize, usize) -> &'a [T],
    ) {
        let layout = Some([channels, images, strip.area, strip.pitch]);
        if self.layout != layout {
            self.layout = layout;
            self.offsets.clear();
            for channel in 0..channels {
                let first = channel * images * strip.area;
                self.offsets.extend(pass.taps.iter().map(|tap| first + pass.tap_offset(tap, strip)));
            }
            // Zeros after the last row, because sums are computed up to a full vector.
            let ends = pass.taps.iter().map(|tap| pass.tap_offset(tap, strip) + strip.sum_count());
            let beyond = ends.max().unwrap_or(0).saturating_sub(strip.area) + MAX_LANE_COUNT;
            self.elements.clear();
            self.elements.resize(channels * images * strip.area + beyond, T::ZERO);
        }
        let lanes = self.elements.chunks_exact_mut(strip.area.max(1)).take(channels * images);
        for (at, lane) in lanes.enumerate() {
            lane.fill(T::ZERO);
            for image in 0..strip.images {
                pass.copy_channel_to_tile(channel(at / images, at % images * strip.images + image), image, strip, lane);
            }
        }
    }

    /// Returns the number of consecutive offsets whose elements fit the L1 cache together.
    pub(super) fn max_offsets_in_l1(pass: &ConvPass) -> usize {
        /// The number of elements that stay in the L1 cache beside other data.
        const MAX_ELEMENTS_IN_L1: usize = 1 << 13;
        (MAX_ELEMENTS_IN_L1 / (pass.source_rows * (MAX_ROW_ELEMENTS_IN_REGISTERS + 2 * MAX_LANE_COUNT))).max(1)
            * pass.taps.len()
    }
}

/// Copies elements of equally long slices. For the short rows of small images this is faster than a call of `memcpy`.
#[inline(always)]
pub(super) fn copy_short_row<T: Copy>(from: &[T], to: &mut [T]) {
    const MIN_SHORT_ROW_LENGTH: usize = 8;
    if let (MIN_SHORT_ROW_LENGTH..=16, Some(first), Some(last)) =
        (from.len(), from.first_chunk::<MIN_SHORT_ROW_LENGTH>(), from.last_chunk::<MIN_SHORT_ROW_LENGTH>())
        && let Some(start) = to.first_chunk_mut()
    {
        *start = *first;
        if let Some(end) = to.last_chunk_mut() {
            *end = *last;
        }
    } else {
        to.copy_from_slice(from);
    }
}
