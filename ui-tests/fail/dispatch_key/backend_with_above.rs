use dispatch_runtime::prelude::*;

#[dispatch_key(backend, above = Autograd)]
pub static NPU: Key;

fn main() {}
