//! Kernels of Bernoulli distributions.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::{BLOCKS_PER_GROUP, fill_from_words};
use engine::data_movement::broadcast_to_contiguous;
use engine::math::vectorised;

/// Returns the bound below which a random word lies with probability `p`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a chance is between zero and one")]
fn word_threshold(p: f64) -> u64 {
    (p * 4_294_967_296.0).round() as u64
}

fn fill_bernoulli(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    let limit = word_threshold(p);
    fill_from_words::<u8, 4>(this, generator, |words, _| {
        let mut rows = [[0; BLOCKS_PER_GROUP]; 4];
        vectorised!({
            for (to, word) in rows.as_flattened_mut().iter_mut().zip(words.as_flattened()) {
                *to = u8::from(u64::from(*word) < limit);
            }
        });
        rows
    })
}

#[op_impl(aten::bernoulli_p, CPU)]
fn bernoulli_p(_plan: &(), out: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    fill_bernoulli(out, p, generator)
}

#[op_impl(aten::bernoulli__float, CPU)]
fn bernoulli_float_(_plan: &(), this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    fill_bernoulli(this, p, generator)
}

#[op_impl(aten::bernoulli_tensor, CPU, in_place, strided)]
fn bernoulli_tensor(_plan: &(), out: &mut Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let probabilities = broadcast_to_contiguous("p", p, DType::F64, out.sizes())?;
    let probabilities = probabilities.read::<f64>()?;
    if let Some(bad) = probabilities.iter().find(|probability| !(0.0..=1.0).contains(*probability)) {
        return Err(BadArgument::number("p", *bad, 0..=1).into());
    }
    fill_from_words::<u8, 4>(out, generator, |words, at| {
        let mut rows = [[0; BLOCKS_PER_GROUP]; 4];
        let elements = rows.as_flattened_mut().iter_mut().zip(words.as_flattened());
        for ((to, word), probability) in elements.zip(&probabilities[at..]) {
            *to = u8::from(u64::from(*word) < word_threshold(*probability));
        }
        rows
    })
}
