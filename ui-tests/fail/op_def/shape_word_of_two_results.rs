use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self, int dim) -> (Tensor, Tensor)", shape = reduce(dim))]
fn myop(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)>;

fn main() {}
