//! Tests that compare second-order gradients with finite differences of first-order gradients.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

type ExampleFunction = fn(&[Tensor]) -> Result<Tensor>;

/// A function, and the sizes of its inputs.
struct Example {
    name: &'static str,
    sizes: &'static [&'static [i64]],
    /// The interval that the elements are in.
    range: (f64, f64),
    function: ExampleFunction,
}

/// Returns deterministic pseudo-random elements.
fn pseudo_random_tensor(sizes: &[i64], (low, high): (f64, f64), seed: f64) -> Tensor {
    let count: i64 = sizes.iter().product();
    let spread =
        |i: i64| f64::fract((f64::from(i32::try_from(i).unwrap()) * 0.754_877_666 + seed).fract().abs() * 7.569_840_29);
    let values: Vec<f64> = (1..=count).map(|i| low + (high - low) * spread(i)).collect();
    Tensor::from_slice(&values).view(sizes).unwrap()
}

/// Returns the weighted sum of all elements.
fn weighted_sum(tensor: &Tensor, seed: f64) -> Result<Tensor> {
    (tensor * pseudo_random_tensor(tensor.sizes(), (0.5, 1.5), seed))?.sum()
}

fn copy_as_leaves(values: &[Tensor]) -> Vec<Tensor> {
    values
        .iter()
        .map(|value| aten::clone(&value.detach().unwrap(), None).unwrap().requires_grad_(true).unwrap())
        .collect()
}

/// Returns the weighted sum of all gradients with respect to these leaves, with its graph. `None` if there are no gradients.
fn weighted_gradient_sum(function: ExampleFunction, leaves: &[Tensor]) -> Result<Option<Tensor>> {
    let loss = weighted_sum(&function(leaves)?, 0.3)?;
    let by: Vec<&Tensor> = leaves.iter().collect();
    let gradients = Differentiation::of_outputs(&[&loss]).create_graph().allow_unused().grad(&by)?;
    let mut sum: Option<Tensor> = None;
    // Each gradient has its own weights, so that gradients of two leaves cannot cancel.
    for (gradient, seed) in gradients.into_iter().zip([0.35, 0.6, 0.85, 0.05]) {
        let Some(gradient) = gradient else { continue };
        let part = weighted_sum(&gradient, seed)?;
        sum = Some(match sum {
            Some(sum) => (sum + part)?,
            None => part,
        });
    }
    Ok(sum)
}

fn weighted_gradient_sum_value(function: ExampleFunction, values: &[Tensor]) -> f64 {
    weighted_gradient_sum(function, &copy_as_leaves(values))
        .unwrap()
        .map_or(0.0, |gradient_sum| gradient_sum.item().unwrap())
}

/// Returns the maximal difference of the computed second derivatives from finite differences, and their magnitude.
fn compare_with_finite_differences(example: &Example) -> Result<(f64, f64)> {
    const DIFFERENCE_STEP: f64 = 1e-5;
    let values: Vec<Tensor> = example
        .sizes
        .iter()
        .zip([0.1, 0.45, 0.77, 0.2])
        .map(|(sizes, seed)| pseudo_random_tensor(sizes, example.range, seed))
        .collect();
    let leaves = copy_as_leaves(&values);
    let gradient_sum = weighted_gradient_sum(example.function, &leaves)?;
    let by: Vec<&Tensor> = leaves.iter().collect();
    let bends = match gradient_sum {
        Some(gradient_sum) if gradient_sum.requires_grad() => {
            Differentiation::of_outputs(&[&gradient_sum]).allow_unused().grad(&by)?
        }
        _ => vec![None; by.len()],
    };
    let (mut apart, mut size) = (0.0_f64, 0.0_f64);
    for (i, (value, bend)) in values.iter().zip(bends).enumerate() {
        let found =
            bend.map_or_else(|| Ok(vec![0.0; value.to_vec::<f64>().unwrap().len()]), |bend| bend.to_vec::<f64>())?;
        for (at, found) in found.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut moved = values.clone();
                let mut elements = value.to_vec::<f64>().unwrap();
                elements[at] += by;
                moved[i] = Tensor::from_slice(&elements).view(value.sizes()).unwrap();
                weighted_gradient_sum_value(example.function, &moved)
            };
            let expected = (moved(DIFFERENCE_STEP) - moved(-DIFFERENCE_STEP)) / (2.0 * DIFFERENCE_STEP);
            apart = apart.max((found - expected).abs());
            size = size.max(expected.abs());
        }
    }
    Ok((apart, size))
}

macro_rules! second_order_tests {
    ($($family:ident { $($name:literal [$($sizes:expr),*] in $low:literal to $high:literal: $function:expr;)* })*) => {$(
        #[test]
        fn $family() {
            let second_order_tests = [$(Example {
                name: $name,
                sizes: &[$(&$sizes),*],
                range: ($low, $high),
                function: $function,
            }),*];
            let mut wrong = Vec::new();
            for example in &second_order_tests {
                match compare_with_finite_differences(example) {
                    // If all derivatives are zero, nothing was checked.
                    Ok((apart, size)) if size > 1e-3 && apart <= 2e-6 * size.max(1.0) => {}
                    Ok((apart, size)) => wrong.push(format!("{}: the difference is {apart}, the size {size}", example.name)),
                    Err(error) => wrong.push(format!("{}: {error}", example.name)),
                }
            }
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    )*};
}

second_order_tests! {
    arithmetic {
        "mul" [[3], [2, 3]] in 0.5 to 2.0: |x| &x[0] * &x[1];
        "div" [[3], [2, 3]] in 0.5 to 2.0: |x| &x[0] / &x[1];
        "div by a number" [[3]] in 0.5 to 2.0: |x| (&x[0] / 3.0)? * &x[0];
        "addcmul" [[3], [3], [3]] in 0.5 to 2.0: |x| aten::addcmul(&x[0], &x[1], &x[2], 2.5.into());
        "addcdiv" [[3], [3], [3]] in 0.5 to 2.0: |x| aten::addcdiv(&x[0], &x[1], &x[2], 2.5.into());
        "lerp" [[3], [3], [3]] in 0.5 to 2.0: |x| x[0].lerp(&x[1], &x[2]);
        "hypot" [[3], [3]] in 0.5 to 2.0: |x| x[0].hypot(&x[1]);
        "atan2" [[3], [3]] in -2.0 to 2.0: |x| x[0].atan2(&x[1]);
        "xlogy" [[3], [3]] in 0.5 to 2.0: |x| x[0].xlogy(&x[1]);
        "logaddexp" [[3], [3]] in -2.0 to 2.0: |x| x[0].logaddexp(&x[1]);
        "logaddexp2" [[3], [3]] in -2.0 to 2.0: |x| x[0].logaddexp2(&x[1]);
        "pow" [[3], [3]] in 0.5 to 2.0: |x| x[0].pow(&x[1]);
        "pow of a number" [[3]] in 0.5 to 2.0: |x| x[0].pow(3.5);
        "a number's pow" [[3]] in 0.5 to 2.0: |x| aten::pow_scalar(3.into(), &x[0]);
        "remainder" [[3], [3]] in 0.5 to 2.0: |x| (x[0].remainder(&x[1])? * &x[1])? * &x[0];
    }

    functions_of_one_number {
        "sqrt" [[4]] in 0.5 to 2.0: |x| x[0].sqrt();
        "rsqrt" [[4]] in 0.5 to 2.0: |x| x[0].rsqrt();
        "reciprocal" [[4]] in 0.5 to 2.0: |x| x[0].reciprocal();
        "exp" [[4]] in -1.0 to 1.0: |x| x[0].exp();
        "exp2" [[4]] in -1.0 to 1.0: |x| x[0].exp2();
        "expm1" [[4]] in -1.0 to 1.0: |x| x[0].expm1();
        "log" [[4]] in 0.5 to 2.0: |x| x[0].log();
        "log2" [[4]] in 0.5 to 2.0: |x| x[0].log2();
        "log10" [[4]] in 0.5 to 2.0: |x| x[0].log10();
        "log1p" [[4]] in -0.5 to 2.0: |x| x[0].log1p();
        "sin" [[4]] in -2.0 to 2.0: |x| x[0].sin();
        "cos" [[4]] in -2.0 to 2.0: |x| x[0].cos();
        "tan" [[4]] in -1.0 to 1.0: |x| x[0].tan();
        "asin" [[4]] in -0.8 to 0.8: |x| x[0].asin();
        "acos" [[4]] in -0.8 to 0.8: |x| x[0].acos();
        "atan" [[4]] in -2.0 to 2.0: |x| x[0].atan();
        "sinh" [[4]] in -1.0 to 1.0: |x| x[0].sinh();
        "cosh" [[4]] in -1.0 to 1.0: |x| x[0].cosh();
        "tanh" [[4]] in -1.0 to 1.0: |x| x[0].tanh();
        "asinh" [[4]] in -1.0 to 1.0: |x| x[0].asinh();
        "acosh" [[4]] in 1.5 to 3.0: |x| x[0].acosh();
        "atanh" [[4]] in -0.8 to 0.8: |x| x[0].atanh();
        "erf" [[4]] in -1.0 to 1.0: |x| x[0].erf();
        "erfc" [[4]] in -1.0 to 1.0: |x| x[0].erfc();
        "erfinv" [[4]] in -0.8 to 0.8: |x| x[0].erfinv();
        "lgamma" [[4]] in 0.5 to 3.0: |x| x[0].lgamma();
        "digamma" [[4]] in 0.5 to 3.0: |x| x[0].digamma();
        "sinc" [[4]] in 0.2 to 1.0: |x| x[0].sinc();
        "sigmoid" [[4]] in -2.0 to 2.0: |x| x[0].sigmoid();
        "logit" [[4]] in 0.2 to 0.8: |x| aten::logit(&x[0], None);
        "abs" [[4]] in -2.0 to 2.0: |x| x[0].abs()? * &x[0];
    }

    activations {
        "leaky_relu" [[4]] in -2.0 to 2.0: |x| x[0].leaky_relu(0.1)?.square();
        "gelu" [[4]] in -2.0 to 2.0: |x| aten::gelu(&x[0], "none");
        "gelu by tanh" [[4]] in -2.0 to 2.0: |x| aten::gelu(&x[0], "tanh");
        "silu" [[4]] in -2.0 to 2.0: |x| x[0].silu();
        "mish" [[4]] in -2.0 to 2.0: |x| x[0].mish();
        "elu" [[4]] in -2.0 to 2.0: |x| aten::elu(&x[0], 1.5.into(), 1.2.into(), 0.7.into());
        "hardtanh" [[4]] in -2.0 to 2.0: |x| aten::hardtanh(&x[0], (-1).into(), 1.into())?.square();
        "hardsigmoid" [[4]] in -4.0 to 4.0: |x| x[0].hardsigmoid()?.square();
        "hardswish" [[4]] in -4.0 to 4.0: |x| x[0].hardswish();
        "softplus" [[4]] in -2.0 to 2.0: |x| aten::softplus(&x[0], 1.5.into(), 2.into());
        "log_sigmoid" [[4]] in -2.0 to 2.0: |x| x[0].log_sigmoid();
        "hardshrink" [[4]] in -2.0 to 2.0: |x| x[0].hardshrink(0.5)?.square();
        "prelu" [[4], [4]] in -2.0 to 2.0: |x| aten::_prelu_kernel(&x[0], &x[1]);
        "clamp" [[4], [4]] in -2.0 to 2.0: |x| x[0].clamp_min(&x[1])?.square();
        "maximum" [[4], [4]] in -2.0 to 2.0: |x| x[0].maximum(&x[1])?.square();
    }

    reductions {
        "mean" [[2, 3]] in 0.5 to 2.0: |x| x[0].square()?.mean_dims(1);
        "prod" [[2, 3]] in 0.5 to 2.0: |x| x[0].prod();
        "prod along" [[2, 3]] in 0.5 to 2.0: |x| x[0].prod_dims(1);
        "amax" [[2, 3]] in 0.5 to 2.0: |x| x[0].amax_dims(1)?.square();
        "max" [[2, 3]] in 0.5 to 2.0: |x| x[0].max()?.square();
        "max along" [[2, 3]] in 0.5 to 2.0: |x| x[0].max_dim(1)?.0.square();
        "sort" [[2, 3]] in 0.5 to 2.0: |x| aten::sort(&x[0], 1, true)?.0.square();
        "logsumexp" [[2, 3]] in 0.5 to 2.0: |x| x[0].logsumexp_dims(1);
        "var" [[2, 3]] in 0.5 to 2.0: |x| aten::var_correction(&x[0], Some(&[1]), None, false);
        "std" [[2, 3]] in 0.5 to 2.0: |x| aten::std_correction(&x[0], Some(&[1]), Some(0.into()), true);
        "norm" [[2, 3]] in 0.5 to 2.0: |x| aten::linalg_vector_norm(&x[0], 2.into(), None, false, None);
        "norm 1.5" [[2, 3]] in -2.0 to 2.0: |x| aten::linalg_vector_norm(&x[0], 1.5.into(), Some(&[1]), false, None);
        "norm 3" [[2, 3]] in -2.0 to 2.0: |x| aten::linalg_vector_norm(&x[0], 3.into(), Some(&[1]), true, None);
        "cumsum" [[2, 3]] in 0.5 to 2.0: |x| x[0].cumsum(1)?.square();
        "cumprod" [[2, 3]] in 0.5 to 2.0: |x| x[0].cumprod(1);
        "logcumsumexp" [[2, 3]] in -1.0 to 1.0: |x| x[0].logcumsumexp(1);
        "cummax" [[2, 3]] in 0.5 to 2.0: |x| x[0].cummax(1)?.0.square();
        "softmax" [[2, 3]] in -1.0 to 1.0: |x| x[0].softmax(1);
        "log_softmax" [[2, 3]] in -1.0 to 1.0: |x| x[0].log_softmax(1);
    }

    products {
        "mm" [[2, 3], [3, 2]] in -1.0 to 1.0: |x| x[0].mm(&x[1]);
        "bmm" [[2, 2, 3], [2, 3, 2]] in -1.0 to 1.0: |x| x[0].bmm(&x[1]);
        "mv" [[2, 3], [3]] in -1.0 to 1.0: |x| x[0].mv(&x[1]);
        "dot" [[3], [3]] in -1.0 to 1.0: |x| x[0].dot(&x[1]);
        "addmm" [[2], [2, 3], [3, 2]] in -1.0 to 1.0: |x| aten::addmm(&x[0], &x[1], &x[2], 0.5.into(), 2.into());
        "baddbmm" [[2, 2], [2, 2, 3], [2, 3, 2]] in -1.0 to 1.0: |x| aten::baddbmm(&x[0], &x[1], &x[2], 0.5.into(), 2.into());
        "addbmm" [[2, 2], [2, 2, 3], [2, 3, 2]] in -1.0 to 1.0: |x| aten::addbmm(&x[0], &x[1], &x[2], 0.5.into(), 2.into());
        "addmv" [[2], [2, 3], [3]] in -1.0 to 1.0: |x| aten::addmv(&x[0], &x[1], &x[2], 0.5.into(), 2.into());
        "addr" [[2, 3], [2], [3]] in -1.0 to 1.0: |x| aten::addr(&x[0], &x[1], &x[2], 0.5.into(), 2.into());
    }

    losses {
        "mse" [[2, 3], [2, 3]] in -1.0 to 1.0: |x| aten::mse_loss(&x[0], &x[1], 1);
        "l1" [[2, 3], [2, 3]] in -1.0 to 1.0: |x| aten::l1_loss(&x[0], &x[1], 1)?.square();
        "smooth l1" [[2, 3], [2, 3]] in -2.0 to 2.0: |x| aten::smooth_l1_loss(&x[0], &x[1], 1, 0.9);
        "huber" [[2, 3], [2, 3]] in -2.0 to 2.0: |x| aten::huber_loss(&x[0], &x[1], 2, 0.9);
        "soft margin" [[2, 3], [2, 3]] in -2.0 to 2.0: |x| aten::soft_margin_loss(&x[0], &x[1], 1);
        "entropy" [[2, 3], [2, 3], [3]] in 0.2 to 0.8: |x| aten::binary_cross_entropy(&x[0], &x[1], Some(&x[2]), 1);
        "entropy of each" [[2, 3], [2, 3]] in 0.2 to 0.8: |x| aten::binary_cross_entropy(&x[0], &x[1], None, 0);
        "entropy with logits" [[2, 3], [2, 3], [3], [3]] in 0.2 to 0.8:
            |x| aten::binary_cross_entropy_with_logits(&x[0], &x[1], Some(&x[2]), Some(&x[3]), 1);
        "nll" [[2, 3]] in -1.0 to 1.0:
            |x| aten::nll_loss(&x[0].log_softmax(1)?, &Tensor::from([2_i64, 0]), None, 1, -100);
        "kl" [[2, 3], [2, 3]] in 0.2 to 0.8: |x| aten::kl_div(&x[0], &x[1], 1, false);
    }

    normalizations {
        "layer" [[2, 4], [4], [4]] in -1.0 to 1.0: |x| aten::layer_norm(&x[0], &[4], Some(&x[1]), Some(&x[2]), 1e-3, true);
        "layer of two dimensions" [[2, 2, 3]] in -1.0 to 1.0: |x| aten::layer_norm(&x[0], &[2, 3], None, None, 1e-3, true);
        "batch" [[2, 2, 3], [2], [2]] in -1.0 to 1.0:
            |x| aten::batch_norm(&x[0], Some(&x[1]), Some(&x[2]), None, None, true, 0.1, 1e-3, false);
        "batch by given statistics" [[2, 2, 3], [2], [2]] in -1.0 to 1.0: |x| {
            let (mean, var) = (Tensor::from([0.1, 0.2]), Tensor::from([0.5, 2.0]));
            aten::batch_norm(&x[0], Some(&x[1]), Some(&x[2]), Some(&mean), Some(&var), false, 0.1, 1e-3, false)
        };
        "group" [[2, 4, 3], [4], [4]] in -1.0 to 1.0: |x| aten::group_norm(&x[0], 2, Some(&x[1]), Some(&x[2]), 1e-3, true);
    }
}
