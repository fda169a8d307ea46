use dispatch_runtime::{Tensor, TensorTree};

#[derive(TensorTree)]
struct Layer<'a> {
    weight: &'a Tensor,
}

fn main() {}
