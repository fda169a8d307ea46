use dispatch_runtime::prelude::*;

#[dispatch_key(layer, below = Autograd)]
pub static NPU: Key;

fn main() {}
