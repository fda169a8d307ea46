//! The derivatives of PyTorch's operators.

#![allow(non_snake_case, reason = "a derivative is called as its operator")]

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
