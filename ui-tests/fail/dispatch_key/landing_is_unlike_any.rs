use dispatch_runtime::prelude::*;

#[dispatch_key(layer, above = Python)]
pub static NPU: Key;

fn main() {}
