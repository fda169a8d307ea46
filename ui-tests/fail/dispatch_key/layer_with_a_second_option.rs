use dispatch_runtime::prelude::*;

#[dispatch_key(layer, above = Autograd, below = Python)]
pub static NPU: Key;

fn main() {}
