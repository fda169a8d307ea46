//! Kernels of attention, computed for a block of queries and a block of keys at a time.
//!
//! The scores of a block are stored with the queries as the innermost dimension. So maxima, exponentials and sums over the keys are
//! computed for many queries at once, and no operand of a matrix product has to be transposed. The totals are rescaled when a larger
//! score is found, so every key and value is read once per block of queries.

mod backward;
mod forward;
mod head_operand;

use aten::AttentionPlan;
use dispatch_runtime::prelude::*;

use engine::gemm::Entry;
use engine::reduce::line_totals::OrderedFloat;

/// A type that attention is computed in.
trait AttentionFloat: OrderedFloat + Entry<Sum = Self> {}

impl<T: OrderedFloat + Entry<Sum = T>> AttentionFloat for T {}

#[op_impl(aten::_fused_sdp_choice, CPU)]
fn fused_sdp_choice(_: ...) -> i64 {
    let fits = AttentionPlan::flash_kernel_supports(query, key, value, attn_mask, dropout_p, enable_gqa);
    if fits { AttentionPlan::CHOICE_FLASH } else { AttentionPlan::CHOICE_MATH }
}

/// The number of queries of a block.
const QUERIES_PER_BLOCK: usize = 128;

/// The number of keys of a block.
const KEYS_PER_BLOCK: usize = 256;

/// The number of elements that are computed side by side.
const LANE_COUNT: usize = 32;

/// The fewest multiply-adds that are worth a thread.
const GRAIN_SIZE: usize = 1 << 18;
