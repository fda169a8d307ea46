//! Images looked at where a grid says.
//!
//! What is seen at a place is a sum of a few elements of the image, its taps. Along each dimension a tap has a weight, and a slope by
//! which that grows with the coordinate; over all dimensions these are multiplied. The same taps give the gradients of image and grid.

use aten::{Beside, Between, Sampling};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Spec, bf16, f16};

use crate::compute::Fraction;
use crate::math::Real;
use crate::numbers::usized;
use crate::packed::{computed, filled, packed};
use crate::pool::Lines;
use crate::upsample::curve;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 12;

/// An element of an image, what it counts, and by how much that grows with each coordinate. One beside the image is nowhere.
#[derive(Clone, Copy)]
struct Tap<T> {
    at: usize,
    weight: T,
    slopes: [T; 3],
}

/// A position in one dimension, and the same.
type Along<T> = (Option<usize>, T, T);

/// How images of some sizes are seen.
struct Sampler<'a, T> {
    sampling: &'a Sampling,
    /// Where the nearest element depends on it: to the dtype of the grid.
    round: fn(T) -> T,
    /// Those of one image.
    sizes: Vec<usize>,
    /// Of how many taps a place is made.
    each: usize,
}

impl<'a, T: Fraction + Into<f64>> Sampler<'a, T> {
    fn new(sampling: &'a Sampling, input: &Tensor) -> Self {
        let sizes: Vec<usize> = input.sizes()[2..].iter().map(|&size| usized(size)).collect();
        let along: usize = match sampling.between {
            Between::Nearest => 1,
            Between::Linear => 2,
            Between::Cubic => 4,
        };
        let round = match input.dtype() {
            _ if sampling.between != Between::Nearest => |x: T| x,
            DType::BF16 => |x: T| T::near(bf16::from_f64(x.into()).to_f64()),
            DType::F16 => |x: T| T::near(f16::from_f64(x.into()).to_f64()),
            _ => |x: T| x,
        };
        Self { sampling, round, each: along.pow(u32::try_from(sizes.len()).unwrap_or(0)), sizes }
    }

    fn area(&self) -> usize {
        self.sizes.iter().fold(1, |area: usize, &size| area.saturating_mul(size))
    }

    /// The taps of all places of a grid.
    fn taps(&self, grid: &[T]) -> Vec<Tap<T>> {
        let (zero, one, rank) = (T::near(0.0), T::near(1.0), self.sizes.len());
        let nowhere = Tap { at: usize::MAX, weight: zero, slopes: [zero; 3] };
        let mut taps = vec![nowhere; grid.len() / rank * self.each];
        Lines::new(&mut taps, self.each).each(GRAIN.div_ceil(self.each), |place, taps| {
            taps[0] = Tap { at: 0, weight: one, ..nowhere };
            let mut count = 1;
            for (dim, &size) in self.sizes.iter().enumerate() {
                // A grid has the last dimension first.
                let coordinate = rank - 1 - dim;
                let (along, many) = self.along(grid[place * rank + coordinate], size);
                // From behind, as the first of the new ones take the places of the old.
                for old in (0..count).rev() {
                    let tap = taps[old];
                    for (new, &(at, weight, slope)) in along[..many].iter().enumerate().rev() {
                        let mut slopes = tap.slopes.map(|other| other * weight);
                        slopes[coordinate] = tap.weight * slope;
                        let at = at.filter(|_| tap.at != usize::MAX).map(|at| tap.at * size + at);
                        taps[old * many + new] =
                            Tap { at: at.unwrap_or(usize::MAX), weight: tap.weight * weight, slopes };
                    }
                }
                count *= many;
            }
        });
        taps
    }

    /// The taps of one coordinate, and how many there are.
    fn along(&self, coordinate: T, size: usize) -> ([Along<T>; 4], usize) {
        let (zero, one, half) = (T::near(0.0), T::near(1.0), T::near(0.5));
        let whole = T::from_scalar(i64::try_from(size).unwrap_or(i64::MAX).into());
        let scale = if self.sampling.align_corners { (whole - one) * half } else { whole * half };
        let mut middle = (self.round)((self.round)(coordinate + one) * scale);
        if !self.sampling.align_corners {
            middle = (self.round)(middle - half);
        }
        let mut along = [(None, zero, zero); 4];
        if self.sampling.between == Between::Cubic {
            let first = Real::floor(middle);
            let right = middle - first;
            for (offset, (to, (weight, slope))) in (-1..).zip(along.iter_mut().zip(curve(right))) {
                let at = self.kept(first + T::from_scalar(Scalar::Int(offset)), whole).0;
                *to = (inside(at, size), weight, slope * scale);
            }
            return (along, 4);
        }
        let (middle, sign) = self.kept(middle, whole);
        if self.sampling.between == Between::Nearest {
            along[0] = (inside(Real::round(middle), size), one, zero);
            return (along, 1);
        }
        let (first, scale) = (Real::floor(middle), scale * sign);
        let right = middle - first;
        along[0] = (inside(first, size), one - right, -scale);
        along[1] = (inside(first + one, size), right, scale);
        (along, 2)
    }

    /// A position as it is inside of the image, unless there is nothing beside it, and by how much that one moves with it.
    fn kept(&self, position: T, whole: T) -> (T, T) {
        let (zero, one, half) = (T::near(0.0), T::near(1.0), T::near(0.5));
        let (position, sign) = match self.sampling.beside {
            Beside::Zeros => return (position, one),
            Beside::Border => (position, one),
            Beside::Mirror if self.sampling.align_corners => mirrored(position, zero, whole - one),
            Beside::Mirror => mirrored(position, -half, whole),
        };
        if position <= zero {
            (zero, zero)
        } else if position >= whole - one {
            (whole - one, zero)
        } else {
            (position, sign)
        }
    }
}

/// A position mirrored into a span, and its sign there.
fn mirrored<T: Fraction>(position: T, start: T, span: T) -> (T, T) {
    let (zero, one, two) = (T::near(0.0), T::near(1.0), T::near(2.0));
    if span == zero {
        return (zero, zero);
    }
    let sign = if position < start { -one } else { one };
    let from = Real::abs(position - start);
    let (rest, times) = (Real::fmod(from, span), Real::floor(from / span));
    if Real::fmod(times, two) == zero { (start + rest, sign) } else { (start + span - rest, -sign) }
}

/// The position, if it is one of the image.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is inside of the image")]
fn inside<T: Fraction + Into<f64>>(position: T, size: usize) -> Option<usize> {
    let position: f64 = position.into();
    #[expect(clippy::cast_precision_loss, reason = "sizes of images are small")]
    (position >= 0.0 && position < size as f64).then_some(position as usize)
}

fn sampled<T: Fraction + Into<f64>>(input: &Tensor, grid: &Tensor, sampling: &Sampling) -> Result<Tensor> {
    let (image, grid, sampler) = (packed::<T>(input)?, packed::<T>(grid)?, Sampler::new(sampling, input));
    let (channels, area) = (usized(input.sizes()[1]), sampler.area());
    filled(&Spec::contiguous(input.dtype(), &sampling.sizes), |out: &mut [T]| {
        let width = usized(sampling.sizes.last().copied().unwrap_or(0));
        let places = usized(aten::element_count(&sampling.sizes[2..]));
        if out.is_empty() {
            return Ok(());
        }
        let batches = out.chunks_mut(channels * places).zip(image.chunks(channels * area));
        for ((out, image), grid) in batches.zip(grid.chunks(places * sampler.sizes.len())) {
            let taps = sampler.taps(grid);
            Lines::new(out, width).each(GRAIN.div_ceil(width * sampler.each), |line, out| {
                let (channel, first) = (line * width / places, line * width % places);
                let image = &image[channel * area..][..area];
                for (to, taps) in out.iter_mut().zip(taps[first * sampler.each..].chunks_exact(sampler.each)) {
                    let seen = taps.iter().filter_map(|tap| Some(tap.weight * *image.get(tap.at)?));
                    *to = seen.fold(T::near(0.0), |sum, part| sum + part);
                }
            });
        }
        Ok(())
    })
}

fn gradients<T: Fraction + Into<f64>>(
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
    sampling: &Sampling,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor)> {
    let [of_input, of_grid] = sampling.gradients(grad_output, input, grid, output_mask)?;
    let (slopes, image, coordinates) = (packed::<T>(grad_output)?, packed::<T>(input)?, packed::<T>(grid)?);
    let sampler = Sampler::new(sampling, input);
    let (channels, area, rank) = (usized(input.sizes()[1]), sampler.area(), sampler.sizes.len());
    let places = usized(aten::element_count(&sampling.sizes[2..]));
    let taps = |batch: usize| sampler.taps(&coordinates[batch * places * rank..][..places * rank]);
    let zero = T::near(0.0);
    let of_input = filled(&of_input, |out: &mut [T]| {
        out.fill(zero);
        for (batch, out) in out.chunks_mut((channels * area).max(1)).enumerate() {
            let taps = taps(batch);
            Lines::new(out, area).each(GRAIN.div_ceil((places * sampler.each).max(1)), |channel, image| {
                let slopes = &slopes[(batch * channels + channel) * places..][..places];
                for (&slope, taps) in slopes.iter().zip(taps.chunks_exact(sampler.each)) {
                    for tap in taps {
                        if let Some(to) = image.get_mut(tap.at) {
                            *to = *to + slope * tap.weight;
                        }
                    }
                }
            });
        }
        Ok(())
    })?;
    let of_grid = filled(&of_grid, |out: &mut [T]| {
        for (batch, out) in out.chunks_mut((places * rank).max(1)).enumerate() {
            let taps = taps(batch);
            Lines::new(out, rank).each(GRAIN.div_ceil(channels.max(1) * sampler.each), |place, out| {
                out.fill(zero);
                for channel in 0..channels {
                    let plane = batch * channels + channel;
                    let (above, image) = (slopes[plane * places + place], &image[plane * area..][..area]);
                    for tap in &taps[place * sampler.each..][..sampler.each] {
                        let Some(&x) = image.get(tap.at) else { continue };
                        out.iter_mut().zip(tap.slopes).for_each(|(to, slope)| *to = *to + above * x * slope);
                    }
                }
            });
        }
        Ok(())
    })?;
    Ok((of_input, of_grid))
}

macro_rules! samplers {
    ($($rank:literal $name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            input: &Tensor,
            grid: &Tensor,
            interpolation_mode: i64,
            padding_mode: i64,
            align_corners: bool,
        ) -> Result<Tensor> {
            let sampling = Sampling::new($rank, input, grid, (interpolation_mode, padding_mode, align_corners))?;
            computed!($name "input", input.dtype(); T in [f32 f64] => { sampled::<T>(input, grid, &sampling) })
        }

        #[op_impl(aten::$backward, CPU)]
        fn $backward(
            grad_output: &Tensor,
            input: &Tensor,
            grid: &Tensor,
            interpolation_mode: i64,
            padding_mode: i64,
            align_corners: bool,
            output_mask: &[bool],
        ) -> Result<(Tensor, Tensor)> {
            let sampling = Sampling::new($rank, input, grid, (interpolation_mode, padding_mode, align_corners))?;
            computed!($backward "input", input.dtype(); T in [f32 f64] => {
                gradients::<T>(grad_output, input, grid, &sampling, output_mask)
            })
        }
    )*};
}

samplers! {
    2 grid_sampler_2d grid_sampler_2d_backward;
    3 grid_sampler_3d grid_sampler_3d_backward;
}
