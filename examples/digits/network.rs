//! The network: 64 numbers in, a hidden layer of 128, and a score for each of the ten digits out.

use opdispatch::prelude::*;

use crate::data::PIXELS;

const HIDDEN: i64 = 128;
const CLASSES: i64 = 10;

/// A network of two layers.
pub(crate) struct Network {
    hidden: Linear,
    output: Linear,
}

impl Network {
    /// One that knows nothing yet.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { hidden: Linear::new(PIXELS, HIDDEN)?, output: Linear::new(HIDDEN, CLASSES)? })
    }

    /// How likely each picture shows each digit, as scores without bounds.
    pub(crate) fn forward(&self, pictures: &Tensor) -> Result<Tensor> {
        self.output.forward(&self.hidden.forward(pictures)?.relu()?)
    }

    /// What it learns, by name. These are handles: who changes them changes the network.
    pub(crate) fn parameters(&self) -> [(&'static str, Tensor); 4] {
        [
            ("hidden.weight", self.hidden.weight.clone()),
            ("hidden.bias", self.hidden.bias.clone()),
            ("output.weight", self.output.weight.clone()),
            ("output.bias", self.output.bias.clone()),
        ]
    }
}

/// `x weight^T + bias`
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    /// Small random numbers, smaller where more of them are added up.
    fn new(from: i64, to: i64) -> Result<Self> {
        #[expect(clippy::cast_precision_loss, reason = "sizes of layers are small")]
        let bound = (from as f64).sqrt().recip();
        let random = |sizes: &[i64]| {
            let mut parameter = Tensor::empty(sizes, ())?;
            parameter.uniform_(-bound, bound)?;
            parameter.requires_grad_(true)
        };
        Ok(Self { weight: random(&[to, from])?, bias: random(&[to])? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        aten::linear(x, &self.weight, Some(&self.bias))
    }
}
