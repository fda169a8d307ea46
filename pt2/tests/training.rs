//! Training of exported programs: losses as in PyTorch, and the saved state.

#![allow(clippy::float_cmp, reason = "a saved state has the same bits")]

use std::fs;

use aten::prelude::*;
use dispatch_autograd::Differentiable as _;
use dispatch_files::{load_safetensors, save_safetensors};
use dispatch_nn::Module as _;
use dispatch_optim::{AdamW, AdamWOptions, Optimizer, SGD, SGDOptions};
use dispatch_pt2::Program;
use dispatch_runtime::{Result, Tensor};
use {dispatch_autocast as _, kernels_cpu as _};

/// A program with an input, a target, and the losses of PyTorch.
struct Training {
    program: Program,
    input: Tensor,
    target: Tensor,
    recording: serde_json::Value,
}

impl Training {
    fn load(name: &str) -> Self {
        let path = |ending: &str| format!("tests/golden/{name}.{ending}");
        let tensors = load_safetensors(path("safetensors")).unwrap();
        let recording: serde_json::Value = serde_json::from_slice(&fs::read(path("json")).unwrap()).unwrap();
        let tensor = |key: &serde_json::Value| tensors[key.as_str().unwrap()].clone();
        Self {
            program: Program::load(path("raw.pt2")).unwrap(),
            input: tensor(&recording["runs"][0]["inputs"][0]["tensor"]),
            target: tensor(&recording["training"]["target"]),
            recording,
        }
    }

    fn loss(&self) -> Result<Tensor> {
        let output = self.program.run(&self.input)?;
        (output.as_tensor().unwrap() - &self.target)?.square()?.mean()
    }

    fn options(&self, optimizer: &str, option: &str) -> f64 {
        self.recording["training"][optimizer]["options"][option].as_f64().unwrap()
    }

    /// Makes the recorded number of steps, and compares the losses.
    fn compare_steps(&self, name: &str, optimizer: &mut impl Optimizer) -> Result<()> {
        for expected in self.recording["training"][name]["losses"].as_array().unwrap() {
            let expected = expected.as_f64().unwrap();
            optimizer.zero_grad();
            let loss = self.loss()?;
            loss.backward()?;
            optimizer.step()?;
            let loss = loss.item::<f64>()?;
            assert!((loss - expected).abs() < 1e-4 * expected, "{name}: {loss} in place of {expected}");
        }
        Ok(())
    }
}

#[test]
fn steps_of_sgd_have_the_losses_of_pytorch() -> Result<()> {
    for name in ["nn_mlp_train", "tied_weights"] {
        let training = Training::load(name);
        let options = SGDOptions {
            lr: training.options("sgd", "lr"),
            momentum: training.options("sgd", "momentum"),
            weight_decay: training.options("sgd", "weight_decay"),
            ..SGDOptions::default()
        };
        let mut optimizer = SGD::new(training.program.parameters(), options)?;
        training.compare_steps("sgd", &mut optimizer)?;
    }
    Ok(())
}

#[test]
fn steps_of_adamw_have_the_losses_of_pytorch() -> Result<()> {
    for name in ["nn_mlp_train", "tied_weights"] {
        let training = Training::load(name);
        let options = AdamWOptions {
            lr: training.options("adamw", "lr"),
            weight_decay: training.options("adamw", "weight_decay"),
            ..AdamWOptions::default()
        };
        let mut optimizer = AdamW::new(training.program.parameters(), options)?;
        training.compare_steps("adamw", &mut optimizer)?;
    }
    Ok(())
}

#[test]
fn a_tied_parameter_is_trained_once_and_saved_under_each_name() -> Result<()> {
    let program = Training::load("tied_weights").program;
    let trained: Vec<String> = program.parameters().into_iter().map(|parameter| parameter.name).collect();
    assert_eq!(trained.len(), 3, "{trained:?}");
    let state = program.state_dict()?;
    for names in [["e.weight", "h.weight"], ["blocks.0.weight", "blocks.2.weight"], ["blocks.0.bias", "blocks.1.bias"]]
    {
        state[names[0]].zero_()?;
        assert_eq!(state[names[1]].abs()?.sum()?.item::<f32>()?, 0.0, "{names:?}");
    }
    Ok(())
}

#[test]
fn a_saved_state_continues_in_another_program() -> Result<()> {
    let training = Training::load("nn_mlp_train");
    let mut optimizer = SGD::new(training.program.parameters(), SGDOptions { lr: 0.05, ..SGDOptions::default() })?;
    training.loss()?.backward()?;
    optimizer.step()?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    save_safetensors(&path, &training.program.state_dict()?)?;

    let other = Training::load("nn_mlp_train");
    assert_ne!(other.loss()?.item::<f32>()?, training.loss()?.item::<f32>()?);
    other.program.load_state_dict(&load_safetensors(&path)?)?;
    assert_eq!(other.loss()?.item::<f32>()?, training.loss()?.item::<f32>()?);
    Ok(())
}
