//! Training steps: forward, cross entropy, backward, and gradient descent with momentum. The same steps for the peers are in
//! `../../candle/src/train.rs` and `../../pytorch/train.py`.

use opdispatch::autograd;
use opdispatch::prelude::*;
use peer::{Job, new_job};

const CLASS_COUNT: i64 = 10;
const LEARNING_RATE: f64 = 0.01;
const MOMENTUM: f64 = 0.9;

/// Returns the job for a call that autograd records.
pub(crate) fn recorded_call_job(name: &str) -> Option<Job> {
    let (a, b) = (Tensor::from(vec![1.5_f32]).requires_grad_(true).ok()?, Tensor::from(vec![2.5_f32]));
    match name {
        "add, recorded" => new_job(move || aten::add(&a, &b, 1.into())),
        _ => None,
    }
}

/// Returns the job for one training step of the network with this name.
pub(crate) fn training_job(name: &str) -> Option<Job> {
    let mut parameters = Parameters::default();
    let (network, sizes) = match name {
        "train mlp64" => (mlp(&mut parameters, &[64, 128, CLASS_COUNT]), vec![64, 64]),
        "train mlp784" => (mlp(&mut parameters, &[784, 1024, 1024, CLASS_COUNT]), vec![256, 784]),
        "train resnet" => (resnet(&mut parameters), vec![32, 3, 32, 32]),
        _ => return None,
    };
    let network = network.expect("the network is created");
    let pictures = random_tensor(&sizes, 2.0).expect("the CPU has memory for these tensors");
    let labels = Tensor::from((0..sizes[0]).map(|picture| picture * 7 % CLASS_COUNT).collect::<Vec<i64>>());
    let mut step = move || {
        aten::cross_entropy_loss!(&network(&pictures)?, &labels)?.backward()?;
        parameters.sgd_step()
    };
    new_job(move || step().expect("the training step succeeds"))
}

type Layer = Box<dyn Fn(&Tensor) -> Result<Tensor>>;

/// The parameters of a network with their velocities; creates and updates them.
#[derive(Default)]
struct Parameters(Vec<(Tensor, Tensor)>);

impl Parameters {
    /// Adds a parameter with random values around zero, whose bound shrinks with the number of summands.
    fn add_random_parameter(&mut self, sizes: &[i64]) -> Result<Tensor> {
        #[expect(clippy::cast_precision_loss)]
        let summands = sizes[1..].iter().product::<i64>() as f64;
        self.add_parameter(random_tensor(sizes, summands.sqrt().recip())?)
    }

    fn add_filled_parameter(&mut self, size: i64, value: i64) -> Result<Tensor> {
        self.add_parameter(Tensor::full(size, value, DType::F32)?)
    }

    fn add_parameter(&mut self, parameter: Tensor) -> Result<Tensor> {
        let velocity = Tensor::zeros(parameter.sizes(), &parameter)?;
        let parameter = parameter.requires_grad_(true)?;
        self.0.push((parameter.clone(), velocity));
        Ok(parameter)
    }

    fn sgd_step(&mut self) -> Result<()> {
        let _no_grad = autograd::no_grad();
        for (parameter, velocity) in &mut self.0 {
            let Some(gradient) = parameter.grad() else { continue };
            velocity.mul_(MOMENTUM)?;
            velocity.add_(&gradient)?;
            aten::add_!(parameter, velocity, alpha = -LEARNING_RATE)?;
            parameter.zero_grad();
        }
        Ok(())
    }
}

/// Returns random values in the range from `-bound` to `bound`.
pub(crate) fn random_tensor(sizes: &[i64], bound: f64) -> Result<Tensor> {
    let numbers = Tensor::zeros(sizes, DType::F32)?;
    numbers.uniform_(-bound..bound)?;
    Ok(numbers)
}

fn mlp(parameters: &mut Parameters, sizes: &[i64]) -> Result<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for pair in sizes.windows(2) {
        layers.extend([linear_layer(parameters, pair[0], pair[1])?, Box::new(Tensor::relu)]);
    }
    layers.pop();
    Ok(sequential_layer(layers))
}

fn resnet(parameters: &mut Parameters) -> Result<Layer> {
    Ok(sequential_layer(vec![
        convolution_layer(parameters, 3, 16, 3, 1)?,
        batch_norm_layer(parameters, 16)?,
        Box::new(Tensor::relu),
        residual_block(parameters, 16, 16, 1)?,
        residual_block(parameters, 16, 32, 2)?,
        residual_block(parameters, 32, 64, 2)?,
        Box::new(|x| x.adaptive_avg_pool2d([1, 1])?.flatten_dims(1, -1)),
        linear_layer(parameters, 64, CLASS_COUNT)?,
    ]))
}

/// Returns a residual block: two convolutions with a shortcut, which is a projection if the number of channels changes.
fn residual_block(parameters: &mut Parameters, from: i64, to: i64, stride: i64) -> Result<Layer> {
    let residual = sequential_layer(vec![
        convolution_layer(parameters, from, to, 3, stride)?,
        batch_norm_layer(parameters, to)?,
        Box::new(Tensor::relu),
        convolution_layer(parameters, to, to, 3, 1)?,
        batch_norm_layer(parameters, to)?,
    ]);
    let shortcut = match from == to {
        true => sequential_layer(Vec::new()),
        false => sequential_layer(vec![
            convolution_layer(parameters, from, to, 1, stride)?,
            batch_norm_layer(parameters, to)?,
        ]),
    };
    Ok(Box::new(move |x| (residual(x)? + shortcut(x)?)?.relu()))
}

fn sequential_layer(layers: Vec<Layer>) -> Layer {
    Box::new(move |x| layers.iter().try_fold(x.clone(), |x, layer| layer(&x)))
}

fn linear_layer(parameters: &mut Parameters, from: i64, to: i64) -> Result<Layer> {
    let (weight, bias) = (parameters.add_random_parameter(&[to, from])?, parameters.add_filled_parameter(to, 0)?);
    Ok(Box::new(move |x| aten::linear(x, &weight, Some(&bias))))
}

fn convolution_layer(parameters: &mut Parameters, from: i64, to: i64, width: i64, stride: i64) -> Result<Layer> {
    let weight = parameters.add_random_parameter(&[to, from, width, width])?;
    Ok(Box::new(move |x| aten::conv2d!(x, &weight, stride = [stride, stride], padding = [width / 2, width / 2])))
}

fn batch_norm_layer(parameters: &mut Parameters, channels: i64) -> Result<Layer> {
    let (weight, bias) = (parameters.add_filled_parameter(channels, 1)?, parameters.add_filled_parameter(channels, 0)?);
    let (mean, var) = (Tensor::zeros(channels, DType::F32)?, Tensor::ones(channels, DType::F32)?);
    Ok(Box::new(move |x| {
        aten::batch_norm(x, Some(&weight), Some(&bias), Some(&mean), Some(&var), true, 0.1, 1e-5, false)
    }))
}
