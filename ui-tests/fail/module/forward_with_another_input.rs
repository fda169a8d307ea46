use dispatch_nn::{Forward, Linear};
use dispatch_runtime::prelude::*;

fn apply(layer: &Linear, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    Forward::forward(layer, &(x.clone(), y.clone()))
}

fn main() {}
