//! Tests of gradients at points where a function is not differentiable: the values are PyTorch's.

#![allow(
    clippy::float_cmp,
    clippy::needless_pass_by_value,
    reason = "expected numbers are written where they are compared"
)]

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation, GradientError};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// Returns the gradients of the sum of a function's result with respect to each argument.
fn gradients<const N: usize>(arguments: [&[f64]; N], f: impl Fn([&Tensor; N]) -> Result<Tensor>) -> [Vec<f64>; N] {
    let leaves = arguments.map(|values| Tensor::from_slice(values).requires_grad_(true).unwrap());
    f(leaves.each_ref()).unwrap().sum().unwrap().backward().unwrap();
    leaves.map(|leaf| leaf.grad().map_or_else(Vec::new, |gradient| gradient.to_vec().unwrap()))
}

#[track_caller]
fn assert_gradients<const N: usize>(found: [Vec<f64>; N], expected: [&[f64]; N]) {
    for (found, expected) in found.iter().zip(expected) {
        let close = |(a, b): (&f64, &f64)| (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() < 1e-12 * b.abs();
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(close), "{found:?}, not {expected:?}");
    }
}

#[test]
fn elements_equal_to_a_scalar_bound_have_gradient_zero() {
    assert_gradients(
        gradients([&[-1.0, 0.0, 0.5, 1.0, 2.0, NAN]], |[x]| x.clamp(0..=1)),
        [&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]],
    );
    assert_gradients(gradients([&[-1.0, 0.0, 1.0, NAN]], |[x]| x.clamp_min(0)), [&[0.0, 0.0, 1.0, 0.0]]);
    assert_gradients(gradients([&[-1.0, 0.0, 1.0, NAN]], |[x]| x.clamp_max(0)), [&[1.0, 0.0, 0.0, 0.0]]);
    assert_gradients(gradients([&[-1.0, 0.0, 6.0, 3.0]], |[x]| x.relu6()), [&[0.0, 0.0, 0.0, 1.0]]);
    assert_gradients(gradients([&[0.0]], |[x]| x.relu()), [&[0.0]]);
}

#[test]
fn elements_equal_to_a_tensor_bound_share_the_gradient_with_it() {
    let low = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 1.0, 2.0];
    let high = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let x = [-1.0, 0.0, 1.0, 0.5, NAN, 0.5, 3.0, 1.0, 0.0, 2.0];
    assert_gradients(
        gradients([&x, &low, &high], |[x, low, high]| x.clamp(low..=high)),
        [
            &[0.0, 0.5, 0.5, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            &[1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            &[0.0, 0.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0],
        ],
    );
    let (x, zero) = ([-1.0, 0.0, 1.0, NAN], [0.0; 4]);
    assert_gradients(
        gradients([&x, &zero], |[x, low]| x.clamp_min(low)),
        [&[0.0, 0.5, 1.0, 1.0], &[1.0, 0.5, 0.0, 1.0]],
    );
}

#[test]
fn equal_operands_of_minimum_and_maximum_share_the_gradient() {
    let (a, b) = ([1.0, 2.0, NAN, 1.0, NAN], [1.0, 1.0, 1.0, NAN, NAN]);
    assert_gradients(
        gradients([&a[..4], &b[..4]], |[a, b]| a.maximum(b)),
        [&[0.5, 1.0, 1.0, 1.0], &[0.5, 0.0, 1.0, 1.0]],
    );
    assert_gradients(gradients([&a, &b], |[a, b]| a.fmax(b)), [&[0.5, 1.0, 0.0, 1.0, 1.0], &[0.5, 0.0, 1.0, 0.0, 0.0]]);
    assert_gradients(gradients([&a, &b], |[a, b]| a.fmin(b)), [&[0.5, 0.0, 0.0, 1.0, 1.0], &[0.5, 1.0, 1.0, 0.0, 0.0]]);
    assert_gradients(gradients([&[1.0, 2.0, 2.0]], |[x]| x.amax()), [&[0.0, 0.5, 0.5]]);
    assert_gradients(gradients([&[1.0, 2.0, 2.0]], |[x]| x.max()), [&[0.0, 0.5, 0.5]]);
    assert_gradients(gradients([&[1.0, NAN, NAN]], |[x]| x.max()), [&[0.0, 0.5, 0.5]]);
    assert_gradients(gradients([&[1.0, NAN, NAN]], |[x]| x.amax()), [&[NAN, NAN, NAN]]);
    assert_gradients(gradients([&[1.0, 2.0, 2.0, 3.0]], |[x]| x.median()), [&[0.0, 0.5, 0.5, 0.0]]);
    assert_gradients(gradients([&[1.0, 2.0, NAN, 2.0, NAN]], |[x]| x.nanmedian()), [&[0.0, 0.5, 0.0, 0.5, 0.0]]);
    assert_gradients(
        gradients([&[1.0, 1.0, 2.0]], |[x]| {
            let (low, high) = x.aminmax()?;
            low + high
        }),
        [&[0.5, 0.5, 1.0]],
    );
}

#[test]
fn the_gradient_of_a_selection_goes_to_the_returned_index() {
    let x = Tensor::from([1.0, 3.0, 3.0, 2.0]).requires_grad_(true).unwrap();
    let (largest, at) = x.max_dim(0).unwrap();
    largest.backward().unwrap();
    let gradient: Vec<f64> = x.grad().unwrap().to_vec().unwrap();
    let at = usize::try_from(at.item::<i64>().unwrap()).unwrap();
    assert!(gradient[at] == 1.0 && gradient.iter().sum::<f64>() == 1.0, "{gradient:?} at {at}");
    assert_gradients(gradients([&[1.0, 3.0, 2.0, 3.0]], |[x]| Ok(x.cummax(0)?.0)), [&[1.0, 2.0, 0.0, 1.0]]);
}

#[test]
fn the_gradient_of_a_zero_factor_is_the_product_of_the_others() {
    assert_gradients(gradients([&[1.0, 0.0, 2.0]], |[x]| x.prod()), [&[0.0, 2.0, 0.0]]);
    assert_gradients(gradients([&[1.0, 0.0, 0.0]], |[x]| x.prod()), [&[0.0, 0.0, 0.0]]);
    assert_gradients(gradients([&[1.0, 0.0, 2.0, 3.0]], |[x]| x.cumprod(0)), [&[1.0, 9.0, 0.0, 0.0]]);
    assert_gradients(gradients([&[1.0, 0.0, 2.0, 0.0, 3.0]], |[x]| x.cumprod(0)), [&[1.0, 3.0, 0.0, 0.0, 0.0]]);
    let empty: Vec<f64> = Vec::new();
    assert_gradients(gradients([&empty], |[x]| x.prod()), [&[]]);
}

#[test]
fn powers_of_zero_have_the_gradients_of_pytorch() {
    assert_gradients(
        gradients([&[0.0, 0.0, 0.0, 2.0, -2.0, 0.0], &[0.0, 1.0, -1.0, 0.0, 2.0, 0.5]], |[x, y]| x.pow(y)),
        [&[0.0, 1.0, -INF, 0.0, -4.0, INF], &[0.0, 0.0, -INF, 2.0_f64.ln(), NAN, 0.0]],
    );
    assert_gradients(gradients([&[0.0, 1.0, -1.0]], |[y]| aten::pow_scalar(0.into(), y)), [&[0.0, 0.0, -INF]]);
    assert_gradients(gradients([&[1.0]], |[y]| aten::pow_scalar(2.into(), y)), [&[2.0 * 2.0_f64.ln()]]);
    assert_gradients(gradients([&[0.0, 1.0]], |[x]| x.sqrt()), [&[INF, 0.5]]);
    assert_gradients(
        gradients([&[0.0, 0.0, 1.0, 0.0], &[0.0, 1.0, 0.0, -1.0]], |[x, y]| x.xlogy(y)),
        [&[0.0, 0.0, -INF, 0.0], &[NAN, 0.0, INF, -0.0]],
    );
}

#[test]
fn norms_have_gradient_zero_at_zero() {
    assert_gradients(gradients([&[0.0, -1.0, -0.0]], |[x]| x.abs()), [&[0.0, -1.0, 0.0]]);
    for (ord, gradient_at_two) in [
        (1.0, 1.0),
        (2.0, 0.5_f64.sqrt()),
        (3.0, 2.0_f64.powf(-2.0 / 3.0)),
        (0.5, 2.0),
        (INF, 0.5),
        (-INF, 0.0),
        (-1.0, 0.0),
    ] {
        let norm = |[x]: [&Tensor; 1]| aten::linalg_vector_norm(x, ord.into(), None, false, None);
        assert_gradients(gradients([&[0.0, 0.0]], norm), [&[0.0, 0.0]]);
        assert_gradients(gradients([&[0.0, 2.0, -2.0]], norm), [&[0.0, gradient_at_two, -gradient_at_two]]);
    }
    assert_gradients(gradients([&[0.0, 1.0], &[0.0, 0.0]], |[x, y]| x.atan2(y)), [&[0.0, 0.0], &[0.0, -1.0]]);
    assert_gradients(gradients([&[0.0, 1.0], &[0.0, 0.0]], |[x, y]| x.hypot(y)), [&[NAN, 1.0], &[NAN, 0.0]]);
    assert_gradients(gradients([&[0.0, 1.0]], |[x]| x.sinc()), [&[0.0, -1.0]]);
    assert_gradients(gradients([&[1.0, 1.0]], |[x]| aten::std_correction(x, None, None, false)), [&[0.0, 0.0]]);
    assert_gradients(gradients([&[1.0]], |[x]| aten::var_correction(x, None, None, false)), [&[NAN]]);
}

#[test]
fn rounding_has_gradient_zero_and_remainders_have_gradient_one() {
    assert_gradients(gradients([&[0.5, -1.5]], |[x]| x.round()), [&[0.0, 0.0]]);
    assert_gradients(gradients([&[0.0, 1.5]], |[x]| x.frac()), [&[1.0, 1.0]]);
    assert_gradients(gradients([&[0.0, -2.0]], |[x]| x.sign()), [&[0.0, 0.0]]);
    assert_gradients(gradients([&[NAN, 1.0, INF]], |[x]| aten::nan_to_num(x, None, None, None)), [&[0.0, 1.0, 0.0]]);
    assert_gradients(
        gradients([&[0.0, 1.0, -1.0, 2.0], &[1.0, -1.0, -1.0, 0.0]], |[x, y]| x.copysign(y)),
        [&[0.0, -1.0, 1.0, 1.0], &[]],
    );
    assert_gradients(gradients([&[5.0, -5.0], &[3.0, 3.0]], |[x, y]| x.remainder(y)), [&[1.0, 1.0], &[-1.0, 2.0]]);
    assert_gradients(gradients([&[5.0, -5.0], &[3.0, 3.0]], |[x, y]| x.fmod(y)), [&[1.0, 1.0], &[-1.0, 1.0]]);
    assert_gradients(
        gradients([&[5.0], &[3.0]], |[x, y]| aten::div_tensor_mode(x, y, Some("floor"))),
        [&[0.0], &[0.0]],
    );
    assert_gradients(gradients([&[0.5, -0.5, 0.6, 0.0]], |[x]| x.hardshrink(0.5)), [&[0.0, 0.0, 1.0, 0.0]]);
    assert_gradients(gradients([&[0.0, 1.0, 0.5, 2.0]], |[x]| aten::logit(x, None)), [&[INF, INF, 4.0, NAN]]);
}

#[test]
fn a_nan_grid_position_does_not_change_second_derivatives() {
    let second = |positions: &[f64], interpolation, padding| -> Result<Vec<f64>> {
        let image = Tensor::from([[[[1.0, 2.0], [3.0, 5.0]]]]).requires_grad_(true)?;
        let grid = Tensor::from_slice(positions).reshape([1, 1, -1, 2])?.requires_grad_(true)?;
        let sampled = aten::grid_sampler_2d(&image, &grid, interpolation, padding, false)?;
        let grid_gradients = Differentiation::of_outputs(&[&sampled.sum()?]).create_graph().grad(&[&grid])?;
        let grid_gradients = grid_gradients[0].as_ref().unwrap().square()?.sum()?;
        Differentiation::of_outputs(&[&grid_gradients]).grad(&[&image])?[0].as_ref().unwrap().to_vec()
    };
    for (interpolation, padding) in [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)] {
        let all = second(&[NAN, 0.0, 0.5, -0.25], interpolation, padding).unwrap();
        assert_gradients([all], [&second(&[0.5, -0.25], interpolation, padding).unwrap()]);
    }
}

#[test]
fn a_backward_through_an_operator_without_derivative_is_an_error() {
    let x = Tensor::from([0.0, 1.0]).requires_grad_(true).unwrap();
    let y = x.heaviside(&Tensor::from([1.0, 1.0])).unwrap();
    let error = y.sum().unwrap().backward().unwrap_err();
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    assert!(
        matches!(source, Some(GradientError::NoDerivative { operator }) if operator == "aten::heaviside"),
        "{error}"
    );
}

#[test]
fn polygamma_of_the_largest_order_has_a_gradient() {
    let x = Tensor::from([1.5, 2.5]).requires_grad_(true).unwrap();
    aten::polygamma(i64::MAX, &x).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().sizes(), [2]);
}

#[test]
fn the_smallest_length_in_a_cosine_similarity_has_no_gradient() {
    let found = gradients([&[0.1, 0.0], &[1.0, 0.0]], |[x, y]| aten::cosine_similarity(x, y, 0, 0.5));
    assert_gradients([found[0].clone()], [&[1.6, 0.0]]);
}
