use dispatch_runtime::prelude::*;

#[dispatch_key(device)]
pub static NPU: Key;

fn main() {}
