use aten::prelude::*;
use dispatch_runtime::prelude::*;

fn main() {
    let _ = Tensor::zeros(2, Some(DType::F32));
}
