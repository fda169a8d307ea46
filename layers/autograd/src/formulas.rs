//! Gradient formulas of PyTorch's operators.

#![allow(non_snake_case, reason = "a derivative has the name of its operator")]

/// Defines derivatives as table rows, with one expression per input gradient: `mul(grad, this, other) => grad * other, grad * this;`.
///
/// A parameter is a tensor, except after a `;`, where its type is written. `; _: ...` declares the arguments that the row mentions. The
/// expression of a gradient is evaluated only if that gradient is requested.
macro_rules! derivatives {
    ($(
        $(#[$attribute:meta])*
        $operator:ident($($tensor:ident),* $(; $($parameter:tt)*)?) $(, not_differentiable($($fixed:ident),+))? =>
            $($gradient:expr),+;
    )*) => {$(
        derivatives! {
            @one $(#[$attribute])* $operator($($tensor: &Tensor,)* $($($parameter)*)?) [$($($fixed),+)?] $($gradient),+
        }
    )*};
    (@one $(#[$attribute:meta])* $operator:ident($($parameters:tt)*) [$($fixed:ident),*] $gradient:expr) => {
        $(#[$attribute])*
        #[crate::op_grad(aten::$operator, not_differentiable($($fixed),*))]
        fn $operator($($parameters)*) -> Result<Tensor> {
            $gradient
        }
    };
    (@one $(#[$attribute:meta])* $operator:ident($($parameters:tt)*) [$($fixed:ident),*] $($gradient:expr),+) => {
        $(#[$attribute])*
        #[crate::op_grad(aten::$operator, not_differentiable($($fixed),*))]
        fn $operator($($parameters)*) -> ($(derivatives!(@type $gradient)),+) {
            ($(move || $gradient),+)
        }
    };
    (@type $gradient:expr) => { impl crate::Gradient };
}

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "conv")]
mod conv;
mod elementwise;
#[cfg(feature = "fft")]
mod fft;
mod indexing;
#[cfg(feature = "linalg")]
mod linalg;
#[cfg(feature = "loss")]
mod loss;
#[cfg(feature = "norm")]
mod norm;
mod not_differentiable;
#[cfg(feature = "pooling")]
mod pooling;
#[cfg(feature = "products")]
mod products;
#[cfg(feature = "quantized")]
mod quantized;
#[cfg(feature = "random")]
mod random;
mod reduction;
#[cfg(feature = "resize")]
mod resize;
#[cfg(feature = "sort")]
mod sort;
mod views;

use dispatch_runtime::{Error, Operation, Result, Tensor};

use crate::GradientError;

/// Returns the error of a gradient that has no formula.
fn fail_without_formula<O: Operation>() -> Result<Tensor> {
    Err(missing_formula_error::<O>())
}

fn missing_formula_error<O: Operation>() -> Error {
    GradientError::NoDerivative { operator: O::operator().name().to_string() }.into()
}
