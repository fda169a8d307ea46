use dispatch_nn::{Linear, Module};

#[derive(Module)]
struct Net {
    #[module(skip, name = "head")]
    fc: Linear,
}

fn main() {}
