use dispatch_nn::{Linear, Module};

#[derive(Module)]
struct Net {
    #[module(name = "")]
    fc: Linear,
}

fn main() {}
