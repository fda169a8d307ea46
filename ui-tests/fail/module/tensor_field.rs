use dispatch_nn::{Linear, Module};
use dispatch_runtime::Tensor;

#[derive(Module)]
struct Net {
    fc: Linear,
    scale: Tensor,
}

fn main() {}
