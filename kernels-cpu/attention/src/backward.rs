//! Gradients of attention. The weights are recomputed block by block from the logarithms of their sums.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use std::ops::Range;

use aten::AttentionPlan;
use dispatch_runtime::Operands;
use dispatch_runtime::prelude::*;

use super::forward::{AttentionScores, ScoreBlock};
use super::head_operand::HeadOperand;
use super::{AttentionFloat, KEYS_PER_BLOCK, LANE_COUNT, QUERIES_PER_BLOCK};
use engine::contiguous::with_compute_type;
use engine::gemm::{Matrix, MatrixMut, gemm};
use engine::math::{Real, vectorised};
use engine::reduce::line_totals::sum_of_line;
use engine::thread_pool;

#[op_impl(aten::_scaled_dot_product_flash_attention_for_cpu_backward, CPU)]
fn attention_backward(
    plan: &AttentionPlan,
    [grad_query, grad_key, grad_value]: [&mut Tensor; 3],
    _: ...
) -> Result<()> {
    // If the tensors have no elements, their other sizes can be arbitrarily large.
    if [query, key, value].iter().all(|tensor| tensor.geometry().count() == 0) {
        return Ok(());
    }
    let operands = Operands::borrow(
        &["grad_query", "grad_key", "grad_value"],
        [grad_query, grad_key, grad_value],
        &["grad_out", "query", "key", "value", "out", "logsumexp", "attn_mask"],
        [grad_out, query, key, value, out, logsumexp, attn_mask.unwrap_or(query)],
    )?;
    let (written, [grad, first, keys, values, results, logsumexp, mask]) = (operands.written(), operands.read());
    with_compute_type!(_scaled_dot_product_flash_attention_for_cpu_backward "query", query.dtype(); T in [f32 f64] => {
        let task = AttentionBackward {
            scores: AttentionScores::<T>::new(plan, [first, keys], attn_mask.map(|_| mask), is_causal),
            value: HeadOperand::new(values),
            out: HeadOperand::new(results),
            logsumexp: HeadOperand::new(logsumexp),
            grad: HeadOperand::new(grad),
            gradients: [HeadOperand::new(&written[0]), HeadOperand::new(&written[1]), HeadOperand::new(&written[2])],
        };
        task.compute();
        Ok(())
    })
}

struct AttentionBackward<'a, T> {
    scores: AttentionScores<'a, T>,
    value: HeadOperand<'a>,
    out: HeadOperand<'a>,
    logsumexp: HeadOperand<'a>,
    grad: HeadOperand<'a>,
    /// The gradients of query, key and value.
    gradients: [HeadOperand<'a>; 3],
}

/// The buffers of a thread, for one head of the keys after the other.
struct BackwardBuffers<T> {
    block: ScoreBlock<T>,
    /// The gradients of the weights, and then of the scores, in the layout of the scores.
    weight_grads: Vec<T>,
    values: Vec<T>,
    keys: Vec<T>,
    queries: Vec<T>,
    grads: Vec<T>,
    result_row: Vec<T>,
    grad_row: Vec<T>,
    /// The gradient of the result, transposed.
    transposed_grad: Vec<[T; QUERIES_PER_BLOCK]>,
    logsumexp: [T; QUERIES_PER_BLOCK],
    /// For every query, the inner product of the query's result and of that result's gradient.
    row_dots: [T; QUERIES_PER_BLOCK],
    grad_query: Vec<T>,
    grad_key: Vec<T>,
    grad_value: Vec<T>,
}

impl<T: AttentionFloat> AttentionBackward<'_, T> {
    fn compute(&self) {
        let [items, heads, rows, width] = self.scores.query.sizes();
        let [_, groups, keys, _] = self.scores.key.sizes();
        let per_group = heads / groups.max(1);
        thread_pool::parallel_for(0..items * groups, 1, |pieces| {
            let zeros = |count: usize| vec![T::ZERO; count];
            let mut scratch = BackwardBuffers {
                block: self.scores.new_score_block(),
                weight_grads: zeros(KEYS_PER_BLOCK * QUERIES_PER_BLOCK),
                values: Vec::new(),
                keys: Vec::new(),
                queries: Vec::new(),
                grads: Vec::new(),
                result_row: Vec::new(),
                grad_row: Vec::new(),
                transposed_grad: vec![[T::ZERO; QUERIES_PER_BLOCK]; width],
                logsumexp: [T::ZERO; QUERIES_PER_BLOCK],
                row_dots: [T::ZERO; QUERIES_PER_BLOCK],
                grad_query: zeros(QUERIES_PER_BLOCK * width),
                grad_key: zeros(keys * width),
                grad_value: zeros(keys * width),
            };
            for (item, group) in pieces.map(|piece| (piece / groups, piece % groups)) {
                scratch.grad_key.fill(T::ZERO);
                scratch.grad_value.fill(T::ZERO);
                for head in group * per_group..(group + 1) * per_group {
                    for first in (0..rows).step_by(QUERIES_PER_BLOCK) {
                        self.add_query_block_gradients(
                            [item, head, group],
                            &(first..rows.min(first + QUERIES_PER_BLOCK)),
                            &mut scratch,
                        );
                    }
                }
                // SAFETY: both gradients are written operands, and every head of the keys is in one piece.
                unsafe {
                    self.gradients[1].write_rows([item, group, 0], &scratch.grad_key);
                    self.gradients[2].write_rows([item, group, 0], &scratch.grad_value);
                }
            }
        });
    }

    /// Computes the gradients of a block of queries, and adds the block's contribution to the gradients of the keys and values.
    fn add_query_block_gradients(
        &self,
        [item, head, group]: [usize; 3],
        rows: &Range<usize>,
        scratch: &mut BackwardBuffers<T>,
    ) {
        let (height, width) = (rows.len(), self.value.sizes()[3]);
        self.scores.load_queries([item, head], rows, &mut scratch.block);
        self.grad.read_rows_transposed([item, head, rows.start], height, T::ONE, &mut scratch.transposed_grad);
        for (row, row_dot) in rows.clone().zip(&mut scratch.row_dots) {
            let result = self.out.row([item, head, row], &mut scratch.result_row);
            let grad = self.grad.row([item, head, row], &mut scratch.grad_row);
            *row_dot = vectorised!(sum_of_line([result, grad], [T::ZERO; 2], |[result, grad]| result.times(grad)));
        }
        let logsumexp = std::slice::from_mut(&mut scratch.logsumexp);
        self.logsumexp.read_rows_transposed([item, head, rows.start], height, T::ONE, logsumexp);
        scratch.grad_query.fill(T::ZERO);
        let attended_key_count = self.scores.attended_key_count(rows);
        for first in (0..attended_key_count).step_by(KEYS_PER_BLOCK) {
            let keys = first..attended_key_count.min(first + KEYS_PER_BLOCK);
            self.scores.compute_score_block([item, head], rows, &keys, &mut scratch.block);
            self.add_key_block_gradients([item, head, group], rows, &keys, scratch);
        }
        // SAFETY: the gradient of the queries is a written operand, and every row is in one block of one piece.
        unsafe { self.gradients[0].write_rows([item, head, rows.start], &scratch.grad_query[..height * width]) };
    }

    /// Adds the contribution of a block of scores to the gradients.
    fn add_key_block_gradients(
        &self,
        [item, head, group]: [usize; 3],
        rows: &Range<usize>,
        keys: &Range<usize>,
        scratch: &mut BackwardBuffers<T>,
    ) {
        let (height, count, width) = (rows.len(), keys.len(), self.value.sizes()[3]);
        let BackwardBuffers { block, weight_grads, values, transposed_grad, logsumexp, row_dots, .. } = scratch;
        let value = self.value.rows_as_matrix([item, group, keys.start], count, values);
        let grads = Matrix::new(transposed_grad.as_flattened(), [width, height], [QUERIES_PER_BLOCK, 1]);
        let into = MatrixMut::new(weight_grads, [count, height], [QUERIES_PER_BLOCK, 1]);
        if let (Some(grads), Some(into)) = (grads, into) {
            gemm(T::ONE, value, grads, T::ZERO, into);
        }
        let scale = self.scores.scale;
        let across = height.next_multiple_of(LANE_COUNT);
        let lines =
            block.scores.chunks_exact_mut(QUERIES_PER_BLOCK).zip(weight_grads.chunks_exact_mut(QUERIES_PER_BLOCK));
        vectorised!({
            for (weights, weight_grads) in lines.take(count) {
                for start in (0..across).step_by(LANE_COUNT) {
                    let part = start..start + LANE_COUNT;
                    let (weights, weight_grads) = (&mut weights[part.clone()], &mut weight_grads[part.clone()]);
                    let (logsumexp, row_dots) = (&logsumexp[part.clone()], &row_dots[part]);
                    for lane in 0..LANE_COUNT {
                        weights[lane] = Real::exp(weights[lane].minus(logsumexp[lane]));
                        weight_grads[lane] = weight_grads[lane].minus(row_dots[lane]).times(weights[lane]).times(scale);
                    }
                }
            }
        });
        let BackwardBuffers {
            block,
            weight_grads,
            keys: key_buffer,
            queries,
            grads,
            grad_query,
            grad_key,
            grad_value,
            ..
        } = scratch;
        let weights = Matrix::new(&block.scores, [count, height], [QUERIES_PER_BLOCK, 1]);
        let weight_grads = Matrix::new(weight_grads, [count, height], [QUERIES_PER_BLOCK, 1]);
        let (Some(weights), Some(weight_grads)) = (weights, weight_grads) else { return };
        let of_keys = keys.start * width..keys.end * width;
        let place = [item, head, rows.start];
        let add = |left, right, into: &mut [T], tall| {
            if let Some(into) = MatrixMut::new(into, [tall, width], [width, 1]) {
                gemm(T::ONE, left, right, T::ONE, into);
            }
        };
        add(weights, self.grad.rows_as_matrix(place, height, grads), &mut grad_value[of_keys.clone()], count);
        add(weight_grads, self.scores.query.rows_as_matrix(place, height, queries), &mut grad_key[of_keys], count);
        let key = self.scores.key.rows_as_matrix([item, group, keys.start], count, key_buffer);
        add(weight_grads.transposed(), key, grad_query, height);
    }
}
