//! Trains a small network for a few steps under modes, and prints FLOPs, memory and times.
//!
//! `cargo run --release --example modes [trace.json]`

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use opdispatch::modes::{self, Flops, Memory, Print, Profiler, span};
use opdispatch::prelude::*;

const STEP_COUNT: i64 = 10;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "target/trace.json".to_owned());
    opdispatch::manual_seed(0);
    let [first, second] = [[256, 64], [10, 256]].map(random_parameter);
    let weights = [first?, second?];

    println!("the operator calls of one forward pass:\n");
    modes::with_mode(Print::new(), || compute_loss(&weights))?;

    let (flops, memory, profiler) = (Arc::new(Flops::new()), Arc::new(Memory::new()), Arc::new(Profiler::new()));
    {
        let _flops = modes::enter(flops.clone());
        let _memory = modes::enter(memory.clone());
        // The innermost mode, so its times do not include the other modes.
        let _profiler = modes::enter(profiler.clone());
        for _ in 0..STEP_COUNT {
            span("step", || train_step(&weights))?;
        }
    }
    println!("\noperations of {STEP_COUNT} steps:\n\n{flops}\n\nmemory:\n\n{memory}\n\ntime:\n\n{profiler}");

    let failed = |error| format!("cannot write {path}: {error}");
    let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
    profiler.write_trace(&mut file).map_err(failed)?;
    println!("\n{path} is a trace for https://ui.perfetto.dev");
    Ok(())
}

/// Takes one training step: forward, backward, and an update of the weights.
fn train_step(weights: &[Tensor; 2]) -> Result<()> {
    let loss = span("forward", || compute_loss(weights))?;
    loss.backward()?;
    let _no_grad = opdispatch::autograd::no_grad();
    for weight in weights {
        let weight = weight.clone();
        if let Some(gradient) = weight.grad() {
            weight.sub_(&(gradient * 0.1)?)?;
        }
        weight.zero_grad();
    }
    Ok(())
}

/// Computes the loss of the network.
fn compute_loss([first, second]: &[Tensor; 2]) -> Result<Tensor> {
    let pictures = Tensor::randn((128, 64), DType::F32)?;
    let labels = Tensor::zeros(128, DType::I64)?;
    let scores = aten::linear(&aten::linear(&pictures, first, None)?.relu()?, second, None)?;
    aten::cross_entropy_loss!(&scores, &labels)
}

fn random_parameter(sizes: [i64; 2]) -> Result<Tensor> {
    (Tensor::randn(sizes, DType::F32)? * 0.1)?.detach()?.requires_grad_(true)
}
