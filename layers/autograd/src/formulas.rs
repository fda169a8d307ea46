//! The derivatives of PyTorch's operators.

#![allow(non_snake_case, reason = "a derivative is called as its operator")]

/// Derivatives by tables, an expression for the gradient of each input: `mul(grad, this, other) => grad * other, grad * this;`.
///
/// A parameter is a tensor, unless it stands behind a `;` with its type. `; _: ...` stands for the arguments that the row mentions. What is computed for one gradient is only computed if that is
/// asked for.
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

mod activation;
mod arithmetic;
mod attention;
mod bags;
mod batch_norm;
mod chance;
mod choice;
mod complex;
mod convolutions;
mod copying;
mod ctc;
mod distance;
mod division;
mod gates;
mod grid;
mod indexing;
mod join;
mod loss;
mod masked;
mod moments;
mod normalization;
mod normalized;
mod order;
mod pads;
mod parts;
mod pooling;
mod product;
mod reduction;
mod reductions_at;
mod renorm;
mod rounding;
mod scan;
mod scatter;
mod segments;
mod softmax;
mod special;
mod statements;
mod unary;
mod upsample;
mod views;

use dispatch_runtime::{Error, Operation, Result, Tensor};

use crate::GradientError;

/// In the place of a gradient that nobody worked out.
fn unknown<O: Operation>() -> Result<Tensor> {
    Err(missing::<O>())
}

fn missing<O: Operation>() -> Error {
    GradientError::NoDerivative { operator: O::operator().name().to_string() }.into()
}
