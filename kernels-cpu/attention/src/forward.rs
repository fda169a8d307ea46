//! Forward computation of attention.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use std::ops::Range;

use aten::AttentionPlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Operand, Operands};

use super::head_operand::HeadOperand;
use super::{AttentionFloat, GRAIN_SIZE, KEYS_PER_BLOCK, LANE_COUNT, QUERIES_PER_BLOCK};
use engine::contiguous::with_compute_type;
use engine::gemm::{Matrix, MatrixMut, gemm};
use engine::math::{Real, vectorised};
use engine::thread_pool;

#[op_impl(aten::_scaled_dot_product_flash_attention_for_cpu, CPU)]
fn attention(plan: &AttentionPlan, [output, sums]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let operands = Operands::borrow(
        &["output", "logsumexp"],
        [output, sums],
        &["query", "key", "value", "attn_mask"],
        [query, key, value, attn_mask.unwrap_or(query)],
    )?;
    let ([out, logsumexp], [first, keys, values, mask]) = (operands.written(), operands.read());
    with_compute_type!(_scaled_dot_product_flash_attention_for_cpu "query", query.dtype(); T in [f32 f64] => {
        let task = AttentionForward {
            scores: AttentionScores::<T>::new(plan, [first, keys], attn_mask.map(|_| mask), is_causal),
            value: HeadOperand::new(values),
            out: HeadOperand::new(out),
            logsumexp: HeadOperand::new(logsumexp),
        };
        task.compute();
        Ok(())
    })
}

/// The attention scores before softmax: the scaled products of queries and keys, with the mask added.
pub(super) struct AttentionScores<'a, T> {
    pub(super) query: HeadOperand<'a>,
    pub(super) key: HeadOperand<'a>,
    pub(super) mask: Option<HeadOperand<'a>>,
    pub(super) scale: T,
    pub(super) is_causal: bool,
}

/// A block of attention scores, and buffers for the queries, keys and mask that it is computed from.
pub(super) struct ScoreBlock<T> {
    /// The queries, transposed and scaled.
    pub(super) queries: Vec<[T; QUERIES_PER_BLOCK]>,
    /// The scores, a row for each key.
    pub(super) scores: Vec<T>,
    keys: Vec<T>,
    mask: Vec<T>,
}

impl<'a, T: AttentionFloat> AttentionScores<'a, T> {
    /// Returns the scores of these queries and keys. The mask is broadcast to their sizes.
    pub(super) fn new(
        plan: &AttentionPlan,
        [query, key]: [&'a Operand<'_>; 2],
        mask: Option<&'a Operand<'_>>,
        is_causal: bool,
    ) -> Self {
        let size = |operand: &Operand<'_>, dim: usize| operand.geometry().sizes().get(dim).copied().unwrap_or(1);
        let all = [size(query, 0), size(query, 1), size(query, 2), size(key, 2)];
        let mask = mask.map(|mask| HeadOperand::broadcast_to(mask, &all));
        Self {
            query: HeadOperand::new(query),
            key: HeadOperand::new(key),
            mask,
            scale: T::from_f64(plan.scale),
            is_causal,
        }
    }

    pub(super) fn new_score_block(&self) -> ScoreBlock<T> {
        let width = self.query.sizes()[3];
        let zeros = |count: usize| vec![T::ZERO; count];
        ScoreBlock {
            queries: vec![[T::ZERO; QUERIES_PER_BLOCK]; width],
            scores: zeros(KEYS_PER_BLOCK * QUERIES_PER_BLOCK),
            keys: Vec::new(),
            mask: zeros(if self.mask.is_some() { LANE_COUNT * KEYS_PER_BLOCK } else { 0 }),
        }
    }

    /// Returns the head of the keys that belongs to a head of the queries.
    pub(super) fn key_head_of_query_head(&self, head: usize) -> usize {
        head / (self.query.sizes()[1] / self.key.sizes()[1].max(1)).max(1)
    }

    /// Returns the number of keys that a block of queries attends to.
    pub(super) fn attended_key_count(&self, rows: &Range<usize>) -> usize {
        let keys = self.key.sizes()[2];
        if self.is_causal { keys.min(rows.end) } else { keys }
    }

    /// Returns whether every score is zero because queries and keys have no elements. Then the number of keys can be arbitrarily large.
    fn are_all_zero(&self) -> bool {
        self.mask.is_none() && self.query.sizes()[3] == 0
    }

    /// Transposes and scales the queries of a block.
    pub(super) fn load_queries(&self, [item, head]: [usize; 2], rows: &Range<usize>, block: &mut ScoreBlock<T>) {
        self.query.read_rows_transposed([item, head, rows.start], rows.len(), self.scale, &mut block.queries);
    }

    /// Computes the scores of the block's queries with some keys.
    pub(super) fn compute_score_block(
        &self,
        [item, head]: [usize; 2],
        rows: &Range<usize>,
        keys: &Range<usize>,
        block: &mut ScoreBlock<T>,
    ) {
        let (height, count, width) = (rows.len(), keys.len(), self.query.sizes()[3]);
        let matrix =
            self.key.rows_as_matrix([item, self.key_head_of_query_head(head), keys.start], count, &mut block.keys);
        let queries = Matrix::new(block.queries.as_flattened(), [width, height], [QUERIES_PER_BLOCK, 1]);
        let scores = MatrixMut::new(&mut block.scores, [count, height], [QUERIES_PER_BLOCK, 1]);
        if let (Some(queries), Some(scores)) = (queries, scores) {
            gemm(T::ONE, matrix, queries, T::ZERO, scores);
        }
        if let Some(mask) = &self.mask {
            block.add_mask(mask, [item, head], rows, keys);
        }
        if self.is_causal {
            for (line, key) in block.scores.chunks_exact_mut(QUERIES_PER_BLOCK).zip(keys.clone()) {
                let hidden = key.saturating_sub(rows.start).min(height);
                line[..hidden].fill(T::MIN_VALUE);
            }
        }
    }
}

impl<T: AttentionFloat> ScoreBlock<T> {
    /// Adds a mask to the scores.
    fn add_mask(&mut self, mask: &HeadOperand<'_>, [item, head]: [usize; 2], rows: &Range<usize>, keys: &Range<usize>) {
        for start in (0..rows.len()).step_by(LANE_COUNT) {
            let height = LANE_COUNT.min(rows.len() - start);
            for row in 0..height {
                let line = &mut self.mask[row * KEYS_PER_BLOCK..][..keys.len()];
                mask.read_row([item, head, rows.start + start + row, keys.start], line);
            }
            for (key, line) in self.scores.chunks_exact_mut(QUERIES_PER_BLOCK).take(keys.len()).enumerate() {
                for (row, score) in line[start..start + height].iter_mut().enumerate() {
                    *score = score.plus(self.mask[row * KEYS_PER_BLOCK + key]);
                }
            }
        }
    }
}

struct AttentionForward<'a, T> {
    scores: AttentionScores<'a, T>,
    value: HeadOperand<'a>,
    out: HeadOperand<'a>,
    logsumexp: HeadOperand<'a>,
}

/// The intermediate results of a block of queries.
struct OnlineSoftmax<T> {
    block: ScoreBlock<T>,
    values: Vec<T>,
    /// The weighted sums of the values, before they are divided by the sums of the weights.
    totals: Vec<T>,
    maxima: [T; QUERIES_PER_BLOCK],
    sums: [T; QUERIES_PER_BLOCK],
    /// The offsets that are subtracted from scores before `exp`.
    shifts: [T; QUERIES_PER_BLOCK],
    /// The factors that rescale the totals after a larger score was found.
    scales: [T; QUERIES_PER_BLOCK],
}

impl<T: AttentionFloat> AttentionForward<'_, T> {
    fn compute(&self) {
        let [items, heads, rows, width] = self.scores.query.sizes();
        let blocks = rows.div_ceil(QUERIES_PER_BLOCK);
        let work = QUERIES_PER_BLOCK.saturating_mul(self.scores.key.sizes()[2]).saturating_mul(2 * width);
        thread_pool::parallel_for(0..items * heads * blocks, GRAIN_SIZE.div_ceil(work.max(1)), |pieces| {
            let mut softmax = OnlineSoftmax {
                block: self.scores.new_score_block(),
                values: Vec::new(),
                totals: vec![T::ZERO; QUERIES_PER_BLOCK * width],
                maxima: [T::MIN_VALUE; QUERIES_PER_BLOCK],
                sums: [T::ZERO; QUERIES_PER_BLOCK],
                shifts: [T::ZERO; QUERIES_PER_BLOCK],
                scales: [T::ZERO; QUERIES_PER_BLOCK],
            };
            for piece in pieces {
                let (head, first) = (piece / blocks, piece % blocks * QUERIES_PER_BLOCK);
                let place = [head / heads, head % heads];
                self.attend_query_block(place, &(first..rows.min(first + QUERIES_PER_BLOCK)), &mut softmax);
            }
        });
    }

    fn attend_query_block(&self, [item, head]: [usize; 2], rows: &Range<usize>, softmax: &mut OnlineSoftmax<T>) {
        let (height, width) = (rows.len(), self.value.sizes()[3]);
        self.scores.load_queries([item, head], rows, &mut softmax.block);
        softmax.maxima.fill(T::MIN_VALUE);
        softmax.sums.fill(T::ZERO);
        softmax.totals.fill(T::ZERO);
        let attended_key_count = if self.scores.are_all_zero() {
            softmax.set_sums_to_key_counts(rows.clone().map(|row| self.scores.attended_key_count(&(row..row + 1))));
            0
        } else {
            self.scores.attended_key_count(rows)
        };
        for first in (0..attended_key_count).step_by(KEYS_PER_BLOCK) {
            let keys = first..attended_key_count.min(first + KEYS_PER_BLOCK);
            self.scores.compute_score_block([item, head], rows, &keys, &mut softmax.block);
            softmax.scores_to_weights(keys.len(), height);
            if first > 0 {
                softmax.rescale_totals(width);
            }
            let place = [item, self.scores.key_head_of_query_head(head), first];
            let values = self.value.rows_as_matrix(place, keys.len(), &mut softmax.values);
            let weights = Matrix::new(&softmax.block.scores, [height, keys.len()], [1, QUERIES_PER_BLOCK]);
            let totals = MatrixMut::new(&mut softmax.totals, [height, width], [width, 1]);
            let before = if first > 0 { T::ONE } else { T::ZERO };
            if let (Some(weights), Some(totals)) = (weights, totals) {
                gemm(T::ONE, weights, values, before, totals);
            }
        }
        softmax.normalize_totals(width);
        let place = [item, head, rows.start];
        // SAFETY: `out` and `logsumexp` are written operands, and every row is in one block of one piece.
        unsafe {
            self.out.write_rows(place, &softmax.totals[..height * width]);
            self.logsumexp.write_rows(place, &softmax.sums[..height]);
        }
    }
}

/// Returns the maximum of a row, or zero if it is minus infinity.
#[inline(always)]
fn zero_if_minus_infinity<T: AttentionFloat>(maximum: T) -> T {
    if maximum == T::MIN_VALUE { T::ZERO } else { maximum }
}

impl<T: AttentionFloat> OnlineSoftmax<T> {
    /// Sets the sums of weights to the number of keys of each query, for scores that are all zero.
    #[expect(clippy::cast_precision_loss, reason = "a sum is rounded")]
    fn set_sums_to_key_counts(&mut self, keys: impl Iterator<Item = usize>) {
        self.maxima.fill(T::ZERO);
        self.sums.iter_mut().zip(keys).for_each(|(sum, keys)| *sum = T::from_f64(keys as f64));
    }

    /// Turns scores into weights, by an online softmax. Columns beyond `height` have no meaning.
    fn scores_to_weights(&mut self, keys: usize, height: usize) {
        let Self { block, maxima, sums, shifts, scales, .. } = self;
        let across = height.next_multiple_of(LANE_COUNT);
        let lines = block.scores[..keys * QUERIES_PER_BLOCK].as_chunks_mut::<QUERIES_PER_BLOCK>().0;
        vectorised!({
            shifts.copy_from_slice(&maxima[..]);
            for line in &*lines {
                for (top, &score) in shifts[..across].iter_mut().zip(&line[..across]) {
                    *top = if score > *top { score } else { *top };
                }
            }
            for ((shift, maxima), scale) in shifts.iter_mut().zip(&mut *maxima).zip(&mut *scales) {
                let before = *maxima;
                *maxima = *shift;
                *shift = zero_if_minus_infinity(*shift);
                *scale = Real::exp(before.minus(*shift));
            }
            for (sum, &scale) in sums.iter_mut().zip(&*scales) {
                *sum = sum.times(scale);
            }
            for line in lines {
                let shifts = shifts[..across].as_chunks::<LANE_COUNT>().0;
                let sums = sums[..across].as_chunks_mut::<LANE_COUNT>().0;
                for ((line, shift), sum) in line.as_chunks_mut::<LANE_COUNT>().0.iter_mut().zip(shifts).zip(sums) {
                    for lane in 0..LANE_COUNT {
                        line[lane] = Real::exp_or_zero(line[lane].minus(shift[lane]));
                        sum[lane] = sum[lane].plus(line[lane]);
                    }
                }
            }
        });
    }

    /// Divides the weighted sums of the values by the sums of the weights, and replaces the latter with their logarithms.
    fn normalize_totals(&mut self, width: usize) {
        let Self { maxima, sums, scales, .. } = self;
        vectorised!({
            for ((sum, &maxima), scale) in sums.iter_mut().zip(&*maxima).zip(&mut *scales) {
                // If every score is minus infinity, the sum is zero, and the result is zero.
                let all = if *sum == T::ZERO { T::ONE } else { *sum };
                *scale = Real::reciprocal(all);
                *sum = zero_if_minus_infinity(maxima).plus(Real::log(all));
            }
        });
        self.rescale_totals(width);
    }

    fn rescale_totals(&mut self, width: usize) {
        let Self { totals, scales, .. } = self;
        vectorised!({
            for (line, &scale) in totals.chunks_exact_mut(width.max(1)).zip(&*scales) {
                for total in line {
                    *total = total.times(scale);
                }
            }
        });
    }
}
