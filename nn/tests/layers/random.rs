//! Layers with random numbers: recorded in evaluation, and tested by their statistics in training.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::{
    AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout, Forward, FractionalMaxPool2d,
    FractionalMaxPool3d, RReLU,
};
use dispatch_runtime::{manual_seed, prelude::*};

use crate::recording::Group;

#[test]
fn random_layers_are_as_recorded_in_evaluation() -> Result<()> {
    let mut group = Group::load("random")?;
    group.layer("Dropout", Dropout::new(0.5))?;
    group.layer("Dropout1d", Dropout1d::new(0.5))?;
    group.layer("Dropout2d", Dropout2d::new(0.5))?;
    group.layer("Dropout3d", Dropout3d::new(0.5))?;
    group.layer("AlphaDropout", AlphaDropout::new(0.5))?;
    group.layer("FeatureAlphaDropout", FeatureAlphaDropout::new(0.5))?;
    group.layer("RReLU", Ok(RReLU::new()))?;
    group.finish();
    Ok(())
}

type AnyLayer = Box<dyn Forward<Output = Tensor>>;

/// Computes the result and the gradient of its sum.
fn result_and_gradient(layer: &impl Forward<Output = Tensor>, x: Tensor) -> Result<(Vec<f64>, Vec<f64>)> {
    let x = x.requires_grad_(true)?;
    let y = layer.forward(&x)?;
    y.sum()?.backward()?;
    Ok((y.detach()?.to_vec()?, x.grad().expect("the input requires gradients").to_vec()?))
}

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.into_iter().fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    sum / count
}

#[test]
fn dropout_sets_a_part_of_the_elements_or_channels_to_zero_and_scales_the_others() -> Result<()> {
    manual_seed(0);
    let items = 4000;
    let cases: [(AnyLayer, Vec<i64>, usize); 4] = [
        (Box::new(Dropout::new(0.25)?), vec![items], 1),
        (Box::new(Dropout1d::new(0.25)?), vec![items / 2, 2, 3], 3),
        (Box::new(Dropout2d::new(0.25)?), vec![items / 2, 2, 2, 2], 4),
        (Box::new(Dropout3d::new(0.25)?), vec![items / 2, 2, 2, 1, 2], 4),
    ];
    for (layer, sizes, channel) in cases {
        let x = Tensor::full(sizes, 3.0, DType::F64)?.requires_grad_(true)?;
        let y = layer.forward(&x)?;
        y.sum()?.backward()?;
        let (y, gradient) = (y.detach()?.to_vec::<f64>()?, x.grad().unwrap().to_vec::<f64>()?);
        let kept: Vec<f64> = y.chunks(channel).map(|elements| elements[0] / 4.0).collect();
        assert!(y.chunks(channel).all(|elements| elements == vec![elements[0]; channel]));
        assert!(kept.iter().all(|kept| *kept == 0.0 || *kept == 1.0), "{kept:?}");
        // Five deviations of a mean of 4000 choices.
        assert!((mean(kept) - 0.75).abs() < 5.0 * (0.75_f64 * 0.25 / 4000.0).sqrt());
        assert!(y.iter().zip(gradient).all(|(y, gradient)| *y == 3.0 * gradient));
    }
    Ok(())
}

#[test]
fn alpha_dropout_keeps_mean_and_variance() -> Result<()> {
    manual_seed(1);
    let count = 40_000;
    let x = Tensor::randn(count, DType::F64)?;
    let (y, gradient) = result_and_gradient(&AlphaDropout::new(0.25)?, x.clone())?;
    assert!(mean(y.iter().copied()).abs() < 0.03, "{}", mean(y.iter().copied()));
    assert!((mean(y.iter().map(|y| y * y)) - 1.0).abs() < 0.05, "{}", mean(y.iter().map(|y| y * y)));
    // The result is `a x + b`, or one value.
    let a = gradient.iter().copied().fold(0.0, f64::max);
    let dropped = gradient.iter().filter(|gradient| **gradient == 0.0).count();
    assert!((f64::from(u32::try_from(dropped).unwrap()) / 40_000.0 - 0.25).abs() < 0.02);
    assert!(gradient.iter().all(|gradient| *gradient == 0.0 || (gradient - a).abs() < 1e-12));

    let x = Tensor::randn((count / 8, 2, 4), DType::F64)?;
    let (_, gradient) = result_and_gradient(&FeatureAlphaDropout::new(0.25)?, x)?;
    assert!(gradient.chunks(4).all(|channel| channel.iter().all(|gradient| *gradient == channel[0])));
    assert!((mean(gradient.iter().map(|gradient| f64::from(*gradient == 0.0))) - 0.25).abs() < 0.05);
    Ok(())
}

#[test]
fn slopes_of_rrelu_are_uniform_between_its_bounds() -> Result<()> {
    manual_seed(2);
    let layer = RReLU { lower: 0.25, upper: 0.75, ..RReLU::new() };
    let x = Tensor::stack(&[Tensor::full(8000, -2.0, DType::F64)?, Tensor::full(8000, 2.0, DType::F64)?], 0)?;
    let (y, gradient) = result_and_gradient(&layer, x)?;
    let slopes: Vec<f64> = y[..8000].iter().map(|y| y / -2.0).collect();
    assert!(slopes.iter().all(|slope| (0.25..=0.75).contains(slope)));
    assert!((mean(slopes.iter().copied()) - 0.5).abs() < 0.01);
    assert!((mean(slopes.iter().map(|slope| (slope - 0.5).powi(2))) - 0.25 / 12.0).abs() < 0.001);
    assert!(slopes.iter().zip(&gradient).all(|(slope, gradient)| (slope - gradient).abs() < 1e-12));
    assert!(y[8000..].iter().all(|y| *y == 2.0) && gradient[8000..].iter().all(|gradient| *gradient == 1.0));
    Ok(())
}

#[test]
fn fractional_pooling_returns_maxima_of_windows_in_order() -> Result<()> {
    manual_seed(3);
    let x = Tensor::arange(0.0..9.0 * 11.0, DType::F64)?.reshape((1, 1, 9, 11))?.requires_grad_(true)?;
    let layer = FractionalMaxPool2d::new((2, 3), (5, 4))?;
    let mut draws = std::collections::BTreeSet::new();
    for _ in 0..20 {
        x.zero_grad();
        let (y, indices) = layer.forward_with_indices(&x)?;
        assert_eq!(y.sizes(), [1, 1, 5, 4]);
        // The elements are their own indices, and the largest is in the last corner of each window.
        let indices = indices.to_vec::<i64>()?;
        assert_eq!(y.detach()?.to(DType::I64)?.to_vec::<i64>()?, indices);
        let (rows, columns): (Vec<_>, Vec<_>) = indices.iter().map(|index| (index / 11, index % 11)).unzip();
        assert!(rows.chunks(4).all(|row| row == [row[0]; 4]), "{rows:?}");
        assert!(rows.windows(2).all(|pair| pair[0] <= pair[1]) && rows[19] == 8, "{rows:?}");
        assert!(columns.chunks(4).all(|row| row == &columns[..4] && row.is_sorted() && row[3] == 10), "{columns:?}");
        y.sum()?.backward()?;
        let gradient = x.grad().unwrap().to_vec::<f64>()?;
        let expected: Vec<f64> = (0..99).map(|index| f64::from(indices.contains(&index))).collect();
        assert_eq!(gradient, expected);
        draws.insert(indices);
    }
    assert!(draws.len() > 1, "the windows are random");
    assert_eq!(
        FractionalMaxPool3d::with_ratio(2, [0.5, 0.4, 0.9])?.forward(&Tensor::ones((1, 9, 9, 9), ())?)?.sizes(),
        [1, 4, 3, 8]
    );
    Ok(())
}
