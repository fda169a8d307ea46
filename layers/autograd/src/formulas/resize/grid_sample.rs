//! Gradient formulas of grid sampling.
//!
//! The output is linear in the image, so the second derivative uses the sampler itself, and the derivatives of its weights. The weight of
//! each of the neighboring elements is a polynomial of the offset of the sampling position from the first of them.

use aten::prelude::*;
use aten::{GridSamplePlan, Interpolation, PaddingMode};
use dispatch_runtime::prelude::*;

use crate::formulas::reduction::sums::sum_optional_gradients;
use crate::op_grad;

macro_rules! grid_sampler_derivatives {
    ($($name:ident $backward:ident;)*) => {$(
        #[op_grad(aten::$name)]
        fn $name(grad: &Tensor, needs: &[bool], _: ...) -> Result<(Option<Tensor>, Option<Tensor>)> {
            let modes = (interpolation_mode, padding_mode);
            let (of_input, of_grid) = aten::$backward(grad, input, grid, modes.0, modes.1, align_corners, needs)?;
            Ok((needs[0].then_some(of_input), needs[1].then_some(of_grid)))
        }

        #[op_grad(aten::$backward)]
        fn $backward(
            grad0: Option<&Tensor>,
            grad1: Option<&Tensor>,
            _: ...
        ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
            let (mut output, mut of_input, mut of_grid) = (None, None, None);
            if let Some(image) = grad0.filter(|_| output_mask[0]) {
                let modes = (interpolation_mode, padding_mode);
                output = Some(aten::$name(image, grid, modes.0, modes.1, align_corners)?);
                let mask = [false, true];
                of_grid = Some(aten::$backward(grad_output, image, grid, modes.0, modes.1, align_corners, &mask)?.1);
            }
            if let Some(shift) = grad1.filter(|_| output_mask[1]) {
                let plan = aten::$name::plan(input, grid, interpolation_mode, padding_mode, align_corners)?;
                let derivative = GridShiftDerivative::new(&plan.value, grad_output, input, grid, shift)?;
                output = sum_optional_gradients(output, Some(derivative.output))?;
                of_input = Some(derivative.image);
                of_grid = sum_optional_gradients(of_grid, Some(derivative.grid))?;
            }
            Ok((output, of_input, of_grid))
        }
    )*};
}

grid_sampler_derivatives! {
    grid_sampler_2d grid_sampler_2d_backward;
    grid_sampler_3d grid_sampler_3d_backward;
}

/// The directional derivative of the sampled output along a shift of the grid, and its gradients for the image and for the grid.
struct GridShiftDerivative {
    output: Tensor,
    image: Tensor,
    grid: Tensor,
}

impl GridShiftDerivative {
    fn new(
        sampling: &GridSamplePlan,
        grad_output: &Tensor,
        input: &Tensor,
        grid: &Tensor,
        shift: &Tensor,
    ) -> Result<Self> {
        let sizes = &input.sizes()[2..];
        // Coordinates need more precision than elements.
        let dtype = if input.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
        let flat = |elements: &Tensor| elements.to(dtype)?.flatten_dims(2, -1);
        let (image, slopes) = (flat(input)?, flat(grad_output)?);
        let (coordinates, shifts) = (split_coordinates(&grid.to(dtype)?)?, split_coordinates(&shift.to(dtype)?)?);
        let mut every = vec![Vec::new()];
        for (coordinate, &size) in coordinates.iter().zip(sizes) {
            let taps = ImageDim::new(sampling, size).sampled_elements(coordinate)?;
            let with = |some: &Vec<SampledElement>, tap: &SampledElement| some.iter().chain([tap]).cloned().collect();
            every = every.iter().flat_map(|some| taps.iter().map(move |tap| with(some, tap))).collect();
        }
        let (mut output, mut of_image) = (slopes.zeros_like()?, image.zeros_like()?);
        let mut of_grid = shifts.iter().map(Tensor::zeros_like).collect::<Result<Vec<Tensor>>>()?;
        for taps in every {
            let mut index = taps[0].index.clone();
            for (tap, &size) in taps.iter().zip(sizes).skip(1) {
                index = ((index * size)? + &tap.index)?;
            }
            let index = index.expand(slopes.sizes())?;
            let element = image.gather(2, &index)?;
            let weight = weight_derivative(&taps, &shifts, None)?;
            output = (output + (&element * &weight)?)?;
            of_image = of_image.scatter_add(2, &index, &(&slopes * weight)?)?;
            let element = (element * &slopes)?.sum_keepdim(1)?;
            for (dim, to) in of_grid.iter_mut().enumerate() {
                *to = (&*to + (&element * weight_derivative(&taps, &shifts, Some(dim))?)?)?;
            }
        }
        of_grid.reverse();
        Ok(Self {
            output: output.reshape(grad_output.sizes())?,
            image: of_image.reshape(input.sizes())?,
            grid: aten::stack(&of_grid, -1)?.reshape(grid.sizes())?,
        })
    }
}

/// Returns the coordinates of a grid, one tensor per dimension of the image, flattened to one channel.
fn split_coordinates(grid: &Tensor) -> Result<Vec<Tensor>> {
    let sizes = grid.sizes();
    let positions = dispatch_runtime::element_count(&sizes[1..sizes.len() - 1]);
    grid.unbind(-1)?.iter().rev().map(|coordinate| coordinate.reshape([sizes[0], 1, positions])).collect()
}

/// Returns the directional derivative of an element's weight along the shifts, or its derivative along one dimension.
fn weight_derivative(taps: &[SampledElement], shifts: &[Tensor], along: Option<usize>) -> Result<Tensor> {
    let mut sum = None;
    for (moved, shift) in shifts.iter().enumerate() {
        let mut product = shift.clone();
        for (dim, tap) in taps.iter().enumerate() {
            let order = usize::from(dim == moved) + usize::from(along == Some(dim));
            product = (product * &tap.weight[order])?;
        }
        sum = sum_optional_gradients(sum, Some(product))?;
    }
    sum.map_or_else(|| taps[0].weight[0].zeros_like(), Ok)
}

/// A sampled element along one dimension: its index, and its weight with first and second derivative. The weight is zero outside of the
/// image.
#[derive(Clone)]
struct SampledElement {
    index: Tensor,
    weight: [Tensor; 3],
}

/// One dimension of an image: its size, and the linear map from grid coordinates (-1 to 1) to positions.
struct ImageDim<'a> {
    sampling: &'a GridSamplePlan,
    size: f64,
    start: f64,
    span: f64,
}

impl<'a> ImageDim<'a> {
    #[expect(clippy::cast_precision_loss, reason = "sizes of images are small")]
    fn new(sampling: &'a GridSamplePlan, size: i64) -> Self {
        let size = size as f64;
        let (start, span) = if sampling.align_corners { (0.0, size - 1.0) } else { (-0.5, size) };
        Self { sampling, size, start, span }
    }

    /// Returns the elements along this dimension that are sampled at a coordinate.
    fn sampled_elements(&self, coordinate: &Tensor) -> Result<Vec<SampledElement>> {
        let (between, scale) = (self.sampling.interpolation, self.span / 2.0);
        let position = (((coordinate + 1)? * scale)? + self.start)?;
        // For cubic interpolation, padding applies to the index of each sampled element, not to the position.
        let is_cubic = between == Interpolation::Cubic;
        let (position, sign) =
            if is_cubic { (position.clone(), position.ones_like()?) } else { self.apply_padding(&position)? };
        let first = if between == Interpolation::Nearest { position.round()? } else { position.floor()? };
        let (offset_in_cell, stretch) = ((position - &first)?, (sign * scale)?);
        let taps = weight_polynomials(between).iter().zip(if is_cubic { -1.. } else { 0.. }).map(
            |(coefficients, offset): (_, i64)| {
                let mut index = (&first + offset)?;
                if is_cubic {
                    index = self.apply_padding(&index)?.0;
                }
                // The comparison is negated, so that NaN counts as outside of the image.
                let outside = index.ge(0)?.logical_and(&index.lt(self.size)?)?.logical_not()?;
                let inside = |weight: Tensor| weight.masked_fill(&outside, 0);
                let slope = polynomial_derivative(coefficients);
                let weight = [
                    inside(evaluate_polynomial(coefficients, &offset_in_cell)?)?,
                    inside((evaluate_polynomial(&slope, &offset_in_cell)? * &stretch)?)?,
                    inside(
                        (evaluate_polynomial(&polynomial_derivative(&slope), &offset_in_cell)? * stretch.square()?)?,
                    )?,
                ];
                Ok(SampledElement { index: index.masked_fill(&outside, 0)?.to(DType::I64)?, weight })
            },
        );
        taps.collect()
    }

    /// Clips or mirrors positions into the image according to the padding mode. Also returns the derivative of the new positions.
    fn apply_padding(&self, position: &Tensor) -> Result<(Tensor, Tensor)> {
        let (start, span, last, one) = (self.start, self.span, self.size - 1.0, position.ones_like()?);
        let (position, sign) = match self.sampling.padding_mode {
            PaddingMode::Zeros => return Ok((position.clone(), one)),
            PaddingMode::Reflection if span > 0.0 => {
                let far = (position - start)?.abs()?;
                let (rest, turned) = (far.fmod(span)?, (&far / span)?.floor()?.fmod(2)?.ne(0)?);
                let mirrored = aten::where_self(&turned, &((start + span) - &rest)?, &(&rest + start)?)?;
                let is_reversed = turned.logical_xor(&position.lt(start)?)?;
                (mirrored, aten::where_self(&is_reversed, &(-&one)?, &one)?)
            }
            PaddingMode::Border | PaddingMode::Reflection => (position.clone(), one),
        };
        let clipped = position.le(0)?.logical_or(&position.ge(last)?)?;
        Ok((position.clamp(0.0..=last)?, sign.masked_fill(&clipped, 0)?))
    }
}

/// Returns the weight polynomial of each sampled element: the coefficients of all powers of the offset from the first element.
fn weight_polynomials(between: Interpolation) -> &'static [&'static [f64]] {
    const CUBIC_COEFFICIENT: f64 = -0.75;
    match between {
        Interpolation::Nearest => &[&[1.0]],
        Interpolation::Linear => &[&[1.0, -1.0], &[0.0, 1.0]],
        Interpolation::Cubic => &[
            &[0.0, CUBIC_COEFFICIENT, -2.0 * CUBIC_COEFFICIENT, CUBIC_COEFFICIENT],
            &[1.0, 0.0, -CUBIC_COEFFICIENT - 3.0, CUBIC_COEFFICIENT + 2.0],
            &[0.0, -CUBIC_COEFFICIENT, 2.0 * CUBIC_COEFFICIENT + 3.0, -CUBIC_COEFFICIENT - 2.0],
            &[0.0, 0.0, CUBIC_COEFFICIENT, -CUBIC_COEFFICIENT],
        ],
    }
}

fn evaluate_polynomial(coefficients: &[f64], x: &Tensor) -> Result<Tensor> {
    coefficients.iter().rev().fold(x.zeros_like(), |sum, coefficient| (sum? * x)? + *coefficient)
}

fn polynomial_derivative(coefficients: &[f64]) -> Vec<f64> {
    coefficients.iter().zip(0..).skip(1).map(|(coefficient, power)| coefficient * f64::from(power)).collect()
}
