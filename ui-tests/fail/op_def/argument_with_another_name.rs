use dispatch_runtime::prelude::*;

#[op_def("scale(Tensor self, float factor) -> Tensor")]
pub fn scale(this: &Tensor, by: f64) -> Result<Tensor>;

fn main() {}
