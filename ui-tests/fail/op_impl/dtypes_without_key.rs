use dispatch_runtime::{Element, prelude::*};

#[op_impl(myops::square, dtypes(floating))]
fn square_cpu<T: Element>(this: &Tensor) -> Tensor {
    this.clone()
}

fn main() {}
