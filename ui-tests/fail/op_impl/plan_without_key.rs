use dispatch_runtime::prelude::*;

#[op_def("double(Tensor self) -> Tensor", shape = pointwise)]
fn double(this: &Tensor) -> Result<Tensor>;

#[op_impl(double)]
fn double_cpu(plan: &PointwisePlan, out: &mut Tensor, this: &Tensor) {}

fn main() {}
