use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
pub fn f(this: &Tensor) -> Result<Tensor> {
    let _ = this.;
    Ok(this.clone())
}

#[op_impl(f, CPU)]
fn f_cpu(this: &Tensor) -> Result<Tensor> {
    f!(this)
}

fn main() {}
