use dispatch_runtime::prelude::*;

struct Backend;

impl Backend {
    #[op_impl(myops::square, CPU)]
    fn square(&self) -> Result<Tensor> {
        todo!()
    }
}

fn main() {}
