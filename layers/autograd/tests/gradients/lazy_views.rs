//! Tests of gradients through lazy conjugates and negatives, and through writes to them.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, grad};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, guard};
use kernels_cpu as _;

fn complex_leaf() -> Tensor {
    let z = Tensor::from([Complex64::new(1.0, 2.0), Complex64::new(3.0, -4.0)]);
    z.requires_grad_(true).unwrap()
}

fn elements(z: &Tensor) -> Vec<(f64, f64)> {
    z.to_vec::<Complex64>().unwrap().into_iter().map(|z| (z.re, z.im)).collect()
}

/// Returns the gradient of the sum of real and imaginary part of `result`.
fn gradient_of_parts(result: &Tensor, of: &Tensor) -> Vec<(f64, f64)> {
    let sum = (result.real().unwrap() + result.imag().unwrap()).unwrap().sum().unwrap();
    elements(grad(&[&sum], &[of]).unwrap()[0].as_ref().unwrap())
}

#[test]
fn the_gradient_of_a_lazy_conjugate_is_conjugated() {
    let z = complex_leaf();
    assert_eq!(gradient_of_parts(&z.conj().unwrap(), &z), [(1.0, -1.0); 2]);
    assert_eq!(gradient_of_parts(&aten::conj_physical(&z).unwrap(), &z), [(1.0, -1.0); 2]);
    assert_eq!(gradient_of_parts(&aten::_neg_view(&z).unwrap(), &z), [(-1.0, -1.0); 2]);
    let product = (z.conj().unwrap() * &z).unwrap();
    assert_eq!(elements(&product), [(5.0, 0.0), (25.0, 0.0)]);
    let sum = product.real().unwrap().sum().unwrap();
    assert_eq!(elements(grad(&[&sum], &[&z]).unwrap()[0].as_ref().unwrap()), [(2.0, 4.0), (6.0, -8.0)]);
}

#[test]
fn gradients_follow_a_write_to_a_lazy_conjugate() {
    let (z, factor) = (complex_leaf(), Complex64::new(0.0, 2.0));
    let base = (&z * 1.0).unwrap();
    let view = base.conj().unwrap().narrow(0, 0, 1).unwrap();
    view.mul_(factor).unwrap();
    assert_eq!(elements(&base), [(4.0, -2.0), (3.0, -4.0)]);
    // The first element of the base is conj(conj(z) * 2i), which is -2i z.
    assert_eq!(gradient_of_parts(&base, &z), [(-2.0, 2.0), (1.0, 1.0)]);
}

#[test]
fn a_lazy_view_that_is_older_than_a_write_follows_it() {
    let z = complex_leaf();
    let base = (&z * 1.0).unwrap();
    let view = base.conj().unwrap();
    base.mul_(Complex64::new(0.0, 2.0)).unwrap();
    assert_eq!(elements(&view), [(-4.0, -2.0), (8.0, -6.0)]);
    let expected = gradient_of_parts(&aten::conj_physical(&(&z * Complex64::new(0.0, 2.0)).unwrap()).unwrap(), &z);
    assert_eq!(gradient_of_parts(&view, &z), expected);
}

#[test]
fn a_detached_lazy_conjugate_is_lazy() {
    let z = complex_leaf();
    let _no_grad = guard::no_grad();
    let detached = z.conj().unwrap().detach().unwrap();
    assert!(aten::is_conj(&detached).unwrap() && !detached.requires_grad());
}
