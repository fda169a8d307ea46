use dispatch_runtime::prelude::*;
use myops::NormPlan;

#[op_impl(myops::norm, CPU)]
fn norm(plan: &NormPlan, out: [&mut Tensor; 3], eps: f32) -> Result<()> {
    let _ = (plan, out, eps);
    Ok(())
}

fn main() {}
