//! Samples of a model.

use opdispatch::autograd;
use opdispatch::prelude::*;

use crate::BLOCK_SIZE;
use crate::model::Gpt;
use crate::text::Vocabulary;

const TEMPERATURE: f64 = 0.8;

/// Returns a text of `count` sampled characters, from the start of a line.
pub(crate) fn sample(model: &mut Gpt, vocabulary: &Vocabulary, count: usize) -> Result<String> {
    let _no_grad = autograd::no_grad();
    model.eval();
    let mut tokens = Tensor::from_slice(&vocabulary.encode("\n")).view((1, -1))?;
    for _ in 0..count {
        let time = tokens.sizes()[1];
        let context = tokens.i((.., (time - i64::from(BLOCK_SIZE)).max(0)..))?;
        let scores = (model.forward(&context)?.i((.., -1))? / TEMPERATURE)?;
        tokens = aten::cat(&[tokens, scores.softmax(-1)?.multinomial(1, false)?], 1)?;
    }
    model.train();
    Ok(vocabulary.decode(&tokens.i((0, 1..))?.to_vec::<i64>()?))
}
