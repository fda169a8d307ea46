use dispatch_runtime::prelude::*;

#[dispatch_key(backend)]
pub static NPU: u32;

fn main() {}
