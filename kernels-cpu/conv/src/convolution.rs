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
use crate::input_tile::{InputTile, Pass, Rows, Strip, copy_row};
use crate::microkernel::{LANES, OutputSums, ROWS, STEP, Term};
use crate::{GRAIN, NEAR};
use engine::contiguous::{computed, fill, packed};
use engine::elementwise::prefetch;
use engine::gemm::{Batch, BatchMut, batched};
use engine::thread_pool::{self, DisjointSlices, Lines};

/// The number of sums that stay in the L2 cache beside other data.
const SUMS: usize = 1 << 16;

/// The distance in channels at which weights are prefetched.
const AHEAD: usize = 8;

#[op_impl(aten::convolution, CPU)]
fn convolution(plan: &Window, out: &mut Tensor, _: ...) -> Result<()> {
    let geometry = ConvGeometry::of(plan, [input.sizes(), out.sizes()], weight, transposed, groups);
    computed!(convolution "input", input.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        let (input, weight) = (packed::<T>(input)?, packed::<T>(weight)?);
        let bias = bias.map(packed::<T>).transpose()?;
        fill(out, |out: &mut [T]| {
            if transposed {
                geometry.scatter(&input, &weight, bias.as_deref(), out);
            } else {
                geometry.gather(&input, &weight, bias.as_deref(), out);
            }
            Ok(())
        })
    })
}

#[op_impl(aten::convolution_backward, CPU)]
fn convolution_backward(plan: &Window, [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let geometry = ConvGeometry::of(plan, [input.sizes(), grad_output.sizes()], weight, transposed, groups);
    computed!(convolution_backward "grad_output", input.dtype(); T in [f32 f64 Complex32 Complex64] => {
        let (grad, input, weight) = (packed::<T>(grad_output)?, packed::<T>(input)?, packed::<T>(weight)?);
        if output_mask[0] {
            fill(of_input, |out: &mut [T]| {
                if transposed {
                    geometry.gather(&grad, &weight, None, out);
                } else {
                    geometry.scatter(&grad, &weight, None, out);
                }
                Ok(())
            })?;
        }
        if output_mask[1] {
            let (large, small) = if transposed { (&grad, &input) } else { (&input, &grad) };
            fill(of_weight, |out: &mut [T]| {
                geometry.weight_gradient(large, small, out);
                Ok(())
            })?;
        }
        if output_mask[2] {
            let but_channels: Vec<i64> = (0..).take(grad_output.sizes().len()).filter(|&dim| dim != 1).collect();
            aten::sum_intlist_out(grad_output, Some(&but_channels), false, None, of_bias)?;
        }
        Ok(())
    })
}

impl ConvGeometry {
    /// Computes the small side: the sum of the weight times the large side under the window, and a bias.
    fn gather<T: Term>(&self, large: &[T], weight: &[T], bias: Option<&[T]>, small: &mut [T]) {
        if large.is_empty() || weight.is_empty() {
            return bias_only(bias, self.places(), small);
        }
        let product = Product {
            items: self.batch * self.groups,
            groups: self.groups,
            source: (self.channels, self.area()),
            result: (self.filters, self.places()),
            steps: (self.taps(), self.channels * self.taps()),
        };
        if self.is_pointwise() {
            product.multiply(large, weight, bias, small);
        } else {
            product.compute(&self.gathering(), large, weight, bias, small);
        }
    }

    /// Computes the large side: the weight times the small side, added at the window's positions, and a bias.
    fn scatter<T: Term>(&self, small: &[T], weight: &[T], bias: Option<&[T]>, large: &mut [T]) {
        if small.is_empty() || weight.is_empty() {
            return bias_only(bias, self.area(), large);
        }
        let product = Product {
            items: self.batch * self.groups,
            groups: self.groups,
            source: (self.filters, self.places()),
            result: (self.channels, self.area()),
            steps: (self.channels * self.taps(), self.taps()),
        };
        if self.is_pointwise() {
            return product.multiply(small, weight, bias, large);
        }
        for pass in self.scattering() {
            product.compute(&pass, small, weight, bias, large);
        }
    }
}

/// Fills every channel of the result with its bias, or with zero.
fn bias_only<T: Term>(bias: Option<&[T]>, area: usize, result: &mut [T]) {
    result.fill(T::ZERO);
    if let Some(bias) = bias {
        let channels = result.chunks_exact_mut(area.max(1)).zip(bias.iter().cycle());
        channels.for_each(|(channel, &bias)| channel.fill(bias));
    }
}

/// A sum of weight times source, whose result is the other side.
struct Product {
    items: usize,
    groups: usize,
    /// The number of channels per item, and of elements per channel.
    source: (usize, usize),
    result: (usize, usize),
    /// The strides of the weight, for the channels of the source and of the result.
    steps: (usize, usize),
}

impl Product {
    fn compute<T: Term>(&self, pass: &Pass, source: &[T], weight: &[T], bias: Option<&[T]>, result: &mut [T]) {
        let inner = self.source.0 * pass.taps.len();
        let rows = self.result.0;
        if result.is_empty() {
            return;
        }
        let weights = self.weights(pass, weight);
        let lines = rows.next_multiple_of(ROWS);
        let mut starts = vec![T::ZERO; self.groups * lines];
        for (starts, bias) in starts.chunks_exact_mut(lines).zip(bias.unwrap_or_default().chunks_exact(rows)) {
            starts[..rows].copy_from_slice(bias);
        }
        let pieces = if thread_pool::threads_here() == 1 { 1 } else { 2 * thread_pool::num_threads() };
        let batch = self.items / self.groups;
        // With few channels, computing several images together costs more than it saves, as their results must be separated.
        let most = if self.source.0 < LANES { 1 } else { batch / pieces.div_ceil(self.groups).min(batch) };
        let strips = pass.strips([batch, most], NEAR / self.source.0.max(1), pieces.div_ceil(self.items));
        let together = strips.first().map_or(1, |strip| strip.images);
        let items = batch.div_ceil(together) * self.groups;
        let chunks = pieces.div_ceil(items * strips.len().max(1)).min(lines / ROWS);
        let chunk = rows.div_ceil(chunks).next_multiple_of(ROWS);
        let chunks = rows.div_ceil(chunk);
        let out = DisjointSlices::new(result);
        let work = strips.first().map_or(1, Strip::places).saturating_mul(inner.max(1)).saturating_mul(chunk.min(rows));
        thread_pool::parallel_for(0..chunks * items * strips.len(), GRAIN.div_ceil(work.max(1)), |pieces| {
            let (mut field, mut sums) = (InputTile::new(), Vec::new());
            for piece in pieces {
                let (item, strip) = (piece / strips.len() % items, &strips[piece % strips.len()]);
                let first = piece / strips.len() / items * chunk;
                let group = item % self.groups;
                let first_image = item / self.groups * together;
                // The last group may have fewer images: its last image is then computed more than once.
                let of_image = |image: usize| (first_image + image).min(batch - 1) * self.groups + group;
                let (start, end) = (group * lines + first, (group + 1) * lines);
                let weights = Weights { numbers: &weights[start * inner..end * inner], start: &starts[start..end] };
                field.lay_out(pass, strip, [self.source.0, 1], |channel, image| {
                    &source[(of_image(image) * self.source.0 + channel) * self.source.1..][..self.source.1]
                });
                let height = chunk.min(rows - first);
                add_up(&field, &mut sums, pass, strip, weights, height, |row, image, sums: &[T], results| {
                    let Rows { at, count, width, down, step, .. } = results;
                    let start = (of_image(image) * rows + first + row) * self.result.1 + at;
                    for (start, sums) in (start..).step_by(down).zip(sums.chunks(strip.pitch)).take(count) {
                        // SAFETY: the range is inside the result. Rows and results of strips are divided between the pieces, and passes run
                        // one after another.
                        let line = unsafe { out.slice(start..start + (width - 1) * step + 1) };
                        if step == 1 {
                            copy_row(&sums[..width], line);
                        } else {
                            line.iter_mut().step_by(step).zip(sums).for_each(|(to, &sum)| *to = sum);
                        }
                    }
                });
            }
        });
    }

    /// Computes the result by matrix products, for a window of one element.
    fn multiply<T: Term>(&self, source: &[T], weight: &[T], bias: Option<&[T]>, result: &mut [T]) {
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
            let weight = Batch::new(weight, [images, rows, channels], [0, self.steps.1, self.steps.0]);
            let source =
                Batch::new(&source[first..], [images, channels, area], [self.groups * channels * area, area, 1]);
            let into = BatchMut::new(result, [images, rows, area], [self.groups * rows * area, area, 1]);
            let (Some(weight), Some(source), Some(into)) = (weight, source, into) else { return };
            batched(T::ONE, weight, source, if bias.is_some() { T::ONE } else { T::ZERO }, into);
        }
    }

    /// Copies the weight into the order in which it is read: for each block of [`ROWS`] rows, their weights for each channel and tap.
    fn weights<T: Term>(&self, pass: &Pass, weight: &[T]) -> Vec<T> {
        let (channels, rows, taps) = (self.source.0, self.result.0, pass.taps.len());
        let blocks = rows.div_ceil(ROWS);
        let mut packed = vec![T::ZERO; self.groups * blocks * channels * taps * ROWS];
        let of_group = weight.len() / self.groups;
        let lines = Lines::new(&mut packed, channels * taps * ROWS);
        lines.each((GRAIN / 8).div_ceil(channels * taps * ROWS + 1), |line, numbers| {
            let (group, first) = (line / blocks, line % blocks * ROWS);
            let of_line = &weight[group * of_group + first * self.steps.1..];
            let height = ROWS.min(rows - first);
            let reach = (height * self.steps.1).min(ROWS * taps) * size_of::<T>();
            for (channel, numbers) in numbers.chunks_exact_mut(taps * ROWS).enumerate() {
                prefetch::for_reading(of_line.as_ptr().wrapping_add((channel + AHEAD) * self.steps.0).cast(), reach);
                for row in 0..height {
                    let window = &of_line[channel * self.steps.0 + row * self.steps.1..];
                    for (tap, numbers) in pass.taps.iter().zip(numbers.as_chunks_mut::<ROWS>().0) {
                        numbers[row] = window[tap.number];
                    }
                }
            }
        });
        packed
    }
}

/// The packed weights of some rows, and the initial values of their sums.
#[derive(Clone, Copy)]
struct Weights<'a, T> {
    numbers: &'a [T],
    start: &'a [T],
}

/// Computes the sums of a strip, and passes those that are results to `put`, with their row, image and destination.
fn add_up<T: Term>(
    field: &InputTile<T>,
    sums: &mut Vec<T>,
    pass: &Pass,
    strip: &Strip,
    weights: Weights<'_, T>,
    rows: usize,
    mut put: impl FnMut(usize, usize, &[T], Rows),
) {
    let lines = rows.next_multiple_of(ROWS);
    let places = strip.places();
    let at_once = (SUMS / rows.max(1) / STEP).max(1) * STEP;
    for first in (0..places).step_by(at_once) {
        let count = at_once.min(places - first);
        let line = count.next_multiple_of(LANES);
        sums.resize(lines * line, T::ZERO);
        let all = OutputSums {
            weights: weights.numbers,
            start: weights.start,
            rows,
            offsets: &field.offsets,
            near: InputTile::<T>::near(pass),
            field: &field.elements[first..],
            places: count,
            results: sums,
            line,
        };
        all.compute();
        for (row, sums) in sums.chunks_exact(line).take(rows).enumerate() {
            pass.results(strip, first..first + count, |image, results| {
                put(row, image, &sums[results.place..], results);
            });
        }
    }
}
