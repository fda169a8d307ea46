//! Convolutions and their gradients.
//!
//! The *large* side is the image that the window moves over, and the *small* side has an element for each position of the window. There are
//! only three sums: the small side from the large side, the large side from the small side, and the weight from both. A transposed
//! convolution is the second sum, and every gradient is one of the three. The first two use the same algorithm: the source is copied, one
//! cache-sized part at a time, into a layout in which adjacent results need adjacent elements.

use aten::Window;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64};

use crate::geometry::ConvGeometry;
use crate::input_tile::{ConvPass, ImageResultRows, InputTile, ResultStrip, copy_short_row};
use crate::microkernel::{
    CHANNELS_PER_WEIGHT_BLOCK, ConvElement, MAX_LANE_COUNT, MAX_ROW_ELEMENTS_IN_REGISTERS, ResultMicrokernel,
};
use crate::{GRAIN_SIZE, MAX_ELEMENTS_IN_L2};
use engine::contiguous::{contiguous_elements, with_compute_type, write_contiguous};
use engine::elementwise::prefetch;
use engine::gemm::{Batch, BatchMut, batched_gemm};
use engine::thread_pool::{self, DisjointLines, DisjointSlices};

/// The number of sums that stay in the L2 cache beside other data.
const MAX_SUMS_IN_L2: usize = 1 << 16;

/// The distance in channels at which weights are prefetched.
const PREFETCH_CHANNEL_DISTANCE: usize = 8;

#[op_impl(aten::convolution, CPU)]
fn convolution(plan: &Window, out: &mut Tensor, _: ...) -> Result<()> {
    let geometry = ConvGeometry::for_convolution(plan, [input.sizes(), out.sizes()], weight, transposed, groups);
    with_compute_type!(convolution "input", input.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        let (input, weight) = (contiguous_elements::<T>(input)?, contiguous_elements::<T>(weight)?);
        let bias = bias.map(contiguous_elements::<T>).transpose()?;
        write_contiguous(out, |out: &mut [T]| {
            if transposed {
                geometry.convolve_transposed(&input, &weight, bias.as_deref(), out);
            } else {
                geometry.convolve(&input, &weight, bias.as_deref(), out);
            }
            Ok(())
        })
    })
}

#[op_impl(aten::convolution_backward, CPU)]
fn convolution_backward(plan: &Window, [input_grad, weight_grad, bias_grad]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let geometry =
        ConvGeometry::for_convolution(plan, [input.sizes(), grad_output.sizes()], weight, transposed, groups);
    with_compute_type!(convolution_backward "grad_output", input.dtype(); T in [f32 f64 Complex32 Complex64] => {
        let (grad, input, weight) = (contiguous_elements::<T>(grad_output)?, contiguous_elements::<T>(input)?, contiguous_elements::<T>(weight)?);
        if output_mask[0] {
            write_contiguous(input_grad, |out: &mut [T]| {
                if transposed {
                    geometry.convolve(&grad, &weight, None, out);
                } else {
                    geometry.convolve_transposed(&grad, &weight, None, out);
                }
                Ok(())
            })?;
        }
        if output_mask[1] {
            let (large, small) = if transposed { (&grad, &input) } else { (&input, &grad) };
            write_contiguous(weight_grad, |out: &mut [T]| {
                geometry.weight_gradient(large, small, out);
                Ok(())
            })?;
        }
        if output_mask[2] {
            let but_channels: Vec<i64> = (0..).take(grad_output.sizes().len()).filter(|&dim| dim != 1).collect();
            aten::sum_intlist_out(grad_output, Some(&but_channels), false, None, bias_grad)?;
        }
        Ok(())
    })
}

impl ConvGeometry {
    /// Computes the small side: the sum of the weight times the large side under the window, and a bias.
    fn convolve<T: ConvElement>(&self, large: &[T], weight: &[T], bias: Option<&[T]>, small: &mut [T]) {
        if large.is_empty() || weight.is_empty() {
            return fill_with_bias(bias, self.position_count(), small);
        }
        if let Some((pointwise, columns)) = self.unfold_disjoint_windows(large) {
            return pointwise.convolve(&columns, weight, bias, small);
        }
        let layout = DirectedConvolution {
            items: self.batch * self.groups,
            groups: self.groups,
            source: (self.channels, self.large_side_area()),
            result: (self.filters, self.position_count()),
            weight_strides: (self.tap_count(), self.channels * self.tap_count()),
        };
        if self.is_pointwise() {
            layout.compute_pointwise(large, weight, bias, small);
        } else {
            layout.compute_pass(&self.pass_to_small_side(), large, weight, bias, small);
        }
    }

    /// Computes the large side: the weight times the small side, added at the window's positions, and a bias.
    fn convolve_transposed<T: ConvElement>(&self, small: &[T], weight: &[T], bias: Option<&[T]>, large: &mut [T]) {
        if small.is_empty() || weight.is_empty() {
            return fill_with_bias(bias, self.large_side_area(), large);
        }
        if self.is_faster_unfolded() {
            let mut columns = vec![T::ZERO; self.unfolded_count()];
            self.pointwise_over_unfolded().convolve_transposed(small, weight, None, &mut columns);
            fill_with_bias(bias, self.large_side_area(), large);
            return self.fold(&columns, large);
        }
        let layout = DirectedConvolution {
            items: self.batch * self.groups,
            groups: self.groups,
            source: (self.filters, self.position_count()),
            result: (self.channels, self.large_side_area()),
            weight_strides: (self.channels * self.tap_count(), self.tap_count()),
        };
        if self.is_pointwise() {
            return layout.compute_pointwise(small, weight, bias, large);
        }
        for pass in self.passes_to_large_side() {
            layout.compute_pass(&pass, small, weight, bias, large);
        }
    }
}

impl ConvGeometry {
    /// Returns whether matrix products of the unfolded image are faster than the passes over the image.
    fn is_faster_unfolded(&self) -> bool {
        !self.is_pointwise()
            && self.has_disjoint_windows()
            && self.filters >= CHANNELS_PER_WEIGHT_BLOCK
            && self.channels * self.tap_count() >= CHANNELS_PER_WEIGHT_BLOCK
    }

    /// Returns the unfolded large side and the window over it, if matrix products are faster.
    pub(super) fn unfold_disjoint_windows<T: ConvElement>(&self, large: &[T]) -> Option<(Self, Vec<T>)> {
        self.is_faster_unfolded().then(|| {
            let mut columns = vec![T::ZERO; self.unfolded_count()];
            self.unfold(large, &mut columns);
            (self.pointwise_over_unfolded(), columns)
        })
    }
}

/// Fills every channel of the result with its bias, or with zero.
fn fill_with_bias<T: ConvElement>(bias: Option<&[T]>, area: usize, result: &mut [T]) {
    result.fill(T::ZERO);
    if let Some(bias) = bias {
        let channels = result.chunks_exact_mut(area.max(1)).zip(bias.iter().cycle());
        channels.for_each(|(channel, &bias)| channel.fill(bias));
    }
}

/// A convolution in one direction: each element of the result is a sum of weights times elements of the source.
struct DirectedConvolution {
    items: usize,
    groups: usize,
    /// The number of channels per item, and of elements per channel.
    source: (usize, usize),
    result: (usize, usize),
    /// The strides of the weight, for the channels of the source and of the result.
    weight_strides: (usize, usize),
}

impl DirectedConvolution {
    fn compute_pass<T: ConvElement>(
        &self,
        pass: &ConvPass,
        source: &[T],
        weight: &[T],
        bias: Option<&[T]>,
        result: &mut [T],
    ) {
        let inner = self.source.0 * pass.taps.len();
        let rows = self.result.0;
        if result.is_empty() {
            return;
        }
        let weights = self.pack_weights(pass, weight);
        let lines = rows.next_multiple_of(CHANNELS_PER_WEIGHT_BLOCK);
        let mut starts = vec![T::ZERO; self.groups * lines];
        for (starts, bias) in starts.chunks_exact_mut(lines).zip(bias.unwrap_or_default().chunks_exact(rows)) {
            starts[..rows].copy_from_slice(bias);
        }
        let pieces = if thread_pool::region_thread_count() == 1 { 1 } else { 2 * thread_pool::num_threads() };
        let batch = self.items / self.groups;
        // With few channels, computing several images together costs more than it saves, as their results must be separated.
        let most = if self.source.0 < MAX_LANE_COUNT { 1 } else { batch / pieces.div_ceil(self.groups).min(batch) };
        let strips = pass.divide_into_strips(
            [batch, most],
            MAX_ELEMENTS_IN_L2 / self.source.0.max(1),
            pieces.div_ceil(self.items),
        );
        let together = strips.first().map_or(1, |strip| strip.images);
        let items = batch.div_ceil(together) * self.groups;
        let chunks = pieces.div_ceil(items * strips.len().max(1)).min(lines / CHANNELS_PER_WEIGHT_BLOCK);
        let chunk = rows.div_ceil(chunks).next_multiple_of(CHANNELS_PER_WEIGHT_BLOCK);
        let chunks = rows.div_ceil(chunk);
        let out = DisjointSlices::new(result);
        let work = strips
            .first()
            .map_or(1, ResultStrip::sum_count)
            .saturating_mul(inner.max(1))
            .saturating_mul(chunk.min(rows));
        thread_pool::parallel_for(0..chunks * items * strips.len(), GRAIN_SIZE.div_ceil(work.max(1)), |pieces| {
            let (mut tile, mut sums) = (InputTile::new(), Vec::new());
            for piece in pieces {
                let (item, strip) = (piece / strips.len() % items, &strips[piece % strips.len()]);
                let first = piece / strips.len() / items * chunk;
                let group = item % self.groups;
                let first_image = item / self.groups * together;
                // The last group may have fewer images: its last image is then computed more than once.
                let of_image = |image: usize| (first_image + image).min(batch - 1) * self.groups + group;
                let (start, end) = (group * lines + first, (group + 1) * lines);
                let weights =
                    PackedWeights { values: &weights[start * inner..end * inner], initial_sums: &starts[start..end] };
                tile.copy_channels(pass, strip, [self.source.0, 1], |channel, image| {
                    &source[(of_image(image) * self.source.0 + channel) * self.source.1..][..self.source.1]
                });
                let height = chunk.min(rows - first);
                compute_strip_sums(
                    &tile,
                    &mut sums,
                    pass,
                    strip,
                    weights,
                    height,
                    |row, image, sums: &[T], results| {
                        let ImageResultRows { image_index, count, width, row_stride, step, .. } = results;
                        let start = (of_image(image) * rows + first + row) * self.result.1 + image_index;
                        for (start, sums) in (start..).step_by(row_stride).zip(sums.chunks(strip.pitch)).take(count) {
                            // SAFETY: the range is inside the result. Rows and results of strips are divided between the pieces, and passes
                            // run one after another.
                            let line = unsafe { out.slice(start..start + (width - 1) * step + 1) };
                            if step == 1 {
                                copy_short_row(&sums[..width], line);
                            } else {
                                line.iter_mut().step_by(step).zip(sums).for_each(|(to, &sum)| *to = sum);
                            }
                        }
                    },
                );
            }
        });
    }

    /// Computes the result by matrix products, for a window of one element.
    fn compute_pointwise<T: ConvElement>(&self, source: &[T], weight: &[T], bias: Option<&[T]>, result: &mut [T]) {
        let ((channels, area), rows, images) = (self.source, self.result.0, self.items / self.groups);
        if result.is_empty() {
            return;
        }
        for group in 0..self.groups {
            let weight = &weight[group * rows * channels..];
            let first = group * channels * area;
            let result = &mut result[group * rows * area..];
            if let Some(bias) = bias {
                for image in result.chunks_mut(self.groups * rows * area) {
                    let lines = image.chunks_exact_mut(area.max(1)).zip(&bias[group * rows..]);
                    lines.take(rows).for_each(|(line, &bias)| line.fill(bias));
                }
            }
            let weight =
                Batch::new(weight, [images, rows, channels], [0, self.weight_strides.1, self.weight_strides.0]);
            let source =
                Batch::new(&source[first..], [images, channels, area], [self.groups * channels * area, area, 1]);
            let into = BatchMut::new(result, [images, rows, area], [self.groups * rows * area, area, 1]);
            let (Some(weight), Some(source), Some(into)) = (weight, source, into) else { return };
            batched_gemm(T::ONE, weight, source, if bias.is_some() { T::ONE } else { T::ZERO }, into);
        }
    }

    /// Copies the weight into the order in which it is read: for each block of [`CHANNELS_PER_WEIGHT_BLOCK`] rows, their weights for each
    /// channel and tap.
    fn pack_weights<T: ConvElement>(&self, pass: &ConvPass, weight: &[T]) -> Vec<T> {
        let (channels, rows, taps) = (self.source.0, self.result.0, pass.taps.len());
        let blocks = rows.div_ceil(CHANNELS_PER_WEIGHT_BLOCK);
        let mut packed = vec![T::ZERO; self.groups * blocks * channels * taps * CHANNELS_PER_WEIGHT_BLOCK];
        let of_group = weight.len() / self.groups;
        let lines = DisjointLines::new(&mut packed, channels * taps * CHANNELS_PER_WEIGHT_BLOCK);
        lines.for_each((GRAIN_SIZE / 8).div_ceil(channels * taps * CHANNELS_PER_WEIGHT_BLOCK + 1), |line, values| {
            let (group, first) = (line / blocks, line % blocks * CHANNELS_PER_WEIGHT_BLOCK);
            let of_line = &weight[group * of_group + first * self.weight_strides.1..];
            let height = CHANNELS_PER_WEIGHT_BLOCK.min(rows - first);
            let reach = (height * self.weight_strides.1).min(CHANNELS_PER_WEIGHT_BLOCK * taps) * size_of::<T>();
            for (channel, values) in values.chunks_exact_mut(taps * CHANNELS_PER_WEIGHT_BLOCK).enumerate() {
                prefetch::prefetch_for_reading(
                    of_line.as_ptr().wrapping_add((channel + PREFETCH_CHANNEL_DISTANCE) * self.weight_strides.0).cast(),
                    reach,
                );
                let values = values.as_chunks_mut::<CHANNELS_PER_WEIGHT_BLOCK>().0;
                let window = |row: usize| &of_line[channel * self.weight_strides.0 + row * self.weight_strides.1..];
                if height == CHANNELS_PER_WEIGHT_BLOCK {
                    let windows: [&[T]; CHANNELS_PER_WEIGHT_BLOCK] = std::array::from_fn(window);
                    for (tap, values) in pass.taps.iter().zip(values) {
                        *values = windows.map(|window| window[tap.index]);
                    }
                } else {
                    for row in 0..height {
                        let window = window(row);
                        for (tap, values) in pass.taps.iter().zip(&mut *values) {
                            values[row] = window[tap.index];
                        }
                    }
                }
            }
        });
        packed
    }
}

/// The packed weights of some rows, and the initial values of their sums.
#[derive(Clone, Copy)]
struct PackedWeights<'a, T> {
    values: &'a [T],
    initial_sums: &'a [T],
}

/// Computes the sums of a strip, and passes those that are results to `write_results`, with their row, image and destination.
fn compute_strip_sums<T: ConvElement>(
    tile: &InputTile<T>,
    sums: &mut Vec<T>,
    pass: &ConvPass,
    strip: &ResultStrip,
    weights: PackedWeights<'_, T>,
    rows: usize,
    mut write_results: impl FnMut(usize, usize, &[T], ImageResultRows),
) {
    let lines = rows.next_multiple_of(CHANNELS_PER_WEIGHT_BLOCK);
    let positions = strip.sum_count();
    let at_once = (MAX_SUMS_IN_L2 / rows.max(1) / MAX_ROW_ELEMENTS_IN_REGISTERS).max(1) * MAX_ROW_ELEMENTS_IN_REGISTERS;
    for first in (0..positions).step_by(at_once) {
        let count = at_once.min(positions - first);
        let line = count.next_multiple_of(MAX_LANE_COUNT);
        sums.resize(lines * line, T::ZERO);
        let all = ResultMicrokernel {
            weights: weights.values,
            initial_sums: weights.initial_sums,
            rows,
            offsets: &tile.offsets,
            cached_offsets: InputTile::<T>::max_offsets_in_l1(pass),
            tile: &tile.elements[first..],
            positions: count,
            results: sums,
            line,
        };
        all.compute();
        for (row, sums) in sums.chunks_exact(line).take(rows).enumerate() {
            pass.visit_result_rows(strip, first..first + count, |image, results| {
                write_results(row, image, &sums[results.strip_position..], results);
            });
        }
    }
}
