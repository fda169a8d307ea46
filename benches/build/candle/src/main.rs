//! Trains a small network with candle-nn's layers, loss and optimiser.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{AdamW, Linear, Module, Optimizer, VarBuilder, VarMap, linear, loss, ops};

/// A network of the sizes 64-128-10, as in the example `digits`.
struct Network {
    first: Linear,
    second: Linear,
}

impl Network {
    fn new(weights: VarBuilder) -> Result<Self> {
        Ok(Self { first: linear(64, 128, weights.pp("first"))?, second: linear(128, 10, weights.pp("second"))? })
    }

    fn forward(&self, inputs: &Tensor) -> Result<Tensor> {
        self.second.forward(&self.first.forward(inputs)?.relu()?)
    }
}

fn main() -> Result<()> {
    let device = Device::Cpu;
    let variables = VarMap::new();
    let network = Network::new(VarBuilder::from_varmap(&variables, DType::F32, &device))?;
    let mut optimiser = AdamW::new_lr(variables.all_vars(), 3e-3)?;
    let inputs = Tensor::randn(0f32, 1.0, (256, 64), &device)?;
    let classes = inputs.narrow(1, 0, 10)?.argmax(1)?;
    for epoch in 1..=100 {
        let predicted = ops::log_softmax(&network.forward(&inputs)?, 1)?;
        let loss = loss::nll(&predicted, &classes)?;
        optimiser.backward_step(&loss)?;
        if epoch % 20 == 0 {
            println!("{epoch:4}   loss {:.4}", loss.to_scalar::<f32>()?);
        }
    }
    Ok(())
}
