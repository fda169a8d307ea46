//! Tests that compare gradients without a recording with numerical differences.

#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::many_single_char_names, reason = "the names of the formulas")]

use dispatch_runtime::prelude::*;

/// Returns a tensor of these sizes with distinct elements. Another seed gives other elements.
fn tensor_of_distinct_numbers(sizes: &[i64], seed: f64) -> Tensor {
    let count = u32::try_from(sizes.iter().product::<i64>()).unwrap();
    let values = (0..count).map(|i| (seed + 1.7 * f64::from(i)).sin() * 2.0 + 0.1 * seed);
    Tensor::from_vec(values.collect::<Vec<f64>>(), sizes).unwrap()
}

fn to_f64_vec(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec::<f64>().unwrap()
}

/// Compares a gradient with central differences of `f` by each element of its argument.
fn assert_gradient_equals_differences(
    argument: &Tensor,
    gradient: &Tensor,
    grad: &Tensor,
    f: impl Fn(&Tensor) -> Tensor,
) {
    assert_eq!(gradient.sizes(), argument.sizes());
    for (i, found) in to_f64_vec(gradient).into_iter().enumerate() {
        let at = |step: f64| -> f64 {
            let mut moved = to_f64_vec(argument);
            moved[i] += step;
            let out = to_f64_vec(&f(&Tensor::from_vec(moved, argument.sizes()).unwrap()));
            out.iter().zip(to_f64_vec(grad)).map(|(out, grad)| out * grad).sum()
        };
        let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "element {i}: {found}, expected {expected}");
    }
}

#[test]
fn layer_norm_gradients_equal_differences() {
    let (x, grad) = (tensor_of_distinct_numbers(&[3, 2, 5], 1.0), tensor_of_distinct_numbers(&[3, 2, 5], 2.0));
    let (weight, bias) = (tensor_of_distinct_numbers(&[2, 5], 3.0), tensor_of_distinct_numbers(&[2, 5], 4.0));
    let f = |x: &Tensor, w: &Tensor, b: &Tensor| aten::native_layer_norm(x, &[2, 5], Some(w), Some(b), 1e-5).unwrap();
    let (_, mean, rstd) = f(&x, &weight, &bias);
    let all = [true; 3];
    let (a, b, c) =
        aten::native_layer_norm_backward(&grad, &x, &[2, 5], &mean, &rstd, Some(&weight), Some(&bias), &all).unwrap();
    assert_gradient_equals_differences(&x, &a, &grad, |x| f(x, &weight, &bias).0);
    assert_gradient_equals_differences(&weight, &b, &grad, |weight| f(&x, weight, &bias).0);
    assert_gradient_equals_differences(&bias, &c, &grad, |bias| f(&x, &weight, bias).0);
}

#[test]
fn layer_norm_parameter_gradients_are_sums_over_all_rows_for_any_number_of_threads() {
    for [rows, columns] in [[1_i64, 1], [3, 300], [200, 5], [700, 600], [9000, 3]] {
        let sizes = [rows, columns];
        let (x, grad) = (tensor_of_distinct_numbers(&sizes, 1.0), tensor_of_distinct_numbers(&sizes, 2.0));
        let (_, mean, rstd) = aten::native_layer_norm(&x, &[columns], None, None, 1e-5).unwrap();
        let gradients = || {
            let weight = tensor_of_distinct_numbers(&[columns], 3.0);
            let (_, weight_grad, bias_grad) = aten::native_layer_norm_backward(
                &grad,
                &x,
                &[columns],
                &mean,
                &rstd,
                Some(&weight),
                Some(&weight),
                &[false, true, true],
            )
            .unwrap();
            [to_f64_vec(&weight_grad), to_f64_vec(&bias_grad)]
        };
        let normalized = ((&x - &mean).unwrap() * &rstd).unwrap();
        let expected = [(&grad * &normalized).unwrap(), grad.clone()]
            .map(|x| to_f64_vec(&aten::sum_dim_intlist!(&x, dim = [0]).unwrap()));
        kernels_cpu::thread_pool::set_num_threads(1);
        let found = gradients();
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!(
                (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
                "{sizes:?}: {found}, expected {expected}"
            );
        }
        kernels_cpu::thread_pool::set_num_threads(3);
        assert_eq!(gradients(), found, "{sizes:?}");
    }
}

#[test]
fn group_norm_gradients_equal_differences() {
    let (x, grad) = (tensor_of_distinct_numbers(&[2, 6, 3], 1.0), tensor_of_distinct_numbers(&[2, 6, 3], 2.0));
    let (weight, bias) = (tensor_of_distinct_numbers(&[6], 3.0), tensor_of_distinct_numbers(&[6], 4.0));
    let f =
        |x: &Tensor, w: &Tensor, b: &Tensor| aten::native_group_norm(x, Some(w), Some(b), 2, 6, 3, 2, 1e-5).unwrap();
    let (_, mean, rstd) = f(&x, &weight, &bias);
    let (a, b, c) =
        aten::native_group_norm_backward(&grad, &x, &mean, &rstd, Some(&weight), 2, 6, 3, 2, &[true; 3]).unwrap();
    assert_gradient_equals_differences(&x, &a, &grad, |x| f(x, &weight, &bias).0);
    assert_gradient_equals_differences(&weight, &b, &grad, |weight| f(&x, weight, &bias).0);
    assert_gradient_equals_differences(&bias, &c, &grad, |bias| f(&x, &weight, bias).0);
}

#[test]
fn batch_norm_gradients_equal_differences() {
    for (sizes, train) in [(&[4_i64, 3][..], true), (&[2, 3, 5], true), (&[2, 3, 17], true), (&[2, 3, 17], false)] {
        let (x, grad) = (tensor_of_distinct_numbers(sizes, 1.0), tensor_of_distinct_numbers(sizes, 2.0));
        let (weight, bias) = (tensor_of_distinct_numbers(&[3], 3.0), tensor_of_distinct_numbers(&[3], 4.0));
        let running = || (tensor_of_distinct_numbers(&[3], 5.0), Tensor::from([0.5, 1.5, 2.5]));
        let f = |x: &Tensor, w: &Tensor, b: &Tensor| {
            let (mean, var) = running();
            aten::native_batch_norm(x, Some(w), Some(b), Some(&mean), Some(&var), train, 0.1, 1e-5).unwrap()
        };
        let (_, saved, inverse) = f(&x, &weight, &bias);
        let (saved, inverse) = (train.then_some(&saved), train.then_some(&inverse));
        let (mean, var) = running();
        let (w, m, v) = (Some(&weight), Some(&mean), Some(&var));
        let (a, b, c) =
            aten::native_batch_norm_backward(&grad, &x, w, m, v, saved, inverse, train, 1e-5, &[true; 3]).unwrap();
        assert_gradient_equals_differences(&x, &a, &grad, |x| f(x, &weight, &bias).0);
        assert_gradient_equals_differences(&weight, &b, &grad, |weight| f(&x, weight, &bias).0);
        assert_gradient_equals_differences(&bias, &c, &grad, |bias| f(&x, &weight, bias).0);
    }
}

#[test]
fn elementwise_loss_gradients_equal_differences() {
    let (x, y) = (tensor_of_distinct_numbers(&[3, 4], 1.0), tensor_of_distinct_numbers(&[3, 4], 2.0));
    for reduction in 0..3 {
        let grad = if reduction == 0 {
            tensor_of_distinct_numbers(&[3, 4], 3.0)
        } else {
            tensor_of_distinct_numbers(&[], 3.0)
        };
        let gradient_found = aten::mse_loss_backward(&grad, &x, &y, reduction).unwrap();
        assert_gradient_equals_differences(&x, &gradient_found, &grad, |x| aten::mse_loss(x, &y, reduction).unwrap());
        let gradient_found = aten::smooth_l1_loss_backward(&grad, &x, &y, reduction, 0.8).unwrap();
        assert_gradient_equals_differences(&x, &gradient_found, &grad, |x| {
            aten::smooth_l1_loss(x, &y, reduction, 0.8).unwrap()
        });
        let gradient_found = aten::huber_loss_backward(&grad, &x, &y, reduction, 0.8).unwrap();
        assert_gradient_equals_differences(&x, &gradient_found, &grad, |x| {
            aten::huber_loss(x, &y, reduction, 0.8).unwrap()
        });
        let gradient_found = aten::soft_margin_loss_backward(&grad, &x, &y, reduction).unwrap();
        assert_gradient_equals_differences(&x, &gradient_found, &grad, |x| {
            aten::soft_margin_loss(x, &y, reduction).unwrap()
        });
        let (p, weight) = (aten::sigmoid(&x).unwrap(), tensor_of_distinct_numbers(&[4], 4.0));
        let gradient_found = aten::binary_cross_entropy_backward(&grad, &p, &y, Some(&weight), reduction).unwrap();
        assert_gradient_equals_differences(&p, &gradient_found, &grad, |p| {
            aten::binary_cross_entropy(p, &y, Some(&weight), reduction).unwrap()
        });
    }
}

#[test]
fn nll_loss_gradients_equal_differences() {
    let (x, weight) = (tensor_of_distinct_numbers(&[4, 3], 1.0), Tensor::from([0.5, 1.0, 2.0]));
    let target = Tensor::from([2_i64, 0, -100, 1]);
    for reduction in 0..3 {
        let grad =
            if reduction == 0 { tensor_of_distinct_numbers(&[4], 3.0) } else { tensor_of_distinct_numbers(&[], 3.0) };
        let f = |x: &Tensor| aten::nll_loss_forward(x, &target, Some(&weight), reduction, -100).unwrap();
        let total = f(&x).1;
        let gradient_found =
            aten::nll_loss_backward(&grad, &x, &target, Some(&weight), reduction, -100, &total).unwrap();
        assert_gradient_equals_differences(&x, &gradient_found, &grad, |x| f(x).0);
    }
    let bad = aten::nll_loss(&x, &Tensor::from([3_i64, 0, 0, 0]), None, 1, -100).unwrap_err();
    assert!(bad.to_string().contains("target"), "{bad}");
}

fn assert_near(found: &Tensor, expected: &[f64]) {
    let found = to_f64_vec(found);
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()));
    assert!(near && found.len() >= expected.len(), "{found:?}, expected {expected:?}");
}

#[test]
fn composites_have_the_values_of_pytorch() {
    let (x, weight) = (tensor_of_distinct_numbers(&[4, 3], 1.0), Tensor::from([0.5, 1.0, 2.0]));
    let (target, likely) = (Tensor::from([2_i64, 0, -100, 1]), tensor_of_distinct_numbers(&[4, 3], 2.0));
    let likely = aten::softmax_int(&likely, 1, None).unwrap();
    let entropy =
        |target: &Tensor, reduction| aten::cross_entropy_loss(&x, target, Some(&weight), reduction, -100, 0.2).unwrap();
    let each = [6.970_700_401_867_425, 1.430_885_957_859_965_3, 0.0, 2.811_055_997_960_625_8];
    assert_near(&entropy(&target, 0), &each);
    assert_near(&entropy(&target, 1), &[3.203_612_102_196_575_8]);
    assert_near(&entropy(&target, 2), &[11.212_642_357_688_017]);
    assert_near(&entropy(&likely, 1), &[1.094_113_811_035_111_9]);
    assert_near(&entropy(&likely, 2), &[4.376_455_244_140_477]);
    let deep = Tensor::from([[0_i64, 1, 2, 0, 1], [2, 2, 1, 0, 0]]);
    let loss =
        aten::cross_entropy_loss(&tensor_of_distinct_numbers(&[2, 3, 5], 1.0), &deep, None, 1, -100, 0.0).unwrap();
    assert_near(&loss, &[1.518_124_027_445_736_6]);
    let x = tensor_of_distinct_numbers(&[2, 2, 3], 1.0);
    let out = aten::instance_norm(&x, None, None, None, None, true, 0.1, 1e-5, false).unwrap();
    assert_near(&out, &[0.959_800_247_494_599_9, 0.419_589_304_508_276_8, -1.379_389_552_002_876_7]);
}

#[test]
fn unique_finds_distinct_slices() {
    let x = Tensor::from([[2_i64, 1], [1, 5], [2, 1], [1, 5], [1, 5]]);
    let (rows, inverse, counts) = aten::unique_dim(&x, 0, true, true, true).unwrap();
    assert_eq!(rows.to_vec::<i64>().unwrap(), [1, 5, 2, 1]);
    assert_eq!(inverse.to_vec::<i64>().unwrap(), [1, 0, 1, 0, 0]);
    assert_eq!(counts.to_vec::<i64>().unwrap(), [3, 2]);
    let (rows, inverse, counts) = aten::unique_consecutive(&x, true, true, Some(0)).unwrap();
    assert_eq!(rows.sizes(), [4, 2]);
    assert_eq!((inverse.to_vec().unwrap(), counts.to_vec().unwrap()), (vec![0_i64, 1, 2, 3, 3], vec![1_i64, 1, 1, 2]));
    let (found, _, _) = aten::_unique2(&Tensor::from([3.0, f64::NAN, 1.0, 3.0]), true, false, false).unwrap();
    assert_eq!(to_f64_vec(&found)[..2], [1.0, 3.0]);
}
