use dispatch_runtime::prelude::*;

mod engine {}

#[op_def("twice(Tensor self) -> Tensor")]
pub fn twice(this: &Tensor) -> Result<Tensor>;

#[op_impl(twice, CPU, engine = engine)]
fn twice_cpu(this: &Tensor) -> Result<usize> {
    Ok(this.sizes().len())
}

fn main() {}
