use dispatch_nn::{Linear, Module};

#[derive(Module)]
struct Net {
    #[module(rename = "head")]
    fc: Linear,
}

fn main() {}
