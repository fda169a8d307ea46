use aten::prelude::*;
use dispatch_runtime::prelude::*;

fn main() {
    let _ = Tensor::zeros(2, (DType::F32, true));
}
