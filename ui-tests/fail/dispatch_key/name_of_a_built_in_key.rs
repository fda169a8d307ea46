use dispatch_runtime::prelude::*;

#[dispatch_key(backend)]
pub static CUDA: Key;

fn main() {}
