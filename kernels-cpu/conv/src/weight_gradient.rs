//! Gradients of convolution weights: products of the small side and the elements of the large side under the window.

use super::geometry::ConvGeometry;
use super::input_tile::{ConvPass, InputTile, ResultStrip};
use super::microkernel::{
    CHANNELS_PER_WEIGHT_BLOCK, ConvElement, MAX_FILTERS_IN_REGISTERS, MAX_LANE_COUNT, ResultMicrokernel,
    WeightGradientMicrokernel,
};
use super::{GRAIN_SIZE, MAX_ELEMENTS_IN_L2};
use engine::gemm::{Matrix, MatrixMut, gemm};
use engine::thread_pool::{self, DisjointLines, DisjointSlices};

impl ConvGeometry {
    /// Computes the gradient of the weight: the sum of the small side times the large side under the window, over the batch.
    pub(super) fn weight_gradient<T: ConvElement>(&self, large: &[T], small: &[T], weight: &mut [T]) {
        weight.fill(T::ZERO);
        if large.is_empty() || small.is_empty() {
            return;
        }
        if let Some((pointwise, columns)) = self.unfold_disjoint_windows(large) {
            pointwise.weight_gradient_pointwise(&columns, small, weight);
        } else if self.is_pointwise() {
            self.weight_gradient_pointwise(large, small, weight);
        } else if self.filters >= CHANNELS_PER_WEIGHT_BLOCK
            && self.channels > 0
            && 4 * self.channels >= 3 * self.channels.next_multiple_of(MAX_LANE_COUNT)
        {
            self.weight_gradient_of_many_filters(large, small, weight);
        } else {
            self.weight_gradient_of_few_filters(large, small, weight);
        }
    }

    /// Computes the gradient for many filters and channels. A vector holds the sums of several channels, and each position of the window
    /// adds a term to them.
    fn weight_gradient_of_many_filters<T: ConvElement>(&self, large: &[T], small: &[T], weight: &mut [T]) {
        let pass = self.pass_to_small_side();
        if pass.taps.is_empty() {
            return;
        }
        // The number of positions at which the elements of all filters fit the L2 cache.
        let room = 4 * MAX_ELEMENTS_IN_L2 / self.filters.max(4 * MAX_LANE_COUNT);
        let images = (room / self.position_count().max(1)).clamp(1, self.batch.max(1));
        for strip in pass.divide_into_strips([1; 2], room * pass.tile_rows_per_channel_row(), 1) {
            for first in (0..self.batch).step_by(images) {
                for group in 0..self.groups {
                    let images = images.min(self.batch - first);
                    let part = WeightGradientTerms { pass: &pass, strip: &strip, first, images, group };
                    self.add_terms_to_weight_gradient(&part, large, &self.interleave_small_side(&part, small), weight);
                }
            }
        }
    }

    /// Copies the small side's elements, with those of [`CHANNELS_PER_WEIGHT_BLOCK`] filters at a position side by side.
    fn interleave_small_side<T: ConvElement>(&self, part: &WeightGradientTerms<'_>, small: &[T]) -> Vec<T> {
        let [rows, columns] = part.strip.row_and_column_count();
        let (start, step) = part.pass.result_start_and_row_stride(part.strip);
        let count = part.images * rows * columns;
        let mut interleaved = vec![T::ZERO; self.filters.next_multiple_of(CHANNELS_PER_WEIGHT_BLOCK) * count];
        DisjointLines::new(&mut interleaved, CHANNELS_PER_WEIGHT_BLOCK * count).for_each(
            (GRAIN_SIZE / 16).div_ceil(CHANNELS_PER_WEIGHT_BLOCK * count),
            |panel, interleaved| {
                let filters =
                    panel * CHANNELS_PER_WEIGHT_BLOCK..self.filters.min((panel + 1) * CHANNELS_PER_WEIGHT_BLOCK);
                let lines = interleaved.as_chunks_mut::<CHANNELS_PER_WEIGHT_BLOCK>().0.chunks_exact_mut(columns);
                for (line, interleaved) in lines.enumerate() {
                    let item = (part.first + line / rows) * self.groups + part.group;
                    let row = item * self.filters * self.position_count() + start + line % rows * step;
                    interleave_lines(
                        &filters.clone().map(|filter| &small[row + filter * self.position_count()..][..columns]),
                        interleaved,
                    );
                }
            },
        );
        interleaved
    }

    /// Adds the contribution of some images to the gradient.
    fn add_terms_to_weight_gradient<T: ConvElement>(
        &self,
        part: &WeightGradientTerms<'_>,
        large: &[T],
        interleaved: &[T],
        weight: &mut [T],
    ) {
        /// The number of positions whose source elements stay in the L1 cache.
        const MAX_POSITIONS_IN_L1: usize = 1 << 8;
        let WeightGradientTerms { pass, strip, first, images, group } = *part;
        let area = images * strip.area;
        let positions = part.tile_offsets();
        let (taps, window) = (pass.taps.len(), self.tap_count());
        let blocks = self.channels.div_ceil(MAX_LANE_COUNT);
        let filters_each = self
            .filters
            .div_ceil(thread_pool::num_threads().div_ceil(blocks))
            .next_multiple_of(CHANNELS_PER_WEIGHT_BLOCK);
        let parts = self.filters.div_ceil(filters_each);
        let zeros = vec![T::ZERO; filters_each];
        let out = DisjointSlices::new(weight);
        let work = positions.len().saturating_mul(MAX_LANE_COUNT * taps * filters_each);
        thread_pool::parallel_for(0..blocks * parts, GRAIN_SIZE.div_ceil(work.max(1)), |pieces| {
            let (mut tile, mut interleaved_tile, mut sums) = (InputTile::new(), Vec::new(), Vec::new());
            for piece in pieces {
                let from = piece / parts * MAX_LANE_COUNT;
                let channels = from..self.channels.min(from + MAX_LANE_COUNT);
                let from = piece % parts * filters_each;
                let filters = from..self.filters.min(from + filters_each);
                tile.copy_channels(pass, strip, [channels.len(), images], |channel, image| {
                    self.large_side_channel(large, (first + image) * self.groups + group, channels.start + channel)
                });
                let beyond = tile.elements.len() - channels.len() * area;
                interleaved_tile.clear();
                interleaved_tile.resize(area + beyond, [T::ZERO; MAX_LANE_COUNT]);
                interleave_lines(&tile.elements.chunks_exact(area).take(channels.len()), &mut interleaved_tile[..area]);
                let mut offsets: Vec<_> = tile.offsets[..taps].iter().zip(0..).collect();
                offsets.sort_unstable();
                // The sums of taps with adjacent offsets are computed side by side.
                for run in offsets.chunk_by(|(before, _), (offset, _)| **before + 1 == **offset) {
                    let line = run.len() * MAX_LANE_COUNT;
                    sums.resize(filters.len().next_multiple_of(CHANNELS_PER_WEIGHT_BLOCK) * line, T::ZERO);
                    let all = ResultMicrokernel {
                        weights: &interleaved[filters.start * positions.len()..],
                        rows: filters.len(),
                        initial_sums: &zeros,
                        offsets: &positions,
                        cached_offsets: MAX_POSITIONS_IN_L1,
                        tile: interleaved_tile[*run[0].0..].as_flattened(),
                        positions: line,
                        results: &mut sums,
                        line,
                    };
                    all.compute();
                    for (filter, sums) in filters.clone().zip(sums.chunks_exact(line)) {
                        let row = (group * self.filters + filter) * self.channels;
                        let entries = (row + channels.start) * window..(row + channels.end) * window;
                        // SAFETY: the range is inside the weight, whose filters and channels are divided between the pieces.
                        let entries = unsafe { out.slice(entries) };
                        for (channel, entries) in entries.chunks_exact_mut(window).enumerate() {
                            for (at, &(_, tap)) in run.iter().enumerate() {
                                let entry = &mut entries[pass.taps[tap].index];
                                *entry = entry.plus(sums[at * MAX_LANE_COUNT + channel]);
                            }
                        }
                    }
                }
            }
        });
    }

    /// Returns a channel of an item of the large side.
    fn large_side_channel<'a, T>(&self, large: &'a [T], item: usize, channel: usize) -> &'a [T] {
        &large[self.large_side_range(item)][channel * self.large_side_area()..][..self.large_side_area()]
    }

    /// Computes the gradient for few filters or channels: the terms of each sum are adjacent.
    fn weight_gradient_of_few_filters<T: ConvElement>(&self, large: &[T], small: &[T], weight: &mut [T]) {
        /// The number of positions that are worth adding up at once, and that stay in the L1 cache for some filters.
        const POSITIONS_PER_BLOCK: usize = 1 << 11;
        let pass = self.pass_to_small_side();
        let (taps, window) = (pass.taps.len(), self.tap_count());
        if taps == 0 {
            return;
        }
        let strips = pass.divide_into_strips([1; 2], POSITIONS_PER_BLOCK * pass.tile_rows_per_channel_row(), 1);
        let Some(area) = strips.iter().map(|strip| strip.area).max() else { return };
        let images = (POSITIONS_PER_BLOCK / self.position_count()).clamp(1, self.batch.max(1));
        let blocks = self.channels.div_ceil((MAX_ELEMENTS_IN_L2 / (images * area)).clamp(1, self.channels.max(1)));
        let channels_each = self.channels.div_ceil(blocks.max(1)).max(1);
        let parts = thread_pool::num_threads().div_ceil((self.groups * blocks).max(1));
        let filters_each = self.filters.div_ceil(parts).next_multiple_of(MAX_FILTERS_IN_REGISTERS);
        let parts = self.filters.div_ceil(filters_each.max(1));
        let inner = self.channels * window;
        let out = DisjointSlices::new(weight);
        let work = (self.batch * self.position_count()).saturating_mul(channels_each * taps * filters_each);
        thread_pool::parallel_for(0..self.groups * blocks * parts, GRAIN_SIZE.div_ceil(work.max(1)), |pieces| {
            let mut tile = InputTile::new();
            for piece in pieces {
                let (group, block, part) = (piece / parts / blocks, piece / parts % blocks, piece % parts);
                let channels = block * channels_each..self.channels.min((block + 1) * channels_each);
                let filters = part * filters_each..self.filters.min((part + 1) * filters_each);
                for first in (0..self.batch).step_by(images) {
                    let images = first..self.batch.min(first + images);
                    for strip in &strips {
                        tile.copy_channels(&pass, strip, [channels.len(), images.len()], |channel, image| {
                            self.large_side_channel(
                                large,
                                (images.start + image) * self.groups + group,
                                channels.start + channel,
                            )
                        });
                        let [rows, columns] = strip.row_and_column_count();
                        let (start, step) = pass.result_start_and_row_stride(strip);
                        let from = ((first * self.groups + group) * self.filters + filters.start)
                            * self.position_count()
                            + start;
                        let microkernel = WeightGradientMicrokernel {
                            small: &small[from..],
                            filters: filters.len(),
                            tile: &tile.elements,
                            offsets: &tile.offsets,
                            images: images.len(),
                            rows,
                            columns,
                            small_steps: [
                                self.groups * self.filters * self.position_count(),
                                self.position_count(),
                                step,
                            ],
                            tile_steps: [strip.area, strip.pitch],
                        };
                        let row = (group * self.filters + filters.start) * inner + channels.start * window;
                        microkernel.compute(
                            #[inline(always)]
                            |filter, offset, sum| {
                                let number = pass.taps[offset % taps].index;
                                let at = row + filter * inner + offset / taps * window + number;
                                // SAFETY: the index is inside the weight, whose filters and channels are divided between the pieces.
                                let entry = unsafe { &mut out.slice(at..at + 1)[0] };
                                *entry = entry.plus(sum);
                            },
                        );
                    }
                }
            }
        });
    }

    /// Computes the gradient by matrix products, for a window of one element.
    fn weight_gradient_pointwise<T: ConvElement>(&self, large: &[T], small: &[T], weight: &mut [T]) {
        let (positions, filters, channels) = (self.position_count(), self.filters, self.channels);
        for (group, weight) in weight.chunks_exact_mut((filters * channels).max(1)).enumerate() {
            for item in (0..self.batch).map(|image| image * self.groups + group) {
                let small = Matrix::new(&small[item * filters * positions..], [filters, positions], [positions, 1]);
                let large = Matrix::new(&large[item * channels * positions..], [positions, channels], [1, positions]);
                let to = MatrixMut::new(weight, [filters, channels], [channels, 1]);
                let (Some(small), Some(large), Some(to)) = (small, large, to) else { continue };
                gemm(T::ONE, small, large, T::ONE, to);
            }
        }
    }
}

/// Window positions of some images that are summed together.
struct WeightGradientTerms<'a> {
    pass: &'a ConvPass,
    strip: &'a ResultStrip,
    first: usize,
    images: usize,
    group: usize,
}

impl WeightGradientTerms<'_> {
    /// Returns the offsets of the positions in a tile in which [`MAX_LANE_COUNT`] channels are interleaved.
    fn tile_offsets(&self) -> Vec<usize> {
        let [rows, columns] = self.strip.row_and_column_count();
        let lines = (0..self.images).flat_map(|image| (0..rows).map(move |row| (image, row)));
        let lines = lines.map(|(image, row)| image * self.strip.area + row * self.strip.pitch);
        lines.flat_map(|line| (line..line + columns).map(|place| place * MAX_LANE_COUNT)).collect()
    }
}

/// Interleaves lines: writes the first element of every line, then the second element of every line, and so on.
fn interleave_lines<'a, T: ConvElement, const N: usize>(
    lines: &(impl Iterator<Item = &'a [T]> + Clone),
    to: &mut [[T; N]],
) {
    /// The number of elements per line for which all lines stay in the L1 cache.
    const ELEMENTS_PER_BLOCK: usize = 64;
    for (block, to) in to.chunks_mut(ELEMENTS_PER_BLOCK).enumerate() {
        for (number, line) in lines.clone().enumerate() {
            for (to, &element) in to.iter_mut().zip(&line[block * ELEMENTS_PER_BLOCK..]) {
                to[number] = element;
            }
        }
    }
}
