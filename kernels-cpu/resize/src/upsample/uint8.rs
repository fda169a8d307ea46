//! Resizing of uint8 images in integer arithmetic.
//!
//! Weights are rounded to the most bits with which the largest fits into 15 bits. Rows are interpolated and rounded to bytes before
//! columns. Both are as in PyTorch, as the rounding shows in the image.

use dispatch_runtime::Dims;
use dispatch_runtime::prelude::*;

use super::GRAIN;
use super::taps::{Taps, UpsampleMode};
use engine::contiguous::{fill, packed};
use engine::thread_pool::{self, Lines};

/// Resizes uint8 images. The sizes of both tensors are batch, channels, height and width.
pub(super) fn resize(
    this: &Tensor,
    out: &mut Tensor,
    (way, align_corners): (UpsampleMode, bool),
    scales: &[Option<f64>; 2],
) -> Result<()> {
    let (elements, from, to) = (packed::<i32>(this)?, this.sizes(), Dims::from_slice(out.sizes()));
    fill(out, |out: &mut [i32]| {
        let whole = |at: usize| -> Result<Whole> {
            let taps = Taps::<f64>::new(way, align_corners, false, from[at + 2], to[at + 2], scales[at])?;
            Ok(Whole::of(&taps))
        };
        let (down, across) = (whole(0)?, whole(1)?);
        let (area, wide) = (down.from * across.from, across.from);
        let images = Lines::new(out, down.to() * across.to());
        thread_pool::parallel_for(0..images.len(), GRAIN.div_ceil(down.to() * across.to()), |range| {
            let mut blend = vec![0; down.from * across.to()];
            for index in range {
                let rows = elements[index * area..][..area].chunks_exact(wide);
                for (row, blend) in rows.zip(blend.chunks_exact_mut(across.to())) {
                    blend.iter_mut().enumerate().for_each(|(x, to)| *to = across.blended(x, |at| row[at]));
                }
                // SAFETY: every image is in one piece.
                let image = unsafe { images.get(index) };
                for (y, row) in image.chunks_exact_mut(across.to()).enumerate() {
                    let column = |x: usize| down.blended(y, |at| blend[at * across.to() + x]);
                    row.iter_mut().enumerate().for_each(|(x, to)| *to = column(x));
                }
            }
        });
        Ok(())
    })
}

/// Taps along one dimension with integer weights.
struct Whole {
    from: usize,
    /// The taps of each element of the result.
    taps: Vec<Vec<(usize, i32)>>,
    /// The number of fractional bits of a weight.
    bits: u32,
}

impl Whole {
    fn of(taps: &Taps<f64>) -> Self {
        let merged: Vec<Vec<(usize, f64)>> = (0..taps.to).map(|place| merged(taps.of(place))).collect();
        let largest = merged.iter().flatten().fold(0.0, |largest: f64, &(_, weight)| largest.max(weight));
        let fits = |bits: &u32| 0.5 + largest * f64::from(1 << (bits + 1)) < f64::from(1 << 15);
        let bits = (0..22).find(|bits| !fits(bits)).unwrap_or(22);
        #[expect(clippy::cast_possible_truncation, reason = "weights that fit were looked for")]
        let whole = |(at, weight): (usize, f64)| (at, (weight * f64::from(1 << bits)).round() as i32);
        let whole = merged.into_iter().map(|taps| taps.into_iter().map(whole).collect()).collect();
        Self { from: taps.from, taps: whole, bits }
    }

    fn to(&self) -> usize {
        self.taps.len()
    }

    /// Computes an element of the result.
    fn blended(&self, place: usize, element: impl Fn(usize) -> i32) -> i32 {
        let half = 1 << (self.bits - 1);
        let sum = self.taps[place].iter().fold(half, |sum, &(at, weight)| sum + weight * element(at));
        (sum >> self.bits).clamp(0, u8::MAX.into())
    }
}

/// Merges the taps of the same index, and adds their weights.
fn merged(taps: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let mut merged: Vec<(usize, f64)> = Vec::with_capacity(taps.len());
    for &(at, weight) in taps {
        match merged.last_mut().filter(|(last, _)| *last == at) {
            Some((_, sum)) => *sum += weight,
            None => merged.push((at, weight)),
        }
    }
    merged
}
