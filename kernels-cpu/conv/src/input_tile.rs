//! Input tiles of convolutions: copies of parts of the source, laid out for contiguous reads.
//!
//! Each of the three sums goes over *taps*: the elements of the window, each with the source elements that it is multiplied with. If
//! adjacent results need adjacent source elements for a tap, that tap is a constant offset. An *input tile* (or *field*) is a copy of a
//! part of an image for which this holds. It is padded with zeros, and if the window has a stride, elements that are a stride apart are
//! stored next to each other.
//!
//! The rows of results then have gaps, because rows of the tile are longer than rows of results. Sums in the gaps have no meaning.

use std::ops::Range;

use crate::microkernel::{LANES, STEP};
use engine::compute::Compute;

/// An element of the window.
pub(super) struct Tap {
    /// The index of the element in the window.
    pub(super) number: usize,
    /// The phase of the stride that it reads.
    phase: usize,
    /// The offset from the result's own position in that phase.
    shift: [isize; 3],
}

/// Results that need the same taps: the whole small side, or one phase of the large side.
pub(super) struct Pass {
    /// The number of results, and the size of the image that has them.
    count: [usize; 3],
    result: [usize; 3],
    /// The first result in the image, and the stride between results.
    first: [usize; 3],
    step: [usize; 3],
    source: [usize; 3],
    /// The first source element of each phase, and the stride between elements of a phase.
    phases: Vec<[usize; 3]>,
    apart: [usize; 3],
    pub(super) taps: Vec<Tap>,
    /// The number of different rows of a channel that one result needs.
    rows_met: usize,
    /// The smallest and the largest shift of the taps.
    low: [isize; 3],
    high: [isize; 3],
}

/// Results that are computed together: rows of a plane, or a part of a row. Short rows of several images are stored side by side.
#[derive(Clone)]
pub(super) struct Strip {
    pub(super) images: usize,
    plane: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    /// The distance from an image's row, of results and in the tile, to that of the next image.
    apart: usize,
    /// The distance from a row to the next.
    pub(super) pitch: usize,
    /// The number of elements of the tile per channel.
    pub(super) area: usize,
}

/// Rows of results of one image, a strip's pitch apart.
pub(super) struct Rows {
    /// The position of the first row in the strip, and the index of its first result in the image.
    pub(super) place: usize,
    pub(super) at: usize,
    pub(super) count: usize,
    pub(super) width: usize,
    /// The strides in the image, between rows and between results.
    pub(super) down: usize,
    pub(super) step: usize,
}

impl Strip {
    /// Returns the number of sums, those in gaps included.
    pub(super) fn places(&self) -> usize {
        (self.rows.len() - 1) * self.pitch + (self.images - 1) * self.apart + self.columns.len()
    }

    /// Returns the number of rows and of columns of results.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.rows.len(), self.columns.len()]
    }
}

impl Pass {
    /// Makes a pass. For an element of the window and a dimension, `tap` returns the source element that result 0 needs, in elements that
    /// are `apart`, or `None`. Taps that are outside the image for every result are left out.
    pub(super) fn new(
        [source, result]: [[usize; 3]; 2],
        [first, step, apart]: [[usize; 3]; 3],
        window: usize,
        tap: impl Fn(usize, usize) -> Option<isize>,
    ) -> Self {
        let count = [0, 1, 2].map(|dim| result[dim].saturating_sub(first[dim]).div_ceil(step[dim]));
        let mut phases = Vec::new();
        let (mut low, mut high) = ([isize::MAX; 3], [isize::MIN; 3]);
        let mut taps = Vec::new();
        for number in 0..window {
            let [Some(z), Some(y), Some(x)] = [0, 1, 2].map(|dim| tap(number, dim)) else { continue };
            let at = [z, y, x];
            let phase = [0, 1, 2].map(|dim| at[dim].rem_euclid(apart[dim].cast_signed()).unsigned_abs());
            let shift = [0, 1, 2].map(|dim| at[dim].div_euclid(apart[dim].cast_signed()));
            // A tap that is outside the image for every result adds nothing, however far away it is.
            let meets = |dim: usize| {
                let inside = source[dim].saturating_sub(phase[dim]).div_ceil(apart[dim]).cast_signed();
                -count[dim].cast_signed() < shift[dim] && shift[dim] < inside
            };
            if !(0..3).all(meets) {
                continue;
            }
            for dim in 0..3 {
                low[dim] = low[dim].min(shift[dim]);
                high[dim] = high[dim].max(shift[dim]);
            }
            let known = phases.iter().position(|&known| known == phase);
            let phase = known.unwrap_or_else(|| {
                phases.push(phase);
                phases.len() - 1
            });
            taps.push(Tap { number, phase, shift });
        }
        if taps.is_empty() {
            (low, high) = ([0; 3], [0; 3]);
        }
        let mut rows: Vec<_> = taps.iter().map(|tap: &Tap| (tap.phase, tap.shift[0], tap.shift[1])).collect();
        rows.sort_unstable();
        rows.dedup();
        let rows_met = rows.len().max(1);
        Self { count, result, first, step, source, phases, apart, taps, rows_met, low, high }
    }

    /// Divides the results into strips whose tile has about `room` elements per channel, or into more strips if more are `wanted`. There
    /// are `images` images, of which a strip has at most `most`.
    pub(super) fn strips(&self, [images, most]: [usize; 2], room: usize, wanted: usize) -> Vec<Strip> {
        /// The length from which rows have few gaps.
        const LONG: usize = 4 * LANES;
        let [planes, rows, columns] = self.count;
        if self.count.contains(&0) {
            return Vec::new();
        }
        let [more_rows, more_columns] = [1, 2].map(|dim| (self.high[dim] - self.low[dim]).unsigned_abs());
        let layers = self.layers();
        let fitting = (room / (layers * (columns + more_columns))).saturating_sub(more_rows).max(1);
        let height = fitting.min((planes * rows).div_ceil(wanted.max(1))).min(rows);
        let height = rows.div_ceil(rows.div_ceil(height));
        let fitting = (room / (layers * (height + more_rows))).saturating_sub(more_columns).max(64);
        let width = if height == 1 { columns.div_ceil(columns.div_ceil(fitting)) } else { columns };
        let fitting = room / (layers * (height + more_rows) * (width + more_columns));
        let images = images.div_ceil(images.div_ceil(fitting.min(LONG / (width + more_columns)).clamp(1, most)));
        let mut strips = Vec::new();
        for plane in 0..planes {
            for row in (0..rows).step_by(height) {
                for column in (0..columns).step_by(width) {
                    let (rows, columns) = (row..rows.min(row + height), column..columns.min(column + width));
                    let apart = self.pitch(&columns);
                    let pitch = images * apart;
                    let area = layers * (rows.len() + more_rows) * pitch;
                    strips.push(Strip { images, plane, rows, columns, apart, pitch, area });
                }
            }
        }
        strips
    }

    /// Returns the distance between rows of the tile. The zeros at the end of a row are also those before the next row.
    fn pitch(&self, columns: &Range<usize>) -> usize {
        let widest = self.phases.iter().map(|phase| self.inside(2, phase[2])).max().unwrap_or(0);
        let end = columns.end.cast_signed() + self.high[2];
        let before = (-self.low[2] - columns.start.cast_signed()).max(0).unsigned_abs();
        let after = (end - widest.cast_signed()).max(0).unsigned_abs();
        let width = columns.len() + (self.high[2] - self.low[2]).unsigned_abs();
        (width - before.min(after)).max(columns.len())
    }

    /// Returns the number of elements of a phase along a dimension.
    fn inside(&self, dim: usize, phase: usize) -> usize {
        self.source[dim].saturating_sub(phase).div_ceil(self.apart[dim])
    }

    /// Returns the offset of the element that a tap reads for the first result of a strip, in a channel's part of the tile.
    fn offset(&self, tap: &Tap, strip: &Strip) -> usize {
        let [deep, down, across] = [0, 1, 2].map(|dim| (tap.shift[dim] - self.low[dim]).unsigned_abs());
        let [planes, more_rows] = [0, 1].map(|dim| (self.high[dim] - self.low[dim]).unsigned_abs());
        let rows = strip.rows.len() + more_rows;
        ((tap.phase * (planes + 1) + deep) * rows + down) * strip.pitch + across
    }

    /// Returns the number of rows of the tile per row of a channel.
    pub(super) fn layers(&self) -> usize {
        self.phases.len().max(1) * (self.high[0] - self.low[0] + 1).unsigned_abs()
    }

    /// Returns the index of a strip's first result in the image, and the distance to the next row.
    pub(super) fn start(&self, strip: &Strip) -> (usize, usize) {
        let at = |dim: usize, number: usize| self.first[dim] + number * self.step[dim];
        let [_, height, width] = self.result;
        let line = (at(0, strip.plane) * height + at(1, strip.rows.start)) * width;
        // If the step is longer than the image, there is no next row.
        (line + at(2, strip.columns.start), self.step[1].saturating_mul(width))
    }

    /// Finds the results of each image among some positions of a strip. It is inlined like [`InputTile::lay_out`], because convolutions of
    /// small images would otherwise take a tenth longer.
    #[inline(always)]
    pub(super) fn results(&self, strip: &Strip, places: Range<usize>, mut found: impl FnMut(usize, Rows)) {
        let ((start, down), step) = (self.start(strip), self.step[2]);
        let end = places.end.div_ceil(strip.pitch);
        for image in 0..strip.images {
            let mut row = places.start / strip.pitch;
            while row < end {
                let line = row * strip.pitch + image * strip.apart;
                let from = places.start.max(line);
                let to = places.end.min(line + strip.columns.len());
                let is_whole = from == line && to == line + strip.columns.len();
                let count = if is_whole { ((places.end - to) / strip.pitch + 1).min(end - row) } else { 1 };
                if from < to {
                    let at = start + row * down + (from - line) * step;
                    found(image, Rows { place: from - places.start, at, count, width: to - from, down, step });
                }
                row += count;
            }
        }
    }

    /// Copies a channel of an image into a tile that is filled with zeros.
    fn fill<T: Compute>(&self, image: &[T], number: usize, strip: &Strip, field: &mut [T]) {
        let lines =
            |dim: usize, from: usize, to: usize| from.cast_signed() + self.low[dim]..to.cast_signed() + self.high[dim];
        let [_, height, width] = self.source;
        let planes = lines(0, strip.plane, strip.plane + 1);
        let [rows, columns] =
            [(1, &strip.rows), (2, &strip.columns)].map(|(dim, range)| lines(dim, range.start, range.end));
        let mut layers = field.chunks_exact_mut((rows.len() * strip.pitch).max(1));
        for phase in &self.phases {
            // The indices inside the image, and the number of indices before them.
            let within = |dim: usize, range: &Range<isize>| {
                let first = range.start.max(0);
                let end = range.end.min(self.inside(dim, phase[dim]).cast_signed()).max(first);
                ((first - range.start).unsigned_abs(), first.unsigned_abs(), (end - first).unsigned_abs())
            };
            let at = |dim: usize, number: usize| number * self.apart[dim] + phase[dim];
            let (above, first_row, height_inside) = within(1, &rows);
            let (before, first_column, count) = within(2, &columns);
            let before = number * strip.apart + before;
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
                    if self.apart[2] == 1 {
                        copy_row(&image[start..start + count], line);
                    } else {
                        let elements = image[start..].iter().step_by(self.apart[2]);
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
    made_for: Option<[usize; 4]>,
}

impl<T: Compute> InputTile<T> {
    pub(super) fn new() -> Self {
        Self { elements: Vec::new(), offsets: Vec::new(), made_for: None }
    }

    /// Copies channels of several groups of images into the tile; those of a channel are stored side by side. `channel` returns a channel
    /// of an image.
    #[inline(always)]
    pub(super) fn lay_out<'a>(
        &mut self,
        pass: &Pass,
        strip: &Strip,
        [channels, images]: [usize; 2],
        channel: impl Fn(usize, usize) -> &'a [T],
    ) {
        let made_for = Some([channels, images, strip.area, strip.pitch]);
        if self.made_for != made_for {
            self.made_for = made_for;
            self.offsets.clear();
            for channel in 0..channels {
                let first = channel * images * strip.area;
                self.offsets.extend(pass.taps.iter().map(|tap| first + pass.offset(tap, strip)));
            }
            // Sums continue beyond the end of the last row, over zeros, up to a full vector.
            let ends = pass.taps.iter().map(|tap| pass.offset(tap, strip) + strip.places());
            let beyond = ends.max().unwrap_or(0).saturating_sub(strip.area) + LANES;
            self.elements.clear();
            self.elements.resize(channels * images * strip.area + beyond, T::ZERO);
        }
        let lanes = self.elements.chunks_exact_mut(strip.area.max(1)).take(channels * images);
        for (at, lane) in lanes.enumerate() {
            lane.fill(T::ZERO);
            for image in 0..strip.images {
                pass.fill(channel(at / images, at % images * strip.images + image), image, strip, lane);
            }
        }
    }

    /// Returns the number of consecutive offsets whose elements fit the L1 cache together.
    pub(super) fn near(pass: &Pass) -> usize {
        /// The number of elements that stay in the L1 cache beside other data.
        const NEAREST: usize = 1 << 13;
        (NEAREST / (pass.rows_met * (STEP + 2 * LANES))).max(1) * pass.taps.len()
    }
}

/// Copies elements of equally long slices. For the short rows of small images this is faster than a call of `memcpy`.
#[inline(always)]
pub(super) fn copy_row<T: Copy>(from: &[T], to: &mut [T]) {
    const HALF: usize = 8;
    if let (HALF..=16, Some(first), Some(last)) = (from.len(), from.first_chunk::<HALF>(), from.last_chunk::<HALF>())
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
