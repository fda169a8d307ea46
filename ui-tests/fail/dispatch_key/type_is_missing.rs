use dispatch_runtime::prelude::*;

#[dispatch_key(backend)]
pub static NPU;

fn main() {}
