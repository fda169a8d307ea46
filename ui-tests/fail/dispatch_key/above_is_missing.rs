use dispatch_runtime::prelude::*;

#[dispatch_key(layer)]
pub static NPU: Key;

fn main() {}
