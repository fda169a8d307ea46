//! Sampling of images at the positions of a grid, and grids of affine transforms.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec};

use crate::words::impl_words;
use crate::{
    bmm, cat, check_same_device, expand, full, linspace, mul_scalar, output_mask_pair, reshape, transpose_int,
};

macro_rules! define_grid_samplers {
    ($($rank:literal $name:ident $schema:literal $backward:ident $backward_schema:literal;)*) => {$(
        /// Samples images at the positions of the grid, with interpolation. Coordinates from -1 to 1 span an image.
        #[op_def($schema, plan, out = "out")]
        pub fn $name(_: ...) -> Result<Tensor>;

        /// Computes the gradients of grid sampling for the input and the grid.
        ///
        /// A gradient that `output_mask` does not request has no elements.
        #[op_def($backward_schema, plan, out = "out")]
        pub fn $backward(_: ...) -> Result<(Tensor, Tensor)>;

        const _: () = {
            #[op_plan($name)]
            fn plan(_: ...) -> Result<Plan<GridSamplePlan>, BadArgument> {
                let modes = (interpolation_mode, padding_mode, align_corners);
                let (plan, sizes) = grid_sample_plan($rank, input, grid, modes)?;
                Ok(Plan::new(plan, [Spec::contiguous(input.dtype(), &sizes)]))
            }

            #[op_plan($backward)]
            fn backward_plan(_: ...) -> Result<Plan<GridSamplePlan, 2>, BadArgument> {
                let modes = (interpolation_mode, padding_mode, align_corners);
                let (plan, sizes) = grid_sample_plan($rank, input, grid, modes)?;
                crate::check_grad_output(grad_output, ("input", input), &sizes)?;
                let [of_input, of_grid] = output_mask_pair(output_mask)?;
                let gradient = |requested: bool, tensor: &Tensor| {
                    Spec::contiguous(tensor.dtype(), if requested { tensor.sizes() } else { &[0] })
                };
                Ok(Plan::new(plan, [gradient(of_input, input), gradient(of_grid, grid)]))
            }
        };
    )*};
}

define_grid_samplers! {
    2 grid_sampler_2d
    "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"
    grid_sampler_2d_backward
    "grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)";
    3 grid_sampler_3d
    "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"
    grid_sampler_3d_backward
    "grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)";
}

fn check_grid_sample(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<()> {
    match input.sizes().len() {
        4 => grid_sampler_2d::plan(input, grid, interpolation_mode, padding_mode, align_corners).map(drop),
        5 => grid_sampler_3d::plan(input, grid, interpolation_mode, padding_mode, align_corners).map(drop),
        rank => Err(BadArgument::rank("input", rank, 4..=5).into()),
    }
}

/// Computes [`grid_sampler_2d`] for images, and [`grid_sampler_3d`] for volumes.
#[op_def(
    "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
    check = check_grid_sample(input, grid, interpolation_mode, padding_mode, align_corners)
)]
pub fn grid_sampler(_: ...) -> Result<Tensor> {
    match input.sizes().len() {
        5 => grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners),
        _ => grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners),
    }
}

/// Computes [`grid_sampler_2d`]. In PyTorch, it is the algorithm for images of which its vectorised algorithm cannot compute the indices.
#[op_def(
    "_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
    out = "out",
    calls = grid_sampler_2d
)]
pub fn _grid_sampler_2d_cpu_fallback(_: ...) -> Result<Tensor>;

/// Computes the gradients of [`_grid_sampler_2d_cpu_fallback`] for the input and the grid.
#[op_def(
    "_grid_sampler_2d_cpu_fallback_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> (Tensor, Tensor)"
)]
pub fn _grid_sampler_2d_cpu_fallback_backward(_: ...) -> Result<(Tensor, Tensor)> {
    grid_sampler_2d_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, &[true; 2])
}

/// The interpolation between elements of an image.
///
/// ```
/// assert_eq!("bilinear".parse(), Ok(aten::Interpolation::Linear));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Interpolation {
    /// Linear between two elements in each dimension. This is the default.
    #[default]
    Linear,
    /// The nearest element.
    Nearest,
    /// A cubic polynomial of four elements in each dimension.
    Cubic,
}

/// The values of positions outside of an image.
///
/// ```
/// assert_eq!("border".parse(), Ok(aten::PaddingMode::Border));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PaddingMode {
    /// Zeros. This is the default.
    #[default]
    Zeros,
    /// The nearest element at the border.
    Border,
    /// The mirror image.
    Reflection,
}

impl_words! { Interpolation, "mode": Linear = "bilinear" | "linear", Nearest = "nearest", Cubic = "bicubic", }
impl_words! { PaddingMode, "padding_mode": Zeros = "zeros", Border = "border", Reflection = "reflection", }

impl Interpolation {
    /// Returns PyTorch's number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Linear => 0,
            Self::Nearest => 1,
            Self::Cubic => 2,
        }
    }
}

impl PaddingMode {
    /// Returns PyTorch's number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Zeros => 0,
            Self::Border => 1,
            Self::Reflection => 2,
        }
    }
}

/// The plan of a grid sampling.
#[derive(Clone, Debug)]
pub struct GridSamplePlan {
    /// The interpolation between elements.
    pub interpolation: Interpolation,
    /// The values outside of the image.
    pub padding_mode: PaddingMode,
    /// Whether -1 and 1 are the centers of the outermost elements, instead of their outer edges.
    pub align_corners: bool,
}

/// Checks the arguments of a sampling of images of `rank` dimensions. Returns its plan and the sizes of the result.
fn grid_sample_plan(
    rank: usize,
    input: &Tensor,
    grid: &Tensor,
    (interpolation_mode, padding_mode, align_corners): (i64, i64, bool),
) -> Result<(GridSamplePlan, Dims), BadArgument> {
    let interpolation = match interpolation_mode {
        0 => Interpolation::Linear,
        1 => Interpolation::Nearest,
        2 if rank == 2 => Interpolation::Cubic,
        other => {
            let most = if rank == 2 { 2 } else { 1 };
            let meaning = "0 is bilinear, 1 is nearest, and 2 is bicubic for images";
            return Err(BadArgument::number("interpolation_mode", other, 0..=most).because(meaning));
        }
    };
    let padding_mode = match padding_mode {
        0 => PaddingMode::Zeros,
        1 => PaddingMode::Border,
        2 => PaddingMode::Reflection,
        other => {
            return Err(BadArgument::number("padding_mode", other, 0..=2)
                .because("0 is zeros, 1 is border and 2 is reflection"));
        }
    };
    check_same_device([("input", input), ("grid", grid)])?;
    for (name, tensor) in [("input", input), ("grid", grid)] {
        if tensor.sizes().len() != rank + 2 {
            return Err(BadArgument::rank(name, tensor.sizes().len(), rank + 2));
        }
    }
    if !input.dtype().is_floating() {
        return Err(BadArgument::dtype("input", input.dtype(), DTypes::Floating));
    }
    if grid.dtype() != input.dtype() {
        return Err(BadArgument::dtype("grid", grid.dtype(), input.dtype()).like("input"));
    }
    if input.sizes()[2..].contains(&0) {
        return Err(BadArgument::sizes("input", input.sizes(), "no image dimension of size 0"));
    }
    let (outer, positions) = (input.sizes()[0], &grid.sizes()[1..=rank]);
    if grid.sizes()[0] != outer || usize::try_from(grid.sizes()[rank + 1]) != Ok(rank) {
        let expected = format!("{outer} grids of positions with {rank} coordinates");
        return Err(BadArgument::sizes("grid", grid.sizes(), expected));
    }
    let mut sizes = Dims::from_slice(&input.sizes()[..2]);
    sizes.extend(positions.iter().copied());
    Ok((GridSamplePlan { interpolation, padding_mode, align_corners }, sizes))
}

/// Returns the grid of an affine transform: for each element of the output image, the sampling position by the matrix `theta`.
#[op_def("affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor", out = "out")]
pub fn affine_grid_generator(theta: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    let base = base_grid(theta, size, align_corners)?;
    let (outer, positions) = (base.sizes()[0], &size[2..]);
    let rank = i64::try_from(positions.len()).unwrap_or(0);
    if theta.sizes() != [outer, rank, rank + 1] {
        return Err(BadArgument::sizes("theta", theta.sizes(), &[outer, rank, rank + 1][..]).into());
    }
    let grid = bmm(&base, &transpose_int(theta, 1, 2)?)?;
    reshape(&grid, &[&[outer], positions, &[rank]].concat())
}

/// Computes the gradient of [`affine_grid_generator`].
#[op_def("affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor")]
pub fn affine_grid_generator_backward(grad: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    let base = base_grid(grad, size, align_corners)?;
    let rank = i64::try_from(size.len() - 2).unwrap_or(0);
    let requested = [&[size[0]], &size[2..], &[rank]].concat();
    if grad.sizes() != requested {
        return Err(BadArgument::sizes("grad", grad.sizes(), &requested[..]).because("the result has").into());
    }
    let grad = reshape(grad, &[size[0], base.sizes()[1], rank])?;
    transpose_int(&bmm(&transpose_int(&base, 1, 2)?, &grad)?, 1, 2)
}

/// Returns the homogeneous coordinates of the elements of images of these sizes, as rows: a position, then 1.
#[expect(clippy::cast_precision_loss, reason = "the size of an image is below 2^53")]
fn base_grid(like: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    if size.len() != 4 && size.len() != 5 || size.iter().any(|&size| size < 1) {
        let expected = "a list of 4 or 5 positive sizes: batch, channels and the sizes of an image";
        return Err(BadArgument::value("size", format!("{size:?}"), expected).into());
    }
    let (positions, options) = (&size[2..], (Some(like.dtype()), None, Some(like.device()), None));
    let padded = [&[size[0]], positions, &[1]].concat();
    let mut columns = Vec::new();
    for (dim, &steps) in positions.iter().enumerate().rev() {
        let outermost = match (steps, align_corners) {
            (1, _) => 0.0,
            (_, true) => 1.0,
            (steps, false) => (steps - 1) as f64 / steps as f64,
        };
        let across = linspace((-1).into(), 1.into(), steps, options.0, options.1, options.2, options.3)?;
        let across = mul_scalar(&across, outermost.into())?;
        let mut sizes = Dims::from_elem(1, padded.len());
        sizes[dim + 1] = steps;
        columns.push(expand(&reshape(&across, &sizes)?, &padded, false)?);
    }
    columns.push(full(&padded, 1.into(), options.0, options.1, options.2, options.3)?);
    let width = i64::try_from(columns.len()).unwrap_or(0);
    reshape(&cat(&columns, -1)?, &[size[0], dispatch_runtime::element_count(positions), width])
}
