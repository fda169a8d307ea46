//! Tests that a program has the families of operators of its features, and that errors name a missing feature.
//!
//! `cargo test --no-default-features --features inventory,cpu,autograd,products --test families` tests a program without most families.

#![cfg(all(feature = "autograd", feature = "cpu", feature = "products"))]

use opdispatch::autograd::Differentiable;
use opdispatch::backend::Operator;
use opdispatch::prelude::*;

#[test]
fn error_for_a_disabled_operator_names_its_feature() {
    let families = [
        ("conv", cfg!(feature = "conv"), "aten::convolution"),
        ("loss", cfg!(feature = "loss"), "aten::nll_loss.out"),
        ("norm", cfg!(feature = "norm"), "aten::softmax.int"),
        ("sort", cfg!(feature = "sort"), "aten::quantile"),
        ("loss", cfg!(feature = "loss"), "aten::ctc_loss.Tensor"),
    ];
    // A test of the whole workspace has all features of the packages below this one, so it has these families without their features here.
    let on_request = [
        ("fft", cfg!(feature = "fft"), "aten::fft_fft"),
        ("linalg", cfg!(feature = "linalg"), "aten::linalg_qr"),
        ("quantized", cfg!(feature = "quantized"), "aten::fake_quantize_per_tensor_affine"),
    ];
    let on_request = on_request.into_iter().filter(|_| !cfg!(feature = "families"));
    for (feature, is_on, name) in families.into_iter().chain(on_request) {
        match Operator::find(name) {
            Ok(_) => assert!(is_on, "{name} exists without the feature `{feature}`"),
            Err(error) => {
                let expected = format!(
                    "no operator is called `{name}`; the Cargo feature `{feature}` adds it: turn it on in Cargo.toml"
                );
                assert!(!is_on && error.to_string() == expected, "{error}");
            }
        }
    }
}

#[test]
fn enabled_families_compute_forward_and_backward() {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]).requires_grad_(true).unwrap();
    x.mm(&x).unwrap().relu().unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [7.0, 11.0, 9.0, 13.0]);
    assert!(Operator::find("aten::mm").is_ok() && opdispatch::backend::verify().is_empty());
}
