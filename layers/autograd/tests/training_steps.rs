//! Tests that a hundred thousand training steps use no more memory than the first few.

// A stress test of kernels-cpu includes the same file. It sets a global allocator, so each of the two tests is a program of its own.
#[path = "../../../kernels-cpu/tests/stress/allocated_bytes.rs"]
mod allocated_bytes;

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation, checkpoint};
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

const STEP_COUNT: usize = 100_000;
/// The number of steps after which the block caches have reached their final size.
const WARM_UP_STEPS: usize = 1_000;
/// One step in this many runs a special forward pass instead of the plain one.
const VARIANT_INTERVAL: usize = 8;
const LEARNING_RATE: f64 = 0.01;
/// The value of `reduction` for which `mse_loss` returns a sum.
const REDUCTION_SUM: i64 = 2;

struct Network {
    first: Tensor,
    second: Tensor,
}

impl Network {
    fn new() -> Result<Self> {
        Ok(Self {
            first: Tensor::from([[0.5, -0.25, 0.75], [-0.5, 1.0, 0.25]]).requires_grad_(true)?,
            second: Tensor::from([[1.0], [-0.5], [0.5]]).requires_grad_(true)?,
        })
    }

    fn hidden(&self, input: &Tensor) -> Result<Tensor> {
        input.mm(&self.first)?.relu()
    }

    fn loss(&self, hidden: &Tensor, target: &Tensor) -> Result<Tensor> {
        aten::mse_loss(&hidden.mm(&self.second)?, target, REDUCTION_SUM)
    }
}

struct Sample {
    input: Tensor,
    target: Tensor,
}

/// A forward pass that computes the loss of a network.
type ForwardPass = fn(&Network, &Sample) -> Result<Tensor>;

/// The special forward passes, which could leak memory.
const FORWARD_VARIANTS: [(&str, ForwardPass); 7] = [
    ("views of parameters", forward_with_parameter_views),
    ("writes to results", forward_with_result_writes),
    ("writes to views", forward_with_view_writes),
    ("hooks", forward_with_hooks),
    ("a checkpoint", forward_with_checkpoint),
    ("gradients of gradients", forward_with_second_order_gradients),
    ("failures", forward_with_failing_calls),
];

fn plain_forward(network: &Network, sample: &Sample) -> Result<Tensor> {
    network.loss(&network.hidden(&sample.input)?, &sample.target)
}

fn forward_with_parameter_views(network: &Network, sample: &Sample) -> Result<Tensor> {
    let turned = network.first.transpose(0, 1)?;
    let hidden = turned.mm(&sample.input.transpose(0, 1)?)?.relu()?;
    network.loss(&hidden.transpose(0, 1)?, &sample.target)
}

fn forward_with_result_writes(network: &Network, sample: &Sample) -> Result<Tensor> {
    let mut hidden = sample.input.mm(&network.first)?;
    aten::mul_(&mut hidden, &Tensor::from([0.5, 1.0, 2.0]))?;
    hidden.relu_()?;
    network.loss(&hidden, &sample.target)
}

fn forward_with_view_writes(network: &Network, sample: &Sample) -> Result<Tensor> {
    let hidden = network.hidden(&sample.input)?;
    let base = aten::clone(&hidden, None)?;
    let read = base.narrow(1, 0, 2)?;
    aten::mul_(&mut base.narrow(1, 1, 2)?, &Tensor::from(0.5))?;
    aten::copy_(&mut base.select(1, 0)?, &read.select(1, 1)?, false)?;
    network.loss(&(&base + &hidden)?, &sample.target)
}

fn forward_with_hooks(network: &Network, sample: &Sample) -> Result<Tensor> {
    let hidden = network.hidden(&sample.input)?;
    let seen = hidden.clone();
    let _stays = hidden.register_hook(|gradient| (gradient * 0.5).map(Some))?;
    hidden.retain_grad()?;
    let error = network.loss(&hidden, &sample.target)?;
    let of_leaf = network.first.register_hook(|_| Ok(None))?;
    Differentiation::of_outputs(&[&error]).retain_graph().backward()?;
    of_leaf.remove();
    assert!(seen.grad().is_some());
    Ok(error)
}

fn forward_with_checkpoint(network: &Network, sample: &Sample) -> Result<Tensor> {
    let block = |inputs: &[Tensor]| Ok(vec![inputs[0].mm(&inputs[1])?.relu()?]);
    let hidden = checkpoint(block, &[&sample.input, &network.first])?.remove(0);
    network.loss(&hidden, &sample.target)
}

fn forward_with_second_order_gradients(network: &Network, sample: &Sample) -> Result<Tensor> {
    let error = plain_forward(network, sample)?;
    let gradient = Differentiation::of_outputs(&[&error]).create_graph().grad(&[&network.second])?.remove(0).unwrap();
    &error + &((&gradient * &gradient)?.sum()? * 0.01)?
}

/// Runs a failing call in the forward pass, a forward pass that is dropped, and a failing backward pass.
fn forward_with_failing_calls(network: &Network, sample: &Sample) -> Result<Tensor> {
    let hidden = network.hidden(&sample.input)?;
    assert!(hidden.mm(&sample.input).is_err());
    let mut squares = (&hidden * &hidden)?.exp()?;
    let sum = squares.sum()?;
    aten::add_(&mut squares, &Tensor::from(1.0), 1.into())?;
    assert!(sum.backward().is_err());
    network.loss(&hidden, &sample.target)
}

fn forward_pass_for_step(at: usize) -> (&'static str, ForwardPass) {
    if at.is_multiple_of(VARIANT_INTERVAL) {
        FORWARD_VARIANTS[at / VARIANT_INTERVAL % FORWARD_VARIANTS.len()]
    } else {
        ("plain", plain_forward)
    }
}

fn run_training_step(network: &mut Network, sample: &Sample, forward: ForwardPass) -> Result<f64> {
    let error = forward(network, sample)?;
    error.backward()?;
    let _no_grad = guard::no_grad();
    for parameter in [&mut network.first, &mut network.second] {
        let gradient = parameter.grad().unwrap();
        aten::sub_(parameter, &gradient, LEARNING_RATE.into())?;
        parameter.zero_grad();
    }
    error.item()
}

#[test]
fn memory_does_not_grow_in_a_hundred_thousand_training_steps() {
    let mut network = Network::new().unwrap();
    let sample = Sample { input: Tensor::from([[1.0, 2.0], [-1.0, 0.5]]), target: Tensor::from([[1.0], [-1.0]]) };
    let before = plain_forward(&network, &sample).unwrap().item::<f64>().unwrap();
    let mut settled = 0;
    for at in 0..STEP_COUNT {
        let (name, forward) = forward_pass_for_step(at);
        run_training_step(&mut network, &sample, forward).unwrap();
        let alive = allocated_bytes::allocated_bytes();
        if at < WARM_UP_STEPS {
            settled = alive;
        }
        assert_eq!(alive, settled, "bytes after step {at}, with {name}, and after the warm-up");
    }
    let after = plain_forward(&network, &sample).unwrap().item::<f64>().unwrap();
    assert!(after < before / 10.0, "the steps train: {before} {after}");
}
