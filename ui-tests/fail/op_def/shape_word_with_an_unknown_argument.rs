use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self, int[] dims) -> Tensor", shape = reduce(dim))]
fn myop(this: &Tensor, dims: &[i64]) -> Result<Tensor>;

fn main() {}
