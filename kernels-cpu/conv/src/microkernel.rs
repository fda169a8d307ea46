//! Microkernels of convolutions, with sums in registers.
//!
//! Adjacent results are computed together, for several channels at once. Each weight is multiplied with several vectors of the
//! [input tile](super::input_tile), and each vector with several weights, as many as there are registers for sums. For the gradient of a
//! weight of few channels, the roles are exchanged: the terms of a sum are adjacent.

use dispatch_runtime::{Arithmetic, Complex32, Complex64};
use pulp::{Arch, Simd, WithSimd};

use engine::compute::ComputeType;
use engine::gemm::Entry;
use engine::inlined::inlined;

/// The number of result channels whose weights are stored next to each other.
pub(super) const CHANNELS_PER_WEIGHT_BLOCK: usize = 8;

/// The number of result channels that are computed at once if the machine has few registers, or if no more channels are left.
const MIN_CHANNELS_IN_REGISTERS: usize = 4;

/// The most vectors of results per channel in registers.
const MAX_VECTORS_PER_CHANNEL: usize = 3;

/// The most elements of a row of results that are computed at once.
pub(super) const MAX_ROW_ELEMENTS_IN_REGISTERS: usize = MAX_VECTORS_PER_CHANNEL * MAX_LANE_COUNT;

/// The most filters whose gradients are computed in registers at once.
pub(super) const MAX_FILTERS_IN_REGISTERS: usize = 4;

/// The most elements of a vector.
pub(super) const MAX_LANE_COUNT: usize = 16;

/// A type that convolutions compute in.
pub(super) trait ConvElement: ComputeType + Entry<Sum = Self> {
    type Vector<S: Simd>: Copy;

    fn splat<S: Simd>(simd: S, number: Self) -> Self::Vector<S>;
    fn mul_add<S: Simd>(simd: S, x: Self::Vector<S>, y: Self::Vector<S>, sum: Self::Vector<S>) -> Self::Vector<S>;
    fn reduce_sum<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;
}

macro_rules! impl_conv_element {
    ($($ty:ident $vector:ident $splat:ident $mul_add:ident $reduce_sum:ident;)*) => {$(
        inlined! {
            impl ConvElement for $ty {
                type Vector[S: Simd] = S::$vector;
                fn splat[S: Simd](simd: S, number: Self) -> S::$vector = simd.$splat(number);
                fn mul_add[S: Simd](simd: S, x: S::$vector, y: S::$vector, sum: S::$vector) -> S::$vector = simd.$mul_add(x, y, sum);
                fn reduce_sum[S: Simd](simd: S, vector: S::$vector) -> Self = simd.$reduce_sum(vector);
            }
        }
    )*};
}

impl_conv_element! {
    f32 f32s splat_f32s mul_add_e_f32s reduce_sum_f32s;
    f64 f64s splat_f64s mul_add_e_f64s reduce_sum_f64s;
    Complex32 c32s splat_c32s mul_add_e_c32s reduce_sum_c32s;
    Complex64 c64s splat_c64s mul_add_e_c64s reduce_sum_c64s;
}

inlined! {
    // Integers are computed without vector instructions: a vector has one element.
    impl ConvElement for i64 {
        type Vector[S: Simd] = Self;
        fn splat[S: Simd](_simd: S, number: Self) -> Self = number;
        fn mul_add[S: Simd](_simd: S, x: Self, y: Self, sum: Self) -> Self = sum.plus(x.times(y));
        fn reduce_sum[S: Simd](_simd: S, vector: Self) -> Self = vector;
    }
}

#[inline(always)]
fn lane_count<T: ConvElement, S: Simd>() -> usize {
    size_of::<T::Vector<S>>() / size_of::<T>()
}

/// # Safety
///
/// A vector of elements can be read from `from`.
#[inline(always)]
unsafe fn load_vector<T: ConvElement, S: Simd>(from: *const T) -> T::Vector<S> {
    // SAFETY: guaranteed by the caller; a vector consists of its elements.
    unsafe { from.cast::<T::Vector<S>>().read_unaligned() }
}

/// The sums of results over taps and channels, for some rows of weights, from a position of the tile on.
pub(super) struct ResultMicrokernel<'a, T> {
    /// For each block of [`CHANNELS_PER_WEIGHT_BLOCK`] rows: their weights for the first offset, for the second, and so on.
    pub(super) weights: &'a [T],
    pub(super) rows: usize,
    /// The initial values of the sums of each row, for a multiple of [`CHANNELS_PER_WEIGHT_BLOCK`] rows.
    pub(super) initial_sums: &'a [T],
    /// The offset of each term's element in the tile, for the result at position zero.
    pub(super) offsets: &'a [usize],
    /// The number of offsets that are processed together, because their elements fit the cache.
    pub(super) cached_offsets: usize,
    pub(super) tile: &'a [T],
    pub(super) positions: usize,
    /// Lines of results, for a multiple of [`CHANNELS_PER_WEIGHT_BLOCK`] rows. The length of a line is a multiple of the length of a vector.
    pub(super) results: &'a mut [T],
    pub(super) line: usize,
}

impl<T: ConvElement> ResultMicrokernel<'_, T> {
    pub(super) fn compute(mut self) {
        let lines = self.rows.next_multiple_of(CHANNELS_PER_WEIGHT_BLOCK);
        let reached =
            self.offsets.iter().max().map_or(0, |&most| most + self.positions.next_multiple_of(MAX_LANE_COUNT));
        assert!(
            self.line.is_multiple_of(MAX_LANE_COUNT)
                && self.line >= self.positions
                && self.results.len() >= lines * self.line
                && self.initial_sums.len() >= lines
                && self.weights.len() >= lines * self.offsets.len()
                && self.tile.len() >= reached,
            "sums at {} positions of {} rows need more than {} elements of the tile",
            self.positions,
            self.rows,
            self.tile.len()
        );
        // `MAX_LANE_COUNT` is a multiple of every number of lanes.
        Arch::new().dispatch(&mut self);
    }

    /// # Safety
    ///
    /// There are `R` rows from `row` on, and the tile has `V` vectors from `place` on for every offset.
    #[inline(always)]
    unsafe fn compute_block<S: Simd, const R: usize, const V: usize>(
        &mut self,
        simd: S,
        row: usize,
        place: usize,
        inner: std::ops::Range<usize>,
    ) {
        let lane_count = lane_count::<T, S>();
        let offsets = &self.offsets[inner.clone()];
        let weights = (row - row % CHANNELS_PER_WEIGHT_BLOCK) * self.offsets.len()
            + inner.start * CHANNELS_PER_WEIGHT_BLOCK
            + row % CHANNELS_PER_WEIGHT_BLOCK;
        // SAFETY: `compute` has checked that all positions of all rows are inside the weights, the tile and the sums.
        unsafe {
            let mut weight = self.weights.as_ptr().add(weights);
            let tile = self.tile.as_ptr().add(place);
            let to = self.results.as_mut_ptr().add(row * self.line + place);
            let mut sums = [[T::splat(simd, T::ZERO); V]; R];
            for r in 0..R {
                let start = T::splat(simd, *self.initial_sums.as_ptr().add(row + r));
                for v in 0..V {
                    let before = to.add(r * self.line + v * lane_count);
                    sums[r][v] = if inner.start > 0 { load_vector::<T, S>(before) } else { start };
                }
            }
            for &offset in offsets {
                let from = tile.add(offset);
                let mut sources = [T::splat(simd, T::ZERO); V];
                for v in 0..V {
                    sources[v] = load_vector::<T, S>(from.add(v * lane_count));
                }
                for r in 0..R {
                    let factor = T::splat(simd, *weight.add(r));
                    for v in 0..V {
                        sums[r][v] = T::mul_add(simd, factor, sources[v], sums[r][v]);
                    }
                }
                weight = weight.add(CHANNELS_PER_WEIGHT_BLOCK);
            }
            for r in 0..R {
                for v in 0..V {
                    to.add(r * self.line + v * lane_count).cast::<T::Vector<S>>().write_unaligned(sums[r][v]);
                }
            }
        }
    }
}

impl<T: ConvElement> WithSimd for &mut ResultMicrokernel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lane_count = lane_count::<T, S>();
        // The largest block of sums that leaves registers for the operands.
        let most = if S::REGISTER_COUNT >= 32 { CHANNELS_PER_WEIGHT_BLOCK } else { MIN_CHANNELS_IN_REGISTERS };
        for start in (0..self.offsets.len().max(1)).step_by(self.cached_offsets.max(1)) {
            let inner = start..self.offsets.len().min(start + self.cached_offsets.max(1));
            for place in (0..self.positions).step_by(MAX_VECTORS_PER_CHANNEL * lane_count) {
                let vectors = (self.positions - place).div_ceil(lane_count).min(MAX_VECTORS_PER_CHANNEL);
                let mut row = 0;
                while row < self.rows {
                    let height = match self.rows - row {
                        1 => 1,
                        2..=MIN_CHANNELS_IN_REGISTERS => MIN_CHANNELS_IN_REGISTERS,
                        _ => most,
                    };
                    let inner = inner.clone();
                    // SAFETY: the rows and positions are below those that were checked.
                    unsafe {
                        match (height, vectors) {
                            (1, 1) => self.compute_block::<S, 1, 1>(simd, row, place, inner),
                            (1, 2) => self.compute_block::<S, 1, 2>(simd, row, place, inner),
                            (1, _) => self.compute_block::<S, 1, MAX_VECTORS_PER_CHANNEL>(simd, row, place, inner),
                            (MIN_CHANNELS_IN_REGISTERS, 1) => {
                                self.compute_block::<S, MIN_CHANNELS_IN_REGISTERS, 1>(simd, row, place, inner);
                            }
                            (MIN_CHANNELS_IN_REGISTERS, 2) => {
                                self.compute_block::<S, MIN_CHANNELS_IN_REGISTERS, 2>(simd, row, place, inner);
                            }
                            (MIN_CHANNELS_IN_REGISTERS, _) => {
                                self.compute_block::<S, MIN_CHANNELS_IN_REGISTERS, MAX_VECTORS_PER_CHANNEL>(
                                    simd, row, place, inner,
                                );
                            }
                            (_, 1) => self.compute_block::<S, CHANNELS_PER_WEIGHT_BLOCK, 1>(simd, row, place, inner),
                            (_, 2) => self.compute_block::<S, CHANNELS_PER_WEIGHT_BLOCK, 2>(simd, row, place, inner),
                            _ => self.compute_block::<S, CHANNELS_PER_WEIGHT_BLOCK, MAX_VECTORS_PER_CHANNEL>(
                                simd, row, place, inner,
                            ),
                        }
                    }
                    row += height;
                }
            }
        }
    }
}

/// The gradient of a weight: sums over positions of elements of the small side times elements of the tile.
pub(super) struct WeightGradientMicrokernel<'a, T> {
    /// The small side, from the first position on.
    pub(super) small: &'a [T],
    pub(super) filters: usize,
    pub(super) tile: &'a [T],
    /// The offset of each term's element in the tile, for the first position.
    pub(super) offsets: &'a [usize],
    pub(super) images: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The strides between images, filters and rows of the small side.
    pub(super) small_steps: [usize; 3],
    /// The strides between images and rows of the tile.
    pub(super) tile_steps: [usize; 2],
}

impl<T: ConvElement> WeightGradientMicrokernel<'_, T> {
    /// Calls `add` with the sum of every filter and offset.
    pub(super) fn compute(&self, add: impl FnMut(usize, usize, T)) {
        if [self.filters, self.offsets.len(), self.images, self.rows, self.columns].contains(&0) {
            return;
        }
        let most = self.offsets.iter().max().map_or(0, |&most| most + self.image_span_with_gaps());
        assert!(
            (self.images - 1) * self.tile_steps[0] + most <= self.tile.len(),
            "{} images of {} rows need more than {} elements of the tile",
            self.images,
            self.rows,
            self.tile.len()
        );
        Arch::new().dispatch(WeightGradientSimdCall { microkernel: self, lines: Vec::new(), add });
    }

    /// Returns the number of contiguous elements of an image that are read, gaps between rows included.
    fn image_span_with_gaps(&self) -> usize {
        ((self.rows - 1) * self.tile_steps[1] + self.columns).next_multiple_of(MAX_LANE_COUNT)
    }

    /// Returns the sums of `F` filters, whose rows are in `small`, for `K` offsets.
    ///
    /// # Safety
    ///
    /// The rows are complete, and the tile has all elements that the offsets reach.
    #[inline(always)]
    unsafe fn compute_block<S: Simd, const F: usize, const K: usize>(
        &self,
        simd: S,
        small: &[T],
        offsets: [usize; K],
    ) -> [[T; K]; F] {
        let (lane_count, line) = (lane_count::<T, S>(), self.image_span_with_gaps());
        let mut sums = [[T::splat(simd, T::ZERO); K]; F];
        // SAFETY: guaranteed by the caller.
        unsafe {
            for image in 0..self.images {
                let small = small.as_ptr().add(image * line);
                let tile = self.tile.as_ptr().add(image * self.tile_steps[0]);
                for place in (0..line).step_by(lane_count) {
                    let mut sources = [T::splat(simd, T::ZERO); K];
                    for k in 0..K {
                        sources[k] = load_vector::<T, S>(tile.add(offsets[k] + place));
                    }
                    for f in 0..F {
                        let small = load_vector::<T, S>(small.add(f * self.images * line + place));
                        for k in 0..K {
                            sums[f][k] = T::mul_add(simd, small, sources[k], sums[f][k]);
                        }
                    }
                }
            }
        }
        let mut totals = [[T::ZERO; K]; F];
        for f in 0..F {
            for k in 0..K {
                totals[f][k] = T::reduce_sum(simd, sums[f][k]);
            }
        }
        totals
    }

    /// Returns the gradient of one weight. It skips the elements between the rows of the tile. Other functions multiply these with zero,
    /// which is wrong if one is infinite or NaN.
    #[cold]
    fn sum_without_gaps(&self, filter: usize, offset: usize) -> T {
        let rows = (0..self.images).flat_map(|image| (0..self.rows).map(move |row| (image, row)));
        let sums = rows.map(|(image, row)| {
            let [of_image, of_filter, of_row] = self.small_steps;
            let small = &self.small[image * of_image + filter * of_filter + row * of_row..][..self.columns];
            let sources = &self.tile[image * self.tile_steps[0] + row * self.tile_steps[1] + offset..];
            small.iter().zip(sources).fold(T::ZERO, |sum, (&x, &y)| sum.plus(x.times(y)))
        });
        sums.fold(T::ZERO, T::plus)
    }
}

struct WeightGradientSimdCall<'a, T, A> {
    microkernel: &'a WeightGradientMicrokernel<'a, T>,
    /// The rows of the small side for some filters, as far apart as the rows of the tile, with zeros between them.
    lines: Vec<T>,
    add: A,
}

impl<T: ConvElement, A: FnMut(usize, usize, T)> WeightGradientSimdCall<'_, T, A> {
    #[inline(always)]
    fn run_blocks<S: Simd, const F: usize, const K: usize>(&mut self, simd: S) {
        let WeightGradientMicrokernel {
            small, filters, offsets, images, rows, columns, small_steps, tile_steps, ..
        } = *self.microkernel;
        let line = self.microkernel.image_span_with_gaps();
        self.lines.resize(F * images * line, T::ZERO);
        for first in (0..filters).step_by(F) {
            // Filters and offsets beyond the last are computed again, and the results are dropped.
            let numbers = (first..first + F).map(|filter| filter.min(filters - 1));
            let of = numbers.flat_map(|filter| (0..images).map(move |image| (filter, image)));
            for ((filter, image), line) in of.zip(self.lines.chunks_exact_mut(line)) {
                let start = image * small_steps[0] + filter * small_steps[1];
                for row in 0..rows {
                    let from = &small[start + row * small_steps[2]..][..columns];
                    line[row * tile_steps[1]..][..columns].copy_from_slice(from);
                }
            }
            for start in (0..offsets.len()).step_by(K) {
                let sources = std::array::from_fn(|k| offsets[(start + k).min(offsets.len() - 1)]);
                // SAFETY: `compute` has checked the reach of the offsets, and there is a line for every image.
                let totals = unsafe { self.microkernel.compute_block::<S, F, K>(simd, &self.lines, sources) };
                for (f, totals) in totals.iter().enumerate().take(filters - first) {
                    for (k, &total) in totals.iter().enumerate().take(offsets.len() - start) {
                        #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
                        let sum = if total == total {
                            total
                        } else {
                            self.microkernel.sum_without_gaps(first + f, sources[k])
                        };
                        (self.add)(first + f, start + k, sum);
                    }
                }
            }
        }
    }
}

impl<T: ConvElement, A: FnMut(usize, usize, T)> WithSimd for WeightGradientSimdCall<'_, T, A> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        if self.microkernel.filters == 1 {
            self.run_blocks::<S, 1, 9>(simd);
        } else if S::REGISTER_COUNT >= 32 {
            self.run_blocks::<S, MAX_FILTERS_IN_REGISTERS, 6>(simd);
        } else {
            self.run_blocks::<S, 2, 4>(simd);
        }
    }
}
