use dispatch_runtime::prelude::*;

#[dispatch_key(layer, above)]
pub static NPU: Key;

fn main() {}
