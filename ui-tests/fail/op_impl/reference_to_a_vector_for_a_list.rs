use dispatch_runtime::prelude::*;

#[op_impl(myops::total, CPU)]
fn total(tensors: &Vec<Tensor>, weights: Option<&[f64]>) -> Result<Tensor> {
    let _ = (tensors, weights);
    todo!()
}

fn main() {}
