//! The network: 64 inputs, a hidden layer of 128, and a score for each of the ten digits.

use opdispatch::nn::Linear;
use opdispatch::prelude::*;

use crate::data::PIXEL_COUNT;

/// A network of two linear layers.
#[derive(Clone, Module)]
pub(crate) struct Network {
    pub(crate) hidden: Linear,
    output: Linear,
}

impl Network {
    /// Returns an untrained network with random weights.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { hidden: Linear::new(PIXEL_COUNT, 128)?, output: Linear::new(128, 10)? })
    }
}

impl Forward for Network {
    type Output = Tensor;

    /// Returns a score (logit) for each picture and digit.
    fn forward(&self, pictures: &Tensor) -> Result<Tensor> {
        self.output.forward(&self.hidden.forward(pictures)?.relu()?)
    }
}
