//! Attention, a block of queries against a block of keys at a time.
//!
//! The products of a block lie with the queries next to each other: maxima, exponentials and sums over the keys are then the same for
//! many queries at once, and none of the operands of a matrix product has to be turned around. What was averaged so far is scaled when
//! a larger product comes up, so every key and value is read once for each block of queries.

mod backward;
mod forward;
mod operand;

use aten::Attention;
use dispatch_runtime::prelude::*;

use engine::gemm::Entry;
use engine::reduce::line_totals::Fraction;

/// What attention is computed in.
trait Number: Fraction + Entry<Sum = Self> {}

impl<T: Fraction + Entry<Sum = T>> Number for T {}

#[op_impl(aten::_fused_sdp_choice, CPU)]
fn choice(_: ...) -> i64 {
    let fits = Attention::fits(query, key, value, attn_mask, dropout_p, enable_gqa);
    if fits { Attention::BLOCKED } else { Attention::COMPOSED }
}

/// How many queries a block has.
const QUERIES: usize = 128;

/// How many keys a block has.
const KEYS: usize = 256;

/// How many elements are worked on side by side.
const LANES: usize = 32;

/// Multiply-adds that are worth a thread.
const GRAIN: usize = 1 << 18;
