//! Maxima under windows that are at random places.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use crate::{check_gradient, check_indices, spread};

macro_rules! fractional_pools {
    ($($rank:literal $name:ident $meta:ident $schema:literal $backward:ident $backward_meta:ident $backward_schema:literal;)*) => {$(
        /// The largest element under each of as many windows as `output_size` says, and where it is.
        #[op_def($schema, out = "output"(output, indices))]
        pub fn $name(
            this: &Tensor,
            kernel_size: &[i64],
            output_size: &[i64],
            random_samples: &Tensor,
        ) -> Result<(Tensor, Tensor)>;

        #[op_meta($name)]
        fn $meta(
            this: &Tensor,
            kernel_size: &[i64],
            output_size: &[i64],
            random_samples: &Tensor,
        ) -> Result<(Tensor, Tensor)> {
            let pooling = Fractional::new($rank, this, kernel_size, output_size)?;
            pooling.check_samples(this, random_samples)?;
            let indices = Spec::contiguous(DType::I64, &pooling.sizes).on(Device::META)?;
            Ok((Spec::contiguous(this.dtype(), &pooling.sizes).on(Device::META)?, indices))
        }

        /// The gradient for the elements that were the largest.
        #[op_def($backward_schema, out = "grad_input"(grad_input))]
        pub fn $backward(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            output_size: &[i64],
            indices: &Tensor,
        ) -> Result<Tensor>;

        #[op_meta($backward)]
        fn $backward_meta(
            grad_output: &Tensor,
            this: &Tensor,
            kernel_size: &[i64],
            output_size: &[i64],
            indices: &Tensor,
        ) -> Result<Tensor> {
            let pooling = Fractional::new($rank, this, kernel_size, output_size)?;
            check_gradient(grad_output, this, &pooling.sizes)?;
            check_indices(this, indices, &pooling.sizes)?;
            Spec::contiguous(this.dtype(), this.sizes()).on(Device::META)
        }
    )*};
}

fractional_pools! {
    2 fractional_max_pool2d fractional_max_pool2d_meta
    "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)"
    fractional_max_pool2d_backward fractional_max_pool2d_backward_meta
    "fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices) -> Tensor";
    3 fractional_max_pool3d fractional_max_pool3d_meta
    "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)"
    fractional_max_pool3d_backward fractional_max_pool3d_backward_meta
    "fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor indices) -> Tensor";
}

/// Windows at random places.
#[derive(Clone, Debug)]
pub struct Fractional {
    /// The sizes of a window.
    pub kernel: Dims,
    /// Those of the result.
    pub sizes: Dims,
    /// Those of an image.
    image: Dims,
}

impl Fractional {
    /// What the arguments of a pooling operator over images of `rank` dimensions say.
    ///
    /// # Errors
    ///
    /// Where they do not go together.
    pub fn new(rank: usize, this: &Tensor, kernel_size: &[i64], output_size: &[i64]) -> Result<Self, BadArgument> {
        let sizes = this.sizes();
        if sizes.len() != rank + 1 && sizes.len() != rank + 2 {
            return Err(BadArgument::rank("self", sizes.len(), format!("{} or {}", rank + 1, rank + 2)));
        }
        let (outer, image) = sizes.split_at(sizes.len() - rank);
        if outer.last() == Some(&0) {
            return Err(BadArgument::sizes("self", sizes, "at least one channel"));
        }
        let (kernel, output) =
            (spread("kernel_size", kernel_size, rank, 1)?, spread("output_size", output_size, rank, 0)?);
        for dim in 0..rank {
            if output[dim].saturating_add(kernel[dim] - 1) > image[dim] {
                let expected =
                    format!("room for {} windows of {} in dimension {dim} of an image", output[dim], kernel[dim]);
                return Err(BadArgument::sizes("self", sizes, expected));
            }
        }
        let mut result = Dims::from_slice(outer);
        result.extend(output);
        Ok(Self { kernel, sizes: result, image: Dims::from_slice(image) })
    }

    /// Refuses random numbers that are not one for each dimension of each image.
    ///
    /// # Errors
    ///
    /// Where they are others.
    pub fn check_samples(&self, this: &Tensor, random_samples: &Tensor) -> Result<(), BadArgument> {
        if random_samples.dtype() != this.dtype() {
            let expected = format!("{}, as `self` is", this.dtype());
            return Err(BadArgument::dtype("random_samples", random_samples.dtype(), expected));
        }
        let (outer, rank) = (&self.sizes[..self.sizes.len() - self.kernel.len()], self.kernel.len());
        let mut wanted = if outer.len() == 1 { Dims::from_slice(&[1]) } else { Dims::new() };
        wanted.extend(outer.iter().copied().chain([i64::try_from(rank).unwrap_or(0)]));
        if random_samples.sizes() == &wanted[..] {
            return Ok(());
        }
        let expected = format!("{wanted:?}, one for each dimension of each image");
        Err(BadArgument::sizes("random_samples", random_samples.sizes(), expected))
    }

    /// Where windows begin: a list for each dimension of each image. Images have the random number of their last dimension first, and
    /// volumes that of their first.
    #[must_use]
    pub fn starts(&self, samples: &[f64], single: bool) -> Vec<Vec<i64>> {
        let rank = self.kernel.len();
        let output = &self.sizes[self.sizes.len() - rank..];
        let list = |(at, _): (usize, &f64)| {
            let (image, dim) = (at / rank * rank, at % rank);
            let sample = samples[image + if rank == 2 { 1 - dim } else { dim }];
            places(sample, self.image[dim] - self.kernel[dim], output[dim], single)
        };
        samples.iter().enumerate().map(list).collect()
    }
}

/// About equally far apart, the last at the end. A sample may be any number, and parts stay inside.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "positions in images, rounded as PyTorch does"
)]
fn places(sample: f64, last: i64, count: i64, single: bool) -> Vec<i64> {
    let round = |x: f64| if single { f64::from(x as f32) } else { x };
    let apart = round(last as f64 / (count - 1).max(1) as f64);
    let at = |i: i64| (round(round(i as f64 + sample) * apart) as i64).saturating_sub(round(sample * apart) as i64);
    (0..count).map(|i| if i + 1 == count { last } else { at(i).clamp(0, last) }).collect()
}
