use dispatch_runtime::prelude::*;
use dispatch_vmap::vmap;

fn names(x: &Tensor) -> Result<String> {
    vmap(|x: &Tensor| Ok(x.to_string()), x)
}

fn main() {}
