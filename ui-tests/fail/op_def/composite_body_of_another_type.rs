use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
pub fn f(this: &Tensor) -> Result<Tensor> {
    Ok(this.sizes().len())
}

fn main() {}
