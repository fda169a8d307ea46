use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

#[op_def("pair(Tensor self) -> (Tensor, Tensor)", plan)]
pub fn pair(this: &Tensor) -> Result<(Tensor, Tensor)>;

#[op_plan(pair)]
fn pair_plan(this: &Tensor) -> Result<Plan<()>> {
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[])]))
}

fn main() {}
