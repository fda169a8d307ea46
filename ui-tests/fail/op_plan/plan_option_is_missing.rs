use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

#[op_def("quiet(Tensor self) -> Tensor")]
pub fn quiet(this: &Tensor) -> Result<Tensor>;

#[op_plan(quiet)]
fn quiet_plan(this: &Tensor) -> Result<Plan<()>> {
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[])]))
}

fn main() {}
