//! Max, average and adaptive pooling of images and volumes.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DType, Dims, Expected, Spec};

use crate::{Window, check_grad_output, check_same_device, expand_list_to_rank, image_spec_like};

macro_rules! define_max_pools {
    ($($rank:literal $name:ident $schema:literal $backward:ident $backward_schema:literal $composite:ident $composite_schema:literal;)*) => {$(
        /// Returns the largest element under the window at each of its positions, and its index.
        #[op_def($schema, plan, out = "out"(out, indices))]
        pub fn $name(_: ...) -> Result<(Tensor, Tensor)>;

        /// Computes the gradient of max pooling.
        #[op_def($backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $backward(_: ...) -> Result<Tensor>;

        /// Returns the largest element under the window at each of its positions.
        #[op_def($composite_schema)]
        pub fn $composite(_: ...) -> Result<Tensor> {
            Ok($name(this, kernel_size, stride, padding, dilation, ceil_mode)?.0)
        }

        const _: () = {
            #[op_plan($name)]
            fn plan(_: ...) -> Result<Plan<Window, 2>, BadArgument> {
                let (window, sizes) = window_and_output_sizes($rank, this, kernel_size, stride, padding, dilation, ceil_mode)?;
                Ok(Plan::new(window, values_and_index_specs(max_pool_spec($rank, this, &sizes))))
            }

            #[op_plan($backward)]
            fn backward_plan(_: ...) -> Result<Plan<Window>, BadArgument> {
                let (window, sizes) = window_and_output_sizes($rank, this, kernel_size, stride, padding, dilation, ceil_mode)?;
                check_pool_gradient(grad_output, this, &sizes)?;
                check_pool_indices(this, indices, &sizes)?;
                Ok(Plan::new(window, [max_pool_spec($rank, this, this.sizes())]))
            }
        };
    )*};
}

define_max_pools! {
    2 max_pool2d_with_indices
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
    max_pool2d_with_indices_backward
    "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor"
    max_pool2d
    "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor";
    3 max_pool3d_with_indices
    "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
    max_pool3d_with_indices_backward
    "max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor"
    max_pool3d
    "max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor";
}

macro_rules! define_avg_pools {
    ($($rank:literal $name:ident $schema:literal $backward:ident $backward_schema:literal;)*) => {$(
        /// Returns the average of the elements under the window at each of its positions.
        #[op_def($schema, plan, out = "out")]
        pub fn $name(_: ...) -> Result<Tensor>;

        /// Computes the gradient of average pooling.
        #[op_def($backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $backward(_: ...) -> Result<Tensor>;

        const _: () = {
            #[op_plan($name)]
            fn plan(_: ...) -> Result<Plan<Window>, BadArgument> {
                check_divisor_override(divisor_override)?;
                let (window, sizes) = window_and_output_sizes($rank, this, kernel_size, stride, padding, &[1], ceil_mode)?;
                Ok(Plan::new(window, [avg_or_adaptive_pool_spec($rank, this, &sizes)]))
            }

            #[op_plan($backward)]
            fn backward_plan(_: ...) -> Result<Plan<Window>, BadArgument> {
                check_divisor_override(divisor_override)?;
                let (window, sizes) = window_and_output_sizes($rank, this, kernel_size, stride, padding, &[1], ceil_mode)?;
                check_pool_gradient(grad_output, this, &sizes)?;
                Ok(Plan::new(window, [avg_or_adaptive_pool_spec($rank, this, this.sizes())]))
            }
        };
    )*};
}

define_avg_pools! {
    2 avg_pool2d
    "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"
    avg_pool2d_backward
    "avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor";
    3 avg_pool3d
    "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"
    avg_pool3d_backward
    "avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor";
}

macro_rules! define_adaptive_pools {
    ($($rank:literal $avg:ident $avg_schema:literal $backward:ident $backward_schema:literal $composite:ident $composite_schema:literal
       $max:ident $max_schema:literal $max_backward:ident $max_backward_schema:literal;)*) => {$(
        /// Divides each image into `output_size` regions and returns the average of each region.
        #[op_def($avg_schema, plan, out = "out")]
        pub fn $avg(_: ...) -> Result<Tensor>;

        /// Computes the gradient of adaptive average pooling.
        #[op_def($backward_schema, plan, out = "out")]
        pub fn $backward(_: ...) -> Result<Tensor>;

        /// Divides each image into `output_size` regions and returns the average of each region.
        #[op_def($composite_schema, out = "out")]
        pub fn $composite(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
            $avg(this, output_size)
        }

        /// Divides each image into `output_size` regions and returns the largest element of each region, and its index.
        #[op_def($max_schema, plan, out = "out"(out, indices))]
        pub fn $max(_: ...) -> Result<(Tensor, Tensor)>;

        /// Computes the gradient of adaptive max pooling.
        #[op_def($max_backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $max_backward(_: ...) -> Result<Tensor>;

        const _: () = {
            #[op_plan($avg)]
            fn plan(this: &Tensor, output_size: &[i64]) -> Result<Plan<()>, BadArgument> {
                Ok(Plan::new((), [avg_or_adaptive_pool_spec($rank, this, &adaptive_output_sizes($rank, this, output_size)?)]))
            }

            #[op_plan($backward)]
            fn backward_plan(grad_output: &Tensor, this: &Tensor) -> Result<Plan<()>, BadArgument> {
                check_adaptive_gradient($rank, grad_output, this)?;
                Ok(Plan::new((), [avg_or_adaptive_pool_spec($rank, this, this.sizes())]))
            }

            #[op_plan($max)]
            fn max_plan(this: &Tensor, output_size: &[i64]) -> Result<Plan<(), 2>, BadArgument> {
                let spec = avg_or_adaptive_pool_spec($rank, this, &adaptive_output_sizes($rank, this, output_size)?);
                Ok(Plan::new((), values_and_index_specs(spec)))
            }

            #[op_plan($max_backward)]
            fn max_backward_plan(_: ...) -> Result<Plan<()>, BadArgument> {
                check_adaptive_gradient($rank, grad_output, this)?;
                check_pool_indices(this, indices, grad_output.sizes())?;
                Ok(Plan::new((), [avg_or_adaptive_pool_spec($rank, this, this.sizes())]))
            }
        };
    )*};
}

define_adaptive_pools! {
    2 _adaptive_avg_pool2d "_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"
    _adaptive_avg_pool2d_backward
    "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor"
    adaptive_avg_pool2d "adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"
    adaptive_max_pool2d
    "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"
    adaptive_max_pool2d_backward
    "adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor";
    3 _adaptive_avg_pool3d "_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"
    _adaptive_avg_pool3d_backward
    "_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor"
    adaptive_avg_pool3d "adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"
    adaptive_max_pool3d
    "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)"
    adaptive_max_pool3d_backward
    "adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor";
}

/// Checks the arguments of a pooling of images of `rank` dimensions. Returns the window and the sizes of the result. An empty `stride`
/// means the sizes of the window.
fn window_and_output_sizes(
    rank: usize,
    this: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<(Window, Dims), BadArgument> {
    check_image_sizes(rank, this)?;
    let stride = if stride.is_empty() { kernel_size } else { stride };
    let window = Window::new(rank, ("kernel_size", kernel_size), stride, padding, dilation)?;
    let skipped = this.sizes().len() - rank;
    let mut sizes = Dims::from_slice(this.sizes());
    for (dim, size) in sizes[skipped..].iter_mut().enumerate() {
        // Sums and products of two 64-bit integers fit.
        let [own, kernel, dilation] = [*size, window.kernel[dim], window.dilation[dim]].map(i128::from);
        let [padding, stride] = [window.padding[dim], window.stride[dim]].map(i128::from);
        let covered = (kernel - 1) * dilation + 1;
        if padding > covered / 2 {
            let most = i64::try_from(covered / 2).unwrap_or(i64::MAX);
            return Err(BadArgument::number("padding", window.padding[dim], ..=most)
                .because(format!("the window covers {covered} elements")));
        }
        let slack = own + 2 * padding - covered;
        let more = if ceil_mode { stride - 1 } else { 0 };
        let mut positions = (slack + more).div_euclid(stride) + 1;
        // The last window must begin inside the image or the padding before it.
        if ceil_mode && (positions - 1) * stride >= own + padding {
            positions -= 1;
        }
        *size = i64::try_from(positions).unwrap_or(0);
        if *size < 1 {
            return Err(BadArgument::sizes("self", this.sizes(), "large enough sizes for the window"));
        }
    }
    Ok((window, sizes))
}

/// Returns the spec of a result of max pooling, or of its gradient. A batch keeps the memory format of `this`.
fn max_pool_spec(rank: usize, this: &Tensor, sizes: &[i64]) -> Spec {
    if this.sizes().len() == rank + 2 { image_spec_like(this, sizes) } else { Spec::contiguous(this.dtype(), sizes) }
}

/// Returns the spec of a result of average or adaptive pooling, or of its gradient. Volumes are contiguous.
fn avg_or_adaptive_pool_spec(rank: usize, this: &Tensor, sizes: &[i64]) -> Spec {
    if rank == 2 { max_pool_spec(rank, this, sizes) } else { Spec::contiguous(this.dtype(), sizes) }
}

/// Returns the specs of maxima and of their indices.
pub(crate) fn values_and_index_specs(spec: Spec) -> [Spec; 2] {
    let indices = Spec { dtype: DType::I64, ..spec.clone() };
    [spec, indices]
}

fn check_image_sizes(rank: usize, this: &Tensor) -> Result<(), BadArgument> {
    let sizes = this.sizes();
    if sizes.len() != rank + 1 && sizes.len() != rank + 2 {
        return Err(BadArgument::rank("self", sizes.len(), rank + 1..=rank + 2));
    }
    if sizes[sizes.len() - rank..].contains(&0) {
        return Err(BadArgument::sizes("self", sizes, "no image dimension of size 0"));
    }
    Ok(())
}

/// Returns the sizes of the result of an adaptive pooling.
fn adaptive_output_sizes(rank: usize, this: &Tensor, output_size: &[i64]) -> Result<Dims, BadArgument> {
    check_image_sizes(rank, this)?;
    let output_size_list = expand_list_to_rank("output_size", output_size, rank, 0)?;
    let mut sizes = Dims::from_slice(&this.sizes()[..this.sizes().len() - rank]);
    sizes.extend(output_size_list);
    Ok(sizes)
}

fn check_adaptive_gradient(rank: usize, grad_output: &Tensor, this: &Tensor) -> Result<(), BadArgument> {
    check_image_sizes(rank, this)?;
    let mut sizes = Dims::from_slice(&this.sizes()[..this.sizes().len() - rank]);
    sizes.extend(grad_output.sizes().iter().skip(sizes.len()).copied());
    if sizes.len() != this.sizes().len() {
        return Err(BadArgument::rank("grad_output", grad_output.sizes().len(), this.sizes().len()));
    }
    check_pool_gradient(grad_output, this, &sizes)
}

/// Checks that a gradient has the sizes of the result, on the device and in the dtype of `self`.
pub(crate) fn check_pool_gradient(grad_output: &Tensor, this: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    check_grad_output(grad_output, ("self", this), sizes)
}

/// Checks that the indices are int64 on the device of `self`, with the sizes of the result.
pub(crate) fn check_pool_indices(this: &Tensor, indices: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    check_same_device([("self", this), ("indices", indices)])?;
    if indices.dtype() != DType::I64 {
        return Err(BadArgument::dtype("indices", indices.dtype(), DType::I64));
    }
    if indices.sizes() != sizes {
        return Err(BadArgument::sizes("indices", indices.sizes(), sizes).because("the result has"));
    }
    Ok(())
}

fn check_divisor_override(divisor_override: Option<i64>) -> Result<(), BadArgument> {
    if divisor_override == Some(0) {
        return Err(BadArgument::number("divisor_override", 0, Expected::Not(0.into())));
    }
    Ok(())
}
