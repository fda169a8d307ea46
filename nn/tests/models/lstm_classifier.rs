//! A classifier of texts: an embedding, a bidirectional LSTM, and a linear layer.

use aten::prelude::*;
use dispatch_nn::{self as nn, Forward, Module};
use dispatch_runtime::prelude::*;

#[derive(Clone, Module)]
struct LstmClassifier {
    embedding: nn::Embedding,
    lstm: nn::LSTM,
    fc: nn::Linear,
}

impl LstmClassifier {
    fn new() -> Result<Self> {
        let padding = nn::EmbeddingOptions { padding_idx: Some(0), ..nn::EmbeddingOptions::default() };
        let options =
            nn::LSTMOptions { num_layers: 2, batch_first: true, bidirectional: true, ..nn::LSTMOptions::default() };
        Ok(Self {
            embedding: nn::Embedding::with(12, 5, padding)?,
            lstm: nn::LSTM::with(5, 6, options)?,
            fc: nn::Linear::new(12, 3)?,
        })
    }
}

impl Forward for LstmClassifier {
    type Output = Tensor;

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let (_, (hidden, _)) = self.lstm.forward(&self.embedding.forward(tokens)?, None)?;
        self.fc.forward(&Tensor::cat(&[hidden.i(-2)?, hidden.i(-1)?], 1)?)
    }
}

#[test]
fn an_lstm_classifier_is_that_of_pytorch() -> Result<()> {
    let loss = |output: &Tensor, target: &Tensor| nn::CrossEntropyLoss::new().forward(output, target);
    crate::recording::check("lstm", &LstmClassifier::new()?, LstmClassifier::forward, loss)
}
