//! The CPU kernels of `deform_conv2d` and its gradients: the columns of interpolated points, and matrix products with the weight.
//!
//! A column has the values of all points that one pixel of the result reads. Images are processed one after the other, each by all threads.

mod columns;
mod gradients;
mod points;

use dispatch_runtime::prelude::*;
use kernels_cpu::engine::gemm::{Entry, Matrix, MatrixMut, gemm};
use kernels_cpu::engine::parallel_chunks;

use super::elements::{contiguous, fill_with_zeros, filled_vec, is_empty};
use crate::{_deform_conv2d_backward, DeformableConvolution, deform_conv2d};
use columns::{pad_image, write_columns};
use gradients::ColumnGradients;
use points::{Point, PointBounds, find_points};

impl DeformableConvolution {
    /// The number of elements of the kernel.
    fn kernel_size(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// The number of pixels of an image.
    fn image_area(&self) -> usize {
        self.image[0] * self.image[1]
    }

    /// The number of pixels of the result.
    fn result_area(&self) -> usize {
        self.result[0] * self.result[1]
    }

    /// The number of channels that share their offsets.
    fn channels_per_offset_group(&self) -> usize {
        self.channels / self.offset_groups
    }

    /// The number of points for which there are offsets, of all groups and all pixels of the result.
    fn point_count(&self) -> usize {
        self.offset_groups * self.kernel_size() * self.result_area()
    }

    /// The number of elements of all columns.
    fn column_elements(&self) -> usize {
        self.channels * self.kernel_size() * self.result_area()
    }

    /// The width of an image with its border of zeros: a pixel on each side.
    fn padded_width(&self) -> usize {
        self.image[1] + 2
    }

    /// The number of pixels of an image with its border: a row above and two below, of which the last two have no pixel of the image.
    fn padded_area(&self) -> usize {
        (self.image[0] + 3) * self.padded_width()
    }

    /// The sizes of the matrices of a group: the rows and columns of the weight, and the number of pixels of the result.
    fn group_sizes(&self) -> [usize; 3] {
        [self.out_channels / self.groups, self.channels / self.groups * self.kernel_size(), self.result_area()]
    }
}

/// The elements of the arguments of a convolution.
struct Arguments<'a, T> {
    input: &'a [T],
    weight: &'a [T],
    offset: &'a [T],
    mask: Option<&'a [T]>,
}

impl<T: Copy> Arguments<'_, T> {
    /// Returns the parts of the arguments that belong to one image: its pixels, offsets and factors.
    fn of_image(&self, plan: &DeformableConvolution, image: usize) -> ImageArguments<'_, T> {
        let points = plan.point_count();
        let size = plan.channels * plan.image_area();
        ImageArguments {
            pixels: &self.input[image * size..][..size],
            offset: &self.offset[2 * image * points..][..2 * points],
            mask: self.mask.map(|mask| &mask[image * points..][..points]),
        }
    }
}

/// The elements of the arguments for one image.
struct ImageArguments<'a, T> {
    pixels: &'a [T],
    offset: &'a [T],
    mask: Option<&'a [T]>,
}

#[op_impl(deform_conv2d, CPU, dtypes(floating))]
fn deform_conv2d_cpu<T: Floating + Entry>(
    plan: &DeformableConvolution,
    out: &mut Tensor,
    input: &Tensor,
    weight: &Tensor,
    offset: &Tensor,
    mask: &Tensor,
    bias: &Tensor,
    use_mask: bool,
) -> Result<()> {
    if is_empty(out) {
        return Ok(());
    }
    let [input, weight, offset] = [contiguous(input)?, contiguous(weight)?, contiguous(offset)?];
    let mask = if use_mask { Some(contiguous(mask)?) } else { None };
    let (input, weight, offset) = (input.read::<T>()?, weight.read::<T>()?, offset.read::<T>()?);
    let mask = mask.as_ref().map(Tensor::read::<T>).transpose()?;
    let arguments = Arguments { input: &input, weight: &weight, offset: &offset, mask: mask.as_deref() };
    let bias = bias.to_vec::<T>()?;
    let mut result = out.write::<T>()?;
    let mut points = filled_vec(Point::default(), plan.point_count())?;
    let mut padded = filled_vec(T::ZERO, plan.channels * plan.padded_area())?;
    let mut columns = filled_vec(T::ZERO, plan.column_elements())?;
    for (image, result) in result.chunks_exact_mut(plan.out_channels * plan.result_area()).enumerate() {
        let of_image = arguments.of_image(plan, image);
        find_points(plan, of_image.offset, PointBounds::Values, &mut points);
        pad_image(plan, of_image.pixels, &mut padded);
        write_columns(plan, &padded, &points, of_image.mask, &mut columns);
        multiply_by_weight(plan, &weight, &columns, result)?;
        parallel_chunks(result, plan.result_area(), 1, |channel, pixels| {
            for pixel in pixels {
                *pixel = *pixel + bias[channel];
            }
        });
    }
    Ok(())
}

/// Computes the products of the weight and the columns, for each group.
fn multiply_by_weight<T: Entry>(
    plan: &DeformableConvolution,
    weight: &[T],
    columns: &[T],
    result: &mut [T],
) -> Result<()> {
    let [rows, inner, area] = plan.group_sizes();
    for group in 0..plan.groups {
        let weight = matrix(&weight[group * rows * inner..], [rows, inner])?;
        let columns = matrix(&columns[group * inner * area..], [inner, area])?;
        let result = matrix_mut(&mut result[group * rows * area..], [rows, area])?;
        gemm(<T::Sum as Arithmetic>::ONE, weight, columns, <T::Sum as Arithmetic>::ZERO, result);
    }
    Ok(())
}

/// Returns the first elements of a slice as a matrix.
fn matrix<T: Entry>(elements: &[T], sizes: [usize; 2]) -> Result<Matrix<'_, T>> {
    Matrix::new(elements, sizes, [sizes[1], 1]).ok_or_else(too_few_elements)
}

/// Returns the first elements of a slice as the transpose of a matrix of these sizes.
fn transposed<T: Entry>(elements: &[T], sizes: [usize; 2]) -> Result<Matrix<'_, T>> {
    Matrix::new(elements, [sizes[1], sizes[0]], [1, sizes[1]]).ok_or_else(too_few_elements)
}

/// Returns the first elements of a slice as a matrix that is written.
fn matrix_mut<T: Entry>(elements: &mut [T], sizes: [usize; 2]) -> Result<MatrixMut<'_, T>> {
    MatrixMut::new(elements, sizes, [sizes[1], 1]).ok_or_else(too_few_elements)
}

#[cold]
fn too_few_elements() -> Error {
    Error::kernel("the matrices of the convolution have fewer elements than its sizes state")
}

#[op_impl(_deform_conv2d_backward, CPU, dtypes(floating), by = grad)]
fn deform_conv2d_backward_cpu<T: Floating + Entry>(
    plan: &DeformableConvolution,
    out: [&mut Tensor; 5],
    grad: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    offset: &Tensor,
    mask: &Tensor,
    use_mask: bool,
) -> Result<()> {
    let [of_input, of_weight, of_offset, of_mask, of_bias] = out;
    for out in [&mut *of_input, &mut *of_weight, &mut *of_offset, &mut *of_bias] {
        fill_with_zeros::<T>(out)?;
    }
    aten::zero_(of_mask)?;
    if is_empty(grad) {
        return Ok(());
    }
    let [grad, input, weight, offset] =
        [contiguous(grad)?, contiguous(input)?, contiguous(weight)?, contiguous(offset)?];
    let mask = if use_mask { Some(contiguous(mask)?) } else { None };
    let (grad, input, weight, offset) =
        (grad.read::<T>()?, input.read::<T>()?, weight.read::<T>()?, offset.read::<T>()?);
    let mask = mask.as_ref().map(Tensor::read::<T>).transpose()?;
    let arguments = Arguments { input: &input, weight: &weight, offset: &offset, mask: mask.as_deref() };
    write_bias_gradient(plan, &grad, &mut of_bias.write::<T>()?);
    let (mut of_input, mut of_weight) = (of_input.write::<T>()?, of_weight.write::<T>()?);
    let mut of_offset = of_offset.write::<T>()?;
    let mut of_mask = if use_mask { Some(of_mask.write::<T>()?) } else { None };
    let mut scratch = BackwardScratch::new(plan)?;
    for (image, grad) in grad.chunks_exact(plan.out_channels * plan.result_area()).enumerate() {
        let points = plan.point_count();
        let of_image = ImageGradients {
            pixels: &mut of_input[image * plan.channels * plan.image_area()..][..plan.channels * plan.image_area()],
            offset: &mut of_offset[2 * image * points..][..2 * points],
            mask: of_mask.as_mut().map(|mask| &mut mask[image * points..][..points]),
        };
        scratch.add_gradients_of_image(plan, &arguments, image, grad, of_image, &mut of_weight)?;
    }
    Ok(())
}

/// Writes the sums of the gradient over images and pixels.
fn write_bias_gradient<T: Floating>(plan: &DeformableConvolution, grad: &[T], out: &mut [T]) {
    let area = plan.result_area();
    for (channel, out) in out.iter_mut().enumerate() {
        let images = grad.chunks_exact(plan.out_channels * area).map(|image| &image[channel * area..][..area]);
        *out = T::from_f64(images.flatten().map(|grad| grad.to_f64()).sum());
    }
}

/// The gradients for one image, as parts of the results.
struct ImageGradients<'a, T> {
    pixels: &'a mut [T],
    offset: &'a mut [T],
    mask: Option<&'a mut [T]>,
}

/// The memory that the gradients of all images use in turn.
struct BackwardScratch<T> {
    points: Vec<Point<T>>,
    padded: Vec<T>,
    padded_gradient: Vec<T>,
    columns: Vec<T>,
}

impl<T: Floating + Entry> BackwardScratch<T> {
    fn new(plan: &DeformableConvolution) -> Result<Self> {
        let padded = filled_vec(T::ZERO, plan.channels * plan.padded_area())?;
        Ok(Self {
            points: filled_vec(Point::default(), plan.point_count())?,
            padded_gradient: filled_vec(T::ZERO, padded.len())?,
            padded,
            columns: filled_vec(T::ZERO, plan.column_elements())?,
        })
    }

    fn add_gradients_of_image(
        &mut self,
        plan: &DeformableConvolution,
        arguments: &Arguments<'_, T>,
        image: usize,
        grad: &[T],
        out: ImageGradients<'_, T>,
        of_weight: &mut [T],
    ) -> Result<()> {
        let Self { points, padded, padded_gradient, columns } = self;
        let of_image = arguments.of_image(plan, image);
        let [rows, inner, area] = plan.group_sizes();
        let (one, zero) = (<T::Sum as Arithmetic>::ONE, <T::Sum as Arithmetic>::ZERO);
        find_points(plan, of_image.offset, PointBounds::Gradients, points);
        pad_image(plan, of_image.pixels, padded);
        write_columns(plan, padded, points, of_image.mask, columns);
        for group in 0..plan.groups {
            let grad = matrix(&grad[group * rows * area..], [rows, area])?;
            let columns = transposed(&columns[group * inner * area..], [inner, area])?;
            gemm(one, grad, columns, one, matrix_mut(&mut of_weight[group * rows * inner..], [rows, inner])?);
        }
        for group in 0..plan.groups {
            let weight = transposed(&arguments.weight[group * rows * inner..], [rows, inner])?;
            let grad = matrix(&grad[group * rows * area..], [rows, area])?;
            gemm(one, weight, grad, zero, matrix_mut(&mut columns[group * inner * area..], [inner, area])?);
        }
        let gradients = ColumnGradients { plan, padded, points, mask: of_image.mask, columns };
        gradients.write_offset(out.offset);
        if let Some(out) = out.mask {
            gradients.write_mask(out);
        }
        gradients.write_image(padded_gradient, out.pixels);
        Ok(())
    }
}
