//! The derivatives of PyTorch's operators.

mod activation;
mod arithmetic;
mod chance;
mod choice;
mod complex;
mod division;
mod first;
mod loss;
mod masked;
mod moments;
mod normalization;
mod order;
mod product;
mod reduction;
mod rounding;
mod scan;
mod softmax;
mod statements;
mod unary;

use dispatch_runtime::{Error, Operation, Result, Tensor};

use crate::GradientError;

/// In the place of a gradient that nobody worked out.
fn unknown<O: Operation>() -> Result<Tensor> {
    Err(missing::<O>())
}

fn missing<O: Operation>() -> Error {
    GradientError::NoDerivative { operator: O::operator().name().to_string() }.into()
}
