use dispatch_runtime::prelude::*;

#[dispatch_key(backend)]
pub static mut NPU: Key;

fn main() {}
