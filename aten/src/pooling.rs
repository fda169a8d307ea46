//! Maxima and averages under a window.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DType, Device, Dims, Spec};

use crate::{Window, check_devices, images_like, spread};

macro_rules! max_pools {
    ($($rank:literal $name:ident $meta:ident $schema:literal $backward:ident $backward_meta:ident $backward_schema:literal $composite:ident $composite_schema:literal;)*) => {$(
        /// The largest element under the window at each of its places, and where it is.
        #[op_def($schema, out = "out"(out, indices))]
        pub fn $name(
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<(Tensor, Tensor)>;

        #[op_meta($name)]
        fn $meta(
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<(Tensor, Tensor)> {
            let sizes = Pooling::new($rank, this, kernel_size, stride, padding, dilation, ceil_mode)?.sizes;
            let found = windowed_like($rank, this, &sizes);
            let indices = Spec { dtype: DType::I64, ..found.clone() };
            Ok((found.on(Device::META)?, indices.on(Device::META)?))
        }

        /// The gradient for the elements that were the largest.
        #[op_def($backward_schema, out = "grad_input"(grad_input))]
        #[expect(clippy::too_many_arguments, reason = "the schema has them")]
        pub fn $backward(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
            indices: &Tensor,
        ) -> Result<Tensor>;

        #[op_meta($backward)]
        #[expect(clippy::too_many_arguments, reason = "the operator has them")]
        fn $backward_meta(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
            indices: &Tensor,
        ) -> Result<Tensor> {
            let pooling = Pooling::new($rank, this, kernel_size, stride, padding, dilation, ceil_mode)?;
            check_gradient(grad_output, this, &pooling.sizes)?;
            check_indices(this, indices, &pooling.sizes)?;
            windowed_like($rank, this, this.sizes()).on(Device::META)
        }

        /// The largest element under the window at each of its places.
        #[op_def($composite_schema)]
        pub fn $composite(
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<Tensor> {
            Ok($name(this, kernel_size, stride, padding, dilation, ceil_mode)?.0)
        }
    )*};
}

max_pools! {
    2 max_pool2d_with_indices max_pool2d_with_indices_meta
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
    max_pool2d_with_indices_backward max_pool2d_with_indices_backward_meta
    "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor"
    max_pool2d
    "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor";
    3 max_pool3d_with_indices max_pool3d_with_indices_meta
    "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
    max_pool3d_with_indices_backward max_pool3d_with_indices_backward_meta
    "max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor"
    max_pool3d
    "max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor";
}

macro_rules! avg_pools {
    ($($rank:literal $name:ident $meta:ident $schema:literal $backward:ident $backward_meta:ident $backward_schema:literal;)*) => {$(
        /// The average of the elements under the window at each of its places.
        #[op_def($schema, out = "out")]
        pub fn $name(
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<Tensor>;

        #[op_meta($name)]
        fn $meta(
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            _: bool,
            divisor_override: Option<i64>,
        ) -> Result<Tensor> {
            check_divisor(divisor_override)?;
            let sizes = Pooling::new($rank, this, kernel_size, stride, padding, &[1], ceil_mode)?.sizes;
            pooled_like($rank, this, &sizes).on(Device::META)
        }

        /// The gradient for the elements that were averaged.
        #[op_def($backward_schema, out = "grad_input"(grad_input))]
        #[expect(clippy::too_many_arguments, reason = "the schema has them")]
        pub fn $backward(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<Tensor>;

        #[op_meta($backward)]
        #[expect(clippy::too_many_arguments, reason = "the operator has them")]
        fn $backward_meta(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            _: bool,
            divisor_override: Option<i64>,
        ) -> Result<Tensor> {
            check_divisor(divisor_override)?;
            let pooling = Pooling::new($rank, this, kernel_size, stride, padding, &[1], ceil_mode)?;
            check_gradient(grad_output, this, &pooling.sizes)?;
            pooled_like($rank, this, this.sizes()).on(Device::META)
        }
    )*};
}

avg_pools! {
    2 avg_pool2d avg_pool2d_meta
    "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"
    avg_pool2d_backward avg_pool2d_backward_meta
    "avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor";
    3 avg_pool3d avg_pool3d_meta
    "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"
    avg_pool3d_backward avg_pool3d_backward_meta
    "avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor";
}

macro_rules! adaptive_pools {
    ($($rank:literal $avg:ident $avg_meta:ident $avg_schema:literal $backward:ident $backward_meta:ident $backward_schema:literal $composite:ident $composite_schema:literal
       $max:ident $max_meta:ident $max_schema:literal $max_backward:ident $max_backward_meta:ident $max_backward_schema:literal;)*) => {$(
        /// The averages of as many parts of the image as `output_size` says.
        #[op_def($avg_schema, out = "out")]
        pub fn $avg(this: &Tensor, output_size: &[i64]) -> Result<Tensor>;

        #[op_meta($avg)]
        fn $avg_meta(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
            pooled_like($rank, this, &adaptive_sizes($rank, this, output_size)?).on(Device::META)
        }

        /// The gradient for the elements that were averaged.
        #[op_def($backward_schema, out = "out")]
        pub fn $backward(grad_output: &Tensor, this: &Tensor) -> Result<Tensor>;

        #[op_meta($backward)]
        fn $backward_meta(grad_output: &Tensor, this: &Tensor) -> Result<Tensor> {
            check_adaptive_gradient($rank, grad_output, this)?;
            pooled_like($rank, this, this.sizes()).on(Device::META)
        }

        /// The averages of as many parts of the image as `output_size` says.
        #[op_def($composite_schema, out = "out")]
        pub fn $composite(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
            $avg(this, output_size)
        }

        /// The largest elements of as many parts of the image as `output_size` says, and where they are.
        #[op_def($max_schema, out = "out"(out, indices))]
        pub fn $max(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)>;

        #[op_meta($max)]
        fn $max_meta(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
            let sizes = adaptive_sizes($rank, this, output_size)?;
            let found = pooled_like($rank, this, &sizes);
            let indices = Spec { dtype: DType::I64, ..found.clone() };
            Ok((found.on(Device::META)?, indices.on(Device::META)?))
        }

        /// The gradient for the elements that were the largest.
        #[op_def($max_backward_schema, out = "grad_input"(grad_input))]
        pub fn $max_backward(grad_output: &Tensor, this: &Tensor, indices: &Tensor) -> Result<Tensor>;

        #[op_meta($max_backward)]
        fn $max_backward_meta(grad_output: &Tensor, this: &Tensor, indices: &Tensor) -> Result<Tensor> {
            check_adaptive_gradient($rank, grad_output, this)?;
            check_indices(this, indices, grad_output.sizes())?;
            pooled_like($rank, this, this.sizes()).on(Device::META)
        }
    )*};
}

adaptive_pools! {
    2 _adaptive_avg_pool2d _adaptive_avg_pool2d_meta "_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"
    _adaptive_avg_pool2d_backward _adaptive_avg_pool2d_backward_meta
    "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor"
    adaptive_avg_pool2d "adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"
    adaptive_max_pool2d adaptive_max_pool2d_meta
    "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"
    adaptive_max_pool2d_backward adaptive_max_pool2d_backward_meta
    "adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor";
    3 _adaptive_avg_pool3d _adaptive_avg_pool3d_meta "_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"
    _adaptive_avg_pool3d_backward _adaptive_avg_pool3d_backward_meta
    "_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor"
    adaptive_avg_pool3d "adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"
    adaptive_max_pool3d adaptive_max_pool3d_meta
    "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)"
    adaptive_max_pool3d_backward adaptive_max_pool3d_backward_meta
    "adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor";
}

/// A window over images, and the sizes of what it gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pooling {
    /// How the window moves.
    pub window: Window,
    /// The sizes of the result.
    pub sizes: Dims,
}

impl Pooling {
    /// What the arguments of a pooling operator over images of `rank` dimensions say. Without a stride the window moves by its size.
    ///
    /// # Errors
    ///
    /// Where they do not go together.
    pub fn new(
        rank: usize,
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<Self, BadArgument> {
        check_image(rank, this)?;
        let stride = if stride.is_empty() { kernel_size } else { stride };
        let window = Window::new(rank, ("kernel_size", kernel_size), stride, padding, dilation)?;
        let skipped = this.sizes().len() - rank;
        let mut sizes = Dims::from_slice(this.sizes());
        for (dim, size) in sizes[skipped..].iter_mut().enumerate() {
            // Sums and products of two such numbers fit.
            let [own, kernel, dilation] = [*size, window.kernel[dim], window.dilation[dim]].map(i128::from);
            let [padding, stride] = [window.padding[dim], window.stride[dim]].map(i128::from);
            let covered = (kernel - 1) * dilation + 1;
            if padding > covered / 2 {
                let expected = format!("at most half of the {covered} elements that the window covers");
                return Err(BadArgument::value("padding", padding, expected));
            }
            let room = own + 2 * padding - covered;
            let more = if ceil_mode { stride - 1 } else { 0 };
            let mut places = (room + more).div_euclid(stride) + 1;
            // The last window begins inside of the image or of the padding before it.
            if ceil_mode && (places - 1) * stride >= own + padding {
                places -= 1;
            }
            *size = i64::try_from(places).unwrap_or(0);
            if *size < 1 {
                return Err(BadArgument::sizes("self", this.sizes(), "room for the window"));
            }
        }
        Ok(Self { window, sizes })
    }
}

/// What is as large as `sizes` and comes of windows over a batch of images, or goes back to one.
#[must_use]
pub fn windowed_like(rank: usize, this: &Tensor, sizes: &[i64]) -> Spec {
    if this.sizes().len() == rank + 2 { images_like(this, sizes) } else { Spec::contiguous(this.dtype(), sizes) }
}

/// The same of averages and of parts that adapt, which lay out no films.
#[must_use]
pub fn pooled_like(rank: usize, this: &Tensor, sizes: &[i64]) -> Spec {
    if rank == 2 { windowed_like(rank, this, sizes) } else { Spec::contiguous(this.dtype(), sizes) }
}

fn check_image(rank: usize, this: &Tensor) -> Result<(), BadArgument> {
    let sizes = this.sizes();
    if sizes.len() != rank + 1 && sizes.len() != rank + 2 {
        return Err(BadArgument::rank("self", sizes.len(), format!("{} or {}", rank + 1, rank + 2)));
    }
    if sizes[sizes.len() - rank..].contains(&0) {
        return Err(BadArgument::sizes("self", sizes, "elements in every dimension of an image"));
    }
    Ok(())
}

/// The sizes of what an adaptive pooling operator gives.
///
/// # Errors
///
/// Where the tensor is no batch of images, or a size is negative.
pub fn adaptive_sizes(rank: usize, this: &Tensor, output_size: &[i64]) -> Result<Dims, BadArgument> {
    check_image(rank, this)?;
    let wanted = spread("output_size", output_size, rank, 0)?;
    let mut sizes = Dims::from_slice(&this.sizes()[..this.sizes().len() - rank]);
    sizes.extend(wanted);
    Ok(sizes)
}

/// Checks the arguments of a gradient of an adaptive pooling operator.
///
/// # Errors
///
/// Where the gradient is none of these images.
pub fn check_adaptive_gradient(rank: usize, grad_output: &Tensor, this: &Tensor) -> Result<(), BadArgument> {
    check_image(rank, this)?;
    let mut sizes = Dims::from_slice(&this.sizes()[..this.sizes().len() - rank]);
    sizes.extend(grad_output.sizes().iter().skip(sizes.len()).copied());
    if sizes.len() != this.sizes().len() {
        return Err(BadArgument::rank("grad_output", grad_output.sizes().len(), this.sizes().len().to_string()));
    }
    check_gradient(grad_output, this, &sizes)
}

/// Checks that a gradient is of a result of these sizes.
///
/// # Errors
///
/// Where it is not.
pub fn check_gradient(grad_output: &Tensor, this: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    check_devices([("grad_output", grad_output), ("self", this)])?;
    if grad_output.sizes() != sizes {
        let expected = format!("{sizes:?}, the sizes of the result");
        return Err(BadArgument::sizes("grad_output", grad_output.sizes(), expected));
    }
    if grad_output.dtype() != this.dtype() {
        let expected = format!("{}, as `self` is", this.dtype());
        return Err(BadArgument::dtype("grad_output", grad_output.dtype(), expected));
    }
    Ok(())
}

/// Checks that positions are of a result of these sizes.
///
/// # Errors
///
/// Where they are not.
pub fn check_indices(this: &Tensor, indices: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    check_devices([("self", this), ("indices", indices)])?;
    if indices.dtype() != DType::I64 {
        return Err(BadArgument::dtype("indices", indices.dtype(), "int64"));
    }
    if indices.sizes() != sizes {
        return Err(BadArgument::sizes("indices", indices.sizes(), format!("{sizes:?}, the sizes of the result")));
    }
    Ok(())
}

/// Checks what averages are divided by.
///
/// # Errors
///
/// Where it is zero.
pub fn check_divisor(divisor_override: Option<i64>) -> Result<(), BadArgument> {
    if divisor_override == Some(0) {
        return Err(BadArgument::value("divisor_override", 0, "a number other than zero"));
    }
    Ok(())
}
