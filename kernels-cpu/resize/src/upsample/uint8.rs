//! Resizing of uint8 images in integer arithmetic.
//!
//! Weights are rounded to the most bits with which the largest fits into 15 bits. Rows are interpolated and rounded to bytes before
//! columns. Both are as in PyTorch, as the rounding shows in the image.

use dispatch_runtime::Dims;
use dispatch_runtime::prelude::*;

use super::GRAIN_SIZE;
use super::taps::{UpsampleMode, UpsampleTaps};
use engine::contiguous::{contiguous_elements, write_contiguous};
use engine::thread_pool::{self, DisjointLines};

/// Resizes uint8 images. The sizes of both tensors are batch, channels, height and width.
pub(super) fn write_upsampled(
    this: &Tensor,
    out: &mut Tensor,
    (mode, align_corners): (UpsampleMode, bool),
    scales: &[Option<f64>; 2],
) -> Result<()> {
    let (elements, from, to) = (contiguous_elements::<i32>(this)?, this.sizes(), Dims::from_slice(out.sizes()));
    write_contiguous(out, |out: &mut [i32]| {
        let integer_taps = |at: usize| -> Result<IntegerTaps> {
            let taps = UpsampleTaps::<f64>::new(mode, align_corners, false, from[at + 2], to[at + 2], scales[at])?;
            Ok(IntegerTaps::new(&taps))
        };
        let (down, across) = (integer_taps(0)?, integer_taps(1)?);
        let (area, wide) = (down.input_size * across.input_size, across.input_size);
        let images = DisjointLines::new(out, down.output_size() * across.output_size());
        thread_pool::parallel_for(
            0..images.len(),
            GRAIN_SIZE.div_ceil(down.output_size() * across.output_size()),
            |range| {
                let mut blend = vec![0; down.input_size * across.output_size()];
                for index in range {
                    let rows = elements[index * area..][..area].chunks_exact(wide);
                    for (row, blend) in rows.zip(blend.chunks_exact_mut(across.output_size())) {
                        blend.iter_mut().enumerate().for_each(|(x, to)| *to = across.interpolate(x, |at| row[at]));
                    }
                    // SAFETY: every image is in one piece.
                    let image = unsafe { images.get(index) };
                    for (y, row) in image.chunks_exact_mut(across.output_size()).enumerate() {
                        let column = |x: usize| down.interpolate(y, |at| blend[at * across.output_size() + x]);
                        row.iter_mut().enumerate().for_each(|(x, to)| *to = column(x));
                    }
                }
            },
        );
        Ok(())
    })
}

/// Taps along one dimension with integer weights.
struct IntegerTaps {
    input_size: usize,
    /// The taps of each element of the result.
    taps: Vec<Vec<(usize, i32)>>,
    /// The number of fractional bits of a weight.
    bits: u32,
}

impl IntegerTaps {
    fn new(taps: &UpsampleTaps<f64>) -> Self {
        let merged: Vec<Vec<(usize, f64)>> =
            (0..taps.output_size).map(|output_index| merge_taps(taps.taps_of_result(output_index))).collect();
        let largest = merged.iter().flatten().fold(0.0, |largest: f64, &(_, weight)| largest.max(weight));
        let fits = |bits: &u32| 0.5 + largest * f64::from(1 << (bits + 1)) < f64::from(1 << 15);
        let bits = (0..22).find(|bits| !fits(bits)).unwrap_or(22);
        #[expect(clippy::cast_possible_truncation, reason = "`bits` was chosen so that the weights fit")]
        let integer_taps = |(at, weight): (usize, f64)| (at, (weight * f64::from(1 << bits)).round() as i32);
        let integer_taps = merged.into_iter().map(|taps| taps.into_iter().map(integer_taps).collect()).collect();
        Self { input_size: taps.input_size, taps: integer_taps, bits }
    }

    fn output_size(&self) -> usize {
        self.taps.len()
    }

    /// Computes an element of the result.
    fn interpolate(&self, output_index: usize, element: impl Fn(usize) -> i32) -> i32 {
        let half = 1 << (self.bits - 1);
        let sum = self.taps[output_index].iter().fold(half, |sum, &(at, weight)| sum + weight * element(at));
        (sum >> self.bits).clamp(0, u8::MAX.into())
    }
}

/// Merges the taps of the same index, and adds their weights.
fn merge_taps(taps: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let mut merged: Vec<(usize, f64)> = Vec::with_capacity(taps.len());
    for &(at, weight) in taps {
        match merged.last_mut().filter(|(last, _)| *last == at) {
            Some((_, sum)) => *sum += weight,
            None => merged.push((at, weight)),
        }
    }
    merged
}
