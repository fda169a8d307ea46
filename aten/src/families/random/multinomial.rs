//! Random indices, drawn by weights.
//!
//! With replacement, a uniform random number is multiplied by the sum of the weights, and looked up in their running sums in double
//! precision. The running sums are those of chunks of [`MultinomialPlan::SCAN_CHUNK_SIZE`] weights, plus the sum of the chunks before. Without
//! replacement, each weight divides an exponentially distributed number, and the indices are in the order of these quotients.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec};

/// Draws indices of the last dimension with probabilities proportional to the weights `self`, with or without replacement.
#[op_def(
    "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn multinomial(_: ...) -> Result<Tensor>;

/// The plan of a draw of indices by weights.
pub struct MultinomialPlan;

impl MultinomialPlan {
    /// The number of weights in a chunk, whose running sums are computed sequentially.
    pub const SCAN_CHUNK_SIZE: usize = 256;
}

#[op_plan(multinomial)]
fn multinomial_plan(this: &Tensor, num_samples: i64, replacement: bool) -> Result<Plan<MultinomialPlan>, BadArgument> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
    }
    let (outer, count) = match this.sizes() {
        &[count] => (&[][..], count),
        &[_, count] => (&this.sizes()[..1], count),
        other => return Err(BadArgument::rank("self", other.len(), &[1, 2])),
    };
    if num_samples <= 0 {
        return Err(BadArgument::number("num_samples", num_samples, 1..));
    }
    if count == 0 && outer != [0] {
        return Err(BadArgument::sizes("self", this.sizes(), "rows that are not empty"));
    }
    if !replacement && num_samples > count {
        return Err(BadArgument::number("num_samples", num_samples, ..=count).because("no weight is drawn twice"));
    }
    let mut sizes = Dims::from_slice(outer);
    sizes.push(num_samples);
    Ok(Plan::new(MultinomialPlan, [Spec::contiguous(DType::I64, &sizes)]))
}
