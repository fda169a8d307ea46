//! Tests of gradients of random operators, which finite differences cannot check.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn thousand_ones_leaf() -> Tensor {
    Tensor::ones(1000, DType::F64).unwrap().requires_grad_(true).unwrap()
}

#[test]
fn the_gradient_of_dropout_is_its_scaled_mask() {
    let x = thousand_ones_leaf();
    let (kept, _) = aten::native_dropout(&x, 0.25, Some(true)).unwrap();
    kept.sum().unwrap().backward().unwrap();
    let gradient: Vec<f64> = x.grad().unwrap().to_vec().unwrap();
    assert_eq!(gradient, kept.detach().unwrap().to_vec::<f64>().unwrap());
    assert!(gradient.contains(&0.0) && gradient.contains(&(1.0 / 0.75)));
}

#[test]
fn elements_replaced_by_random_numbers_get_gradient_zero() {
    let draws: [fn(&Tensor) -> Result<Tensor>; 5] = [
        |x| aten::bernoulli(x, None),
        |x| aten::exponential(x, 1.0, None),
        |x| aten::normal_functional(x, 0.0, 1.0, None),
        |x| aten::uniform(x, 0.0, 1.0, None),
        |x| aten::normal_tensor_float(x, 1.0, None),
    ];
    for (i, draw) in draws.into_iter().enumerate() {
        let x = thousand_ones_leaf();
        (draw(&x).unwrap() + &x).unwrap().sum().unwrap().backward().unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [1.0; 1000], "draw {i}");
    }
}
