//! Convolutions.
//!
//! A window that moves over the *large* side meets, at each of its places, an element of the *small* side. Three sums are all there is:
//! the small side from the large one, the large one from the small one, and the weight from both. A transposed convolution is the second
//! of them, and every gradient is one of the three. Each is a matrix product with the patches under the window as columns; a block of
//! them is made at a time, so that it stays near the processor.

mod moves;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Spec};

use crate::compute::Compute;
use crate::gemm::{Entry, Matrix, MatrixMut, gemm};
use crate::packed::{computed, filled, packed};
use crate::pool;
use moves::Moves;

/// What convolutions compute in.
trait Term: Compute + Entry<Sum = Self> {}

impl<T: Compute + Entry<Sum = T>> Term for T {}

/// Elements of a block of columns: what stays in the second cache.
const BLOCK: usize = 1 << 18;

#[op_impl(aten::convolution, CPU)]
#[expect(clippy::too_many_arguments, reason = "the operator has them")]
fn convolution(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
) -> Result<Tensor> {
    let found =
        aten::Convolution::new(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)?;
    let moves = Moves::of(&found, input, weight, transposed, groups);
    computed!(convolution "input", input.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        let (input_elements, weight) = (packed::<T>(input)?, packed::<T>(weight)?);
        let bias = bias.map(packed::<T>).transpose()?;
        filled(input.dtype(), &found.sizes, |out: &mut [T]| {
            if transposed {
                scatter(&moves, &input_elements, &weight, bias.as_deref(), out);
            } else {
                gather(&moves, &input_elements, &weight, bias.as_deref(), out);
            }
            Ok(())
        })
    })
}

#[op_impl(aten::convolution_backward, CPU)]
#[expect(clippy::too_many_arguments, reason = "the operator has them")]
fn convolution_backward(
    grad_output: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    _: Option<&[i64]>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let found = aten::check_convolution_backward(
        grad_output,
        input,
        weight,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        output_mask,
    )?;
    let moves = Moves::of(&found, input, weight, transposed, groups);
    let dtype = input.dtype();
    let unwanted = || Spec::contiguous(dtype, &[0]).on(input.device());
    computed!(convolution_backward "grad_output", dtype; T in [f32 f64 Complex32 Complex64] => {
        let (grad, input_elements, weight_elements) =
            (packed::<T>(grad_output)?, packed::<T>(input)?, packed::<T>(weight)?);
        let grad_input = if output_mask[0] {
            filled(dtype, input.sizes(), |out: &mut [T]| {
                if transposed {
                    gather(&moves, &grad, &weight_elements, None, out);
                } else {
                    scatter(&moves, &grad, &weight_elements, None, out);
                }
                Ok(())
            })?
        } else {
            unwanted()?
        };
        let grad_weight = if output_mask[1] {
            let (large, small) = if transposed { (&grad, &input_elements) } else { (&input_elements, &grad) };
            filled(dtype, weight.sizes(), |out: &mut [T]| {
                correlate(&moves, large, small, out);
                Ok(())
            })?
        } else {
            unwanted()?
        };
        let grad_bias = if output_mask[2] {
            filled(dtype, &found.sizes[1..2], |out: &mut [T]| {
                by_channel(&grad, grad_output.sizes(), out);
                Ok(())
            })?
        } else {
            unwanted()?
        };
        Ok((grad_input, grad_weight, grad_bias))
    })
}

#[op_impl(aten::im2col, CPU)]
fn im2col(this: &Tensor, kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) -> Result<Tensor> {
    let (window, sizes) = aten::columns(this, kernel_size, dilation, padding, stride)?;
    let moves = Moves::of_image(&window, this.sizes());
    computed!(im2col "self", this.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        let elements = packed::<T>(this)?;
        filled(this.dtype(), &sizes, |out: &mut [T]| {
            for item in 0..moves.batch {
                let (large, columns) = (moves.large_of(&elements, item), moves.columns_of(item));
                moves.unfold(large, 0..moves.channels, 0..moves.places(), &mut out[columns]);
            }
            Ok(())
        })
    })
}

#[op_impl(aten::col2im, CPU)]
fn col2im(
    this: &Tensor,
    output_size: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor> {
    let (window, sizes) = aten::image(this, output_size, kernel_size, dilation, padding, stride)?;
    let moves = Moves::of_image(&window, &sizes);
    computed!(col2im "self", this.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        let elements = packed::<T>(this)?;
        filled(this.dtype(), &sizes, |out: &mut [T]| {
            out.fill(<T as Compute>::ZERO);
            let mut columns = Vec::new();
            for item in 0..moves.batch {
                let large = moves.large_range(item, 0..moves.channels);
                columns.clear();
                columns.extend_from_slice(&elements[moves.columns_of(item)]);
                moves.fold(&mut columns, 0..moves.channels, &mut out[large]);
            }
            Ok(())
        })
    })
}

/// One, which is what products are scaled by.
fn one<T: Term>() -> T {
    T::from_scalar(Scalar::Int(1))
}

/// Sums of every channel.
fn by_channel<T: Term>(elements: &[T], sizes: &[i64], out: &mut [T]) {
    let places: usize = sizes[2..].iter().map(|&size| usize::try_from(size).unwrap_or(0)).product();
    out.fill(T::ZERO);
    if places > 0 {
        let channels = out.len();
        for (at, channel) in elements.chunks_exact(places).enumerate() {
            let sum = channel.chunks(256).map(|part| part.iter().fold(T::ZERO, |sum, &x| sum.plus(x)));
            let sum = sum.fold(T::ZERO, T::plus);
            out[at % channels] = out[at % channels].plus(sum);
        }
    }
}

/// What threads write apart from each other.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: a pointer to elements, each of which one thread writes.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// # Safety
    ///
    /// The elements are there, and nobody else has them.
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    unsafe fn slice(&self, range: std::ops::Range<usize>) -> &mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
    }
}

/// The small side: the weight times the patches of the large side, and a bias.
fn gather<T: Term>(moves: &Moves, large: &[T], weight: &[T], bias: Option<&[T]>, small: &mut [T]) {
    let (places, filters, taps) = (moves.places(), moves.filters, moves.taps());
    let inner = moves.channels * taps;
    if small.is_empty() {
        return;
    }
    let items = moves.batch * moves.groups;
    let width = (BLOCK / inner.max(1)).clamp(64, places.max(64));
    // Blocks of one width, and enough of them for all threads.
    let blocks = places.div_ceil(width).max(pool::num_threads().div_ceil(items).min(places.div_ceil(64)));
    let width = places.div_ceil(blocks).next_multiple_of(16);
    let width = if moves.is_pointwise() && items >= pool::num_threads() { places } else { width };
    let blocks = places.div_ceil(width);
    let out = Shared(small.as_mut_ptr());
    let work = inner.saturating_mul(filters).saturating_mul(width.min(places));
    pool::over(0..items * blocks, (1_usize << 18).div_ceil(work.max(1)), |pieces| {
        let out = &out;
        let mut columns = Vec::new();
        for piece in pieces {
            let (item, start) = (piece / blocks, piece % blocks * width);
            let (group, end) = (item % moves.groups, places.min(start + width));
            let from = moves.large_of(large, item);
            for filter in 0..filters {
                let line = (item * filters + filter) * places;
                let bias = bias.map_or(T::ZERO, |bias| bias[group * filters + filter]);
                // SAFETY: inside of the result; the places of a line are divided between the pieces.
                unsafe { out.slice(line + start..line + end) }.fill(bias);
            }
            if moves.channels == 1 && !moves.is_pointwise() {
                for filter in 0..filters {
                    let line = (item * filters + filter) * places;
                    // SAFETY: as above.
                    let line = unsafe { out.slice(line + start..line + end) };
                    moves.slide(from, &weight[(group * filters + filter) * taps..][..taps], start..end, line);
                }
                continue;
            }
            let (patches, line) = if moves.is_pointwise() {
                (&from[start.min(from.len())..], places)
            } else {
                columns.resize(inner * (end - start), T::ZERO);
                moves.unfold(from, 0..moves.channels, start..end, &mut columns);
                (&columns[..], end - start)
            };
            let weight = &weight[group * filters * inner..][..filters * inner];
            let weight = Matrix::new(weight, [filters, inner], [inner, 1]);
            let patches = Matrix::new(patches, [inner, end - start], [line, 1]);
            let (Some(weight), Some(patches)) = (weight, patches) else { continue };
            // SAFETY: the rows lie inside of the result, and the places of a row are divided between the pieces.
            let to = unsafe {
                let first = out.0.add(item * filters * places + start);
                MatrixMut::from_raw(first, [filters, end - start], [places.cast_signed(), 1])
            };
            gemm(one::<T>(), weight, patches, one::<T>(), to);
        }
    });
}

/// How many channels of a side are worked on at once: not all, where there are fewer items than threads.
fn channels_at_once(moves: &Moves, items: usize) -> usize {
    let wanted = match pool::num_threads().div_ceil(items.max(1)) {
        1 => 1,
        threads => threads * 2,
    };
    let near = (BLOCK * 2 / (moves.taps() * moves.places()).max(1)).max(1);
    moves.channels.div_ceil(wanted).clamp(1, near)
}

/// The large side: every element of the small side times the weight, added where the window is.
fn scatter<T: Term>(moves: &Moves, small: &[T], weight: &[T], bias: Option<&[T]>, large: &mut [T]) {
    let (places, filters, taps) = (moves.places(), moves.filters, moves.taps());
    let items = moves.batch * moves.groups;
    let step = channels_at_once(moves, items);
    let blocks = moves.channels.div_ceil(step);
    let out = Shared(large.as_mut_ptr());
    pool::over(0..items * blocks, 1, |pieces| {
        let out = &out;
        let mut columns = Vec::new();
        for piece in pieces {
            let (item, first) = (piece / blocks, piece % blocks * step);
            let (group, channels) = (item % moves.groups, first..moves.channels.min(first + step));
            let range = moves.large_range(item, channels.clone());
            let area = range.len() / channels.len();
            // SAFETY: inside of the result; the channels are divided between the pieces.
            let to = unsafe { out.slice(range) };
            for (at, channel) in to.chunks_exact_mut(area.max(1)).enumerate() {
                channel.fill(bias.map_or(T::ZERO, |bias| bias[group * moves.channels + first + at]));
            }
            let inner = moves.channels * taps;
            let rows = channels.len() * taps;
            let weight = &weight[(group * filters * inner + first * taps).min(weight.len())..];
            let from = &small[item * filters * places..][..filters * places];
            columns.resize(rows * places, T::ZERO);
            let weight = Matrix::new(weight, [rows, filters], [1, inner]);
            let from = Matrix::new(from, [filters, places], [places, 1]);
            let patches = MatrixMut::new(&mut columns, [rows, places], [places, 1]);
            let (Some(weight), Some(from), Some(patches)) = (weight, from, patches) else { continue };
            gemm(one::<T>(), weight, from, T::ZERO, patches);
            moves.fold(&mut columns, channels, to);
        }
    });
}

/// The weight: the small side times the patches of the large side, over the batch.
fn correlate<T: Term>(moves: &Moves, large: &[T], small: &[T], weight: &mut [T]) {
    let (places, filters, taps) = (moves.places(), moves.filters, moves.taps());
    let inner = moves.channels * taps;
    let step = channels_at_once(moves, moves.groups);
    let blocks = moves.channels.div_ceil(step);
    weight.fill(T::ZERO);
    let out = Shared(weight.as_mut_ptr());
    pool::each(moves.groups * blocks, |piece| {
        let out = &out;
        let (group, first) = (piece / blocks, piece % blocks * step);
        let channels = first..moves.channels.min(first + step);
        let rows = channels.len() * taps;
        let mut columns = vec![T::ZERO; rows * places];
        for image in 0..moves.batch {
            let item = image * moves.groups + group;
            moves.unfold(moves.large_of(large, item), channels.clone(), 0..places, &mut columns);
            let from = Matrix::new(&small[item * filters * places..], [filters, places], [places, 1]);
            let patches = Matrix::new(&columns, [rows, places], [places, 1]);
            let (Some(from), Some(patches)) = (from, patches) else { continue };
            // SAFETY: the columns of a group's rows are divided between the pieces.
            let to = unsafe {
                let start = out.0.add(group * filters * inner + first * taps);
                MatrixMut::from_raw(start, [filters, rows], [inner.cast_signed(), 1])
            };
            gemm(one::<T>(), from, patches.transposed(), one::<T>(), to);
        }
    });
}
