//! Shuffles between channels and pixels, and of channels among groups.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Expected, Geometry};

use crate::image_spec_like;

/// Moves groups of channels into finer images: `[c * f * f, h, w]` becomes `[c, h * f, w * f]`.
#[op_def("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn pixel_shuffle(this: &Tensor, upscale_factor: i64) -> Result<Tensor> {
    let (outer, [channels, height, width]) = outer_and_image_sizes(this)?;
    let factor = check_positive("upscale_factor", upscale_factor)?;
    let square = factor.saturating_mul(factor);
    if channels % square != 0 {
        return Err(
            BadArgument::size("self", this.sizes(), this.sizes().len() - 3, Expected::MultipleOf(square)).into()
        );
    }
    let sizes = [channels / square, height.saturating_mul(factor), width.saturating_mul(factor)];
    let (from, to) =
        ([channels / square, factor, factor, height, width], [channels / square, height, factor, width, factor]);
    split_permute_copy(this, outer, &sizes, (&from, &[0, 3, 1, 4, 2]), &to)
}

/// Moves blocks of pixels into channels: `[c, h * f, w * f]` becomes `[c * f * f, h, w]`.
#[op_def("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn pixel_unshuffle(this: &Tensor, downscale_factor: i64) -> Result<Tensor> {
    let (outer, [channels, height, width]) = outer_and_image_sizes(this)?;
    let factor = check_positive("downscale_factor", downscale_factor)?;
    if height % factor != 0 || width % factor != 0 {
        return Err(BadArgument::sizes(
            "self",
            this.sizes(),
            format!("a height and a width that are multiples of {factor}"),
        )
        .into());
    }
    let (height, width) = (height / factor, width / factor);
    let sizes = [channels.saturating_mul(factor.saturating_mul(factor)), height, width];
    let (from, to) = ([channels, height, factor, width, factor], [channels, factor, factor, height, width]);
    split_permute_copy(this, outer, &sizes, (&from, &[0, 2, 4, 1, 3]), &to)
}

/// Interleaves the channels of `groups` groups.
#[op_def("channel_shuffle(Tensor self, SymInt groups) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn channel_shuffle(this: &Tensor, groups: i64) -> Result<Tensor> {
    let [batch, channels, inner @ ..] = this.sizes() else {
        return Err(BadArgument::rank("self", this.sizes().len(), 3..).into());
    };
    if inner.is_empty() {
        return Err(BadArgument::rank("self", 2, 3..).into());
    }
    let groups = check_positive("groups", groups)?;
    if channels % groups != 0 {
        return Err(BadArgument::size("self", this.sizes(), 1, Expected::MultipleOf(groups)).into());
    }
    let each = channels / groups;
    let with = |sizes: &[i64]| -> Dims { sizes.iter().chain(inner).copied().collect() };
    let order: Vec<usize> = [1, 0].into_iter().chain(2..2 + inner.len()).collect();
    split_permute_copy(this, &[*batch], &this.sizes()[1..], (&with(&[groups, each]), &order), &with(&[each, groups]))
}

/// Another name of [`channel_shuffle`], for which backends may register a faster kernel.
#[op_def("native_channel_shuffle(Tensor self, SymInt groups) -> Tensor")]
pub fn native_channel_shuffle(this: &Tensor, groups: i64) -> Result<Tensor> {
    channel_shuffle(this, groups)
}

/// Returns the sizes before the last three dimensions, and the last three.
fn outer_and_image_sizes(this: &Tensor) -> Result<(&[i64], [i64; 3]), BadArgument> {
    match this.sizes() {
        [outer @ .., channels, height, width] => Ok((outer, [*channels, *height, *width])),
        other => Err(BadArgument::rank("self", other.len(), 3..)),
    }
}

fn check_positive(argument: &'static str, factor: i64) -> Result<i64, BadArgument> {
    if factor > 0 { Ok(factor) } else { Err(BadArgument::number(argument, factor, 1..)) }
}

/// Splits the inner dimensions of `this`, permutes them, and copies the elements to a tensor of the sizes `sizes`.
fn split_permute_copy(
    this: &Tensor,
    outer: &[i64],
    sizes: &[i64],
    (from, order): (&[i64], &[usize]),
    to: &[i64],
) -> Result<Tensor> {
    let all = |inner: &[i64]| -> Dims { outer.iter().chain(inner).copied().collect() };
    let geometry = image_spec_like(this, &all(sizes)).geometry;
    let (sizes, strides) = (geometry.sizes(), geometry.strides());
    let result = crate::empty_strided(sizes, strides, Some(this.dtype()), None, Some(this.device()), None)?;
    if result.geometry().count() == 0 {
        return Ok(result);
    }
    let split = split_dims(this, &all(from))?;
    let dims = (0..outer.len()).chain(order.iter().map(|dim| outer.len() + dim));
    let dims: Vec<i64> = dims.map(|dim| i64::try_from(dim).unwrap_or(0)).collect();
    crate::copy_(&mut split_dims(&result, &all(to))?, &crate::permute(&split, &dims)?, false)?;
    Ok(result)
}

/// Returns a view with dimensions split into several, which is possible with any strides.
fn split_dims(this: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let mut strides = Dims::from_elem(1, sizes.len());
    let mut next = sizes.len();
    for (&size, &stride) in this.sizes().iter().zip(this.strides()).rev() {
        let mut covered = 1;
        while next > 0 && (covered < size || sizes[next - 1] == 1) {
            next -= 1;
            strides[next] = covered.saturating_mul(stride);
            covered = covered.saturating_mul(sizes[next]);
        }
    }
    match Geometry::strided(sizes, &strides, this.geometry().offset()) {
        Some(geometry) => Ok(this.restride(geometry)?),
        None => crate::reshape(this, sizes),
    }
}
