use dispatch_runtime::{Tensor, TensorTree};

#[derive(TensorTree)]
struct Layer {
    name: String,
    weight: Tensor,
}

fn main() {}
