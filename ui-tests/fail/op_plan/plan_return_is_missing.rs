use dispatch_runtime::prelude::*;

#[op_def("same(Tensor self) -> Tensor", plan)]
pub fn same(this: &Tensor) -> Result<Tensor>;

#[op_plan(same)]
fn same_plan(this: &Tensor) {
    let _ = this;
}

fn main() {}
