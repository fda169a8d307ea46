use dispatch_nn::{Linear, Module};

#[derive(Clone, Module)]
struct Model {
    head: Linear,
    #[module(name = "head")]
    other: Linear,
}

fn main() {}
