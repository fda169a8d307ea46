pub mod one {
    use dispatch_runtime::prelude::*;

    #[op_def("add(Tensor self, Tensor other) -> Tensor")]
    pub fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;
}

pub mod two {
    use dispatch_runtime::prelude::*;

    #[op_def("add(Tensor self, Tensor other) -> Tensor")]
    pub fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;
}

fn main() {}
