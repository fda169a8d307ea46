use dispatch_runtime::prelude::*;

#[dispatch_key(backend)]
pub const NPU: Key;

fn main() {}
