//! The network: 64 inputs, a hidden layer of 128, and a score for each of the ten digits.

use opdispatch::prelude::*;

use crate::data::PIXEL_COUNT;

const HIDDEN_SIZE: i64 = 128;
const CLASS_COUNT: i64 = 10;

/// A network of two linear layers.
pub(crate) struct Network {
    hidden: Linear,
    output: Linear,
}

impl Network {
    /// Returns an untrained network with random weights.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { hidden: Linear::new(PIXEL_COUNT, HIDDEN_SIZE)?, output: Linear::new(HIDDEN_SIZE, CLASS_COUNT)? })
    }

    /// Returns a score (logit) for each picture and digit.
    pub(crate) fn forward(&self, pictures: &Tensor) -> Result<Tensor> {
        self.output.forward(&self.hidden.forward(pictures)?.relu()?)
    }

    /// Returns the parameters by name. They are handles: writing to one changes the network.
    pub(crate) fn parameters(&self) -> [(&'static str, Tensor); 4] {
        [
            ("hidden.weight", self.hidden.weight.clone()),
            ("hidden.bias", self.hidden.bias.clone()),
            ("output.weight", self.output.weight.clone()),
            ("output.bias", self.output.bias.clone()),
        ]
    }
}

/// A linear layer: `x weight^T + bias`.
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    /// Returns a layer with uniform random parameters, whose bound shrinks with the number of inputs.
    fn new(from: i64, to: i64) -> Result<Self> {
        #[expect(clippy::cast_precision_loss, reason = "sizes of layers are small")]
        let bound = (from as f64).sqrt().recip();
        let random = |sizes: &[i64]| {
            let parameter = Tensor::empty(sizes, ())?;
            parameter.uniform_(-bound..bound)?;
            parameter.requires_grad_(true)
        };
        Ok(Self { weight: random(&[to, from])?, bias: random(&[to])? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.linear_bias(&self.weight, &self.bias)
    }
}
