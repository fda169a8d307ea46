//! Tests of normalizations that write to their running statistics.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

type BatchNormCall = fn(&Tensor, [&Tensor; 2], [&mut Tensor; 2]) -> Result<Tensor>;

fn batch_norm_input() -> Tensor {
    Tensor::from([[[1.0, -2.0], [0.5, 3.0]], [[2.0, 0.0], [-1.0, 1.5]]]).requires_grad_(true).unwrap()
}

/// Returns the gradients of the input, the weight and the bias, and the running mean after the call.
fn gradients_and_running_mean(normalise: BatchNormCall) -> Vec<Vec<f64>> {
    let x = batch_norm_input();
    let weight = Tensor::from([1.5, 0.5]).requires_grad_(true).unwrap();
    let bias = Tensor::from([0.1, 0.2]).requires_grad_(true).unwrap();
    let (mut mean, mut var) = (Tensor::from([0.0, 0.1]), Tensor::from([1.0, 2.0]));
    let y = normalise(&x, [&weight, &bias], [&mut mean, &mut var]).unwrap();
    // A second call changes the statistics before the backward pass of the first call.
    normalise(&x, [&weight, &bias], [&mut mean, &mut var]).unwrap();
    (&y * &y).unwrap().sum().unwrap().backward().unwrap();
    let gradients = [&x, &weight, &bias].map(|leaf| leaf.grad().unwrap().to_vec().unwrap());
    gradients.into_iter().chain([mean.to_vec().unwrap()]).collect()
}

fn assert_close(a: &[Vec<f64>], b: &[Vec<f64>]) {
    let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
    assert!(a.iter().zip(b).all(|(a, b)| a.iter().zip(b).all(same)), "{a:?}, not {b:?}");
}

#[test]
fn all_forms_of_batch_norm_have_the_same_gradients() {
    let plain = gradients_and_running_mean(|x, [weight, bias], [mean, var]| {
        aten::batch_norm(x, Some(weight), Some(bias), Some(mean), Some(var), true, 0.1, 1e-3, false)
    });
    assert!(plain[0].iter().any(|slope| slope.abs() > 1e-3) && plain[3] != [0.0, 0.1]);
    let without = gradients_and_running_mean(|x, [weight, bias], _| {
        Ok(aten::_native_batch_norm_legit_no_stats(x, Some(weight), Some(bias), true, 0.1, 1e-3)?.0)
    });
    assert_close(&plain[..3], &without[..3]);
    let written = gradients_and_running_mean(|x, [weight, bias], [mean, var]| {
        Ok(aten::_native_batch_norm_legit(x, Some(weight), Some(bias), mean, var, true, 0.1, 1e-3)?.0)
    });
    assert_close(&plain, &written);
    let updated = gradients_and_running_mean(|x, [weight, bias], [mean, var]| {
        Ok(aten::_batch_norm_with_update(x, Some(weight), Some(bias), mean, var, 0.1, 1e-3)?.0)
    });
    assert_close(&plain, &updated);
}

#[test]
fn overwriting_saved_running_statistics_is_an_error() {
    let x = batch_norm_input();
    let (mean, var) = (Tensor::from([0.0, 0.1]), Tensor::from([1.0, 2.0]));
    let y = aten::batch_norm(&x, None, None, Some(&mean), Some(&var), false, 0.1, 1e-3, false).unwrap();
    aten::zero_(&mut mean.clone()).unwrap();
    let error = y.sum().unwrap().backward().unwrap_err().to_string();
    assert!(error.contains("running_mean"), "{error}");
}
