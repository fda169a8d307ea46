use dispatch_runtime::prelude::*;

#[op_def("repeated(Tensor self, int times) -> Tensor", plan)]
fn repeated(_: ...) -> Result<Tensor>;

#[op_plan(repeated)]
fn repeated_plan(_: ...) -> Result<Plan<()>> {
    let times: u8 = times;
    Ok(Plan::new((), [dispatch_runtime::Spec::contiguous(this.dtype(), &[times.into()])]))
}

fn main() {}
