//! The text: its characters as tokens, and random blocks of it.

use std::collections::BTreeSet;

use opdispatch::nn::data::Dataset;
use opdispatch::prelude::*;

use crate::BLOCK_SIZE;

/// The documentation of this repository.
const DOCUMENTATION: [&str; 12] = [
    include_str!("../../README.md"),
    include_str!("../../ARCHITECTURE.md"),
    include_str!("../../docs/differences.md"),
    include_str!("../../docs/glossary.md"),
    include_str!("../../docs/performance.md"),
    include_str!("../../docs/guide/src/introduction.md"),
    include_str!("../../docs/guide/src/tensors.md"),
    include_str!("../../docs/guide/src/training.md"),
    include_str!("../../docs/guide/src/first-operator.md"),
    include_str!("../../docs/guide/src/derivatives.md"),
    include_str!("../../docs/guide/src/how-a-call-works.md"),
    include_str!("../../docs/guide/src/layer.md"),
];

/// The characters of a text, each of which is a token.
pub(crate) struct Vocabulary(Vec<char>);

impl Vocabulary {
    fn of(text: &str) -> Self {
        Self(text.chars().collect::<BTreeSet<_>>().into_iter().collect())
    }

    pub(crate) fn len(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }

    /// Returns the tokens of a text. Characters that the vocabulary does not have are left out.
    pub(crate) fn encode(&self, text: &str) -> Vec<i64> {
        text.chars().filter_map(|character| i64::try_from(self.0.binary_search(&character).ok()?).ok()).collect()
    }

    pub(crate) fn decode(&self, tokens: &[i64]) -> String {
        tokens.iter().filter_map(|&token| self.0.get(usize::try_from(token).ok()?)).collect()
    }
}

/// Returns the blocks of a file, or of the documentation: 90 % for training and 10 % for validation.
pub(crate) fn load(path: Option<&str>) -> Result<(Vocabulary, [Blocks; 2])> {
    let text = match path {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?,
        None => DOCUMENTATION.concat(),
    };
    let vocabulary = Vocabulary::of(&text);
    let mut training = vocabulary.encode(&text);
    let validation = training.split_off(training.len() * 9 / 10);
    let blocks = [Blocks(training), Blocks(validation)];
    if blocks.iter().any(Dataset::is_empty) {
        return Err(format!("the text is too short; it needs {} characters", 11 * BLOCK_SIZE).into());
    }
    Ok((vocabulary, blocks))
}

/// The blocks of a text: each position has the tokens from there on, and for each token the next one.
pub(crate) struct Blocks(Vec<i64>);

impl Blocks {
    pub(crate) fn character_count(&self) -> usize {
        self.0.len()
    }
}

impl Dataset for Blocks {
    type Item = (Tensor, Tensor);

    fn len(&self) -> usize {
        self.0.windows(BLOCK_SIZE as usize + 1).len()
    }

    fn get(&self, index: usize) -> Result<Self::Item> {
        let block = self.0.windows(BLOCK_SIZE as usize + 1).nth(index);
        let (Some((_, next)), Some((_, tokens))) =
            (block.and_then(<[_]>::split_first), block.and_then(<[_]>::split_last))
        else {
            return Err("the text has no block at this position".into());
        };
        Ok((Tensor::from_slice(tokens), Tensor::from_slice(next)))
    }
}
