//! CUDA kernels of convolutions and their gradients.
//!
//! A window moves over the *large* side, and each of its positions belongs to an element of the *small* side. There are three sums: the
//! small side from the large one, the large one from the small one, and the weight from both. A transposed convolution is the second, and
//! every gradient is one of the three. Each is a matrix product whose elements are read where they are: no patches are copied.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Window;

use crate::engine::gemm::{self, MatrixOperand, MatrixView, ProductTask};
use crate::engine::images::Images;
use crate::engine::walk::FastDivisor;
use crate::prelude::*;

/// The dtypes that convolutions are computed in. Narrower integers are converted.
const COMPUTE_DTYPES: [DType; 5] = [DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64];
const F32_ACCUMULATED_DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

kernel! {
    // SAFETY: `kernel_geometry` gives each side the sizes and strides of its tensor, the weight is packed, and `parts` has a plane for each
    // portion.
    static CONVOLUTION_KERNEL = unsafe { Kernel::new("convolution", include_str!("../../../kernels/conv/convolution.cu"), |instances| {
        for templates in [SMALL_FROM_LARGE_KERNELS, LARGE_FROM_SMALL_KERNELS] {
            instances.add_for_each_dtype(templates.large_tiles, &F32_ACCUMULATED_DTYPES);
            instances.add_for_each_dtype(templates.small_tiles, &FLOATING_DTYPES);
            instances.add_for_each_dtype(templates.sum_portions, &FLOATING_DTYPES);
            instances.add_for_each_dtype(templates.direct, &COMPUTE_DTYPES);
        }
        instances.add_for_each_dtype(WEIGHT_GRADIENT_KERNELS.large_tiles, &F32_ACCUMULATED_DTYPES);
        instances.add_templates_for_each_dtype(&[WEIGHT_GRADIENT_KERNELS.small_tiles, WEIGHT_GRADIENT_KERNELS.direct, WEIGHT_GRADIENT_KERNELS.sum_portions], &FLOATING_DTYPES);
    }) };
}

/// The names of the kernels that compute one of the small images, the large images or the weight's gradient.
#[derive(Clone, Copy)]
struct ConvKernelNames {
    large_tiles: &'static str,
    small_tiles: &'static str,
    direct: &'static str,
    sum_portions: &'static str,
}

const SMALL_FROM_LARGE_KERNELS: ConvKernelNames = ConvKernelNames {
    large_tiles: "small_from_large_128",
    small_tiles: "small_from_large_64",
    direct: "small_from_large_direct",
    sum_portions: "small_from_large_sum",
};
const LARGE_FROM_SMALL_KERNELS: ConvKernelNames = ConvKernelNames {
    large_tiles: "large_from_small_128",
    small_tiles: "large_from_small_64",
    direct: "large_from_small_direct",
    sum_portions: "large_from_small_sum",
};
const WEIGHT_GRADIENT_KERNELS: ConvKernelNames = ConvKernelNames {
    large_tiles: "weight_gradient_128",
    small_tiles: "weight_gradient_64",
    direct: "weight_gradient_direct",
    sum_portions: "weight_gradient_sum",
};

#[op_impl(aten::convolution, CUDA)]
fn convolution(plan: &Window, out: &mut Tensor, _: ...) -> Result<()> {
    check_dtype(aten::convolution::operator(), "input", input.dtype(), &NUMERIC_DTYPES)?;
    let convolution = Convolution { window: plan, groups };
    if input.dtype().is_integral() && input.dtype() != DType::I64 {
        let wide = |tensor: &Tensor| contiguous(tensor, DType::I64);
        let (bias, beside) = (bias.map(wide).transpose()?, out.allocate_like(DType::I64)?);
        convolution.compute_small_or_large(&beside, &wide(input)?, &wide(weight)?, bias.as_ref(), transposed)?;
        return copy_into(out, &beside);
    }
    convolution.compute_small_or_large(out, input, &contiguous(weight, weight.dtype())?, bias, transposed)
}

#[op_impl(aten::convolution_backward, CUDA)]
fn convolution_backward(plan: &Window, [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    check_dtype(aten::convolution_backward::operator(), "grad_output", input.dtype(), &FLOATING_DTYPES)?;
    let convolution = Convolution { window: plan, groups };
    if output_mask[0] {
        convolution.compute_small_or_large(
            of_input,
            grad_output,
            &contiguous(weight, weight.dtype())?,
            None,
            !transposed,
        )?;
    }
    if output_mask[1] {
        let (large, small) = if transposed { (grad_output, input) } else { (input, grad_output) };
        with_contiguous_output(of_weight, of_weight.dtype(), |out| {
            convolution.compute_weight_gradient(large, small, out)
        })?;
    }
    if output_mask[2] {
        let but_channels: Vec<i64> = (0..).take(grad_output.sizes().len()).filter(|&dim| dim != 1).collect();
        aten::sum_intlist_out(grad_output, Some(&but_channels), false, None, of_bias)?;
    }
    Ok(())
}

define_parameters! {
    /// The kernels' `struct ConvGeometry`: the sizes and strides of a convolution.
    struct ConvGeometry {
        large: Images,
        small: Images,
        stride: [FastDivisor; 3],
        padding: [i32; 3],
        dilation: [i32; 3],
        taps: [FastDivisor; 3],
        filters: FastDivisor,
        channels: FastDivisor,
        groups: u32,
        portions: u32,
        window_positions: i64,
        large_elements: i64,
        weight: DevicePointer,
        bias: DevicePointer,
        out: DevicePointer,
        parts: DevicePointer,
    }
}

/// A convolution's window and groups.
#[derive(Clone, Copy)]
struct Convolution<'a> {
    window: &'a Window,
    groups: i64,
}

/// Converts a size, stride or padding to an integer of 31 bits. A larger one becomes so large that the window contains no element.
fn to_i32(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX >> 1)
}

fn to_divisor(number: i64) -> FastDivisor {
    FastDivisor::new(to_i32(number).unsigned_abs())
}

/// Returns the number of elements that all images have of one channel.
fn elements_per_channel(images: &Tensor) -> i64 {
    images.sizes()[0] * images.sizes()[2..].iter().product::<i64>()
}

/// Writes the result of a convolution whose sums have no terms: the bias of each channel, or zero.
fn fill_with_bias(out: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    let Some(bias) = bias else { return aten::zero_(&mut out.clone()) };
    let mut sizes = vec![1; out.sizes().len()];
    sizes[1] = -1;
    aten::copy_(&mut out.clone(), &aten::view(bias, &sizes)?, false)
}

impl Convolution<'_> {
    fn kernel_geometry(&self, large: &Tensor, small_side: &Tensor, weight: &[i64]) -> ConvGeometry {
        let rank = self.window.kernel.len();
        let mut geometry = ConvGeometry {
            large: Images::from_tensor(large, rank),
            small: Images::from_tensor(small_side, rank),
            stride: [FastDivisor::new(1); 3],
            padding: [0; 3],
            dilation: [1; 3],
            taps: [FastDivisor::new(1); 3],
            filters: to_divisor(weight[0] / self.groups),
            channels: to_divisor(weight[1]),
            groups: to_i32(self.groups).unsigned_abs(),
            portions: 1,
            window_positions: elements_per_channel(small_side),
            large_elements: elements_per_channel(large),
            weight: DevicePointer::NULL,
            bias: DevicePointer::NULL,
            out: DevicePointer::NULL,
            parts: DevicePointer::NULL,
        };
        let mut taps = 1;
        for dim in (0..rank).rev() {
            let at = 3 - rank + dim;
            geometry.stride[at] = to_divisor(self.window.stride[dim]);
            geometry.padding[at] = to_i32(self.window.padding[dim]);
            geometry.dilation[at] = if self.window.kernel[dim] == 1 { 1 } else { to_i32(self.window.dilation[dim]) };
            taps *= self.window.kernel[dim];
            geometry.taps[at] = to_divisor(taps);
        }
        for at in (0..3 - rank).rev() {
            geometry.taps[at] = geometry.taps[at + 1];
        }
        geometry
    }

    /// Computes the small images from the large ones, or the reverse if `scatter`. The weight is contiguous.
    fn compute_small_or_large(
        &self,
        out: &Tensor,
        from: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        scatter: bool,
    ) -> Result<()> {
        if out.geometry().count() == 0 || self.try_matrix_product(out, from, weight, bias, scatter)? {
            return Ok(());
        }
        if from.geometry().count() == 0 || weight.geometry().count() == 0 {
            return fill_with_bias(out, bias);
        }
        let (launch, bias) = (Launch::on_device_of(out)?, bias.map(|bias| contiguous(bias, bias.dtype())).transpose()?);
        let (large, small_side) = if scatter { (out, from) } else { (from, out) };
        let mut geometry = self.kernel_geometry(large, small_side, weight.sizes());
        (geometry.weight, geometry.out) = (launch.pointer(weight)?, launch.pointer(out)?);
        geometry.bias = launch.pointer_or_null(bias.as_ref())?;
        let (filters, channels) = (weight.sizes()[0] / self.groups, weight.sizes()[1]);
        let taps: i64 = self.window.kernel.iter().product();
        let (rows, summed, templates) = if scatter {
            (channels, filters, LARGE_FROM_SMALL_KERNELS)
        } else {
            (filters, channels, SMALL_FROM_LARGE_KERNELS)
        };
        let task =
            ConvDivision::new(launch, out.dtype(), [rows, elements_per_channel(out), summed * taps], self.groups);
        let from = launch.pointer(from)?;
        self.launch_kernels(launch, templates, geometry, &task, out.dtype(), |launch, template, grid, geometry| {
            launch.run(&CONVOLUTION_KERNEL, template, &[out.dtype()], grid, (geometry, from))
        })
    }

    /// Computes the gradient of the weight, which is contiguous, from the large and the small images.
    fn compute_weight_gradient(&self, large: &Tensor, small_side: &Tensor, out: &Tensor) -> Result<()> {
        if out.geometry().count() == 0 {
            return Ok(());
        }
        if large.geometry().count() == 0 || small_side.geometry().count() == 0 {
            return aten::zero_(&mut out.clone());
        }
        let (launch, sizes) = (Launch::on_device_of(out)?, out.sizes());
        let mut geometry = self.kernel_geometry(large, small_side, sizes);
        geometry.out = launch.pointer(out)?;
        let taps: i64 = sizes[2..].iter().product();
        let problem = [sizes[0] / self.groups, sizes[1] * taps, elements_per_channel(small_side)];
        let task = ConvDivision::new(launch, out.dtype(), problem, self.groups);
        let (large, small_side) = (launch.pointer(large)?, launch.pointer(small_side)?);
        self.launch_kernels(
            launch,
            WEIGHT_GRADIENT_KERNELS,
            geometry,
            &task,
            out.dtype(),
            |launch, template, grid, geometry| {
                launch.run(&CONVOLUTION_KERNEL, template, &[out.dtype()], grid, (geometry, large, small_side))
            },
        )
    }

    fn launch_kernels(
        &self,
        launch: Launch,
        templates: ConvKernelNames,
        mut geometry: ConvGeometry,
        division: &ConvDivision,
        dtype: DType,
        start: impl Fn(Launch, &'static str, Grid, ConvGeometry) -> Result<(), crate::CudaError>,
    ) -> Result<()> {
        let ConvDivision { tiles, count, portions, .. } = *division;
        let Some((large, tiles)) = tiles else {
            let grid = if templates.direct == WEIGHT_GRADIENT_KERNELS.direct {
                grid_from_block_count(count)
            } else {
                Grid::for_elements(count)
            };
            return Ok(start(launch, templates.direct, grid, geometry)?);
        };
        let class = if dtype == DType::F64 { dtype } else { DType::F32 };
        let parts = Spec::contiguous(class, &[portions, count]);
        let parts = if portions > 1 { Some(parts.on(launch.device())?) } else { None };
        geometry.parts = launch.pointer_or_null(parts.as_ref())?;
        geometry.portions = u32::try_from(portions).unwrap_or(1);
        let deep = u32::try_from(self.groups.min(1 << 15)).unwrap_or(1);
        let grid = Grid {
            blocks: [grid_from_block_count(tiles).blocks[0], geometry.portions, deep],
            threads: [256, 1, 1],
            shared_memory: 0,
        };
        start(launch, if large { templates.large_tiles } else { templates.small_tiles }, grid, geometry)?;
        if parts.is_some() {
            start(launch, templates.sum_portions, Grid::for_elements(count), geometry)?;
        }
        Ok(())
    }

    /// Computes a convolution as a matrix product if its window is one element. Returns false, and computes nothing, if it is not.
    fn try_matrix_product(
        &self,
        out: &Tensor,
        from: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        scatter: bool,
    ) -> Result<bool> {
        let one = |list: &[i64], number: i64| list.iter().all(|&own| own == number);
        let window = self.window;
        let pointwise = one(&window.kernel, 1) && one(&window.stride, 1) && one(&window.padding, 0);
        let (Some(from_view), Some(out_view)) = (view_as_matrices(from), view_as_matrices(out)) else {
            return Ok(false);
        };
        if !pointwise || self.groups != 1 || from.sizes()[2..] != out.sizes()[2..] {
            return Ok(false);
        }
        let (filters, channels) = (weight.sizes()[0], weight.sizes()[1]);
        let view = MatrixView { sizes: [out.sizes()[0], filters, channels], strides: [0, channels, 1] };
        let weight = MatrixOperand { tensor: weight, view };
        let added = bias.map(|bias| {
            let steps = [0, bias.strides()[0], 0];
            (MatrixOperand { tensor: bias, view: MatrixView { sizes: out_view.sizes, strides: steps } }, Scalar::Int(1))
        });
        gemm::multiply(&ProductTask {
            out: MatrixOperand { tensor: out, view: out_view },
            left: if scatter { weight.transposed() } else { weight },
            right: MatrixOperand { tensor: from, view: from_view },
            alpha: Scalar::Int(1),
            added,
        })?;
        Ok(true)
    }
}

/// Views images as matrices with a row for each channel. Returns `None` if the elements of a channel are not equally spaced.
fn view_as_matrices(images: &Tensor) -> Option<MatrixView> {
    let (sizes, strides) = (images.sizes(), images.strides());
    let (mut count, mut step) = (1, 1);
    for (&size, &stride) in sizes[2..].iter().zip(&strides[2..]).rev().filter(|(size, _)| **size != 1) {
        if count == 1 {
            step = stride;
        } else if stride != step * count {
            return None;
        }
        count *= size;
    }
    Some(MatrixView { sizes: [sizes[0], sizes[1], count], strides: [strides[0], strides[1], step] })
}

fn grid_from_block_count(count: i64) -> Grid {
    Grid::from_block_count(count.unsigned_abs(), 256)
}

/// The division of a sum among blocks: large or small tiles and their number, or no tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ConvDivision {
    tiles: Option<(bool, i64)>,
    /// The number of elements of the result.
    count: i64,
    portions: i64,
}

impl ConvDivision {
    fn new(launch: Launch, dtype: DType, [rows, columns, steps]: [i64; 3], groups: i64) -> Self {
        let count = rows * columns * groups;
        // Tiles of groups with few channels would be mostly empty; there are no tiled kernels for integers.
        if groups > 1 && rows < 16 || steps < 1 || dtype == DType::I64 {
            return Self { tiles: None, count, portions: 1 };
        }
        let busy = i64::from(launch.multiprocessors());
        let tiles = |edge: i64| ((rows - 1) / edge + 1) * ((columns - 1) / edge + 1);
        let large = F32_ACCUMULATED_DTYPES.contains(&dtype) && rows > 64 && columns > 64 && groups * tiles(128) >= busy;
        let tiles = if large { tiles(128) } else { tiles(64) };
        let portions = (2 * busy / (tiles * groups)).min(steps / 256).clamp(1, 256);
        Self { tiles: Some((large, tiles)), count, portions }
    }
}
