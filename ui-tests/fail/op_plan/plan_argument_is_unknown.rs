use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

#[op_def("twice(Tensor self, int times) -> Tensor", plan)]
pub fn twice(this: &Tensor, times: i64) -> Result<Tensor>;

#[op_plan(twice)]
fn twice_plan(this: &Tensor, time: i64) -> Result<Plan<()>> {
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[time])]))
}

fn main() {}
