use dispatch_nn::{Linear, Module};

#[derive(Module)]
struct Net {
    #[module(name = "head.fc")]
    fc: Linear,
}

fn main() {}
