//! A training run that is interrupted in the middle of an epoch and resumed from a checkpoint, in new objects.
#![allow(clippy::float_cmp, reason = "a resumed run has the same numbers")]

use std::collections::BTreeMap;
use std::path::Path;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_files::{load_safetensors_with_metadata, save_safetensors, save_safetensors_with_metadata};
use dispatch_nn::data::{DataLoader, DataLoaderOptions, TensorDataset};
use dispatch_nn::{Dropout, Forward, Linear, Module, ReLU, Sequential, checkpoint};
use dispatch_optim::{CosineAnnealingLR, GradScaler, GradScalerOptions, Optimizer, SGD, SGDOptions, Schedule};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

type Loader = DataLoader<TensorDataset<(Tensor, Tensor)>, (Tensor, Tensor)>;

/// All parts of a run.
struct Run {
    model: Sequential,
    optimizer: SGD,
    schedule: CosineAnnealingLR,
    scaler: GradScaler,
    data: Loader,
}

impl Run {
    fn new() -> Result<Self> {
        let model = Sequential::new().add(Linear::new(3, 8)?).add(ReLU).add(Dropout::new(0.5)?).add(Linear::new(8, 1)?);
        let mut optimizer =
            SGD::new(model.parameters(), SGDOptions { lr: 0.1, momentum: 0.9, ..SGDOptions::default() })?;
        let schedule = CosineAnnealingLR::new(&mut optimizer, 10, 0.0)?;
        let scaler = GradScaler::with(GradScalerOptions { growth_interval: 3, ..GradScalerOptions::default() })?;
        let x = Tensor::arange(0..33, DType::F32)?.reshape((11, 3))?.sin()?;
        let dataset = TensorDataset::new((x.clone(), x.sum_keepdim(1)?))?;
        let options = DataLoaderOptions { shuffle: true, seed: 3, num_workers: 1, ..DataLoaderOptions::default() };
        Ok(Self { model, optimizer, schedule, scaler, data: DataLoader::with(dataset, 3, options)? })
    }

    /// Makes steps, and returns their losses. An epoch has four. After `save_after` steps, the run is saved.
    fn train(&mut self, steps: usize, save_after: usize, path: &Path) -> Result<Vec<f32>> {
        let mut losses = Vec::new();
        while losses.len() < steps {
            for batch in self.data.iter().take(steps - losses.len()) {
                let (x, y) = batch?;
                self.optimizer.zero_grad();
                let loss = (self.model.forward(&x)? - &y)?.square()?.mean()?;
                self.scaler.scale(&loss)?.backward()?;
                self.scaler.step(&mut self.optimizer)?;
                self.scaler.update()?;
                self.schedule.step(&mut self.optimizer)?;
                losses.push(loss.item()?);
                if losses.len() == save_after {
                    self.save(path)?;
                }
            }
        }
        Ok(losses)
    }

    fn save(&self, path: &Path) -> Result<()> {
        let Self { model, optimizer, schedule, scaler, data } = self;
        checkpoint::save(
            path,
            &[("model", model), ("optimizer", optimizer), ("schedule", schedule), ("scaler", scaler), ("data", data)],
        )
    }

    fn load(&mut self, path: &Path) -> Result<()> {
        let Self { model, optimizer, schedule, scaler, data } = self;
        checkpoint::load(
            path,
            &mut [
                ("model", model),
                ("optimizer", optimizer),
                ("schedule", schedule),
                ("scaler", scaler),
                ("data", data),
            ],
        )
    }

    fn weights(&self) -> Result<BTreeMap<String, Vec<f32>>> {
        self.model.state_dict()?.into_iter().map(|(name, tensor)| Ok((name, tensor.flatten()?.to_vec()?))).collect()
    }
}

#[test]
fn a_resumed_run_equals_the_uninterrupted_one() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let generator = Generator::new(Device::CPU, 11);
    let _is_default = generator.make_default();

    let mut whole = Run::new()?;
    let expected = whole.train(10, 5, &path)?;
    let scale = whole.scaler.get_scale()?;
    assert!(scale > 65536.0, "the scale has grown: {scale}");

    generator.set_seed(99);
    let mut resumed = Run::new()?;
    resumed.load(&path)?;
    assert_eq!(resumed.train(5, 0, &path)?, expected[5..]);
    assert_eq!(resumed.weights()?, whole.weights()?);
    assert_eq!(resumed.scaler.get_scale()?.to_bits(), scale.to_bits());
    assert_eq!(resumed.schedule.last_lr(), whole.schedule.last_lr());
    assert_eq!((generator.seed(), resumed.data.epoch()), (11, whole.data.epoch()));
    Ok(())
}

#[test]
fn an_error_lists_everything_that_does_not_fit_and_nothing_is_loaded() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let mut run = Run::new()?;
    run.train(2, 2, &path)?;
    let (mut tensors, mut metadata) = load_safetensors_with_metadata(&path)?;
    tensors.remove("model.0.bias");
    tensors.insert("model.0.extra".to_owned(), Tensor::from(1.0));
    tensors.insert("optimizer.3.weight.momentum_buffer".to_owned(), Tensor::from([1.0]));
    metadata.remove("schedule.last_epoch");
    metadata.insert("scaler.scale".to_owned(), "large".to_owned());
    save_safetensors_with_metadata(&path, &tensors, metadata.clone())?;
    let before = run.weights()?;
    let error = run.load(&path).unwrap_err().to_string();
    for part in [
        "it does not fit, and nothing was loaded",
        "tensor `model.0.bias` is missing",
        "tensor `model.0.extra` is unexpected",
        "tensor `optimizer.3.weight.momentum_buffer` has the shape [1], and [1, 8] in the object",
        "value `schedule.last_epoch` is missing",
        "value `scaler.scale` is `large`",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(run.weights()?, before);

    let error = checkpoint::load(&path, &mut [("ema", &mut run.model)]).unwrap_err().to_string();
    assert!(error.contains("part `ema` is missing"), "{error}");
    metadata.insert("opdispatch_checkpoint".to_owned(), "2".to_owned());
    save_safetensors_with_metadata(&path, &tensors, metadata)?;
    assert!(run.load(&path).unwrap_err().to_string().contains("it has version 2"));
    save_safetensors(&path, &tensors)?;
    assert!(run.load(&path).unwrap_err().to_string().contains("the file is no checkpoint"));
    std::fs::write(&path, "cut off").unwrap();
    assert!(run.load(&path).is_err());
    for name in ["", "a.b", "a,b"] {
        assert!(checkpoint::save(&path, &[(name, &run.model)]).is_err());
    }
    assert!(checkpoint::save(&path, &[("a", &run.model), ("a", &run.scaler)]).is_err());
    Ok(())
}

#[test]
fn a_part_can_be_loaded_alone() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let mut run = Run::new()?;
    run.train(1, 1, &path)?;
    let mut other = Run::new()?;
    checkpoint::load(&path, &mut [("model", &mut other.model)])?;
    assert_eq!(other.weights()?, run.weights()?);
    Ok(())
}
