use dispatch_runtime::prelude::*;

mod engine {}

#[op_def("twice(Tensor self) -> Tensor", shape = pointwise)]
pub fn twice(this: &Tensor) -> Result<Tensor>;

#[op_impl(twice, CPU, engine = engine)]
fn twice_cpu(this: &Tensor) {
    let _ = this;
}

fn main() {}
