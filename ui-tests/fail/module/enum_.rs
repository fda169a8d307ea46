use dispatch_nn::{Linear, Module};

#[derive(Module)]
enum Net {
    Linear(Linear),
    Identity,
}

fn main() {}
