//! Max unpooling: the partial inverse of max pooling.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use super::pool_nd::check_pool_indices;
use crate::{expand_list_to_rank, scatter__src, view, zero_};

macro_rules! define_unpools {
    ($($rank:literal [$($more:ident)*] $name:ident $schema:literal;)*) => {$(
        /// Writes each element at its index in an image of zeros.
        #[op_def($schema, plan, out = "out")]
        pub fn $name(_: ...) -> Result<Tensor>;

        const _: () = {
            #[op_plan($name)]
            fn plan(
                this: &Tensor,
                indices: &Tensor,
                output_size: &[i64],
                $($more: &[i64]),*
            ) -> Result<Plan<usize>, BadArgument> {
                let sizes = unpool_sizes($rank, this, indices, output_size, &[$((stringify!($more), $more)),*])?;
                Ok(Plan::new($rank, [Spec::contiguous(this.dtype(), &sizes)]))
            }

            #[op_impl($name, CompositeExplicitAutograd)]
            fn kernel(plan: &usize, out: &mut Tensor, this: &Tensor, indices: &Tensor) -> Result<()> {
                unpool(*plan, out, this, indices)
            }
        };
    )*};
}

define_unpools! {
    2 [] max_unpool2d
    "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor";
    3 [stride padding] max_unpool3d
    "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor";
}

/// Checks the arguments of a max unpooling and returns the sizes of the result. The window's stride and padding have no effect: the indices
/// hold the positions.
fn unpool_sizes(
    rank: usize,
    this: &Tensor,
    indices: &Tensor,
    output_size: &[i64],
    window: &[(&'static str, &[i64])],
) -> Result<Dims, BadArgument> {
    let sizes = this.sizes();
    if sizes.len() != rank + 1 && sizes.len() != rank + 2 {
        return Err(BadArgument::rank("self", sizes.len(), rank + 1..=rank + 2));
    }
    let outer = sizes.len() - rank;
    if sizes[outer - 1..].contains(&0) {
        return Err(BadArgument::sizes("self", sizes, "no channel or image dimension of size 0"));
    }
    check_pool_indices(this, indices, sizes)?;
    for &(name, steps) in window {
        expand_list_to_rank(name, steps, rank, i64::from(name == "stride"))?;
    }
    if output_size.len() != rank {
        return Err(BadArgument::length("output_size", output_size.len(), rank));
    }
    let mut result = Dims::from_slice(&sizes[..outer]);
    result.extend(expand_list_to_rank("output_size", output_size, rank, 0)?);
    Ok(result)
}

/// Writes the elements of images of `rank` dimensions at their indices.
fn unpool(rank: usize, out: &mut Tensor, this: &Tensor, indices: &Tensor) -> Result<()> {
    let flat = |sizes: &[i64]| {
        let (outer, images) = sizes.split_at(sizes.len() - rank);
        // If there are no images, the product of their sizes may overflow.
        let area = images.iter().fold(1, |area: i64, &size| area.saturating_mul(size));
        [outer, &[area]].concat()
    };
    let flatten_images = |tensor: &Tensor| crate::reshape(tensor, &flat(tensor.sizes()));
    zero_(out)?;
    scatter__src(&mut view(out, &flat(out.sizes()))?, -1, &flatten_images(indices)?, &flatten_images(this)?)
}
