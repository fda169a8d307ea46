use dispatch_runtime::prelude::*;

#[op_def("shift(Tensor self, Tensor other) -> ()")]
pub fn shift(_: ...) -> Result<()>;

#[op_impl(shift, CPU)]
fn shift_cpu(this: &mut Tensor, other: &Tensor) -> Result<()> {
    let _ = (this, other);
    todo!()
}

fn main() {}
