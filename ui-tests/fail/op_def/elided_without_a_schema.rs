use dispatch_runtime::prelude::*;

#[op_def]
pub fn twice(_: ...) -> Result<Tensor>;

fn main() {}
