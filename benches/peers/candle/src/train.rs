//! Training steps in candle, as in `../../opdispatch/src/train.rs`, without the residual network.

use candle_core::{DType, Device, Result, Tensor, Var};
use candle_nn::{Linear, Module, VarBuilder, VarMap, linear, loss};
use peer::{Job, new_job};

const CLASS_COUNT: usize = 10;
const LEARNING_RATE: f64 = 0.01;
const MOMENTUM: f64 = 0.9;

/// Returns the job for one training step of the network with this name.
pub(crate) fn training_job(name: &str) -> Result<Option<Job>> {
    let (sizes, batch): (&[usize], u32) = match name {
        "train mlp64" => (&[64, 128, CLASS_COUNT], 64),
        "train mlp784" => (&[784, 1024, 1024, CLASS_COUNT], 256),
        _ => return Ok(None),
    };
    let device = Device::Cpu;
    let variables = VarMap::new();
    let builder = VarBuilder::from_varmap(&variables, DType::F32, &device);
    let pairs = sizes.windows(2).enumerate();
    let layers: Vec<Linear> =
        pairs.map(|(k, pair)| linear(pair[0], pair[1], builder.pp(k.to_string()))).collect::<Result<_>>()?;
    let mut parameters: Vec<(Var, Tensor)> =
        variables.all_vars().into_iter().map(|var| Ok((var.clone(), var.zeros_like()?))).collect::<Result<_>>()?;

    let pictures = Tensor::rand(-2_f32, 2_f32, (batch as usize, sizes[0]), &device)?;
    let labels = Tensor::from_iter((0..batch).map(|picture| picture * 7 % 10), &device)?;
    let mut step = move || {
        let (last, hidden) = layers.split_last().expect("the network has layers");
        let features = hidden.iter().try_fold(pictures.clone(), |x, layer| layer.forward(&x)?.relu())?;
        let gradients = loss::cross_entropy(&last.forward(&features)?, &labels)?.backward()?;
        for (parameter, velocity) in &mut parameters {
            let Some(gradient) = gradients.get(parameter) else { continue };
            *velocity = ((&*velocity * MOMENTUM)? + gradient)?;
            parameter.set(&(parameter.as_tensor() - (&*velocity * LEARNING_RATE)?)?)?;
        }
        Ok::<_, candle_core::Error>(())
    };
    Ok(new_job(move || step().expect("the training step succeeds")))
}
