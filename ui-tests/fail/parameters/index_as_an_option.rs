use aten::prelude::*;
use dispatch_runtime::prelude::*;

fn main() {
    let x = &Tensor::from([1.0, 2.0]);
    let _ = x.i(Some(1));
}
