//! Fractional max pooling: maxima under windows at random positions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use super::pool_nd::{check_pool_gradient, check_pool_indices, values_and_index_specs};
use crate::expand_list_to_rank;

macro_rules! define_fractional_pools {
    ($($rank:literal $name:ident $schema:literal $backward:ident $backward_schema:literal;)*) => {$(
        /// Returns the largest element under each of `output_size` windows at random positions, and its index.
        #[op_def($schema, plan, out = "output"(output, indices))]
        pub fn $name(_: ...) -> Result<(Tensor, Tensor)>;

        /// Computes the gradient of fractional max pooling.
        #[op_def($backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $backward(_: ...) -> Result<Tensor>;

        const _: () = {
            #[op_plan($name)]
            fn plan(_: ...) -> Result<Plan<FractionalPoolPlan, 2>, BadArgument> {
                let (plan, sizes) = fractional_pool_plan($rank, this, kernel_size, output_size)?;
                check_random_samples($rank, this, random_samples)?;
                Ok(Plan::new(plan, values_and_index_specs(Spec::contiguous(this.dtype(), &sizes))))
            }

            #[op_plan($backward)]
            fn backward_plan(_: ...) -> Result<Plan<FractionalPoolPlan>, BadArgument> {
                let (plan, sizes) = fractional_pool_plan($rank, this, kernel_size, output_size)?;
                check_pool_gradient(grad_output, this, &sizes)?;
                check_pool_indices(this, indices, &sizes)?;
                Ok(Plan::new(plan, [Spec::contiguous(this.dtype(), this.sizes())]))
            }
        };
    )*};
}

define_fractional_pools! {
    2 fractional_max_pool2d
    "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)"
    fractional_max_pool2d_backward
    "fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices) -> Tensor";
    3 fractional_max_pool3d
    "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)"
    fractional_max_pool3d_backward
    "fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor indices) -> Tensor";
}

/// The plan of a fractional max pooling.
#[derive(Clone, Debug)]
pub struct FractionalPoolPlan {
    /// The sizes of a window.
    pub kernel: Dims,
}

/// Checks the arguments of a fractional pooling of images of `rank` dimensions. Returns its plan and the sizes of the result.
fn fractional_pool_plan(
    rank: usize,
    this: &Tensor,
    kernel_size: &[i64],
    output_size: &[i64],
) -> Result<(FractionalPoolPlan, Dims), BadArgument> {
    let sizes = this.sizes();
    if sizes.len() != rank + 1 && sizes.len() != rank + 2 {
        return Err(BadArgument::rank("self", sizes.len(), rank + 1..=rank + 2));
    }
    let (outer, image) = sizes.split_at(sizes.len() - rank);
    if outer.last() == Some(&0) {
        return Err(BadArgument::size("self", sizes, outer.len() - 1, 1..));
    }
    let (kernel, output) = (
        expand_list_to_rank("kernel_size", kernel_size, rank, 1)?,
        expand_list_to_rank("output_size", output_size, rank, 0)?,
    );
    for dim in 0..rank {
        if output[dim].saturating_add(kernel[dim] - 1) > image[dim] {
            let expected = format!(
                "an image that is large enough for {} windows of size {} in dimension {dim}",
                output[dim], kernel[dim]
            );
            return Err(BadArgument::sizes("self", sizes, expected));
        }
    }
    let mut result = Dims::from_slice(outer);
    result.extend(output);
    Ok((FractionalPoolPlan { kernel }, result))
}

/// Checks that there is one random number for each dimension of each image.
fn check_random_samples(rank: usize, this: &Tensor, random_samples: &Tensor) -> Result<(), BadArgument> {
    if random_samples.dtype() != this.dtype() {
        return Err(BadArgument::dtype("random_samples", random_samples.dtype(), this.dtype()).like("self"));
    }
    let outer = &this.sizes()[..this.sizes().len() - rank];
    let mut expected = if outer.len() == 1 { Dims::from_slice(&[1]) } else { Dims::new() };
    expected.extend(outer.iter().copied().chain([i64::try_from(rank).unwrap_or(0)]));
    if random_samples.sizes() == &expected[..] {
        return Ok(());
    }
    Err(BadArgument::sizes("random_samples", random_samples.sizes(), &expected[..])
        .because("each dimension of each image has one"))
}
