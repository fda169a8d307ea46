use dispatch_runtime::prelude::*;

pub use ops::relu;

mod ops {
    use dispatch_runtime::prelude::*;

    #[op_def("relu(Tensro self, int n=1) -> Tensor")]
    pub fn relu(this: &Tensor, n: i64) -> Result<Tensor>;
}

#[op_impl(ops::relu, CPU)]
fn relu_cpu(this: &Tensor, _: i64) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(ops::relu, CUDA, boxed)]
fn relu_cuda(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Ok(())
}

fallthrough!(ops::relu, Autograd);

fn calls(x: &Tensor) -> Result<Tensor> {
    let _ = ops::relu::operator();
    ops::relu::redispatch(KeySet::EMPTY, x, 1)?;
    relu!(x)?;
    relu!(x, n = 1)?;
    ops::relu(x, 1)
}

fn main() {
    let _ = calls;
}
