use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

#[op_def("some(Tensor self) -> Tensor", plan, data_dependent)]
pub fn some(this: &Tensor) -> Result<Tensor>;

#[op_plan(some)]
fn some_plan(this: &Tensor) -> Result<Plan<()>> {
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[])]))
}

fn main() {}
