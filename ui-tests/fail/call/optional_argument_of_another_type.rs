use dispatch_runtime::prelude::*;

fn main() {
    let x = &Tensor::from_slice(&[1.0_f32]);
    let _ = myops::weighted!(x, weight = 1);
}
