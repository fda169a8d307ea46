//! CUDA kernels of normalisation: layer norm and group norm (lines), batch norm (channels) and softmax.
//!
//! A line stays in registers between its statistics and its output. Gradients of parameters are summed in two stages: first within rows or
//! planes, then over them.
#![expect(unsafe_code, reason = "kernels are native code")]

mod batch;
mod group;
mod layer;
mod lines;
mod softmax;

use crate::engine::reduce::reduction_dtype;
use crate::engine::walk::FastDivisor;
use crate::families::norm::lines::Lines;
use crate::families::norm::softmax::DTYPE_PAIRS;
use crate::prelude::*;

kernel! {
    // SAFETY: the launches in this module and its submodules pass packed tensors, with as many statistics as lines and as many parameters
    // as channels.
    static NORMALIZATION_KERNEL = unsafe { Kernel::new("normalization", include_str!("../../kernels/norm/normalization.cu"), |instances| {
        for (of, parameters) in DTYPE_PAIRS {
            for template in ["normalize_lines", "normalize_lines_backward"] {
                instances.add(template, &[of, parameters]);
            }
        }
        instances.add_templates_for_each_dtype(&["sum_gradients_by_plane", "sum_gradients_by_column", "apply_channels"], &FLOATING_DTYPES);
        instances.add_templates_for_each_dtype(&["parameter_gradients", "batch_statistics"], &[DType::F32, DType::F64]);
    }) };
}

define_parameters! {
    /// The kernels' `struct StridedVector`: the address, stride and dtype of a vector.
    struct StridedVector {
        address: DevicePointer,
        stride: i64,
        dtype: i32,
    }
}

impl StridedVector {
    const NULL: Self = Self { address: DevicePointer::NULL, stride: 0, dtype: 0 };

    /// Describes a tensor that has one dimension or is contiguous. Returns [`StridedVector::NULL`] for `None` and for an empty tensor.
    fn from_tensor(launch: Launch, tensor: Option<&Tensor>) -> Result<Self> {
        let Some(tensor) = tensor.filter(|tensor| tensor.geometry().count() > 0) else { return Ok(Self::NULL) };
        let stride = if let [stride] = tensor.strides() { *stride } else { 1 };
        Ok(Self {
            address: launch.pointer(tensor)?,
            stride: stride * element_size(tensor),
            dtype: tensor.dtype() as i32,
        })
    }
}

define_parameters! {
    /// The kernels' `struct ParameterMap`: the map from an element of a line to its parameter.
    struct ParameterIndexMap {
        groups: u32,
        each: u32,
        area: FastDivisor,
    }
}

impl ParameterIndexMap {
    fn new([groups, each, area]: [i64; 3]) -> Self {
        let [groups, each, area] = [groups, each, area].map(|size| u32::try_from(size).unwrap_or(u32::MAX >> 1));
        Self { groups: groups.max(1), each, area: FastDivisor::new(area) }
    }
}

/// Returns the parameters in a dtype that kernels can read, and that dtype: the input's, or single precision for half-precision inputs.
fn convert_parameters(input: &Tensor, given: [Option<&Tensor>; 2]) -> Result<(DType, [Option<Tensor>; 2])> {
    let of = input.dtype();
    let wanted = given[0].or(given[1]).map_or(of, Tensor::dtype);
    let dtype = if DTYPE_PAIRS.contains(&(of, wanted)) { wanted } else { reduction_dtype(of).unwrap_or(of) };
    let [weight, bias] = given.map(|tensor| tensor.map(|tensor| contiguous(tensor, dtype)).transpose());
    Ok((dtype, [weight?, bias?]))
}

/// Normalises lines of an input and computes their statistics. There are as many lines as means.
fn normalize_lines(
    [out, mean, rstd]: [&mut Tensor; 3],
    input: &Tensor,
    given: [Option<&Tensor>; 2],
    eps: f64,
    map: [i64; 3],
) -> Result<()> {
    let (launch, count) = (Launch::on_device_of(out)?, mean.geometry().count());
    let (dtype, [weight, bias]) = convert_parameters(input, given)?;
    let (input, of) = (contiguous(input, input.dtype())?, input.dtype());
    let (weight, bias) = (launch.pointer_or_null(weight.as_ref())?, launch.pointer_or_null(bias.as_ref())?);
    let (from, length) = (launch.pointer(&input)?, input.geometry().count() / count.max(1));
    let statistics = (StridedVector::from_tensor(launch, Some(mean))?, StridedVector::from_tensor(launch, Some(rstd))?);
    with_contiguous_output(out, out.dtype(), |out| {
        let to = launch.pointer(out)?;
        let lines =
            Lines::divide_among_threads(launch, count, length, &[(from, of), (to, of), (weight, dtype), (bias, dtype)]);
        let arguments = (from, to, weight, bias, statistics.0, statistics.1, eps, lines, ParameterIndexMap::new(map));
        Ok(launch.run(&NORMALIZATION_KERNEL, "normalize_lines", &[of, dtype], lines.looping_grid(launch), arguments)?)
    })
}

/// The contiguous inputs of a backward pass: the cotangent, the input and the statistics.
struct BackwardInputs {
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
}

impl BackwardInputs {
    fn new(grad: &Tensor, input: &Tensor, [mean, rstd]: [&Tensor; 2]) -> Result<Self> {
        Ok(Self {
            grad: contiguous(grad, input.dtype())?,
            input: contiguous(input, input.dtype())?,
            mean: contiguous(mean, mean.dtype())?,
            rstd: contiguous(rstd, rstd.dtype())?,
        })
    }

    fn grad_and_input_pointers(&self, launch: Launch) -> Result<(DevicePointer, DevicePointer)> {
        Ok((launch.pointer(&self.grad)?, launch.pointer(&self.input)?))
    }

    fn statistic_vectors(&self, launch: Launch) -> Result<(StridedVector, StridedVector)> {
        Ok((
            StridedVector::from_tensor(launch, Some(&self.mean))?,
            StridedVector::from_tensor(launch, Some(&self.rstd))?,
        ))
    }

    /// Computes the gradient of an input whose lines are normalised.
    fn compute_input_gradient(&self, weight: Option<&Tensor>, out: &mut Tensor, map: [i64; 3]) -> Result<()> {
        let (launch, count, of) = (Launch::on_device_of(out)?, self.mean.geometry().count(), self.input.dtype());
        let (dtype, [weight, _]) = convert_parameters(&self.input, [weight, None])?;
        let ((grad, from), weight) = (self.grad_and_input_pointers(launch)?, launch.pointer_or_null(weight.as_ref())?);
        let (length, (mean, rstd)) = (self.input.geometry().count() / count.max(1), self.statistic_vectors(launch)?);
        with_contiguous_output(out, out.dtype(), |out| {
            let to = launch.pointer(out)?;
            let lines = Lines::divide_among_threads(
                launch,
                count,
                length,
                &[(grad, of), (from, of), (to, of), (weight, dtype)],
            );
            let arguments = (grad, from, to, weight, mean, rstd, lines, ParameterIndexMap::new(map));
            Ok(launch.run(&NORMALIZATION_KERNEL, "normalize_lines_backward", &[of, dtype], lines.grid(), arguments)?)
        })
    }

    /// Sums the gradients over each of `[images, channels, area]` planes. `together` channels share one of `statistics` statistics.
    fn sum_gradients_by_plane(
        &self,
        [images, channels, area]: [i64; 3],
        [together, statistics]: [i64; 2],
    ) -> Result<PartialGradientSums> {
        let launch = Launch::on_device_of(&self.input)?;
        let wanted = i64::from(launch.multiprocessors()) / (images * channels).max(1);
        let mut pieces = 1;
        while pieces < wanted && area % (pieces * 8) == 0 && area / pieces >= 1 << 14 {
            pieces *= 2;
        }
        let gradient_sums = PartialGradientSums::new(&self.input, images, channels, pieces)?;
        let (of, (grad, from)) = (self.input.dtype(), self.grad_and_input_pointers(launch)?);
        let lines =
            Lines::divide_among_threads(launch, images * channels * pieces, area / pieces, &[(grad, of), (from, of)]);
        let (mean, rstd) = self.statistic_vectors(launch)?;
        let [together, statistics] =
            [together * pieces, statistics].map(|size| u32::try_from(size.max(1)).unwrap_or(u32::MAX));
        let arguments = (grad, from, &gradient_sums.sums, mean, rstd, lines, together, statistics);
        launch.run(&NORMALIZATION_KERNEL, "sum_gradients_by_plane", &[of], lines.grid(), arguments)?;
        Ok(gradient_sums)
    }

    /// Sums the gradients of each column over the rows. The statistics are per row, or per column if `has_column_statistics` is set.
    fn sum_gradients_by_column(
        &self,
        count: i64,
        columns: i64,
        has_column_statistics: bool,
    ) -> Result<PartialGradientSums> {
        let launch = Launch::on_device_of(&self.input)?;
        let blocks = columns.unsigned_abs().div_ceil(128);
        let wanted = (u64::from(launch.multiprocessors()) * 4).div_ceil(blocks.max(1));
        let parts = wanted.min(count.unsigned_abs() / 64).max(1);
        let chunk = count.unsigned_abs().div_ceil(parts);
        let gradient_sums = PartialGradientSums::new(&self.input, parts.cast_signed(), columns, 1)?;
        let (of, (grad, from)) = (self.input.dtype(), self.grad_and_input_pointers(launch)?);
        let aligned = |address: DevicePointer| address.is_aligned_to(4 * of.size() as u64);
        let shape = ColumnSumShape {
            count,
            chunk: chunk.cast_signed(),
            columns: u32::try_from(columns).unwrap_or(u32::MAX),
            packed: u32::from(columns % 4 == 0 && aligned(grad) && aligned(from)),
            by_column: has_column_statistics.into(),
        };
        let (mean, rstd) = self.statistic_vectors(launch)?;
        let blocks = Grid::from_block_count(blocks * parts, 256);
        launch.run(
            &NORMALIZATION_KERNEL,
            "sum_gradients_by_column",
            &[of],
            blocks,
            (grad, from, &gradient_sums.sums, mean, rstd, shape),
        )?;
        Ok(gradient_sums)
    }
}

define_parameters! {
    /// The kernels' `struct ColumnSumShape`: the rows and columns whose gradients are summed.
    struct ColumnSumShape {
        count: i64,
        chunk: i64,
        columns: u32,
        packed: u32,
        by_column: u32,
    }
}

/// Partial sums for channels: of gradients times normalised inputs, and of gradients.
struct PartialGradientSums {
    sums: Tensor,
    parts: i64,
    channels: i64,
    pieces: i64,
}

impl PartialGradientSums {
    fn new(input: &Tensor, parts: i64, channels: i64, pieces: i64) -> Result<Self> {
        let dtype = reduction_dtype(input.dtype()).unwrap_or(DType::F32);
        let sums = Spec::contiguous(dtype, &[parts * channels * pieces, 2]).on(input.device())?;
        Ok(Self { sums, parts, channels, pieces })
    }

    /// Adds the partial sums up to the gradients of weight and bias. With `with_coefficients`, also computes the channels' coefficients for
    /// the input's gradient.
    fn compute_parameter_gradients(
        &self,
        out: [&Tensor; 2],
        with_coefficients: Option<(&Tensor, &BackwardInputs, Option<&Tensor>, f64)>,
    ) -> Result<()> {
        let launch = Launch::on_device_of(&self.sums)?;
        let [of_weight, of_bias] =
            [StridedVector::from_tensor(launch, Some(out[0]))?, StridedVector::from_tensor(launch, Some(out[1]))?];
        let (mut coefficients_address, mut known, mut by, mut count) =
            (DevicePointer::NULL, (StridedVector::NULL, StridedVector::NULL), StridedVector::NULL, 1.0);
        if let Some((coefficients, statistics, weight, elements)) = with_coefficients {
            coefficients_address = launch.pointer(coefficients)?;
            known = statistics.statistic_vectors(launch)?;
            by = StridedVector::from_tensor(launch, weight)?;
            count = elements;
        }
        let [channels, parts, pieces] =
            [self.channels, self.parts, self.pieces].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        let arguments = (
            &self.sums,
            of_weight,
            of_bias,
            coefficients_address,
            known.0,
            known.1,
            by,
            channels,
            parts,
            pieces,
            count,
        );
        let grid = Grid::new(channels.div_ceil(32), 256);
        Ok(launch.run(&NORMALIZATION_KERNEL, "parameter_gradients", &[self.sums.dtype()], grid, arguments)?)
    }
}
