use dispatch_runtime::prelude::*;

#[op_def(w3(Tensor(a!) x, Tensor(a!) y) -> (Tensor(a!), Tensor, Tensor(a!), Tensor(a!)))]
pub fn w3(x: &mut Tensor, y: &mut Tensor) -> Result<Tensor>;

fn main() {}
