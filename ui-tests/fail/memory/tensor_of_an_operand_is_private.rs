use dispatch_runtime::{Tensor, operands};

fn main() {
    let mut out = Tensor::from_slice(&[1.0_f32]);
    let operands = operands!(write out).unwrap();
    let _ = operands.written()[0].tensor().clone();
}
