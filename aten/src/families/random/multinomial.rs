//! Positions drawn by their weights.
//!
//! With replacement, a position is where an evenly distributed number, times the sum of the weights, falls among their running sums in double
//! precision: those of pieces of [`Multinomial::PIECE`] weights, each on top of the sum of the pieces before. Without, positions come in the order of
//! exponentially distributed numbers, one for each weight and divided by it.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec};

/// Positions of the last dimension, each as likely as its weight says; one is drawn once, or any number of times with replacement.
#[op_def(
    "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn multinomial(_: ...) -> Result<Tensor>;

/// Positions by weights.
pub struct Multinomial;

impl Multinomial {
    /// How many weights are added one after the other.
    pub const PIECE: usize = 256;
}

#[op_plan(multinomial)]
fn multinomial_plan(this: &Tensor, num_samples: i64, replacement: bool) -> Result<Plan<Multinomial>, BadArgument> {
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
        return Err(BadArgument::number("num_samples", num_samples, ..=count)
            .because("there are so many weights and none is drawn twice"));
    }
    let mut sizes = Dims::from_slice(outer);
    sizes.push(num_samples);
    Ok(Plan::new(Multinomial, [Spec::contiguous(DType::I64, &sizes)]))
}
