//! Gradient formulas of random operators. Drawn elements do not depend on the replaced elements.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::fail_without_formula;
use crate::{Gradient, not_differentiable, op_grad};

/// Defines derivatives of zero, for operators that draw elements in the shape of one tensor.
macro_rules! zero_derivatives {
    ($($operator:ident)*) => { derivatives! { $($operator(grad) => grad.zeros_like();)* } };
}

zero_derivatives! {
    bernoulli bernoulli_p bernoulli__float
    uniform normal_functional normal_ exponential cauchy log_normal geometric
    random random_from random_to
    normal_tensor_float normal_float_tensor poisson
}

derivatives! {
    bernoulli_tensor(grad) => grad.zeros_like(), grad.zeros_like();
    normal_tensor_tensor(grad) => grad.zeros_like(), grad.zeros_like();
    _standard_gamma(grad, this, result) => grad * aten::_standard_gamma_grad(this, result)?;
}

/// Defines derivatives that return an error for each input: their formulas are not implemented.
macro_rules! unimplemented_derivatives {
    ($($operator:ident($($tensor:ident),+);)*) => {$(
        #[op_grad(aten::$operator)]
        fn $operator(grad: &Tensor) -> ($(unimplemented_derivatives!(@gradient $tensor)),+) {
            let _ = grad;
            ($(unimplemented_derivatives!(@unknown $operator $tensor)),+)
        }
    )*};
    (@gradient $tensor:ident) => { impl Gradient };
    (@unknown $operator:ident $tensor:ident) => { fail_without_formula::<aten::$operator> };
}

#[op_grad(aten::_sample_dirichlet)]
fn _sample_dirichlet(grad: &Tensor) -> Result<Tensor> {
    let _ = grad;
    fail_without_formula::<aten::_sample_dirichlet>()
}

unimplemented_derivatives! {
    binomial(count, prob);
    _standard_gamma_grad(this, output);
    _dirichlet_grad(x, alpha, total);
}

/// Returns the factor by which dropout scales the elements that it keeps.
#[expect(clippy::float_cmp, reason = "with a probability of exactly one, no element is kept")]
fn dropout_scale(p: f64, train: Option<bool>) -> f64 {
    match train {
        Some(false) => 1.0,
        _ if p == 1.0 => 0.0,
        _ => (1.0 - p).recip(),
    }
}

derivatives! {
    native_dropout(grad; p: f64, train: Option<bool>, result1: &Tensor), not_differentiable(result1) =>
        aten::native_dropout_backward(grad, result1, dropout_scale(p, train));
    native_dropout_backward(grad, mask; scale: f64), not_differentiable(mask) =>
        aten::native_dropout_backward(grad, mask, scale);
}

not_differentiable!(
    aten::multinomial,
    aten::normal_float_float,
    aten::rand,
    aten::rand_generator,
    aten::rand_like,
    aten::rand_like_generator,
    aten::randn,
    aten::randn_generator,
    aten::randn_like,
    aten::randn_like_generator,
    aten::randint,
    aten::randint_generator,
    aten::randint_low,
    aten::randint_low_generator,
    aten::randint_like,
    aten::randint_like_generator,
    aten::randint_like_low_dtype,
    aten::randint_like_low_generator_dtype,
    aten::randint_like_tensor,
    aten::randint_like_tensor_generator,
    aten::_philox_uniform,
    aten::_philox_normal,
    aten::_philox_randint,
    aten::randperm,
    aten::randperm_generator
);
