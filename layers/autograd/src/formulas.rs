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

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "conv")]
mod conv;
mod elementwise;
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

/// In the place of a gradient that nobody worked out.
fn unknown<O: Operation>() -> Result<Tensor> {
    Err(missing::<O>())
}

fn missing<O: Operation>() -> Error {
    GradientError::NoDerivative { operator: O::operator().name().to_string() }.into()
}
