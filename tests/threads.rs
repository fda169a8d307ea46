//! Tests that the results of a training run do not depend on the number of threads.

#![cfg(all(feature = "cpu", feature = "nn"))]

use opdispatch::nn::{self, Sequential};
use opdispatch::optim::{AdamW, AdamWOptions, clip_grad_norm_};
use opdispatch::prelude::*;
use opdispatch::set_num_threads;

/// Trains for some steps, and returns the losses and all parameters.
fn train(
    create_model: fn() -> Result<Sequential>,
    sizes: &[i64],
    classes: i64,
    threads: usize,
) -> Result<(Vec<f32>, Vec<Vec<f32>>)> {
    set_num_threads(threads);
    let generator = Generator::new(Device::CPU, 7);
    let _is_default = generator.make_default();
    let model = create_model()?;
    let mut optimizer = AdamW::new(model.parameters(), AdamWOptions::default())?;
    let mut losses = Vec::new();
    for _ in 0..4 {
        let x = Tensor::randn(sizes, ())?;
        let target = Tensor::randint(0..classes, sizes[0], DType::I64)?;
        let loss = model.forward(&x)?.cross_entropy(&target)?;
        optimizer.zero_grad();
        loss.backward()?;
        clip_grad_norm_(&model.parameters(), 1.0)?;
        optimizer.step()?;
        losses.push(loss.item()?);
    }
    let parameters = model.parameters().iter().map(|parameter| parameter.to_vec()).collect::<Result<_>>()?;
    Ok((losses, parameters))
}

/// A network of convolutions, with batch normalisation, dropout and pooling.
fn convolutions() -> Result<Sequential> {
    Ok(Sequential::new()
        .add(nn::Conv2d::new(3, 24, 3)?)
        .add(nn::BatchNorm2d::new(24)?)
        .add(nn::ReLU)
        .add(nn::MaxPool2d::new(2)?)
        .add(nn::Conv2d::new(24, 40, 3)?)
        .add(nn::GroupNorm::new(4, 40)?)
        .add(nn::GELU::new())
        .add(nn::Dropout::new(0.3)?)
        .add(nn::AdaptiveAvgPool2d::new(1)?)
        .add(nn::Flatten::new())
        .add(nn::Linear::new(40, 10)?))
}

/// A layer of a transformer over sequences.
fn transformer() -> Result<Sequential> {
    let options = nn::TransformerLayerOptions { batch_first: true, ..nn::TransformerLayerOptions::default() };
    Ok(Sequential::new()
        .add(nn::TransformerEncoderLayer::with(96, 4, options)?)
        .add(nn::LayerNorm::new(96)?)
        .add_fn(|x| x.mean_dims(1))
        .add(nn::Linear::new(96, 10)?))
}

/// A network of wide layers, whose products, sums and losses are divided among threads.
fn wide_layers() -> Result<Sequential> {
    Ok(Sequential::new().add(nn::Linear::new(700, 1100)?).add(nn::Tanh).add(nn::Linear::new(1100, 333)?))
}

/// All models are in one test, because the number of threads is a setting of the program.
#[test]
fn results_do_not_depend_on_the_number_of_threads() -> Result<()> {
    assert_same_on_threads("convolutions", convolutions, &[16, 3, 30, 30], 10)?;
    assert_same_on_threads("transformer", transformer, &[12, 70, 96], 10)?;
    assert_same_on_threads("wide layers", wide_layers, &[300, 700], 333)
}

fn assert_same_on_threads(
    name: &str,
    create_model: fn() -> Result<Sequential>,
    sizes: &[i64],
    classes: i64,
) -> Result<()> {
    let (losses, parameters) = train(create_model, sizes, classes, 1)?;
    for threads in [2, 3, 8] {
        let (other_losses, other_parameters) = train(create_model, sizes, classes, threads)?;
        let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert!(bits(&losses) == bits(&other_losses), "{name}: the losses on {threads} threads");
        for (at, (own, other)) in parameters.iter().zip(&other_parameters).enumerate() {
            assert!(bits(own) == bits(other), "{name}: parameter {at} on {threads} threads");
        }
    }
    Ok(())
}
