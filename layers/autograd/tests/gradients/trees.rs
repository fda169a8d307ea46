//! Tests of function transforms of trees: tuples, lists, maps and structs of tensors.

#![expect(clippy::float_cmp, reason = "gradients of small whole numbers are exact")]

use std::collections::BTreeMap;

use aten::prelude::*;
use dispatch_autograd::GradientError;
use dispatch_autograd::functional::{grad, jvp, value_and_grad, vjp};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, TensorTree as _, TreeMismatch};
use kernels_cpu as _;

#[derive(TensorTree)]
struct Linear {
    weight: Tensor,
    bias: Option<Tensor>,
}

#[derive(TensorTree)]
struct Network {
    layers: Vec<Linear>,
    scales: BTreeMap<&'static str, Tensor>,
    slope: f64,
}

impl Network {
    fn new() -> Self {
        let layers = vec![
            Linear { weight: Tensor::from([[0.5, -1.0], [2.0, 0.25]]), bias: Some(Tensor::from([0.1, -0.2])) },
            Linear { weight: Tensor::from([[1.5, -0.5]]), bias: None },
        ];
        let scales = BTreeMap::from([("out", Tensor::from(0.7)), ("in", Tensor::from([1.2, 0.4]))]);
        Self { layers, scales, slope: 0.3 }
    }

    /// The sum of the squares of the results for three samples.
    fn energy(&self) -> Result<Tensor> {
        let samples = Tensor::from([[1.0, 2.0], [-0.5, 0.3], [0.2, -1.5]]);
        let mut x = expr!(samples * self.scales["in"])?;
        for layer in &self.layers {
            x = aten::linear(&x, &layer.weight, layer.bias.as_ref())?;
            x = expr!(x.tanh() + x * self.slope)?;
        }
        expr!(x * self.scales["out"])?.square()?.sum()
    }
}

fn values(tree: &impl dispatch_runtime::TensorTree) -> Vec<f64> {
    tree.tensors().iter().flat_map(|tensor| tensor.to_vec::<f64>().unwrap()).collect()
}

fn value(tensor: &Tensor) -> f64 {
    tensor.item().unwrap()
}

/// Returns the tree, in which `step` times `direction` is added to each tensor.
fn moved<T: dispatch_runtime::TensorTree>(tree: &T, direction: &T, step: f64) -> T {
    let pairs = tree.tensors().into_iter().zip(direction.tensors());
    tree.rebuild(pairs.map(|(x, by)| expr!(x + by * step).unwrap()).collect::<Vec<_>>()).unwrap()
}

/// Returns a tree of the same structure with other numbers.
fn direction_like<T: dispatch_runtime::TensorTree>(tree: &T) -> T {
    let directions = tree.tensors().into_iter().zip(1..);
    tree.rebuild(directions.map(|(x, i)| expr!(x + f64::from(i)).unwrap().sin().unwrap()).collect::<Vec<_>>()).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{found:?} and not {expected:?}");
    }
}

fn source<E: std::error::Error + 'static>(error: &Error) -> &E {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()).unwrap_or_else(|| panic!("{error}"))
}

#[test]
fn gradients_have_the_structure_of_the_inputs() {
    let (x, y, z) = (Tensor::from(2.0), Tensor::from(3.0), Tensor::from(5.0));
    let (by_x, [by_y, by_z]) = grad(|(x, [y, z])| expr!(x * x * y + z * 7.0), (&x, [&y, &z])).unwrap();
    assert_eq!([value(&by_x), value(&by_y), value(&by_z)], [12.0, 4.0, 7.0]);

    let list = [x.clone(), y.clone()];
    let by_list: Vec<Tensor> = grad(|list: &Vec<Tensor>| expr!(list[0] * list[1]), &list[..]).unwrap();
    assert_eq!(values(&by_list), [3.0, 2.0]);

    let map = BTreeMap::from([("a", &x), ("b", &y)]);
    let by_map = grad(|map| expr!(map["a"] * map["b"] * map["b"]), map).unwrap();
    assert_eq!([value(&by_map["a"]), value(&by_map["b"])], [9.0, 12.0]);

    let (value_of_none, by_options) = value_and_grad(
        |(x, none): &(Option<Tensor>, Option<Tensor>)| {
            assert!(none.is_none());
            expr!(x.as_ref().unwrap() * 4.0)
        },
        (Some(&x), None::<&Tensor>),
    )
    .unwrap();
    assert_eq!((value(&value_of_none), values(&by_options)), (8.0, vec![4.0]));
    assert!(by_options.1.is_none());
}

#[test]
fn the_gradient_of_a_struct_equals_central_differences() {
    let network = Network::new();
    let (energy, gradient) = value_and_grad(Network::energy, &network).unwrap();
    assert_eq!(value(&energy), value(&network.energy().unwrap()));
    assert!(gradient.layers[1].bias.is_none() && gradient.slope == 0.3);
    for at in 0..values(&network).len() {
        let mut position = 0;
        let unit = network.map_tensors(&dispatch_runtime::TreePath::ROOT, &mut |_, tensor| {
            let count = tensor.to_vec::<f64>()?.len();
            let unit = (0..count).map(|i| f64::from(u8::from(position + i == at))).collect();
            position += count;
            Ok(Tensor::from_vec(unit, tensor.sizes())?)
        });
        let (unit, step) = (unit.unwrap(), 1e-5);
        let [up, down] = [step, -step].map(|step| value(&moved(&network, &unit, step).energy().unwrap()));
        assert_close(&values(&gradient)[at..=at], &[(up - down) / (2.0 * step)], 1e-7);
    }
}

#[test]
fn jvp_equals_the_gradient_along_the_direction() {
    let network = Network::new();
    let direction = direction_like(&network);
    let (energy, change) = jvp(Network::energy, &network, &direction).unwrap();
    assert_eq!(value(&energy), value(&network.energy().unwrap()));
    let gradient = grad(Network::energy, &network).unwrap();
    let expected: f64 = values(&gradient).iter().zip(values(&direction)).map(|(a, b)| a * b).sum();
    assert_close(&[value(&change)], &[expected], 1e-12);
}

#[test]
fn jvp_of_grad_of_a_struct_equals_central_differences() {
    let network = Network::new();
    let direction = direction_like(&network);
    let (_, product) = jvp(|network| grad(Network::energy, network), &network, &direction).unwrap();
    let step = 1e-5;
    let [up, down] = [step, -step].map(|step| grad(Network::energy, &moved(&network, &direction, step)).unwrap());
    let differences: Vec<f64> = values(&up).iter().zip(values(&down)).map(|(a, b)| (a - b) / (2.0 * step)).collect();
    assert_close(&values(&product), &differences, 1e-6);

    // The gradient of the derivative along the direction is the same product.
    let along = |network: &Network| Ok(jvp(Network::energy, network, &direction)?.1);
    assert_close(&values(&grad(along, &network).unwrap()), &values(&product), 1e-10);
}

#[test]
fn gradients_of_pairs_nest() {
    // f = x^3 y: the derivative of df/dx + 10 df/dy is (6 x y + 30 x^2, 3 x^2).
    let f = |(x, y): &(Tensor, Tensor)| expr!(x * x * x * y);
    let mixed = |xy: &(Tensor, Tensor)| {
        let (by_x, by_y) = grad(f, xy)?;
        expr!(by_x + by_y * 10.0)
    };
    let second = grad(mixed, (&Tensor::from(2.0), &Tensor::from(3.0))).unwrap();
    assert_eq!(values(&second), [156.0, 12.0]);
}

#[test]
fn a_pullback_takes_gradients_in_the_structure_of_the_results() {
    let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from(3.0));
    let f = |(x, y): &(Tensor, Tensor)| Ok((expr!(x * y)?, vec![x.sum()?, expr!(y * y)?], 4));
    let ((product, list, number), pullback) = vjp(f, (&x, &y)).unwrap();
    assert_eq!((values(&product), values(&list), number), (vec![3.0, 6.0], vec![3.0, 9.0], 4));
    let gradients = (Tensor::from([1.0, 10.0]), vec![Tensor::from(100.0), Tensor::from(1000.0)], 4);
    assert_eq!(values(&pullback.call(&gradients).unwrap()), [103.0, 130.0, 6021.0]);

    let too_few = (Tensor::from([1.0, 10.0]), vec![Tensor::from(100.0)], 4);
    let error = pullback.call(&too_few).unwrap_err();
    let mismatch: &TreeMismatch = source(&error);
    assert_eq!((mismatch.path.as_str(), mismatch.present_in, mismatch.missing_in), (".1[1]", "results", "gradients"));

    let wrong_sizes = (Tensor::from([1.0, 10.0]), vec![Tensor::from(100.0), Tensor::from([1.0])], 4);
    let error = pullback.call(&wrong_sizes).unwrap_err();
    let expected =
        GradientError::WrongGradientSizes { from: "`gradients.1[1]`".into(), found: vec![1], expected: vec![] };
    assert_eq!(source::<GradientError>(&error), &expected);
}

#[test]
fn errors_name_the_path_of_the_tensor() {
    let (x, places) = (Tensor::from(2.0), Tensor::from([1_i64, 2]));
    let not_differentiable =
        |path: &str| GradientError::NotDifferentiableInput { path: path.into(), dtype: DType::I64 };
    let error = grad(|(x, _): &(Tensor, [Tensor; 1])| Ok(x.clone()), (&x, [&places])).unwrap_err();
    assert_eq!(source::<GradientError>(&error), &not_differentiable("inputs.1[0]"));
    let error = jvp(|x| Ok((x.clone(), places.clone())), &x, &x).unwrap_err();
    assert_eq!(source::<GradientError>(&error), &not_differentiable("results.1"));

    let error = jvp(|x: &Vec<Tensor>| x[0].exp(), vec![&x, &x], vec![&x]).unwrap_err();
    let mismatch: &TreeMismatch = source(&error);
    assert_eq!((mismatch.path.as_str(), mismatch.present_in, mismatch.missing_in), ("[1]", "inputs", "tangents"));
    let error = jvp(|(x, y)| expr!(x * y), (&x, &x), (&x, &Tensor::from([1.0, 2.0]))).unwrap_err();
    let expected = GradientError::WrongGradientSizes { from: "`tangents.1`".into(), found: vec![2], expected: vec![] };
    assert_eq!(source::<GradientError>(&error), &expected);
}

#[test]
fn complex_inputs_have_the_gradients_of_real_and_imaginary_part() {
    let z = |re, im| Tensor::from(Complex64::new(re, im));
    let complex = |tensor: &Tensor| aten::resolve_conj(tensor).unwrap().to_vec::<Complex64>().unwrap()[0];
    // |z|^2 w: the gradient is 2 z w with respect to z, and |z|^2 with respect to w.
    let f = |(z, w): &(Tensor, Tensor)| expr!(aten::real(&expr!(z * aten::conj(z))?) * w);
    let (by_z, by_w) = grad(f, (&z(3.0, 4.0), &Tensor::from(2.0))).unwrap();
    assert_eq!((complex(&by_z), value(&by_w)), (Complex64::new(12.0, 16.0), 25.0));

    // The derivative along t of z^2 is 2 z t, that of conj(z) is conj(t), and that of |z|^2 is 2 Re(conj(z) t).
    let (point, t) = (z(1.0, 2.0), z(0.5, -1.0));
    let f = |z: &Tensor| Ok((expr!(z * z)?, aten::conj(z)?, aten::real(&expr!(z * aten::conj(z))?)?));
    let (_, (square, conjugate, absolute)) = jvp(f, &point, &t).unwrap();
    assert_eq!(complex(&square), Complex64::new(5.0, 0.0));
    assert_eq!(complex(&conjugate), Complex64::new(0.5, 1.0));
    assert_eq!(value(&absolute), -3.0);
}

#[test]
fn a_function_without_inputs_that_it_uses_has_gradients_of_zeros() {
    let gradient = grad(|_: &Network| Ok(Tensor::from(1.0)), &Network::new()).unwrap();
    assert!(values(&gradient).iter().all(|&x| x == 0.0));
    assert_eq!(gradient.layers[0].weight.sizes(), [2, 2]);
}
