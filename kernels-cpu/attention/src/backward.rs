//! Gradients of attention. The weights are recomputed block by block from the logarithms of their sums.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use std::ops::Range;

use aten::AttentionPlan;
use dispatch_runtime::Operands;
use dispatch_runtime::prelude::*;

use super::forward::{Block, Products};
use super::operand::HeadOperand;
use super::{KEYS, LANES, Number, QUERIES};
use engine::contiguous::computed;
use engine::gemm::{Matrix, MatrixMut, gemm};
use engine::math::{Real, vectorised};
use engine::reduce::line_totals::total;
use engine::thread_pool;

#[op_impl(aten::_scaled_dot_product_flash_attention_for_cpu_backward, CPU)]
fn attention_backward(
    plan: &AttentionPlan,
    [grad_query, grad_key, grad_value]: [&mut Tensor; 3],
    _: ...
) -> Result<()> {
    // Without elements, the other sizes can be arbitrarily large.
    if [query, key, value].iter().all(|tensor| tensor.geometry().count() == 0) {
        return Ok(());
    }
    let operands = Operands::take(
        &["grad_query", "grad_key", "grad_value"],
        [grad_query, grad_key, grad_value],
        &["grad_out", "query", "key", "value", "out", "logsumexp", "attn_mask"],
        [grad_out, query, key, value, out, logsumexp, attn_mask.unwrap_or(query)],
    )?;
    let (written, [grad, first, keys, values, results, logs, mask]) = (operands.written(), operands.read());
    computed!(_scaled_dot_product_flash_attention_for_cpu_backward "query", query.dtype(); T in [f32 f64] => {
        let task = Task {
            products: Products::<T>::of(plan, [first, keys], attn_mask.map(|_| mask), is_causal),
            value: HeadOperand::of(values),
            out: HeadOperand::of(results),
            logs: HeadOperand::of(logs),
            grad: HeadOperand::of(grad),
            gradients: [HeadOperand::of(&written[0]), HeadOperand::of(&written[1]), HeadOperand::of(&written[2])],
        };
        task.run();
        Ok(())
    })
}

struct Task<'a, T> {
    products: Products<'a, T>,
    value: HeadOperand<'a>,
    out: HeadOperand<'a>,
    logs: HeadOperand<'a>,
    grad: HeadOperand<'a>,
    /// The gradients of query, key and value.
    gradients: [HeadOperand<'a>; 3],
}

/// The buffers for one head of the keys.
struct Scratch<T> {
    block: Block<T>,
    /// The gradients of the weights, and then of the products, in the layout of the products.
    slopes: Vec<T>,
    values: Vec<T>,
    keys: Vec<T>,
    queries: Vec<T>,
    grads: Vec<T>,
    /// The gradient of the result, transposed.
    turned: Vec<[T; QUERIES]>,
    logs: [T; QUERIES],
    /// For every query, the inner product of its result and the result's gradient.
    meets: [T; QUERIES],
    grad_query: Vec<T>,
    grad_key: Vec<T>,
    grad_value: Vec<T>,
}

impl<T: Number> Task<'_, T> {
    fn run(&self) {
        let [items, heads, rows, width] = self.products.query.sizes();
        let [_, groups, keys, _] = self.products.key.sizes();
        let per_group = heads / groups.max(1);
        thread_pool::parallel_each(items * groups, |piece| {
            let (item, group) = (piece / groups, piece % groups);
            let zeros = |count: usize| vec![T::ZERO; count];
            let mut scratch = Scratch {
                block: self.products.block(),
                slopes: zeros(KEYS * QUERIES),
                values: Vec::new(),
                keys: Vec::new(),
                queries: Vec::new(),
                grads: Vec::new(),
                turned: vec![[T::ZERO; QUERIES]; width],
                logs: [T::ZERO; QUERIES],
                meets: [T::ZERO; QUERIES],
                grad_query: zeros(QUERIES * width),
                grad_key: zeros(keys * width),
                grad_value: zeros(keys * width),
            };
            for head in group * per_group..(group + 1) * per_group {
                for first in (0..rows).step_by(QUERIES) {
                    self.queries([item, head, group], &(first..rows.min(first + QUERIES)), &mut scratch);
                }
            }
            // SAFETY: both are written operands, and every head of the keys is in one piece.
            unsafe {
                self.gradients[1].write([item, group, 0], &scratch.grad_key);
                self.gradients[2].write([item, group, 0], &scratch.grad_value);
            }
        });
    }

    /// Computes the gradients of a block of queries, and adds to those of the keys and values.
    fn queries(&self, [item, head, group]: [usize; 3], rows: &Range<usize>, scratch: &mut Scratch<T>) {
        let (height, width) = (rows.len(), self.value.sizes()[3]);
        self.products.turn([item, head], rows, &mut scratch.block);
        self.grad.turned([item, head, rows.start], height, T::ONE, &mut scratch.turned);
        let (mut result, mut grad) = (vec![T::ZERO; width], vec![T::ZERO; width]);
        for (at, row) in rows.clone().enumerate() {
            self.out.read([item, head, row, 0], &mut result);
            self.grad.read([item, head, row, 0], &mut grad);
            scratch.meets[at] =
                vectorised!(total([&result[..], &grad], [T::ZERO; 2], |[result, grad]| result.times(grad)));
            self.logs.read([item, head, row, 0], &mut scratch.logs[at..=at]);
        }
        scratch.grad_query.fill(T::ZERO);
        let reach = self.products.reach(rows);
        for first in (0..reach).step_by(KEYS) {
            let keys = first..reach.min(first + KEYS);
            self.products.multiply([item, head], rows, &keys, &mut scratch.block);
            self.slope([item, head, group], rows, &keys, scratch);
        }
        // SAFETY: it is a written operand, and every row is in one block of one piece.
        unsafe { self.gradients[0].write([item, head, rows.start], &scratch.grad_query[..height * width]) };
    }

    /// Adds the contribution of a block of products to the gradients.
    fn slope(
        &self,
        [item, head, group]: [usize; 3],
        rows: &Range<usize>,
        keys: &Range<usize>,
        scratch: &mut Scratch<T>,
    ) {
        let (height, count, width) = (rows.len(), keys.len(), self.value.sizes()[3]);
        let Scratch { block, slopes, values, turned, logs, meets, .. } = scratch;
        let value = self.value.matrix([item, group, keys.start], count, values);
        let grads = Matrix::new(turned.as_flattened(), [width, height], [QUERIES, 1]);
        let into = MatrixMut::new(slopes, [count, height], [QUERIES, 1]);
        if let (Some(grads), Some(into)) = (grads, into) {
            gemm(T::ONE, value, grads, T::ZERO, into);
        }
        let scale = self.products.scale;
        let across = height.next_multiple_of(LANES);
        let lines = block.products.chunks_exact_mut(QUERIES).zip(slopes.chunks_exact_mut(QUERIES));
        vectorised!({
            for (weights, slopes) in lines.take(count) {
                for start in (0..across).step_by(LANES) {
                    let part = start..start + LANES;
                    let (weights, slopes) = (&mut weights[part.clone()], &mut slopes[part.clone()]);
                    let (logs, meets) = (&logs[part.clone()], &meets[part]);
                    for lane in 0..LANES {
                        weights[lane] = Real::exp(weights[lane].minus(logs[lane]));
                        slopes[lane] = slopes[lane].minus(meets[lane]).times(weights[lane]).times(scale);
                    }
                }
            }
        });
        let Scratch { block, slopes, keys: own_keys, queries, grads, grad_query, grad_key, grad_value, .. } = scratch;
        let weights = Matrix::new(&block.products, [count, height], [QUERIES, 1]);
        let slopes = Matrix::new(slopes, [count, height], [QUERIES, 1]);
        let (Some(weights), Some(slopes)) = (weights, slopes) else { return };
        let of_keys = keys.start * width..keys.end * width;
        let place = [item, head, rows.start];
        let add = |left, right, into: &mut [T], tall| {
            if let Some(into) = MatrixMut::new(into, [tall, width], [width, 1]) {
                gemm(T::ONE, left, right, T::ONE, into);
            }
        };
        add(weights, self.grad.matrix(place, height, grads), &mut grad_value[of_keys.clone()], count);
        add(slopes, self.products.query.matrix(place, height, queries), &mut grad_key[of_keys], count);
        let key = self.products.key.matrix([item, group, keys.start], count, own_keys);
        add(slopes.transposed(), key, grad_query, height);
    }
}
