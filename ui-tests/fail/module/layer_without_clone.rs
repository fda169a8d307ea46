use dispatch_nn::{Forward, Linear, Module, Sequential};
use dispatch_runtime::prelude::*;

#[derive(Module)]
struct Head {
    fc: Linear,
}

impl Forward for Head {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.fc.forward(x)
    }
}

fn net(head: Head) -> Sequential {
    Sequential::new().add(head)
}

fn main() {}
